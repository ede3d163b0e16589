/**
 * A row: intervals that do not overlap, in order of time, as indices into columns that somebody else owns. A sparse index
 * over it (every 16th start, and the time covered before it) answers "what is at this time" and "how much is covered
 * between" with few cache misses, which is what makes ten million slices cheap to draw.
 */

export interface Intervals {
  readonly start: Float64Array;
  readonly duration: Float64Array;
}

export interface Row {
  readonly items: Int32Array;
  /** Start of item 0, 16, 32, … */
  readonly sampleStart: Float64Array;
  /** Time covered by all items before item 0, 16, 32, … */
  readonly sampleBusy: Float64Array;
  /** Duration of the longest item: where even that is narrow, none is drawn by itself. */
  readonly longest: number;
}

const shift = 4;
const mask = (1 << shift) - 1;

export function makeRow(items: Int32Array, columns: Intervals): Row {
  const samples = (items.length + mask) >> shift;
  const sampleStart = new Float64Array(samples);
  const sampleBusy = new Float64Array(samples);
  let busy = 0;
  let longest = 0;
  for (let i = 0; i < items.length; i++) {
    if ((i & mask) === 0) {
      sampleStart[i >> shift] = columns.start[items[i]!]!;
      sampleBusy[i >> shift] = busy;
    }
    const length = columns.duration[items[i]!]!;
    busy += length;
    if (length > longest) longest = length;
  }
  return { items, sampleStart, sampleBusy, longest };
}

/** The first position at or after `from` whose start is at or after `time`. */
export function firstStarting(row: Row, columns: Intervals, time: number, from = 0): number {
  const { items, sampleStart } = row;
  const { start } = columns;
  // Most questions are about the near future: a few steps forward are cheaper than a search.
  let i = from;
  for (const near = Math.min(items.length, from + 8); i < near; i++) if (start[items[i]!]! >= time) return i;
  if (i >= items.length) return items.length;
  let low = i >> shift;
  let high = sampleStart.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sampleStart[middle]! < time) low = middle + 1;
    else high = middle;
  }
  let position = Math.max(i, (low - 1) << shift);
  const end = Math.min(items.length, low << shift);
  while (position < end && start[items[position]!]! < time) position++;
  return position;
}

/** The first position whose end is after `time`: what is at `time`, or what comes next. */
export function firstEndingAfter(row: Row, columns: Intervals, time: number): number {
  let i = firstStarting(row, columns, time);
  // Items touch at most at their ends, so only the one before can still reach over `time`. Zero-length ones cannot.
  if (i > 0 && endOf(row, columns, i - 1) > time) i--;
  return i;
}

export function endOf(row: Row, columns: Intervals, position: number): number {
  const item = row.items[position]!;
  return columns.start[item]! + columns.duration[item]!;
}

/** Time covered by the items [from, to). */
export function busyBetween(row: Row, columns: Intervals, from: number, to: number): number {
  return busyBefore(row, columns, to) - busyBefore(row, columns, from);
}

/** Time covered by all items before a position. */
export function busyBefore(row: Row, { duration }: Intervals, position: number): number {
  if (position === 0) return 0;
  // At the very end there may be no sample: take the last one and add the rest.
  const sample = Math.min(position >> shift, row.sampleBusy.length - 1);
  let busy = row.sampleBusy[sample]!;
  for (let i = sample << shift; i < position; i++) busy += duration[row.items[i]!]!;
  return busy;
}

/** A position in a row, with the time covered before it. */
export interface Cursor {
  position: number;
  busy: number;
}

/** Items between two samples. */
export const sampleLength = 1 << shift;

/** So many samples in one pixel column are enough to leave the items alone. */
const many = 4;

/**
 * Moves a cursor to the first item that starts at or after `time`. Where the way is long and no item near its end is as
 * long as `narrow`, it stops at the nearest sample: of 64 items or more up to 15 are counted to the wrong side, which a
 * pixel column does not show, and the items themselves are never looked at. That is what costs: they lie far apart.
 * Returns whether it went the whole way.
 */
export function advance(
  row: Row,
  { start, duration }: Intervals,
  cursor: Cursor,
  time: number,
  narrow: number,
): boolean {
  const { items, sampleStart, sampleBusy } = row;
  const samples = sampleStart.length;
  const first = (cursor.position >> shift) + 1;
  let sample = first;
  while (sample < samples && sample < first + 16 && sampleStart[sample]! < time) sample++;
  if (sample === first + 16) {
    // Columns hold about as many items as their neighbours: doubling steps find the end sooner than halving the whole.
    let step = 16;
    while (sample + step < samples && sampleStart[sample + step]! < time) {
      sample += step;
      step *= 2;
    }
    let high = Math.min(samples, sample + step);
    while (sample < high) {
      const middle = (sample + high) >> 1;
      if (sampleStart[middle]! < time) sample = middle + 1;
      else high = middle;
    }
  }
  if (sample < samples && sample >= first + many && sampleStart[sample]! - sampleStart[sample - 1]! < narrow) {
    cursor.position = sample << shift;
    cursor.busy = sampleBusy[sample]!;
    return false;
  }
  let { position, busy } = cursor;
  if (sample > first) {
    position = (sample - 1) << shift;
    busy = sampleBusy[sample - 1]!;
  }
  for (; position < items.length; position++) {
    const item = items[position]!;
    if (start[item]! >= time) break;
    busy += duration[item]!;
  }
  cursor.position = position;
  cursor.busy = busy;
  return true;
}

/** The position whose interval is nearest to `time`, within `reach`; -1 if none is. */
export function nearest(row: Row, columns: Intervals, time: number, reach: number): number {
  const after = firstEndingAfter(row, columns, time);
  let best = -1;
  let distance = reach;
  for (const i of [after - 1, after]) {
    if (i < 0 || i >= row.items.length) continue;
    const start = columns.start[row.items[i]!]!;
    const away = Math.max(start - time, time - endOf(row, columns, i), 0);
    if (away <= distance) {
      if (away === distance && best >= 0 && distance > 0) continue;
      best = i;
      distance = away;
    }
  }
  return best;
}
