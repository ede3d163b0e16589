/** `raceline run`: runs a program under the native executor and prints what its trace shows. */
import { existsSync } from 'node:fs';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { executorFolder, findPython, nameOf, runPython } from './executor.ts';
import { peers, runWithPeer } from './peers.ts';
import { defaultOutput } from './recordings.ts';
import { trace } from './trace.ts';

export async function run(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['-o', '--python', '--level', '--device', '--serialize', '--with']);
  const program = given.after ?? given.rest;
  if (!program.length) throw new UsageError('run needs a script: raceline run -- SCRIPT.py ARGS…');
  const level = choice(given, '--level', ['full', 'timeline'], 'full');
  const device = choice(given, '--device', ['auto', 'cuda', 'meta'], 'auto');
  const serialize = choice(given, '--serialize', ['no', 'blocks', 'stream'], 'no');
  const python = given.values.get('--python') ?? findPython();
  const peer = choice(given, '--with', ['none', ...peers], 'none');
  if (peer !== 'none') return runWithPeer(peer, python, program, given.values.get('-o'));
  const out = given.values.get('-o') ?? defaultOutput(nameOf(program));
  const options = ['-o', out, '--level', level, '--device', device];
  if (serialize !== 'no') options.push('--serialize', serialize);
  const code = await runPython({ python, args: [executorFolder(), ...options, ...program] });
  if (!existsSync(out)) {
    throw new Error(
      `the run wrote no trace (exit code ${code}). Without PyTorch: raceline preview ${program[0]} shows the timeline of its functions.`,
    );
  }
  const found = await trace([out]);
  console.log(`\n  raceline view ${out}`);
  return code !== 0 ? code : found;
}
