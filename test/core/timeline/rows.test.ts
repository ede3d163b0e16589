import { describe, expect, it } from 'vitest';
import { packNested, packOverlaps, splitRows } from '../../../core/timeline/pack.ts';
import { makePicture, takePicture } from '../../../core/timeline/picture.ts';
import {
  busyBetween,
  firstEndingAfter,
  firstStarting,
  type Intervals,
  makeRow,
  nearest,
} from '../../../core/timeline/row.ts';

const columns = (...pairs: readonly (readonly [start: number, end: number])[]): Intervals => ({
  start: Float64Array.from(pairs, ([start]) => start),
  duration: Float64Array.from(pairs, ([start, end]) => end - start),
});
const all = ({ start }: Intervals): Int32Array => Int32Array.from(start, (_, i) => i);

/** Disjoint intervals with gaps and zero-length ones; the same for the same seed. */
function randomIntervals(count: number, seed: number): Intervals {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pairs: [number, number][] = [];
  let time = 0;
  for (let i = 0; i < count; i++) {
    time += random() < 0.3 ? 0 : Math.floor(random() * 20);
    const length = random() < 0.1 ? 0 : Math.floor(random() * 50);
    pairs.push([time, time + length]);
    time += length;
  }
  return columns(...pairs);
}

describe('a row', () => {
  it('finds by time what a look at every interval finds', () => {
    for (const count of [1, 31, 32, 33, 500]) {
      const intervals = randomIntervals(count, count);
      const row = makeRow(all(intervals), intervals);
      const end = intervals.start[count - 1]! + 60;
      for (let time = -1; time < end; time += 3) {
        const starting = intervals.start.findIndex((start) => start >= time);
        expect(firstStarting(row, intervals, time)).toBe(starting < 0 ? count : starting);
        const ending = intervals.start.findIndex((start, i) => start + intervals.duration[i]! > time);
        const found = firstEndingAfter(row, intervals, time);
        // Zero-length intervals at the very time may be taken in: they end where they start.
        if (found !== (ending < 0 ? count : ending)) expect(intervals.duration[found]).toBe(0);
      }
    }
  });

  it('finds forward from a position', () => {
    const intervals = randomIntervals(500, 7);
    const row = makeRow(all(intervals), intervals);
    for (let from = 0; from < 480; from += 17)
      for (const ahead of [0, 5, 300, 5000]) {
        const time = intervals.start[from]! + ahead;
        const expected = intervals.start.findIndex((start, i) => i >= from && start >= time);
        expect(firstStarting(row, intervals, time, from)).toBe(expected < 0 ? 500 : expected);
      }
  });

  it('sums what is covered', () => {
    const intervals = randomIntervals(200, 3);
    const row = makeRow(all(intervals), intervals);
    for (const [from, to] of [
      [0, 200],
      [0, 1],
      [31, 33],
      [64, 64],
      [5, 199],
    ] as const) {
      const sum = intervals.duration.slice(from, to).reduce((a, b) => a + b, 0);
      expect(busyBetween(row, intervals, from, to)).toBe(sum);
    }
  });

  it('knows the nearest interval within reach', () => {
    const intervals = columns([0, 10], [30, 40], [41, 42]);
    const row = makeRow(all(intervals), intervals);
    expect(nearest(row, intervals, 5, 0)).toBe(0);
    expect(nearest(row, intervals, 14, 5)).toBe(0);
    expect(nearest(row, intervals, 27, 5)).toBe(1);
    expect(nearest(row, intervals, 20, 5)).toBe(-1);
    expect(nearest(row, intervals, 41.5, 5)).toBe(2);
  });
});

