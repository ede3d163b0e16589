// The laws of order: which pairs of accesses are ordered, and by what.
import { expect, test } from 'vitest';
import { hazards } from './verbs.ts';

const nothing: string[] = [];

test('work of one stream is in order', () => {
  expect(hazards('alloc x on a\na: w x\na: r x')).toEqual(nothing);
});

test('streams are not ordered by the order of calls', () => {
  expect(hazards('alloc x on a\na: w x\nb: r x')).toEqual(['read-after-write x: a 2, b 3']);
  expect(hazards('alloc x on a\na: r x\nb: w x')).toEqual(['write-after-read x: a 2, b 3']);
  expect(hazards('alloc x on a\na: w x\nb: w x')).toEqual(['write-after-write x: a 2, b 3']);
  expect(hazards('alloc x on a\na: r x\nb: r x')).toEqual(nothing);
});

test('the default stream and side streams do not wait for each other', () => {
  expect(hazards('alloc x on main\nmain: w x\nside: r x')).toEqual(['read-after-write x: main 2, side 3']);
  expect(hazards('alloc x on side\nside: w x\nmain: r x')).toEqual(['read-after-write x: side 2, main 3']);
});

test('record and wait order what was queued before the record', () => {
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x')).toEqual(nothing);
  // It is the record that comes too early, not the wait.
  expect(hazards('alloc x on a\nrecord e on a\na: w x\nb waits e\nb: r x')).toEqual(['read-after-write x: a 3, b 5']);
  expect(hazards('alloc x on a\nrecord e on a\nb waits e\na: w x\nb: r x')).toEqual([
    'early 3: 4-5',
    'read-after-write x: a 4, b 5',
  ]);
});

test('a wait does not reach back to work of the waiting stream before it', () => {
  expect(hazards('alloc x on a\nb: r x\na: w x\nrecord e on a\nb waits e\nb: r x')).toEqual([
    'write-after-read x: b 2, a 3',
  ]);
});

test('a chain of waits counts', () => {
  const chain = 'alloc x on a\na: w x\nrecord e on a\nb waits e\nrecord f on b\nc waits f\nc: r x';
  expect(hazards(chain)).toEqual(nothing);
  // The second link is taken before the first one holds.
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nrecord f on b\nb waits e\nc waits f\nc: r x')).toEqual([
    'read-after-write x: a 2, c 7',
  ]);
});

test('a wait takes the latest record that was issued', () => {
  expect(hazards('alloc x on a\nrecord e on a\na: w x\nrecord e on a\nb waits e\nb: r x')).toEqual(nothing);
});

test('a record after the wait does not change it', () => {
  const text = 'alloc x on a\nalloc y on a\na: w x\nrecord e on a\nb waits e\na: w y\nrecord e on a\nb: r x';
  expect(hazards(text)).toEqual(nothing);
  expect(hazards(`${text}\nb: r y`)).toEqual(['read-after-write y: a 6, b 9']);
});

test('a record on another stream hides the first one', () => {
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nrecord e on c\nb waits e\nb: r x')).toEqual([
    'rerecorded e: 3 lost by 4, waited 5: 2-6',
    'read-after-write x: a 2, b 6',
  ]);
});

test('waiting for an event without a record does nothing', () => {
  expect(hazards('alloc x on a\na: w x\nb waits e\nb: r x')).toEqual([
    'unrecorded e: 3',
    'read-after-write x: a 2, b 4',
  ]);
});

test('a host wait orders what the same thread issues later', () => {
  for (const wait of [
    'host waits e',
    'host polls e',
    'host waits stream a',
    'host waits device',
    'host polls stream a',
  ])
    expect(hazards(`alloc x on a\na: w x\nrecord e on a\n${wait}\nb: r x`), wait).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nhost waits stream c\nb: r x')).toEqual(['read-after-write x: a 2, b 4']);
  expect(hazards('alloc x on a\na: w x\nhost waits device 1\nb: r x')).toEqual(['read-after-write x: a 2, b 4']);
});

