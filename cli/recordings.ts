/** Where a recording goes that was given no name. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `.raceline/NAME-TIME.raceline` in the working folder; the folder keeps itself out of version control. */
export function defaultOutput(script: string): string {
  mkdirSync('.raceline', { recursive: true });
  const ignore = path.join('.raceline', '.gitignore');
  if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  const stamp = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return path.join('.raceline', `${path.basename(script, '.py')}-${stamp}.raceline`);
}
