// Counts which mutants get a finding that the unchanged text does not have; advice does not count. Files are checked by
// themselves, in this process.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createSourceChecker, type SourceChecker, type SourceFile } from '../../core/checkSource.ts';
import { mentionsStreams } from '../../core/lower/words.ts';
import { createPythonParser, type PythonParser } from '../../core/python/parse.ts';
import { type Kind, mutantsOf } from './mutate.ts';
import { ecosystemUnits, linesOf, packageFiles, twinUnits, type Unit } from './units.ts';

export interface Options {
  readonly root: string;
  readonly folders: ReadonlyMap<string, () => string>;
  readonly list?: boolean;
  readonly only?: string;
  readonly file?: string;
}

const advice: ReadonlySet<string> = new Set([
  'redundant-sync',
  'redundant-record-stream',
  'unused-event',
  'serialized-streams',
  'too-many-streams',
]);

interface Tally {
  noticed: number;
  exempt: number;
  all: number;
}

export async function run(options: Options): Promise<void> {
  const { root } = options;
  const require = createRequire(path.join(root, 'package.json'));
  const parser = await createPythonParser({
    treeSitterWasm: readFileSync(require.resolve('web-tree-sitter/web-tree-sitter.wasm')),
    pythonWasm: readFileSync(require.resolve('tree-sitter-python/tree-sitter-python.wasm')),
  });
  const exempt = exemptStatements(path.join(root, 'test', 'ecosystem', 'exempt.txt'));
  if (options.only === 'package') return console.log(wholePackage(parser, options.folders));
  const groups = {
    ecosystem: () => ecosystemUnits(root, options.folders),
    twins: () => twinUnits(root),
  };
  for (const [group, units] of Object.entries(groups)) {
    if (options.only && options.only !== group) continue;
    const tallies = new Map<Kind, Tally>();
    for (const unit of units()) {
      if (options.file && !unit.name.includes(options.file)) continue;
      // One checker for a file: what a statement does not touch is not executed again.
      const checker = createSourceChecker(parser);
      const before = found(checker, unit.files);
      for (const { file, text } of unit.files)
        for (const mutant of mutantsOf(parser, file, text)) {
          const files = unit.files.map((one) => (one.file === file ? { file, text: mutant.text } : one));
          const fresh = [...found(checker, files)].filter((key) => !before.has(key));
          const place = `${nameOf(unit, file)}:${mutant.line}`;
          const needless = !fresh.length && exempt.delete(place);
          const tally = tallies.get(mutant.kind) ?? { noticed: 0, exempt: 0, all: 0 };
          tallies.set(mutant.kind, tally);
          tally.all++;
          if (fresh.length) tally.noticed++;
          else if (needless) tally.exempt++;
          if (options.list) {
            const mark = fresh.length ? 'noticed' : needless ? 'exempt ' : 'missed ';
            console.log(`${mark}  ${place} ${mutant.statement}${fresh.length ? `  → ${fresh.join(', ')}` : ''}`);
          }
        }
    }
    console.log(
      `${group}: ${(['waits', 'record_stream', 'synchronize'] as const).map((kind) => share(kind, tallies.get(kind))).join('; ')}`,
    );
  }
}

/** A package in which most waits stand in the midst of code that has nothing to do with streams. */
const large = 'sglang';

/** Of each of its files the last wait is taken out, of all at once: the package is checked as a whole, before and after. */
function wholePackage(parser: PythonParser, folders: Options['folders']): string {
  const folder = folders.get(large);
  if (!folder) throw new Error(`${large} is not in packages.json`);
  const files = packageFiles(folder());
  const mutated = new Map<string, string>();
  for (const { file, text } of files) {
    if (!mentionsStreams(text)) continue;
    const last = mutantsOf(parser, file, text).findLast(
      ({ kind, statement }) => kind === 'waits' && /\.wait_/.test(statement),
    );
    if (last) mutated.set(file, last.text);
  }
  const before = found(createSourceChecker(parser), files);
  const after = found(
    createSourceChecker(parser),
    files.map(({ file, text }) => ({ file, text: mutated.get(file) ?? text })),
  );
  const noticed = new Set([...after].flatMap((key) => (before.has(key) ? [] : key.slice(0, key.lastIndexOf(':')))));
  const all = mutated.size;
  return `${large} as a whole, one wait of each file: in ${noticed.size} of ${all} files something is noticed (${((100 * noticed.size) / all).toFixed(1)} %)`;
}

function nameOf({ name, files }: Unit, file: string): string {
  return files.length > 1 ? `${name} ${file}` : name;
}

function share(kind: Kind, { noticed, exempt, all }: Tally = { noticed: 0, exempt: 0, all: 0 }): string {
  const percent = (of: number) => `${((100 * noticed) / Math.max(1, of)).toFixed(1)} %`;
  const text = `${kind} ${noticed} of ${all} (${percent(all)})`;
  return exempt ? `${text}, without ${exempt} needless ones ${percent(all - exempt)}` : text;
}

function found(checker: SourceChecker, files: readonly SourceFile[]): Set<string> {
  const { findings } = checker.check(files, { fixes: false });
  return new Set(
    findings
      .filter(({ code }) => !advice.has(code))
      .map(({ file, range, code }) => `${file}:${range.start.line + 1} ${code}`),
  );
}

/** `NAME:LINE reason` a line: statements that order nothing that matters, as somebody found who read the code. */
function exemptStatements(file: string): Set<string> {
  return new Set(
    linesOf(file).map((line) => {
      const parts = /^(.*?\.py:\d+|fixture .*?:\d+)\s+\S/.exec(line);
      if (!parts) throw new Error(`test/ecosystem/exempt.txt: '${line}' needs a place and a reason`);
      return parts[1]!;
    }),
  );
}
