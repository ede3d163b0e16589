/** Rows of columns brought together by what they belong to, and in order of time. */
import type { Intervals } from './row.ts';

/** Indices grouped by `key`, kept in their order. */
export function groupBy(key: Int32Array, length: number, groups: number): Int32Array[] {
  const sizes = new Int32Array(groups);
  for (let i = 0; i < length; i++) if (key[i]! >= 0 && key[i]! < groups) sizes[key[i]!]!++;
  const result = Array.from(sizes, (size) => new Int32Array(size));
  const next = new Int32Array(groups);
  for (let i = 0; i < length; i++) {
    const group = key[i]!;
    if (group >= 0 && group < groups) result[group]![next[group]!++] = i;
  }
  return result;
}

/** Importers sort by start, but a row that is out of order would hide slices: checked, and mended where needed. */
export function inOrder(items: Int32Array, { start, duration }: Intervals): Int32Array {
  for (let i = 1; i < items.length; i++) {
    const a = items[i - 1]!;
    const b = items[i]!;
    if (start[a]! > start[b]! || (start[a] === start[b] && duration[a]! < duration[b]!))
      return items.sort((x, y) => start[x]! - start[y]! || duration[y]! - duration[x]! || x - y);
  }
  return items;
}
