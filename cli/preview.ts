/**
 * `raceline preview`: a function of a source file on the built-in executor; needs neither PyTorch nor a GPU. With
 * `--witness` also a schedule in which a hazard of it happens, as a trace of its own beside the intended one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { preview as previewSource } from '../core/preview.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { witnessFile } from '../core/trace/witness-file.ts';
import type { Witness } from '../core/witness.ts';
import { loadParser } from './checker.ts';
import { displayPath } from './display-path.ts';
import { defaultOutput } from './recordings.ts';
import { trace } from './trace.ts';

export async function preview(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--entry', '-o', '--hazard'], ['--witness']);
  const [file, ...more] = given.rest;
  if (!file || more.length) throw new UsageError('preview needs one Python file');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  const parser = await loadParser();
  const shown = previewSource(parser, [{ file: path.resolve(file), text }], given.values.get('--entry'));
  const { raceline, entry, entries } = shown;
  const out = given.values.get('-o') ?? defaultOutput(file);
  writeFileSync(out, raceline);
  const others = entries.filter((name) => name !== entry);
  console.log(`ran ${entry} on the built-in executor${others.length ? ` (also there: ${others.join(', ')})` : ''}`);
  const found = await trace([out]);
  const beside = given.flags.has('--witness') ? writeWitness(shown.witnesses, given.values.get('--hazard'), out) : '';
  console.log(`\n  raceline view ${out}${beside && ` ${beside}`}`);
  return found;
}

/** The file of the witness that was asked for, the first one by itself; '' if there is none. */
function writeWitness(all: readonly Witness[], wanted: string | undefined, out: string): string {
  if (!all.length) {
    console.log('\nno witness: no hazard of this function makes a value wrong');
    return '';
  }
  const number = wanted === undefined ? 1 : Number(wanted);
  const chosen = all[number - 1];
  if (!chosen) throw new UsageError(`--hazard is a number from 1 to ${all.length}`);
  console.log('\nschedules in which a hazard happens (--hazard N writes another one):');
  all.forEach(({ code, frames, wrong }, index) => {
    const place = frames.at(-1);
    const where = place ? `${displayPath(place.file)}:${place.line}: ` : '';
    console.log(`${index + 1 === number ? '*' : ' '} ${index + 1} ${where}${code}: ${wrong}`);
  });
  const file = witnessFile(out);
  writeFileSync(file, chosen.witness);
  return file;
}
