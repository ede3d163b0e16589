/**
 * The closed Python files of the workspace: helpers are followed across files. Reads the disk; knows nothing of the
 * protocol or of Python's syntax. Which of the files matter is for the analysis to find out.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { SourceFile } from '../core/checkSource.ts';
import { mentionsStreams } from '../core/lower/words.ts';
import { type IgnoreRules, parseIgnoreFile } from './ignore.ts';

/** Folders that hold other people's code, caches or build results. A folder with `pyvenv.cfg` is skipped by that. */
export const skippedFolders: ReadonlySet<string> = new Set([
  '__pycache__',
  '__pypackages__',
  '_build',
  'buck-out',
  'dist',
  'node_modules',
  'site-packages',
  'venv',
]);

/** Bounds, so that a home folder opened by mistake costs seconds and megabytes, not minutes and gigabytes. */
export interface Bounds {
  readonly files: number;
  readonly fileBytes: number;
  /** Of files that mention streams. */
  readonly streamBytes: number;
  /** Of all others, which matter only where they are imported. */
  readonly otherBytes: number;
}

export const defaultBounds: Bounds = {
  files: 50_000,
  fileBytes: 2 << 20,
  streamBytes: 64 << 20,
  otherBytes: 64 << 20,
};

export interface Scan {
  readonly files: readonly SourceFile[];
  /** How many Python files were looked at, and how many of them mention streams. */
  readonly seen: number;
  readonly streams: number;
  /** Whole sentences about what was left out because of a bound or an error. */
  readonly notes: readonly string[];
}

/** Reads the Python files below the folders. `signal` ends it early with what it has. */
export async function scanWorkspace(
  folders: readonly string[],
  bounds: Bounds = defaultBounds,
  signal?: AbortSignal,
): Promise<Scan> {
  const files: SourceFile[] = [];
  const notes: string[] = [];
  const visited = new Set<string>();
  let seen = 0;
  let streams = 0;
  let streamBytes = 0;
  let otherBytes = 0;
  const full = () => signal?.aborted || seen >= bounds.files || streamBytes >= bounds.streamBytes;

  const walk = async (folder: string, rules: readonly { base: string; rules: IgnoreRules }[]): Promise<void> => {
    if (full() || visited.has(folder)) return;
    visited.add(folder);
    let entries: import('node:fs').Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      notes.push(`${folder} is not read: ${(error as Error).message}`);
      return;
    }
    if (entries.some((entry) => entry.name === 'pyvenv.cfg')) return;
    let here = rules;
    if (entries.some((entry) => entry.name === '.gitignore' && entry.isFile()))
      here = [...rules, { base: folder, rules: parseIgnoreFile(await readText(path.join(folder, '.gitignore'))) }];
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const entry of entries) {
      const child = path.join(folder, entry.name);
      // Links are not followed: they can form cycles, and what they point to is read where it lies.
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !skippedFolders.has(entry.name) && !isIgnored(child, true, here))
          await walk(child, here);
      } else if (entry.isFile() && entry.name.endsWith('.py') && !isIgnored(child, false, here)) {
        if (full()) return;
        seen++;
        const file = await readSource(child, bounds, notes);
        if (!file) continue;
        if (mentionsStreams(file.text)) {
          streams++;
          streamBytes += file.text.length;
        } else if (otherBytes < bounds.otherBytes) otherBytes += file.text.length;
        else continue;
        files.push(file);
      }
    }
  };

  for (const folder of folders) await walk(path.resolve(folder), []);
  if (seen >= bounds.files) notes.push(`Only the first ${bounds.files} Python files are searched for helpers.`);
  if (streamBytes >= bounds.streamBytes)
    notes.push(`Only the first ${bounds.streamBytes} bytes of files that mention streams are read.`);
  if (otherBytes >= bounds.otherBytes)
    notes.push(`Imports are followed into the first ${bounds.otherBytes} bytes of files without streams.`);
  return { files, seen, streams, notes };
}

/** The file if it is there and not too large. */
export async function readSource(
  file: string,
  bounds: Bounds = defaultBounds,
  notes: string[] = [],
): Promise<SourceFile | undefined> {
  try {
    const { size } = await stat(file);
    if (size > bounds.fileBytes) {
      notes.push(`${file} is not read: ${size} bytes is over the limit of ${bounds.fileBytes}.`);
      return undefined;
    }
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      notes.push(`${file} is not read: ${(error as Error).message}`);
    return undefined;
  }
}

/** Whether a changed path lies where `scanWorkspace` would not look. Ignore files are not consulted for single paths. */
export function isSkipped(file: string, folders: readonly string[]): boolean {
  const folder = folders.find((candidate) => file.startsWith(candidate + path.sep));
  if (!folder) return true;
  return path
    .dirname(path.relative(folder, file))
    .split(path.sep)
    .some((name) => (name.startsWith('.') && name !== '.') || skippedFolders.has(name));
}

function isIgnored(file: string, isFolder: boolean, rules: readonly { base: string; rules: IgnoreRules }[]): boolean {
  for (let i = rules.length - 1; i >= 0; i--) {
    const { base, rules: own } = rules[i]!;
    const verdict = own.ignores(path.relative(base, file).split(path.sep).join('/'), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return '';
  }
}
