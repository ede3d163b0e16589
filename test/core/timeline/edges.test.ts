import { describe, expect, it } from 'vitest';
import { buildEdges, fewestEdges, mostEdges, visibleEdges } from '../../../core/timeline/edges.ts';
import { makeRow } from '../../../core/timeline/row.ts';
import type { MarkColumns } from '../../../core/trace/trace.ts';

/** A record every 10 ns and a wait for it 5 ns later, held for a time that looks random but is not. */
function marksOf(pairs: number): MarkColumns {
  const length = 2 * pairs;
  const pair = (mark: number): number => mark >> 1;
  const isWait = (mark: number): boolean => (mark & 1) === 1;
  const from = <T>(make: (mark: number) => T): T[] => Array.from({ length }, (_, mark) => make(mark));
  const times = from((mark) => 10 * pair(mark) + (isWait(mark) ? 5 : 0));
  return {
    length,
    kind: Uint8Array.from(from((mark) => (isWait(mark) ? 1 : 0))),
    stream: Int32Array.from(from((mark) => mark & 1)),
    thread: new Int32Array(length),
    hostTime: Float64Array.from(times),
    deviceTime: Float64Array.from(times),
    blocked: Float64Array.from(from((mark) => (isWait(mark) ? (pair(mark) * 7919) % 10_007 : 0))),
    other: Int32Array.from(from((mark) => mark ^ 1)),
    inferred: new Uint8Array(length),
    implicit: new Uint8Array(length),
    step: new Int32Array(length),
    site: new Int32Array(length),
  };
}

describe('the edges of a view', () => {
  const pairs = 5000;
  const marks = marksOf(pairs);
  const edges = buildEdges(marks);
  const view = (first: number, count: number) => ({ start: 10 * first - 1, end: 10 * (first + count) - 1 });
  /** What a look at every edge of the view finds. */
  const longest = (first: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => first + i)
      .sort((a, b) => marks.blocked[2 * b + 1]! - marks.blocked[2 * a + 1]! || a - b)
      .slice(0, fewestEdges)
      .sort((a, b) => a - b);

  it('are all there where they are few', () => {
    expect(visibleEdges(edges, view(100, mostEdges))).toEqual(Array.from({ length: mostEdges }, (_, i) => 100 + i));
  });

  it.each([mostEdges + 1, 1000, 3000, pairs])('are those with the longest waits where they are %i', (count) => {
    const first = count === pairs ? 0 : 700;
    expect(visibleEdges(edges, view(first, count))).toEqual(longest(first, count));
  });

  it('keep those that are asked for, in the view only', () => {
    const least = Array.from({ length: 1000 }, (_, i) => 700 + i).reduce((a, b) =>
      marks.blocked[2 * b + 1]! < marks.blocked[2 * a + 1]! ? b : a,
    );
    const drawn = visibleEdges(edges, view(700, 1000), [least, 0]);
    expect(drawn).toEqual([...longest(700, 1000), least].sort((a, b) => a - b));
  });
});

it('a row knows its longest item', () => {
  const intervals = { start: Float64Array.of(0, 10, 20, 40), duration: Float64Array.of(3, 2, 17, 4) };
  expect(makeRow(Int32Array.of(0, 1, 2, 3), intervals).longest).toBe(17);
  expect(makeRow(Int32Array.of(0, 1, 3), intervals).longest).toBe(4);
  expect(makeRow(new Int32Array(0), intervals).longest).toBe(0);
});
