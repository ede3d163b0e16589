/** Puts a fixed text back into its file. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Problem } from '../core/rules/finding.ts';

/** A byte order mark or an encoding that the text does not show stays as it was; a file changed meanwhile is left alone. */
export function writeKeepingBytes(file: string, before: string, after: string): Problem[] {
  try {
    const bytes = readFileSync(file);
    if (bytes.toString('utf8') === before) writeFileSync(file, after);
    else if (bytes.toString('latin1') === before) writeFileSync(file, Buffer.from(after, 'latin1'));
    else return [{ file, message: 'changed while it was checked; not written' }];
    return [];
  } catch (error) {
    return [{ file, message: `cannot be written: ${(error as Error).message}` }];
  }
}
