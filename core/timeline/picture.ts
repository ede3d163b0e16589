/**
 * What a row looks like at a zoom: the intervals wide enough to be drawn one by one, and for all others how much of each
 * pixel column they cover. The work is one step a column, however many slices lie in it.
 */
import { advance, busyBefore, firstEndingAfter, type Intervals, type Row, sampleLength } from './row.ts';
import type { View } from './view.ts';

export interface RowPicture {
  /** Items drawn one by one, in order of time; `count` of them are valid. */
  items: Int32Array;
  count: number;
  /** Share covered of each pixel column, 0 to 1; a column with anything in it is never 0. */
  readonly density: Float32Array;
  /** Whether any column has something. */
  dense: boolean;
}

export function makePicture(columns: number): RowPicture {
  return { items: new Int32Array(256), count: 0, density: new Float32Array(columns), dense: false };
}

/** Something is there: less would not be seen. */
const least = 0.02;

/**
 * Fills `picture` for `view` over all its columns. Intervals of at least `wide` columns are listed; narrower ones of a
 * column or more cover it whole, less one column as the gap to the next where there is room.
 */
export function takePicture(row: Row, columns: Intervals, view: View, wide: number, picture: RowPicture): RowPicture {
  const { density } = picture;
  density.fill(0);
  picture.count = 0;
  picture.dense = false;
  const count = density.length;
  const column = (view.end - view.start) / count;
  const { items } = row;
  const { start, duration } = columns;
  const first = firstEndingAfter(row, columns, view.start);
  const cursor = { position: first, busy: busyBefore(row, columns, first) };
  const { sampleStart } = row;
  while (cursor.position < items.length) {
    // In the thick of it the samples alone tell: sixteen items within one column are all narrow.
    const sample = cursor.position / sampleLength;
    if (Number.isInteger(sample) && sample + 1 < sampleStart.length) {
      const from = sampleStart[sample]!;
      if (from >= view.end) break;
      if (from >= view.start && sampleStart[sample + 1]! - from < column) {
        const at = Math.floor((from - view.start) / column);
        const before = cursor.busy;
        const position = cursor.position;
        const exact = advance(row, columns, cursor, view.start + (at + 1) * column, column);
        if (cursor.position > position) {
          picture.dense = true;
          // An exact walk may have taken in an item that starts here and is long: it is drawn by itself.
          const last = exact ? duration[items[cursor.position - 1]!]! : 0;
          if (last >= column) {
            cursor.position--;
            cursor.busy -= last;
          }
          if (at < count) density[at] = Math.min(1, Math.max(least, density[at]! + (cursor.busy - before) / column));
          if (cursor.position > position) continue;
        }
      }
    }
    const item = items[cursor.position]!;
    const from = start[item]!;
    if (from >= view.end) break;
    const length = duration[item]!;
    if (length >= wide * column) {
      if (picture.count === picture.items.length) {
        const larger = new Int32Array(picture.count * 2);
        larger.set(picture.items);
        picture.items = larger;
      }
      picture.items[picture.count++] = item;
      cursor.position++;
      cursor.busy += length;
      continue;
    }
    picture.dense = true;
    const at = Math.floor((from - view.start) / column);
    if (length >= column || at < 0) {
      cover(density, (from - view.start) / column, (from + length - view.start) / column);
      cursor.position++;
      cursor.busy += length;
      continue;
    }
    // All that start in this column at once. Only the last of them can be longer than the column: it is drawn by itself.
    const before = cursor.busy;
    const position = cursor.position;
    const exact = advance(row, columns, cursor, view.start + (at + 1) * column, column);
    if (cursor.position === position) {
      // Rounding can put a start just beyond its own column.
      cursor.position++;
      cursor.busy += length;
    }
    const last = exact ? duration[items[cursor.position - 1]!]! : 0;
    if (cursor.position > position + 1 && last >= column) {
      cursor.position--;
      cursor.busy -= last;
    }
    if (at < count) density[at] = Math.min(1, Math.max(least, density[at]! + (cursor.busy - before) / column));
  }
  return picture;
}

function cover(density: Float32Array, from: number, to: number): void {
  const end = to - from >= 2 ? to - 1 : to;
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(density.length, Math.max(Math.ceil(end), first + 1));
  for (let x = first; x < last; x++) {
    const share = Math.min(end, x + 1) - Math.max(from, x);
    density[x] = Math.min(1, Math.max(least, density[x]! + share));
  }
}
