/**
 * Bytes over time as steps: allocated, held back from reuse, reserved. Taken from the trace's counters, or worked out from
 * its blocks where it has none. The highest value of each 64 changes is kept, so that a pixel column that holds many still
 * shows its peak.
 */
import { memoryOf } from './memory.ts';
import { count, holds, type Part } from './parts.ts';
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

export interface TotalsLane {
  readonly part: number;
  /** -1: the trace does not say. */
  readonly device: number;
  readonly totals: Totals;
}

export function buildTotals(trace: Trace, times: BlockTimes, bounds: View, parts: readonly Part[]): TotalsLane[] {
  return parts.flatMap((part, index) => {
    const lanes =
      count(part.counters) > 0 ? fromCounters(trace, part, index) : fromBlocks(trace, times, bounds, part, index);
    return lanes.filter(({ totals }) => totals.length > 0);
  });
}

function fromCounters({ counters }: Trace, part: Part, index: number): TotalsLane[] {
  const { from, to } = part.counters;
  const device = counters.device ?? new Int32Array(counters.length).fill(-1);
  const rowsOf = rowsByDevice(device, from, to);
  const devices = [...rowsOf.keys()].sort((a, b) => a - b);
  return devices.map((which) => {
    const rows = rowsOf.get(which)!;
    const totals = finish(
      take(counters.time, rows),
      take(counters.allocated, rows),
      take(counters.heldBack, rows),
      take(counters.reserved, rows),
    );
    return { part: index, device: devices.length > 1 ? which : -1, totals };
  });
}

/** Rows of each device. */
function rowsByDevice(device: Int32Array, from: number, to: number): Map<number, Int32Array> {
  const counts = new Map<number, number>();
  for (let i = from; i < to; ) {
    const which = device[i]!;
    const start = i;
    while (i < to && device[i] === which) i++;
    counts.set(which, (counts.get(which) ?? 0) + i - start);
  }
  const rows = new Map(Array.from(counts, ([which, count]) => [which, new Int32Array(count)]));
  const next = new Map<number, number>();
  for (let i = from; i < to; ) {
    const which = device[i]!;
    const into = rows.get(which)!;
    let at = next.get(which) ?? 0;
    while (i < to && device[i] === which) into[at++] = i++;
    next.set(which, at);
  }
  return rows;
}

function take(values: Float64Array, rows: Int32Array): Float64Array {
  const taken = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) taken[i] = Math.max(0, values[rows[i]!]!);
  return taken;
}

/** Worked out from the blocks, for a trace without counters. */
function fromBlocks(trace: Trace, times: BlockTimes, bounds: View, part: Part, index: number): TotalsLane[] {
  const { blocks, streams } = trace;
  const byDevice = new Map<number, number[]>();
  for (let i = part.blocks.from; i < part.blocks.to; i++) {
    if (memoryOf(trace, i) !== 'device') continue;
    const stream = blocks.stream[i]!;
    const device = holds(part.streams, stream) ? streams[stream]!.device : -1;
    const list = byDevice.get(device);
    if (list) list.push(i);
    else byDevice.set(device, [i]);
  }
  return [...byDevice]
    .sort(([a], [b]) => a - b)
    .map(([device, items]) => ({
      part: index,
      device: byDevice.size > 1 ? device : -1,
      totals: stepsOf(trace, times, bounds, items),
    }));
}

function stepsOf({ blocks }: Trace, times: BlockTimes, bounds: View, items: readonly number[]): Totals {
  // Three changes a block, each list sorted by itself: numbers alone sort many times faster than through a comparison.
  const sorted = (when: (block: number) => number): readonly [Float64Array, Float64Array] => {
    const time = Float64Array.from(items, when);
    const order = orderOf(time);
    return [Float64Array.from(order, (i) => time[i]!), Float64Array.from(order, (i) => blocks.size[items[i]!]!)];
  };
  const [starts, startSizes] = sorted((block) => times.start[block]!);
  const [releases, releaseSizes] = sorted((block) => times.release[block]!);
  const [ends, endSizes] = sorted((block) => times.start[block]! + times.duration[block]!);
  const time: number[] = [];
  const allocated: number[] = [];
  const held: number[] = [];
  let inUse = 0;
  let back = 0;
  const next = [0, 0, 0];
  for (;;) {
    const at = Math.min(
      starts[next[0]!] ?? Number.POSITIVE_INFINITY,
      releases[next[1]!] ?? Number.POSITIVE_INFINITY,
      ends[next[2]!] ?? Number.POSITIVE_INFINITY,
    );
    if (at === Number.POSITIVE_INFINITY) break;
    for (; starts[next[0]!]! <= at; next[0]!++) inUse += startSizes[next[0]!]!;
    // What lives to the end of the trace is not released by it.
    for (; releases[next[1]!]! <= at; next[1]!++)
      if (at < bounds.end) {
        inUse -= releaseSizes[next[1]!]!;
        back += releaseSizes[next[1]!]!;
      }
    for (; ends[next[2]!]! <= at; next[2]!++) if (at < bounds.end) back -= endSizes[next[2]!]!;
    time.push(at);
    allocated.push(inUse);
    held.push(back);
  }
  return finish(Float64Array.from(time), Float64Array.from(allocated), Float64Array.from(held), new Float64Array(0));
}

/** Positions of the values in rising order. */
function orderOf(values: Float64Array): Uint32Array {
  const order = Uint32Array.from(values, (_, i) => i);
  for (let i = 1; i < values.length; i++)
    if (values[i]! < values[i - 1]!) return order.sort((a, b) => values[a]! - values[b]! || a - b);
  return order;
}

function finish(time: Float64Array, allocated: Float64Array, heldBack: Float64Array, reserved: Float64Array): Totals {
  const known = hasPositive(reserved) ? reserved : new Float64Array(0);
  const both = new Float64Array(time.length);
  for (let i = 0; i < both.length; i++) both[i] = Math.max(0, allocated[i]!) + Math.max(0, heldBack[i]!);
  const peaks = [peaksOf(allocated), peaksOf(both), peaksOf(known)] as const;
  let highest = 0;
  for (const list of peaks) for (const peak of list) highest = Math.max(highest, peak);
  return { length: time.length, time, allocated, heldBack, reserved: known, peaks, highest };
}

function hasPositive(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (values[i]! > 0) return true;
  return false;
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
