// Records that miss: events recorded again before their wait, record_stream calls for the wrong block or too late.
import { expect, test } from 'vitest';
import { hazards } from '../order/verbs.ts';

const nothing: string[] = [];
const twoProducers = 'p: w x\nrecord e on p\nq: w y\n';

test('rerecorded: the wait finds the second record only', () => {
  expect(hazards(`${twoProducers}record e on q\nc waits e\nc: r x r y`)).toEqual([
    'rerecorded e: 2 lost by 4, waited 5: 1-6',
    'read-after-write x: p 1, c 6',
  ]);
  expect(hazards(`${twoProducers}record f on q\nc waits e\nc waits f\nc: r x r y`)).toEqual(nothing);
});

test('rerecorded: not after a wait, not where the second record covers the first', () => {
  expect(hazards(`${twoProducers}c waits e\nrecord e on q\nc waits e\nc: r x r y`)).toEqual(nothing);
  expect(hazards(`${twoProducers}q waits e\nrecord e on q\nc waits e\nc: r x r y`)).toEqual(nothing);
  // The record was used; what is missing is another wait.
  expect(hazards(`${twoProducers}d waits e\nrecord e on q\nc waits e\nc: r x r y`)).toEqual([
    'read-after-write x: p 1, c 7',
  ]);
});

test('rerecorded: nothing needs the first record', () => {
  expect(hazards(`${twoProducers}record e on q\nc waits e\nc: r y`)).toEqual(nothing);
});

test('rerecorded: the host waits', () => {
  expect(hazards('pinned h\np: w h\nrecord e on p\nq: w y\nrecord e on q\nhost waits e\nhost reads h')).toEqual([
    'rerecorded e: 3 lost by 5, waited 6: 2-7',
    'host-read-before-copy-done h: p 2, host 7',
  ]);
});

const used = 'alloc x on main\nmain: w x\nrecord e on main\nside waits e\n';
const again = 'alloc z on main\nmain: w z\n';

test('late: the result is recorded instead of what was read', () => {
  const body = `${used}alloc y on side\nside: r x w y\n`;
  const lifetime = 'lifetime x: side 6, released 8, reused 9';
  expect(hazards(`${body}keep y for side\nrelease x\n${again}`)).toEqual(['late y 7: derived, x used 6', lifetime]);
  expect(hazards(`${body}keep x for side\nrelease x\n${again}`)).toEqual(nothing);
});

test('late: a call that protects its own block is none', () => {
  const body = `${used}alloc y on main\nmain: r x w y\nrecord e on main\nside waits e\nside: r x\nside: r y\n`;
  expect(hazards(`${body}keep y for side\nrelease x\n${again}`)).toEqual([
    'lifetime x: side 9, released 12, reused 13',
  ]);
});

test('late: after the release', () => {
  expect(hazards(`${used}side: r x\nrelease x\nkeep x for side\n${again}`)).toEqual([
    'lifetime x: side 5, released 6, reused 8',
    'late x 7: released, x used 5',
  ]);
});
