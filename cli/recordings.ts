/** Where a recording goes that was given no name. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `.raceline/NAME-TIME.raceline` in the working folder; the folder keeps itself out of version control. */
export function defaultOutput(script: string): string {
  const ignore = path.join('.raceline', '.gitignore');
  try {
    mkdirSync('.raceline', { recursive: true });
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`no recording can be kept in ${process.cwd()} (${why}). Name a writable place with -o FILE.`);
  }
  const stamp = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return path.join('.raceline', `${path.basename(script, '.py')}-${stamp}.raceline`);
}
