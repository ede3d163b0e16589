/** The variables of a run: the process's, then the interpreter's, then an env file's, then the settings'. */
import { readFile } from 'node:fs/promises';
import type { Interpreter } from './interpreter.ts';

export type Variables = Readonly<Record<string, string | null | undefined>>;

export function environment(...layers: readonly Variables[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const layer of [process.env, ...layers])
    for (const [name, value] of Object.entries(layer)) {
      if (value === null || value === undefined) delete result[name];
      else result[name] = value;
    }
  return result;
}

/** What every run gets: its output is read as it is written. */
export const runDefaults = (interpreter: Interpreter): Variables => ({
  ...interpreter.environment,
  PYTHONUNBUFFERED: '1',
  ...(process.platform === 'win32' ? { PYTHONIOENCODING: 'utf-8' } : {}),
});

/** `NAME=value` a line, `export` allowed, quotes taken off, `#` starts a comment. A missing file is no variables. */
export async function readEnvFile(file: string): Promise<Variables> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  const variables: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    if (!match) continue;
    const quoted = /^(['"])(.*)\1\s*(?:#.*)?$/.exec(match[2]!);
    if (quoted) variables[match[1]!] = quoted[1] === '"' ? quoted[2]!.replaceAll('\\n', '\n') : quoted[2]!;
    else variables[match[1]!] = match[2]!.replace(/\s+#.*$/, '');
  }
  return variables;
}
