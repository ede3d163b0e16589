/** `raceline conservative`: every order that could be needed, as a diff, or written into the files. */
import { conservative as insertOrders } from '../core/conservative.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { loadParser } from './checker.ts';
import { unifiedDiff } from './diff.ts';
import { displayPath } from './display-path.ts';
import { counted, problemLine } from './formats/report.ts';
import { readSourceFiles } from './source-files.ts';
import { writeKeepingBytes } from './write.ts';

export async function conservative(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, [], ['--write']);
  if (!given.rest.length) throw new UsageError('conservative needs a file or a folder');
  const read = readSourceFiles(given.rest);
  const files = read.files;
  const result = insertOrders(await loadParser(), files);
  const problems = [...read.problems, ...result.problems];
  let changed = 0;
  for (const [i, { file, text }] of result.files.entries()) {
    const before = files[i]!.text;
    if (text === before) continue;
    changed++;
    if (given.flags.has('--write')) problems.push(...writeKeepingBytes(file, before, text));
    else process.stdout.write(unifiedDiff(displayPath(file), before, text));
  }
  for (const { file, line, message } of result.left)
    console.error(`${displayPath(file)}:${line + 1}: no place found for this order: ${message}`);
  for (const problem of problems) console.error(problemLine(problem));
  const orders = counted(result.inserted, 'order');
  const where = counted(changed, 'file');
  if (given.flags.has('--write')) console.error(`${orders} inserted in ${where}`);
  else console.error(result.inserted ? `${orders} to insert in ${where}; --write applies them` : 'nothing to insert');
  if (problems.some(({ note }) => !note)) return 2;
  return result.left.length || (result.inserted && !given.flags.has('--write')) ? 1 : 0;
}
