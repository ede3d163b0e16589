/** `raceline run`: runs a program under the native executor and prints what its trace shows. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { defaultOutput } from './recordings.ts';
import { trace } from './trace.ts';

export async function run(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['-o', '--python', '--level', '--device']);
  const program = given.after ?? given.rest;
  if (!program.length) throw new UsageError('run needs a script: raceline run -- SCRIPT.py ARGS…');
  const level = choice(given, '--level', ['full', 'timeline'], 'full');
  const device = choice(given, '--device', ['auto', 'cuda', 'meta'], 'auto');
  const python = given.values.get('--python') ?? findPython();
  const out = given.values.get('-o') ?? defaultOutput(program[0]!);
  const executor = fileURLToPath(new URL('../executor', import.meta.url));
  const code = await new Promise<number>((resolve, reject) => {
    // The child shares the terminal's process group: Ctrl+C reaches it, and it ends the trace itself.
    const child = spawn(python, [executor, '-o', out, '--level', level, '--device', device, ...program], {
      stdio: 'inherit',
    });
    const ignore = () => {};
    process.on('SIGINT', ignore);
    child.on('error', (error) =>
      reject(new Error(`${python} cannot be started: ${error.message}. Name an interpreter with --python.`)),
    );
    child.on('exit', (status, signal) => {
      process.off('SIGINT', ignore);
      resolve(status ?? (signal ? 128 : 2));
    });
  });
  if (!existsSync(out)) {
    throw new Error(
      `the run wrote no trace (exit code ${code}). Without PyTorch: raceline preview ${program[0]} shows the timeline of its functions.`,
    );
  }
  const found = await trace([out]);
  console.log(`\n  raceline view ${out}`);
  return code !== 0 ? code : found;
}

function findPython(): string {
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