test('a host wait covers what the awaited stream waited for', () => {
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nb waits e\nhost waits stream b\nc: r x')).toEqual(nothing);
});

test('another host thread is ordered by fork and join only', () => {
  const wait = 'alloc x on a\na: w x\nhost waits stream a\n';
  expect(hazards(`${wait}worker: b: r x`)).toEqual(['read-after-write x: a 2, b 4']);
  expect(hazards(`${wait}fork worker\nworker: b: r x`)).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nfork worker\nhost waits stream a\nworker: b: r x')).toEqual([
    'read-after-write x: a 2, b 5',
  ]);
  expect(hazards('alloc x on a\na: w x\nfork worker\nworker: host waits stream a\nb: r x')).toEqual([
    'read-after-write x: a 2, b 5',
  ]);
  expect(hazards('alloc x on a\na: w x\nfork worker\nworker: host waits stream a\njoin worker\nb: r x')).toEqual(
    nothing,
  );
});

test('two threads that feed one stream are in the order of their calls', () => {
  expect(hazards('alloc x on a\na: w x\nworker: a: r x')).toEqual(nothing);
});

test('an event orders streams of two devices', () => {
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nfar waits e\nfar: r x')).toEqual(nothing);
});

test('bytes decide, not blocks', () => {
  expect(hazards('alloc x on a\na: w x[0..256]\nb: r x[256..512]')).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x[0..256]\nb: r x[128..512]')).toEqual(['read-after-write x[128..256]: a 2, b 3']);
  expect(hazards('alloc x on a\na: w x\nb: r x[128..512]')).toEqual(['read-after-write x[128..512]: a 2, b 3']);
  // The middle was written again in order; both ends were not.
  expect(hazards('alloc x on a\na: w x[0..300]\nb: w x[100..200]\nrecord e on b\nc waits e\nc: r x[100..200]')).toEqual(
    ['write-after-write x[100..200]: a 2, b 3'],
  );
});

test('a pair is reported once, and the clock is not mended', () => {
  expect(hazards('alloc x on a\na: w x\nb: r x\nb: r x')).toEqual(['read-after-write x: a 2, b 3']);
  expect(hazards('alloc x on a\na: w x\nb: r x\nc: r x')).toEqual([
    'read-after-write x: a 2, b 3',
    'read-after-write x: a 2, c 4',
  ]);
  expect(hazards('alloc x on a\na: w x @1\nb: r x @2\na: w x @3\na: w x @1\nb: r x @2')).toEqual([
    'read-after-write x: a 2, b 3',
    'write-after-read x: b 3, a 4',
    // The write of line 4 is another place than line 2, and is overwritten by the same stream before it is read.
  ]);
});

test('an in-place operator is told as a reader first', () => {
  expect(hazards('alloc x on a\na: w x\nb: rw x')).toEqual(['read-after-write x: a 2, b 3']);
});

test('what is not known keeps quiet', () => {
  expect(hazards('unknown u\nalloc x on a\na: w x\nu: r x')).toEqual(nothing);
  expect(hazards('unknown u\nalloc x on a\nu: w x\nb: r x')).toEqual(nothing);
  expect(hazards('blind x\nalloc x on a\na: w x\nb: r x')).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x[?]\nb: r x')).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nb: w x[?]')).toEqual(nothing);
  // It hides nothing either: the known pair is still there.
  expect(hazards('alloc x on a\na: w x\nb: w x[?]\nb: r x')).toEqual(['read-after-write x: a 2, b 4']);
  expect(
    hazards('unknown u\nalloc x on a\na: w x\nrecord e on a\nu waits e\nrecord f on u\nb waits f\nb: r x'),
  ).toEqual(nothing);
});

test('implicit waits order like others', () => {
  expect(hazards('alloc x on a\na: w x\nrecord e on a\nb waits e (implicit)\nb: r x')).toEqual(nothing);
});
