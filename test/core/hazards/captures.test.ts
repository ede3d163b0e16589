// What a graph capture does not allow, each with its repaired twin.
import { expect, test } from 'vitest';
import { hazards } from '../order/verbs.ts';

const nothing: string[] = [];
const forked = 'capture g on root\nroot: w x\nrecord e on root\nside waits e\nside: r x w y\n';

test('unjoined: a forked stream whose work nobody waits for', () => {
  expect(hazards(`${forked}end g`)).toEqual(['unjoined capture: side forked 4, 5 not joined at 6']);
  expect(hazards(`${forked}record f on side\nroot waits f\nend g`)).toEqual(nothing);
  // Through a third stream.
  expect(
    hazards(`${forked}record f on side\nthird waits f\nthird: r y\nrecord h on third\nroot waits h\nend g`),
  ).toEqual(nothing);
});

test('unjoined: a join before the last work, and a fork without work', () => {
  expect(hazards(`${forked}record f on side\nroot waits f\nside: r y\nend g`)).toEqual([
    'unjoined capture: side forked 4, 8 not joined at 9',
  ]);
  expect(hazards('capture g on root\nrecord e on root\nside waits e\nend g')).toEqual(nothing);
});

test('unjoined: the fork that is not joined is the one that is told', () => {
  expect(hazards(`${forked}record f on side\nroot waits f\nrecord e on root\nside waits e\nside: r y\nend g`)).toEqual([
    'unjoined capture: side forked 9, 10 not joined at 11',
  ]);
});

test('events: none crosses the border', () => {
  expect(hazards('a: w x\nrecord e on a\ncapture g on root\nroot waits e\nend g')).toEqual([
    'event into the capture: e 2, 4',
  ]);
  expect(hazards('capture g on root\nroot: w x\nrecord e on root\nend g\nreplay g on a\nb waits e')).toEqual([
    'event out-of the capture: e 3, 6',
  ]);
  expect(hazards('capture g on root\nroot: w x\nrecord e on root\nend g\nhost waits e')).toEqual([
    'event out-of the capture: e 3, 5',
  ]);
  // Recorded again outside.
  expect(hazards('capture g on root\nroot: w x\nrecord e on root\nend g\nrecord e on a\nb waits e')).toEqual(nothing);
  // Streams outside of the capture may go on meanwhile.
  expect(hazards('capture g on root\nroot: w x\na: w z\nrecord e on a\nb waits e\nend g')).toEqual(nothing);
});

test('events: what is not known is not accused', () => {
  expect(hazards('unknown a\na: w x\nrecord e on root\ncapture g on root\na waits e\nend g')).toEqual(nothing);
  expect(hazards('a: w x\nrecord e on a\ncapture g on root\nroot waits e (implicit)\nend g')).toEqual(nothing);
});

test('synchronization: not while a capture is open', () => {
  expect(hazards('capture g on root\nhost waits device\nend g')).toEqual(['sync in capture: 2']);
  expect(hazards('capture g on root\nhost waits stream root\nend g')).toEqual(['sync in capture: 2']);
  expect(hazards('capture g on root\nrecord e on root\nhost waits e\nend g')).toEqual(['sync in capture: 3']);
  expect(hazards('host waits device\ncapture g on root\nend g\nhost waits device')).toEqual(nothing);
  // Another thread's business.
  expect(hazards('fork worker\ncapture g on root\nworker: host waits device\nend g')).toEqual(nothing);
  expect(hazards('capture g on root\nhost waits device (implicit)\nend g')).toEqual(nothing);
});

test('synchronization: one that nobody wrote needs certain CUDA memory', () => {
  expect(hazards('capture g on root\nroot: r x @1\nhost waits stream root (implicit) @1\nend g')).toEqual(nothing);
  expect(hazards('blind x\ncapture g on root\nroot: r x\nhost waits stream root (implicit)\nend g')).toEqual(nothing);
});

test('record_stream: not while a capture is open', () => {
  const body = 'root: w y\nrecord e on root\nside waits e\nside: r y\n';
  expect(
    hazards(`capture g on root\nalloc y on root\n${body}keep y for side\nrecord f on side\nroot waits f\nend g`),
  ).toEqual(['record_stream in capture: y 7']);
  expect(hazards(`alloc y on root\n${body}keep y for side\ncapture g on root\nend g`)).toEqual(nothing);
});
