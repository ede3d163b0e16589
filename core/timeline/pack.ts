/**
 * Which row of its lane an interval goes on. Device slices that overlap on one stream move to sub-rows; host slices nest,
 * so theirs is the depth. Nothing is ever dropped.
 */
import type { Intervals } from './row.ts';

export interface Packed {
  /** Row of `items[i]`. */
  readonly rows: Uint16Array;
  readonly count: number;
}

/** First row that is free at the start of the interval. `items` are sorted by start. */
export function packOverlaps(items: Int32Array, { start, duration }: Intervals): Packed {
  const rows = new Uint16Array(items.length);
  const ends: number[] = [];
  for (let i = 0; i < items.length; i++) {
    const from = start[items[i]!]!;
    let row = 0;
    while (row < ends.length && ends[row]! > from) row++;
    if (row > 0xffff) row = 0xffff;
    ends[row] = from + duration[items[i]!]!;
    rows[i] = row;
  }
  return { rows, count: ends.length };
}

/**
 * Depth in the nest. A slice that starts in another and ends after it (clocks of two recorders) is put below it all the
 * same: two that overlap never share a row. `items` are sorted by start, the longer first where starts are equal.
 */
export function packNested(items: Int32Array, { start, duration }: Intervals): Packed {
  const rows = new Uint16Array(items.length);
  const open: number[] = [];
  let count = 0;
  for (let i = 0; i < items.length; i++) {
    const from = start[items[i]!]!;
    while (open.length && open[open.length - 1]! <= from) open.pop();
    const row = Math.min(open.length, 0xffff);
    open[row] = Math.max(from + duration[items[i]!]!, from);
    // An outer slice that ends before this one must not be taken for the end of what covers this row.
    for (let above = row - 1; above >= 0 && open[above]! < open[row]!; above--) open[above] = open[row]!;
    rows[i] = row;
    if (row + 1 > count) count = row + 1;
  }
  return { rows, count };
}

/** The items of each row, in order. */
export function splitRows(items: Int32Array, packed: Packed): Int32Array[] {
  const sizes = new Int32Array(packed.count);
  for (let i = 0; i < items.length; i++) sizes[packed.rows[i]!]!++;
  const result = Array.from(sizes, (size) => new Int32Array(size));
  const next = new Int32Array(packed.count);
  for (let i = 0; i < items.length; i++) {
    const row = packed.rows[i]!;
    result[row]![next[row]!++] = items[i]!;
  }
  return result;
}
