/** Paths as a code host names them: relative to the repository that the working folder lies in. */
import { existsSync } from 'node:fs';
import path from 'node:path';

let known: string | undefined;

/** The folder with `.git` upward from the working folder; the working folder where there is none. */
export function repositoryRoot(): string {
  known ??= foldersUpward(process.cwd()).find((folder) => existsSync(path.join(folder, '.git'))) ?? process.cwd();
  return known;
}

function foldersUpward(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpward(parent)];
}

/** With `/` on every system; undefined for what lies outside. */
export function relativeToRepository(file: string): string | undefined {
  const relative = path.relative(repositoryRoot(), path.resolve(file));
  if (!relative || relative.startsWith('..') || path.isAbsolute(relative)) return undefined;
  return relative.split(path.sep).join('/');
}
