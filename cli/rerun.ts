/** What the commands share that run a program many times: the recording they start from, and the log of the runs. */
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { executorFolder, nameOf, runPython } from './executor.ts';
import { defaultOutput } from './recordings.ts';

/** Each stream gets a hardware queue of its own: a stream that is held must not hold another. */
export const heldStreams = { CUDA_DEVICE_MAX_CONNECTIONS: '32' };

/** A recording on the GPU, with the program's output in a log beside it. */
export async function recordForRerun(
  python: string,
  program: readonly string[],
  wanted: string | undefined,
): Promise<string> {
  const out = wanted ?? defaultOutput(nameOf(program));
  const log = `${out}.log`;
  console.error(`raceline: recording ${nameOf(program)} to ${out}`);
  const code = await inLog(log, (output) =>
    runPython({ python, args: [executorFolder(), '-o', out, '--device', 'cuda', ...program], output }),
  );
  if (existsSync(out) && statSync(out).size > 0) return out;
  throw new Error(`the recording failed (exit code ${code}):\n${logTail(log)}`);
}

export async function inLog<T>(log: string, work: (output: number) => Promise<T>): Promise<T> {
  const output = openSync(log, 'w');
  try {
    return await work(output);
  } finally {
    closeSync(output);
  }
}

export function logTail(log: string): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-12).join('\n');
}
