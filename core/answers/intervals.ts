/** Stretches of time that do not touch each other, in order; what streams are compared by. */
import type { Trace } from '../trace/trace.ts';

/** `start[i]` to `end[i]`, ascending. */
export interface Stretches {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** When each stream was busy: overlaps on one stream count once. */
export function busyOf({ deviceSlices: d, streams }: Trace): Stretches[] {
  const starts = streams.map((): number[] => []);
  const ends = streams.map((): number[] => []);
  for (let i = 0; i < d.length; i++) {
    const start = starts[d.stream[i]!];
    const end = ends[d.stream[i]!];
    if (!start || !end) continue;
    const from = d.start[i]!;
    const to = from + d.duration[i]!;
    const last = end.length - 1;
    if (last >= 0 && from <= end[last]!) end[last] = Math.max(end[last]!, to);
    else {
      start.push(from);
      end.push(to);
    }
  }
  return starts.map((start, i) => ({ start: Float64Array.from(start), end: Float64Array.from(ends[i]!) }));
}

export function lengthOf({ start, end }: Stretches): number {
  let total = 0;
  for (let i = 0; i < start.length; i++) total += end[i]! - start[i]!;
  return total;
}

export function lengthOfBoth(a: Stretches, b: Stretches): number {
  let total = 0;
  for (let i = 0, j = 0; i < a.start.length && j < b.start.length; ) {
    const from = Math.max(a.start[i]!, b.start[j]!);
    const to = Math.min(a.end[i]!, b.end[j]!);
    if (to > from) total += to - from;
    if (a.end[i]! < b.end[j]!) i++;
    else j++;
  }
  return total;
}

/** When any of them was busy. */
export function union(list: readonly Stretches[]): Stretches {
  const order = list
    .flatMap(({ start, end }) => Array.from(start, (from, i) => [from, end[i]!] as const))
    .sort((a, b) => a[0] - b[0]);
  const start: number[] = [];
  const end: number[] = [];
  for (const [from, to] of order) {
    const last = end.length - 1;
    if (last >= 0 && from <= end[last]!) end[last] = Math.max(end[last]!, to);
    else {
      start.push(from);
      end.push(to);
    }
  }
  return { start: Float64Array.from(start), end: Float64Array.from(end) };
}