describe('packing', () => {
  it('puts what overlaps on sub-rows and drops nothing', () => {
    const intervals = columns([0, 10], [2, 5], [4, 8], [5, 6], [10, 12]);
    const packed = packOverlaps(all(intervals), intervals);
    expect([...packed.rows]).toEqual([0, 1, 2, 1, 0]);
    expect(splitRows(all(intervals), packed).map((row) => [...row])).toEqual([[0, 4], [1, 3], [2]]);
  });

  it('gives host slices their depth', () => {
    const intervals = columns([0, 100], [10, 50], [20, 30], [30, 40], [60, 70], [100, 110]);
    expect([...packNested(all(intervals), intervals).rows]).toEqual([0, 1, 2, 2, 1, 0]);
  });

  it('never lets two that overlap share a row, even where they do not nest', () => {
    const intervals = columns([0, 10], [5, 20], [8, 12], [11, 30], [15, 18]);
    const packed = packNested(all(intervals), intervals);
    for (const row of splitRows(all(intervals), packed))
      for (let i = 1; i < row.length; i++)
        expect(intervals.start[row[i]!]).toBeGreaterThanOrEqual(
          intervals.start[row[i - 1]!]! + intervals.duration[row[i - 1]!]!,
        );
    expect(packed.rows.length).toBe(5);
  });
});

describe('the picture of a row', () => {
  it('lists what is wide and sums the rest by column', () => {
    const intervals = columns([0, 10], [10.2, 10.4], [10.5, 10.9], [12, 14], [20, 21]);
    const row = makeRow(all(intervals), intervals);
    const picture = takePicture(row, intervals, { start: 0, end: 40 }, 5, makePicture(40));
    expect([...picture.items.slice(0, picture.count)]).toEqual([0]);
    expect(picture.density[10]).toBeCloseTo(0.6, 5);
    expect(picture.density[11]).toBe(0);
    // Two columns wide: solid, with a column's gap to what may come next.
    expect([...picture.density.slice(12, 14)]).toEqual([1, 0]);
    expect(picture.density[20]).toBe(1);
  });

  it('keeps the sum of what is covered at every zoom', () => {
    const intervals = randomIntervals(5000, 11);
    const row = makeRow(all(intervals), intervals);
    const end = intervals.start[4999]! + 50;
    const total = intervals.duration.reduce((a, b) => a + b, 0);
    for (const count of [10, 100, 300]) {
      const picture = takePicture(row, intervals, { start: 0, end }, Number.POSITIVE_INFINITY, makePicture(count));
      const seen = picture.density.reduce((a, b) => a + b, 0) * (end / count);
      expect(Math.abs(seen - total) / total).toBeLessThan(0.02);
    }
  });

  it('lists every wide slice among a thousand short ones a column', () => {
    const pairs: [number, number][] = [];
    let time = 0;
    for (let i = 0; i < 60_000; i++) {
      const length = i % 7919 === 17 ? 900_000 : 40 + (i % 13);
      pairs.push([time, time + length]);
      time += length + (i % 5);
    }
    const intervals = columns(...pairs);
    const row = makeRow(all(intervals), intervals);
    for (const count of [20, 60, 200, 1000]) {
      for (const view of [
        { start: 0, end: time },
        { start: time * 0.3, end: time * 0.9 },
      ]) {
        const column = (view.end - view.start) / count;
        const picture = takePicture(row, intervals, view, 3, makePicture(count));
        const expected = pairs.flatMap(([start, end], i) =>
          end - start >= 3 * column && end > view.start && start < view.end ? [i] : [],
        );
        expect([...picture.items.slice(0, picture.count)]).toEqual(expected);
      }
    }
  });

  it('never hides a slice, however short', () => {
    const intervals = columns([1_000_000, 1_000_001], [5_000_000, 5_000_000]);
    const row = makeRow(all(intervals), intervals);
    const picture = takePicture(row, intervals, { start: 0, end: 10_000_000 }, 5, makePicture(100));
    expect(picture.density[10]).toBeGreaterThan(0);
    expect(picture.density[50]).toBeGreaterThan(0);
  });

  it('cuts what began before the view', () => {
    const intervals = columns([0, 100], [200, 203]);
    const row = makeRow(all(intervals), intervals);
    const picture = takePicture(row, intervals, { start: 90, end: 290 }, 50, makePicture(100));
    expect([...picture.items.slice(0, picture.count)]).toEqual([0]);
    const narrow = takePicture(row, intervals, { start: 90, end: 290 }, 500, makePicture(100));
    expect(narrow.count).toBe(0);
    expect([...narrow.density.slice(0, 6)]).toEqual([1, 1, 1, 1, 0, 0]);
  });
});
