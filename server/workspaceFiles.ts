/**
 * The closed Python files of the workspace that can matter to an open one: helpers that use streams are followed across
 * files. Reads the disk; knows nothing of the protocol or of Python's syntax. A file without a stream word in its bytes is
 * not kept, since nothing in it can order or race.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { SourceFile } from '../core/checkSource.ts';
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
  readonly totalBytes: number;
}

export const defaultBounds: Bounds = { files: 50_000, fileBytes: 2 << 20, totalBytes: 128 << 20 };

const streamWords = ['tream', 'non_blocking', 'async_op', 'cuda.Event', 'CUDAGraph', 'cuda.graph'].map((word) =>
  Buffer.from(word),
);

export const mentionsStreams = (bytes: Buffer) => streamWords.some((word) => bytes.includes(word));

export interface Scan {
  readonly files: readonly SourceFile[];
  /** How many Python files were looked at. */
  readonly seen: number;
  /** Whole sentences about what was left out because of a bound or an error. */
  readonly notes: readonly string[];
}

/** Reads the stream-using Python files below the folders. `signal` ends it early with what it has. */
export async function scanWorkspace(
  folders: readonly string[],
  bounds: Bounds = defaultBounds,
  signal?: AbortSignal,
): Promise<Scan> {
  const files: SourceFile[] = [];
  const notes: string[] = [];
  const visited = new Set<string>();
  let seen = 0;
  let bytes = 0;

  const walk = async (folder: string, rules: readonly { base: string; rules: IgnoreRules }[]): Promise<void> => {
    if (signal?.aborted || seen >= bounds.files || bytes >= bounds.totalBytes || visited.has(folder)) return;
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
        if (signal?.aborted || seen >= bounds.files || bytes >= bounds.totalBytes) return;
        seen++;
        const file = await readIfRelevant(child, bounds, notes);
        if (!file) continue;
        bytes += file.text.length;
        files.push(file);
      }
    }
  };

  for (const folder of folders) await walk(path.resolve(folder), []);
  if (seen >= bounds.files) notes.push(`Only the first ${bounds.files} Python files are searched for helpers.`);
  if (bytes >= bounds.totalBytes) notes.push(`Only ${bounds.totalBytes} bytes of helper files are kept.`);
  return { files, seen, notes };
}

/** The file if it is there, is not too large, and mentions streams. */
export async function readIfRelevant(
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
    const bytes = await readFile(file);
    return mentionsStreams(bytes) ? { file, text: bytes.toString('utf8') } : undefined;
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
