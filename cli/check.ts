/** `raceline check`: findings of the source analysis as text, JSON or GitHub annotations; `--fix` applies the fixes. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { CheckResult, SourceFile } from '../core/checkSource.ts';
import { fixAll } from '../core/fixAll.ts';
import { RelevantFiles } from '../core/relevantFiles.ts';
import type { Finding, Problem } from '../core/rules/finding.ts';
import { rules } from '../core/rules/index.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { loadChecker } from './checker.ts';
import { codeFrame } from './code-frame.ts';
import { displayPath } from './display-path.ts';
import { unifiedDiff } from './diff.ts';
import { readSourceFiles } from './source-files.ts';

export async function check(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--format', '--select'], ['--fix', '--diff']);
  const format = choice(given, '--format', ['text', 'json', 'github'], 'text');
  if (!given.rest.length) throw new UsageError('check needs a file or a folder');
  const select = given.values.get('--select')?.split(',').filter(Boolean);
  for (const code of select ?? [])
    if (!rules.some((rule) => rule.code === code))
      throw new UsageError(`--select: there is no '${code}'; there are ${rules.map((rule) => rule.code).join(', ')}`);
  const started = performance.now();
  const read = readSourceFiles(given.rest);
  const problems = read.problems;
  const files = relevant(read.files);
  const checker = await loadChecker();
  const selected = (finding: Finding) => !select || select.includes(finding.code);

  let current: readonly SourceFile[] = files;
  let result: CheckResult;
  let fixed = 0;
  if (given.flags.has('--fix') || given.flags.has('--diff')) {
    const fixes = fixAll(checker, files, { only: selected });
    fixed = fixes.applied;
    result = fixes.result;
    for (const [i, file] of fixes.files.entries()) {
      const before = files[i]!.text;
      if (given.flags.has('--diff')) process.stdout.write(unifiedDiff(displayPath(file.file), before, file.text));
      else if (file.text !== before) problems.push(...writeKeepingBytes(file.file, before, file.text));
    }
    current = fixes.files;
  } else result = checker.check(files, { fixes: format === 'json' });
  const all = { findings: result.findings.filter(selected), problems: [...problems, ...result.problems] };
  const milliseconds = Math.round(performance.now() - started);
  if (format === 'json') console.log(JSON.stringify(toJson(all, read.files.length, milliseconds)));
  else if (format === 'github') for (const finding of all.findings) console.log(annotation(finding));
  else if (!given.flags.has('--diff')) printText(all, current, { files: read.files.length, milliseconds, fixed });
  if (format !== 'json')
    for (const problem of all.problems) console.error(`${displayPath(problem.file)}: ${problem.message}`);
  return all.findings.length ? 1 : 0;
}

/** What has nothing to do with streams is not entered by the analysis, so it is not parsed either; as in the server. */
function relevant(files: readonly SourceFile[]): SourceFile[] {
  const all = new RelevantFiles();
  for (const { file, text } of files) all.set(file, text);
  return all.select(new Set());
}

/** A byte order mark or an encoding that the text does not show stays as it was; a file changed meanwhile is left alone. */
function writeKeepingBytes(file: string, before: string, after: string): Problem[] {
  try {
    const bytes = readFileSync(file);
    if (bytes.toString('utf8') === before) writeFileSync(file, after);
    else if (bytes.toString('latin1') === before) writeFileSync(file, Buffer.from(after, 'latin1'));
    else return [{ file, message: 'changed while it was checked; not fixed' }];
    return [];
  } catch (error) {
    return [{ file, message: `cannot be written: ${(error as Error).message}` }];
  }
}

function toJson(result: CheckResult, files: number, milliseconds: number): unknown {
  return {
    version: 1,
    files,
    milliseconds,
    findings: result.findings.map((finding) => ({
      file: finding.file,
      range: finding.range,
      code: finding.code,
      severity: finding.severity,
      certainty: finding.certainty,
      message: finding.message,
      related: finding.related,
      fixes: finding.fixes.map((fix) => ({ title: fix.title, edits: fix.edits })),
    })),
    problems: result.problems,
  };
}

function printText(
  result: CheckResult,
  files: readonly SourceFile[],
  sums: { files: number; milliseconds: number; fixed: number },
): void {
  const texts = new Map(files.map((file) => [file.file, file.text]));
  for (const finding of result.findings) {
    const { file, range } = finding;
    const on = finding.certainty === 'always' ? '' : ' (on some paths)';
    console.log(
      `${displayPath(file)}:${range.start.line + 1}:${range.start.character + 1}: ${finding.severity} ${finding.code}${on}`,
    );
    console.log(`  ${finding.message}`);
    const text = texts.get(file);
    if (text !== undefined)
      console.log(
        codeFrame(
          text,
          range,
          finding.related.filter((r) => r.file === file),
        ),
      );
    for (const related of finding.related.filter((r) => r.file !== file))
      console.log(`  ${displayPath(related.file)}:${related.range.start.line + 1}: ${related.message}`);
    console.log('');
  }
  const of = (severity: string) =>
    counted(result.findings.filter((finding) => finding.severity === severity).length, severity);
  const parts = [of('error'), of('warning'), of('hint')];
  const fixed = sums.fixed ? `, ${sums.fixed} fixed` : '';
  console.log(`${counted(sums.files, 'file')}, ${parts.join(', ')}${fixed} (${sums.milliseconds} ms)`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function annotation(finding: Finding): string {
  const level = finding.severity === 'hint' ? 'notice' : finding.severity;
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const { start, end } = finding.range;
  const place = `file=${property(displayPath(finding.file))},line=${start.line + 1},endLine=${end.line + 1},col=${start.character + 1}`;
  return `::${level} ${place},title=${property(`raceline ${finding.code}`)}::${data(finding.message)}`;
}
