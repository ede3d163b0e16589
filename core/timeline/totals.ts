/**
 * Bytes over time as steps: allocated, held back from reuse, reserved. Taken from the trace's counters, or worked out from
 * its blocks where it has none. The highest value of each 64 changes is kept, so that a pixel column that holds many still
 * shows its peak.
 */
import { memoryOf } from './memory.ts';
import type { Trace } from '../trace/trace.ts';
import type { BlockTimes } from './pools.ts';
import type { View } from './view.ts';

export interface Totals {
  readonly length: number;
  readonly time: Float64Array;
  readonly allocated: Float64Array;
  readonly heldBack: Float64Array;
  /** Empty: not recorded. */
  readonly reserved: Float64Array;
  /** Peak of each 64 changes of allocated, of allocated + held back, of reserved. */
  readonly peaks: readonly [Float64Array, Float64Array, Float64Array];
  readonly highest: number;
}

const shift = 6;

export function buildTotals(trace: Trace, times: BlockTimes, bounds: View): Totals {
  const { counters } = trace;
  if (counters.length > 0) return finish(counters.time, counters.allocated, counters.heldBack, counters.reserved);
  return fromBlocks(trace, times, bounds);
}

function fromBlocks(trace: Trace, times: BlockTimes, bounds: View): Totals {
  const { blocks } = trace;
  const changes: number[] = [];
  for (let i = 0; i < blocks.length; i++)
    if (memoryOf(trace, i) === 'device') changes.push(3 * i, 3 * i + 1, 3 * i + 2);
  const when = (change: number): number => {
    const block = Math.floor(change / 3);
    const kind = change % 3;
    return kind === 0
      ? times.start[block]!
      : kind === 1
        ? times.release[block]!
        : times.start[block]! + times.duration[block]!;
  };
  changes.sort((a, b) => when(a) - when(b) || a - b);
  const time: number[] = [];
  const allocated: number[] = [];
  const held: number[] = [];
  let inUse = 0;
  let back = 0;
  for (const change of changes) {
    const block = Math.floor(change / 3);
    const size = blocks.size[block]!;
    const at = when(change);
    // What lives to the end of the trace is not released by it.
    if (change % 3 !== 0 && at >= bounds.end) continue;
    if (change % 3 === 0) inUse += size;
    else if (change % 3 === 1) {
      inUse -= size;
      back += size;
    } else back -= size;
    if (time.length && time[time.length - 1] === at) {
      allocated[time.length - 1] = inUse;
      held[time.length - 1] = back;
    } else {
      time.push(at);
      allocated.push(inUse);
      held.push(back);
    }
  }
  return finish(Float64Array.from(time), Float64Array.from(allocated), Float64Array.from(held), new Float64Array(0));
}

function finish(time: Float64Array, allocated: Float64Array, heldBack: Float64Array, reserved: Float64Array): Totals {
  const known = reserved.some((value) => value > 0) ? reserved : new Float64Array(0);
  const both = allocated.map((value, i) => Math.max(0, value) + Math.max(0, heldBack[i]!));
  const peaks = [peaksOf(allocated), peaksOf(both), peaksOf(known)] as const;
  let highest = 0;
  for (const list of peaks) for (const peak of list) highest = Math.max(highest, peak);
  return { length: time.length, time, allocated, heldBack, reserved: known, peaks, highest };
}

function peaksOf(values: Float64Array): Float64Array {
  const peaks = new Float64Array((values.length + (1 << shift) - 1) >> shift);
  for (let i = 0; i < values.length; i++) if (values[i]! > peaks[i >> shift]!) peaks[i >> shift] = values[i]!;
  return peaks;
}

/** Values at a time: indices into the steps; -1: before the first. */
export function stepAt(totals: Totals, time: number): number {
  let low = -1;
  let high = totals.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (totals.time[middle]! <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Highest allocated, allocated + held back, and reserved of each of `columns` pixel columns. */
export interface TotalsPicture {
  readonly allocated: Float64Array;
  readonly both: Float64Array;
  readonly reserved: Float64Array;
}

export function takeTotals(totals: Totals, view: View, columns: number): TotalsPicture {
  const picture = {
    allocated: new Float64Array(columns),
    both: new Float64Array(columns),
    reserved: new Float64Array(columns),
  };
  const width = (view.end - view.start) / columns;
  let from = stepAt(totals, view.start);
  for (let x = 0; x < columns; x++) {
    const end = view.start + (x + 1) * width;
    let to = from;
    while (to + 1 < totals.length && totals.time[to + 1]! < end) {
      // Whole stretches inside the column are stepped over: their peak is known.
      if (((to + 1) & 63) === 0 && to + 64 < totals.length && totals.time[to + 64]! < end) to += 64;
      else to++;
    }
    picture.allocated[x] = highest(totals.allocated, totals.peaks[0], from, to);
    picture.both[x] = highestSum(totals, from, to);
    if (totals.reserved.length) picture.reserved[x] = highest(totals.reserved, totals.peaks[2], from, to);
    // A change at the very border is the next column's: what was before it lasts no longer.
    from = to;
    while (from + 1 < totals.length && totals.time[from + 1]! <= end) from++;
  }
  return picture;
}

function highest(values: Float64Array, peaks: Float64Array, from: number, to: number): number {
  let best = 0;
  for (let i = Math.max(0, from); i <= to; i++) {
    if ((i & 63) === 0 && i + 63 <= to) {
      best = Math.max(best, peaks[i >> shift]!);
      i += 63;
    } else best = Math.max(best, values[i]!);
  }
  return best;
}

function highestSum(totals: Totals, from: number, to: number): number {
  let best = 0;
  for (let i = Math.max(0, from); i <= to; i++) {
    if ((i & 63) === 0 && i + 63 <= to) {
      best = Math.max(best, totals.peaks[1][i >> shift]!);
      i += 63;
    } else best = Math.max(best, Math.max(0, totals.allocated[i]!) + Math.max(0, totals.heldBack[i]!));
  }
  return best;
}
