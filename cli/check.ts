/** `raceline check`: findings of the source analysis under the project's settings; `--fix` applies the fixes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type CheckResult, createSourceChecker, type SourceChecker, type SourceFile } from '../core/checkSource.ts';
import { fixAll } from '../core/fixAll.ts';
import { createProjectChecker } from '../core/projectChecker.ts';
import type { Problem } from '../core/rules/finding.ts';
import { baselineText, linesIn } from '../core/settings/baseline.ts';
import { Projects } from '../server/projects.ts';
import { type CheckOptions, checkOptions, type Format } from './check-options.ts';
import { loadParser } from './checker.ts';
import { displayPath } from './display-path.ts';
import { unifiedDiff } from './diff.ts';
import { github } from './formats/github.ts';
import { json } from './formats/json.ts';
import { type CheckReport, counted, problemLine } from './formats/report.ts';
import { sarif } from './formats/sarif.ts';
import { text } from './formats/text.ts';
import { readSourceFiles, readStandardInput } from './source-files.ts';
import { watchSyntax } from './syntax-problems.ts';
import { writeKeepingBytes } from './write.ts';

const render: Readonly<Record<Format, (report: CheckReport) => string>> = { text, json, github, sarif };

/** Formats that say which fixes there are. */
const withFixes: ReadonlySet<Format> = new Set(['json', 'sarif']);

export async function check(args: readonly string[]): Promise<number> {
  const options = checkOptions(args);
  const started = performance.now();
  const projects = new Projects({
    over: options.over,
    only: options.config,
    withoutBaselines: options.writeBaseline !== undefined,
  });
  const read = await readFiles(options, projects);
  const files = read.files;
  const syntax = watchSyntax(await loadParser());
  const checker = createProjectChecker(
    () => createSourceChecker(syntax.parser),
    (file) => projects.settingsOf(file),
  );
  const done = options.mode === 'check' ? checked(checker, files, options) : fixed(checker, files, options);

  const problems = [...read.problems];
  let changed = 0;
  for (const [i, { file, text: after }] of done.files.entries()) {
    const before = files[i]!.text;
    if (after === before) continue;
    changed++;
    if (options.mode === 'diff') process.stdout.write(unifiedDiff(displayPath(nameOf(file, options)), before, after));
    else if (options.paths) problems.push(...writeKeepingBytes(file, before, after));
  }
  // Whoever pipes a text through wants it back, whatever happened to it.
  if (options.mode === 'fix' && !options.paths) process.stdout.write(done.files[0]?.text ?? read.given ?? '');

  problems.push(...projects.problems, ...syntax.problems(), ...done.result.problems);
  const { findings } = done.result;
  if (options.writeBaseline) return writeBaseline(options.writeBaseline, done, problems);
  if (options.mode !== 'diff')
    problems.push(
      ...printReport(options, {
        findings: findings.map((finding) => ({ ...finding, file: nameOf(finding.file, options) })),
        problems,
        texts: new Map(done.files.map((one) => [nameOf(one.file, options), one.text])),
        files: read.files.length,
        fixed: done.applied,
        known: done.result.known ?? 0,
        milliseconds: Math.round(performance.now() - started),
      }),
    );
  printProblems(problems, options);
  if (problems.some(({ note }) => !note)) return 2;
  const found = options.mode === 'diff' ? changed : findings.length;
  return found && !options.exitZero ? 1 : 0;
}

interface Read extends ReturnType<typeof readSourceFiles> {
  /** The text of standard input, whether it is checked or not. */
  readonly given?: string;
}

async function readFiles(options: CheckOptions, projects: Projects): Promise<Read> {
  const { paths, forceExclude, stdinFile: file } = options;
  if (paths) return readSourceFiles(paths, { projects, forceExclude });
  const { text: given, note } = await readStandardInput();
  if (forceExclude && projects.isExcluded(file)) return { files: [], problems: [], given };
  return { given, files: [{ file, text: given }], problems: note ? [{ file, message: note, note: true }] : [] };
}

interface Done {
  readonly files: readonly SourceFile[];
  readonly result: CheckResult;
  readonly applied: number;
}

function checked(checker: SourceChecker, files: readonly SourceFile[], { format }: CheckOptions): Done {
  return { files, result: checker.check(files, { fixes: withFixes.has(format) }), applied: 0 };
}

/** As in the editor: a finding that holds on some paths only is left to the reader, unless asked for. */
function fixed(checker: SourceChecker, files: readonly SourceFile[], { format, unsafeFixes }: CheckOptions): Done {
  const done = fixAll(checker, files, { only: (finding) => unsafeFixes || finding.certainty === 'always' });
  if (!withFixes.has(format)) return done;
  const findings = done.result.findings.map((finding) => ({ ...finding, fixes: checker.fixesFor(finding, true) }));
  return { ...done, result: { ...done.result, findings } };
}

function writeBaseline(file: string, { result, files }: Done, problems: readonly Problem[]): number {
  let failed = problems.some(({ note }) => !note);
  try {
    writeFileSync(file, baselineText(result.findings, linesIn(files), path.dirname(file)));
    console.log(`${counted(result.findings.length, 'finding')} written to ${displayPath(file)}`);
  } catch (error) {
    console.error(`${displayPath(file)}: cannot be written: ${(error as Error).message}`);
    failed = true;
  }
  for (const problem of problems) console.error(problemLine(problem));
  return failed ? 2 : 0;
}

/** To standard output, or to a file; where the fixed text goes to standard output, to standard error. */
function printReport({ format, outputFile, mode, paths }: CheckOptions, report: CheckReport): Problem[] {
  const rendered = render[format](report);
  if (outputFile !== undefined) {
    try {
      writeFileSync(outputFile, rendered);
      return [];
    } catch (error) {
      return [{ file: path.resolve(outputFile), message: `cannot be written: ${(error as Error).message}` }];
    }
  }
  (mode === 'fix' && !paths ? process.stderr : process.stdout).write(rendered);
  return [];
}

/** Other tools find them in the JSON; everybody else on standard error. */
function printProblems(problems: readonly Problem[], options: CheckOptions): void {
  for (const problem of problems)
    if (options.format !== 'json' || options.outputFile !== undefined || !problem.note)
      console.error(problemLine({ ...problem, file: nameOf(problem.file, options) }));
}

/** Standard input without a name is `-`, wherever it is run. */
function nameOf(file: string, { paths, stdinFile }: CheckOptions): string {
  return !paths && file === stdinFile && path.basename(file) === '-' ? '-' : file;
}
