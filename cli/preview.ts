/** `raceline preview`: a function of a source file on the built-in executor; needs neither PyTorch nor a GPU. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { preview as previewSource } from '../core/preview.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { loadParser } from './checker.ts';
import { defaultOutput } from './recordings.ts';
import { trace } from './trace.ts';

export async function preview(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--entry', '-o']);
  const [file, ...more] = given.rest;
  if (!file || more.length) throw new UsageError('preview needs one Python file');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  const parser = await loadParser();
  const { raceline, entry, entries } = previewSource(
    parser,
    [{ file: path.resolve(file), text }],
    given.values.get('--entry'),
  );
  const out = given.values.get('-o') ?? defaultOutput(file);
  writeFileSync(out, raceline);
  const others = entries.filter((name) => name !== entry);
  console.log(`ran ${entry} on the built-in executor${others.length ? ` (also there: ${others.join(', ')})` : ''}`);
  const found = await trace([out]);
  console.log(`\n  raceline view ${out}`);
  return found;
}
