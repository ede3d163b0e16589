// Lives of blocks: when the allocator may give memory away too early, and which record_stream calls do nothing.
import { expect, test } from 'vitest';
import { hazards } from '../order/verbs.ts';

const nothing: string[] = [];
/** `x` is made on a, read in order on b, and dropped. */
const used = 'alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\n';

test('a dropped block goes to the next allocation of its own stream', () => {
  expect(hazards(`${used}release x\nalloc y on a\na: w y`)).toEqual(['lifetime x: b 5, released 6, reused 7']);
  expect(hazards(`${used}release x\nalloc y on b\nb: w y`)).toEqual(nothing);
  expect(hazards(`${used}release x\nalloc y on c\nc: w y`)).toEqual(nothing);
});

test('a program that ends reuses nothing', () => {
  expect(hazards(`${used}release x`)).toEqual(nothing);
});

test('a block used on its own stream alone is safe, whatever others do', () => {
  expect(hazards('alloc x on a\na: w x\na: r x\nb: \nrelease x\nalloc y on a\na: w y')).toEqual(nothing);
});

test('record_stream covers the work queued up to the release, wherever it is called', () => {
  const rest = 'release x\nalloc y on a\na: w y';
  expect(hazards(`${used}keep x for b\n${rest}`)).toEqual(nothing);
  expect(hazards(`alloc x on a\na: w x\nrecord e on a\nb waits e\nkeep x for b\nb: r x\n${rest}`)).toEqual(nothing);
});

test('record_stream takes a stream of another device', () => {
  const far = used.replaceAll('b waits', 'far waits').replace('b: r x', 'far: r x');
  expect(hazards(`${far}release x\nalloc y on a\na: w y`)).toEqual(['lifetime x: far 5, released 6, reused 7']);
  expect(hazards(`${far}keep x for far\nrelease x\nalloc y on a\na: w y`)).toEqual(nothing);
});

test('record_stream for another stream does not help', () => {
  expect(hazards(`${used}keep x for c\nrelease x\nalloc y on a\na: w y`)).toEqual([
    'lifetime x: b 5, released 7, reused 8',
  ]);
});

test('record_stream for a stream that waits for the reader does', () => {
  expect(hazards(`${used}record f on b\nc waits f\nkeep x for c\nrelease x\nalloc y on a\na: w y`)).toEqual(nothing);
});

test('record_stream on the allocating stream does nothing', () => {
  expect(hazards(`${used}keep x for a\nrelease x\nalloc y on a\na: w y`)).toEqual([
    'redundant x 6: allocating-stream',
    'lifetime x: b 5, released 7, reused 8',
  ]);
});

test('a join back is a full fix, before the release or before the next use', () => {
  const join = 'record f on b\na waits f\n';
  expect(hazards(`${used}${join}release x\nalloc y on a\na: w y`)).toEqual(nothing);
  expect(hazards(`${used}release x\n${join}alloc y on a\na: w y`)).toEqual(nothing);
  expect(hazards(`${used}release x\nalloc y on a\n${join}a: w y`)).toEqual(nothing);
  expect(hazards(`${used}release x\nalloc y on a\na: w y\n${join}`)).toEqual(['lifetime x: b 5, released 6, reused 7']);
});

test('a host wait after the last use is one too', () => {
  expect(hazards(`${used}host waits stream b\nrelease x\nalloc y on a\na: w y`)).toEqual(nothing);
  expect(hazards(`${used}release x\nhost waits device\nalloc y on a\na: w y`)).toEqual(nothing);
});

test('a join that comes before the last use is none', () => {
  expect(hazards(`${used}record f on b\na waits f\nb: r x\nrelease x\nalloc y on a\na: w y`)).toEqual([
    'lifetime x: b 8, released 9, reused 10',
  ]);
});

test('the next owner on the reading stream itself is in order', () => {
  expect(hazards(`${used}release x\nalloc y on a\nb: w y`)).toEqual(nothing);
});

test('code outside may allocate', () => {
  expect(hazards(`${used}release x\noutside a`)).toEqual(['lifetime x: b 5, released 6, reused 7']);
  expect(hazards(`${used}release x\noutside b`)).toEqual(nothing);
  expect(hazards(`${used}record f on b\na waits f\nrelease x\noutside a`)).toEqual(nothing);
});

test('each stream with an uncovered use is told', () => {
  expect(hazards(`${used}c waits e\nc: r x\nkeep x for b\nrelease x\nalloc y on a\na: w y`)).toEqual([
    'lifetime x: c 7, released 9, reused 10',
  ]);
});

