/** The native executor as a child process: which Python, which folder, how it is started and how its end is told. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Start {
  readonly python: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where output goes: the terminal, or an open file. */
  readonly output?: number;
  /** Asked now and then; a sentence: the program is ended, and this says why. */
  readonly giveUp?: () => string | undefined;
}

/** What a command line runs: a script, or a module after `-m`. */
export const nameOf = (program: readonly string[]): string =>
  (program[0] === '-m' ? program[1]?.split('.').at(-1) : program[0]) ?? 'program';

export const executorFolder = (): string => fileURLToPath(new URL('../executor', import.meta.url));

/** The exit code; where a signal ended it, 128 and its number, as shells have it. */
export function runPython({ python, args, env, output, giveUp }: Start): Promise<number> {
  return new Promise((resolve, reject) => {
    // The child shares the terminal's process group: Ctrl+C reaches it, and it ends by itself.
    const child = spawn(python, [...args], {
      stdio: output === undefined ? 'inherit' : ['ignore', output, output],
      // Inside VS Code this process is its own runtime told to be Node; the program's children must not be.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: undefined, ...env },
    });
    const ignore = () => {};
    process.on('SIGINT', ignore);
    let reason: string | undefined;
    const watch =
      giveUp &&
      setInterval(() => {
        reason ??= giveUp();
        if (reason) child.kill('SIGKILL');
      }, 1000);
    child.on('error', (error) =>
      reject(new Error(`${python} cannot be started: ${error.message}. Name an interpreter with --python.`)),
    );
    child.on('exit', (status, signal) => {
      process.off('SIGINT', ignore);
      clearInterval(watch);
      if (reason) reject(new Error(reason));
      else resolve(status ?? (signal ? 128 + constants.signals[signal] : 2));
    });
  });
}

export function findPython(): string {
  const local = ['.venv', 'venv']
    .flatMap((name) => [path.join(name, 'bin', 'python'), path.join(name, 'Scripts', 'python.exe')])
    .find((file) => existsSync(file));
  if (local) return path.resolve(local);
  const named = process.env.VIRTUAL_ENV ?? process.env.CONDA_PREFIX;
  if (named) return process.platform === 'win32' ? path.join(named, 'python.exe') : path.join(named, 'bin', 'python');
  for (const name of ['python3', 'python'])
    if (spawnSync(name, ['-c', 'pass'], { stdio: 'ignore' }).status === 0) return name;
  throw new Error('no Python interpreter found. Name one with --python, or use raceline preview, which needs none.');
}
