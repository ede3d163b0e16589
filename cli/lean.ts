/** `raceline lean`: the waits, synchronizations and record_stream calls that can go, each with the order that remains. */
import { spareCalls } from '../core/lean.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { loadParser } from './checker.ts';
import { displayPath } from './display-path.ts';
import { counted, problemLine } from './formats/report.ts';
import { readSourceFiles } from './source-files.ts';

export async function lean(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--format']);
  const format = choice(given, '--format', ['text', 'json'], 'text');
  if (!given.rest.length) throw new UsageError('lean needs a file or a folder');
  const read = readSourceFiles(given.rest);
  const { calls, problems } = spareCalls(await loadParser(), read.files);
  const all = [...read.problems, ...problems];
  if (format === 'json') console.log(JSON.stringify({ version: 1, files: read.files.length, calls, problems: all }));
  else {
    for (const { file, range, call, proof } of calls) {
      console.log(`${displayPath(file)}:${range.start.line + 1}:${range.start.character + 1}: \`${call}\` can go`);
      console.log(`  ${proof}`);
    }
    for (const problem of all) console.error(problemLine(problem));
    console.log(
      calls.length
        ? `${counted(calls.length, 'call')} can go; they can all go together`
        : 'no call is known to be needless',
    );
  }
  if (all.some(({ note }) => !note)) return 2;
  return calls.length ? 1 : 0;
}