test('without evidence, on unknown streams, for host memory: nothing', () => {
  const rest = 'release x\nalloc y on a\na: w y';
  expect(hazards(`blind x\n${used}${rest}`)).toEqual(nothing);
  expect(hazards(`unknown b\n${used}${rest}`)).toEqual(nothing);
  expect(hazards(`pinned x\n${used}${rest}`)).toEqual(nothing);
});

test('with addresses, bytes that overlap are a reuse', () => {
  const placed = used.replace('alloc x on a', 'alloc x on a size 4096 at 0x10000');
  expect(hazards(`${placed}release x\nalloc y on a size 4096 at 0x10000\na: w y`)).toEqual([
    'lifetime x: b 5, released 6, reused 7 as y',
  ]);
  // Four smaller blocks inside a larger one: the first that is written inside it.
  expect(
    hazards(`${placed}release x\nalloc y on a size 512 at 0x10200\nalloc z on a size 512 at 0x10400\na: w z`),
  ).toEqual(['lifetime x: b 5, released 6, reused 8 as z']);
  expect(hazards(`${placed}release x\nalloc y on a size 8192 at 0xf000\na: w y[0..4096]`)).toEqual(nothing);
  expect(hazards(`${placed}release x\nalloc y on a size 8192 at 0xf000\na: w y[4096..8192]`)).toEqual([
    'lifetime x: b 5, released 6, reused 7 as y',
  ]);
});

test('with addresses, a reuse that the allocator did not choose is still possible', () => {
  const placed = used.replace('alloc x on a', 'alloc x on a size 4096 at 0x10000');
  expect(hazards(`${placed}release x\nalloc y on a size 4096 at 0x20000\na: w y`)).toEqual([
    'lifetime x: b 5, released 6, reused 7',
  ]);
  // It does not fit, or comes from other segments.
  expect(hazards(`${placed}release x\nalloc y on a size 8192 at 0x20000\na: w y`)).toEqual(nothing);
  // The same release is told once, as what was seen.
  expect(
    hazards(`${placed}release x\nalloc y on a size 4096 at 0x20000\na: w y\nalloc z on a size 4096 at 0x10000\na: w z`),
  ).toEqual(['lifetime x: b 5, released 6, reused 9 as z']);
});

test('a block that comes and goes untouched hands the memory on', () => {
  const placed = used.replace('alloc x on a', 'alloc x on a size 4096 at 0x10000');
  expect(
    hazards(
      `${placed}release x\nalloc y on a size 4096 at 0x10000\nrelease y\nalloc z on a size 4096 at 0x10000\na: w z`,
    ),
  ).toEqual(['lifetime x: b 5, released 6, reused 9 as z']);
});

test('memory that was given back to the driver and comes for another stream is no reuse of the pool', () => {
  const placed = used.replace('alloc x on a', 'alloc x on a size 4096 at 0x10000');
  expect(hazards(`${placed}release x\nalloc y on c size 4096 at 0x10000\nc: w y`)).toEqual(nothing);
});

test('a loop reports its release once', () => {
  const turn = used.replace('alloc x on a', 'alloc x on a @0').replaceAll('\n', '\n');
  expect(hazards(`${turn}release x @1\nalloc y on a\na: w y`)).toHaveLength(1);
});

test('record_stream is redundant when the join lies before the release', () => {
  expect(hazards(`${used}keep x for b\nrecord f on b\na waits f\nrelease x`)).toEqual([
    'redundant x 6: joined-before-release 8',
  ]);
  expect(hazards(`${used}keep x for b\nhost waits stream b\nrelease x`)).toEqual([
    'redundant x 6: joined-before-release 7',
  ]);
});

test('record_stream is not redundant for later uses, incidental waits, or when another execution needs it', () => {
  expect(hazards(`${used}keep x for b\nrecord f on b\na waits f\nb: r x\nrelease x`)).toEqual(nothing);
  expect(hazards(`${used}keep x for b\nhost waits stream b (implicit)\nrelease x`)).toEqual(nothing);
  expect(hazards(`${used}keep x for b\nrelease x`)).toEqual(nothing);
  expect(
    hazards(
      `alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\nkeep x for b @1\nrecord f on b\na waits f\nrelease x\n` +
        'alloc y on a\na: w y\nrecord e on a\nb waits e\nb: r y\nkeep y for b @1\nrelease y',
    ),
  ).toEqual(nothing);
});

test('record_stream for a tensor that is handed on is never called redundant', () => {
  expect(hazards(`${used}keep x for b\nrecord f on b\na waits f\nescape x to a\nrelease x`)).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nkeep x for a\nescape x to a\nrelease x')).toEqual(nothing);
});
