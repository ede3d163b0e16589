/** By how much a second run is moved on the axis so that it begins where the first does. */
import type { Trace } from '../trace/trace.ts';

export const alignments = ['start', 'kernel', 'clock'] as const;
/** `start`: both recordings begin together; `kernel`: their first kernels or copies do; `clock`: as they really ran. */
export type Alignment = (typeof alignments)[number];

/** Undefined: the traces do not hold what it takes. */
export function shiftOf(first: Trace, second: Trace, by: Alignment): number | undefined {
  if (by === 'start') return 0;
  if (by === 'kernel') {
    const a = firstStart(first);
    const b = firstStart(second);
    return Number.isFinite(a) && Number.isFinite(b) ? a - b : undefined;
  }
  if (!isTime(first.unixStart) || !isTime(second.unixStart)) return undefined;
  const shift = Number(BigInt(second.unixStart) - BigInt(first.unixStart));
  // A day apart there is nothing to compare by the clock: the axis would be empty between the two.
  return Math.abs(shift) < 86_400e9 ? shift : undefined;
}

const isTime = (text: string | undefined): text is string => text !== undefined && /^\d+$/.test(text);

function firstStart({ deviceSlices }: Trace): number {
  let first = Number.POSITIVE_INFINITY;
  for (let i = 0; i < deviceSlices.length; i++) first = Math.min(first, deviceSlices.start[i]!);
  return first;
}
