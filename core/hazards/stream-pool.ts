/**
 * Streams that are not what their maker takes them for. Beyond the pool: PyTorch keeps 32 per device and priority and hands them out in turn
 * (c10/cuda/CUDAStream.h), so that the 33rd is the first again. Counted by the place that makes them, within one
 * activation: those of an earlier call may be gone. And by the handle 0, which the constructor takes for none.
 */
import type { StreamProgram } from '../program/program.ts';
import type { ExternalStreamZero, TooManyStreams } from './hazard.ts';

const poolSize = 32;

export function findTooManyStreams(program: StreamProgram): TooManyStreams[] {
  const made = new Map<string, { readonly origin: number; count: number }>();
  for (const { made: by, device } of program.streams) {
    const origin = by && program.origins[by.origin];
    const frame = origin?.kind === 'source' ? origin.frames.at(-1) : undefined;
    if (!by || !frame) continue;
    const key = `${device} ${by.priority} ${frame.activation} ${frame.start} ${frame.end} ${frame.file}`;
    const known = made.get(key);
    if (known) known.count++;
    else made.set(key, { origin: by.origin, count: 1 });
  }
  return [...made.values()]
    .filter(({ count }) => count > poolSize)
    .map(({ origin, count }) => ({ kind: 'too-many-streams', origin, count }));
}

export function findExternalStreamZeros(program: StreamProgram): ExternalStreamZero[] {
  return program.streams.flatMap(({ zeroHandle }, stream) =>
    zeroHandle === undefined ? [] : [{ kind: 'external-stream-zero' as const, stream, origin: zeroHandle }],
  );
}
