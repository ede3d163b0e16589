/**
 * Which Python files a `check` of some paths reads. Folders that hold other people's code or none at all (environments,
 * caches, VCS) are skipped, as ruff does by default; a path that is named itself is always read.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { SourceFile } from '../core/checkSource.ts';
import type { Problem } from '../core/rules/finding.ts';
import { Projects } from '../server/projects.ts';
import { skippedFolders } from '../server/workspaceFiles.ts';

const skipped: ReadonlySet<string> = new Set([
  ...skippedFolders,
  '.bzr',
  '.direnv',
  '.eggs',
  '.git',
  '.hg',
  '.ipynb_checkpoints',
  '.mypy_cache',
  '.nox',
  '.pants.d',
  '.pytest_cache',
  '.raceline',
  '.ruff_cache',
  '.svn',
  '.tox',
  '.venv',
  '.vscode',
]);

/** Larger files are generated or data; each is named as a problem. */
const sizeLimit = 8 * 1024 * 1024;

export interface Reading {
  readonly projects: Projects;
  /** Paths that are named themselves obey `exclude` too: a hook names every file that changed. */
  readonly forceExclude?: boolean;
}

export function readSourceFiles(
  paths: readonly string[],
  { projects, forceExclude = false }: Reading = { projects: new Projects() },
): { files: SourceFile[]; problems: Problem[] } {
  const files: SourceFile[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  const read = (file: string) => {
    const absolute = path.resolve(file);
    if (seen.has(absolute)) return;
    seen.add(absolute);
    try {
      const size = statSync(absolute).size;
      if (size > sizeLimit) {
        problems.push({ file: absolute, message: `not read: ${size} bytes is over the limit of ${sizeLimit}` });
        return;
      }
      const { text, note } = decoded(readFileSync(absolute));
      if (note) problems.push({ file: absolute, message: note, note: true });
      files.push({ file: absolute, text });
    } catch (error) {
      problems.push({ file: absolute, message: `cannot be read: ${(error as Error).message}` });
    }
  };
  const walk = (directory: string, named = false) => {
    let entries: import('node:fs').Dirent[];
    try {
      entries = readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      problems.push({ file: path.resolve(directory), message: `cannot be read: ${(error as Error).message}` });
      return;
    }
    // A virtual environment by any name; one that is named itself is read, as every path is that is.
    if (!named && entries.some(({ name }) => name === 'pyvenv.cfg')) return;
    const isExcluded = (file: string) => projects.settingsOf(file).exclude?.matches(file) === true;
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const entry of entries) {
      const child = path.join(directory, entry.name);
      // Links are not followed: they can form cycles, and what they point to is read where it lies.
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name) && !isExcluded(child)) walk(child);
      } else if (entry.isFile() && entry.name.endsWith('.py') && !isExcluded(child)) read(child);
    }
  };
  for (const given of paths) {
    const absolute = path.resolve(given);
    if (forceExclude && projects.isExcluded(absolute)) continue;
    let isDirectory: boolean;
    try {
      isDirectory = statSync(absolute).isDirectory();
    } catch {
      problems.push({ file: absolute, message: 'there is no such file or folder' });
      continue;
    }
    if (isDirectory) walk(absolute, true);
    else read(absolute);
  }
  // The same files give the same findings in whatever order they are named.
  files.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  return { files, problems };
}

/** A text from standard input. */
export async function readStandardInput(): Promise<{ readonly text: string; readonly note?: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decoded(Buffer.concat(chunks));
}

function decoded(bytes: Buffer): { readonly text: string; readonly note?: string } {
  const text = bytes.toString('utf8');
  if (!text.includes('\uFFFD') || bytes.includes('\uFFFD')) return { text };
  return { text: bytes.toString('latin1'), note: 'not UTF-8; read as Latin-1' };
}
