// Waits and records that change nothing: only on every execution, and only where all is seen.
import { expect, test } from 'vitest';
import { findHazards } from '../../../core/hazards/find.ts';
import type { StreamProgram } from '../../../core/program/program.ts';
import { describe, hazards, tell } from '../order/verbs.ts';

const nothing: string[] = [];
const joined = 'side: w x\nrecord e on side\nmain waits e\n';

test('redundant: an earlier wait covers it', () => {
  expect(hazards(`${joined}record f on side\nmain waits f\nmain: r x`)).toEqual(['redundant wait 5: ordered 3']);
  expect(hazards(`${joined}main waits e\nmain: r x`)).toEqual(['redundant wait 4: ordered 3']);
  expect(hazards('side: w x\nhost waits device\nhost waits stream side')).toEqual(['redundant wait 3: ordered 2']);
  expect(hazards('side: w x\nhost waits stream side\nrecord e on side\nmain waits e\nmain: r x')).toEqual([
    'redundant wait 4: ordered 2',
  ]);
});

test('redundant: not with new work, an allocation, or the order of a third stream', () => {
  expect(hazards(`${joined}side: w x\nrecord f on side\nmain waits f\nmain: r x`)).toEqual(nothing);
  expect(hazards(`${joined}alloc y on side\nrecord f on side\nmain waits f\nmain: r x w y`)).toEqual(nothing);
  expect(
    hazards(`${joined}third: w z\nrecord h on third\nside waits h\nrecord f on side\nmain waits f\nmain: r x r z`),
  ).toEqual(nothing);
});

test('redundant: a stream waits for itself', () => {
  expect(hazards('side: w x\nrecord e on side\nside waits e\nside: r x')).toEqual(['redundant wait 3: same-stream']);
  // Whose the default stream is depends on the caller.
  expect(hazards('main: w x\nrecord e on main\nmain waits e\nmain: r x')).toEqual(nothing);
  expect(hazards('unknown side\nside: w x\nrecord e on side\nside waits e')).toEqual(nothing);
});

test('redundant: nothing is known of the awaited stream, or the earlier wait was not written', () => {
  expect(hazards('record e on side\nmain waits e\nrecord f on side\nmain waits f')).toEqual(nothing);
  expect(hazards('side: w x\nhost waits stream side (implicit)\nrecord e on side\nmain waits e')).toEqual(nothing);
});

test('redundant: needed in one execution of the statement', () => {
  expect(hazards('side: w x\nrecord e on side @1\nmain waits e @2\nrecord e on side @1\nmain waits e @2')).toEqual(
    nothing,
  );
});

function with_(text: string, change: Partial<StreamProgram>): string[] {
  const told = tell(text);
  const program = { ...told.program, ...change };
  return findHazards(program).map((hazard) => describe(hazard, { ...told, program }));
}

test('redundant: not after code that is not seen', () => {
  const text = `${joined}record f on side\nmain waits f\nmain: r x`;
  expect(with_(text, { blind: [0] })).toEqual(['redundant wait 5: ordered 3']);
  expect(with_(text, { blind: [3] })).toEqual(nothing);
});

test('unused: recorded, and nothing waits for it', () => {
  const text = 'side: w x\nrecord e on side\nrecord f on side\nmain waits f\nmain: r x';
  const followed = { name: 'e', followed: true };
  const other = { name: 'f', followed: true };
  expect(with_(text, { events: [followed, other] })).toEqual(['unused e: 2']);
  expect(with_(text, { events: [{ name: 'e' }, other] })).toEqual(nothing);
  expect(with_(text, { events: [{ ...followed, timed: true }, other] })).toEqual(nothing);
  expect(with_(text, { events: [{ ...followed, unknown: true }, other] })).toEqual(nothing);
});

test('unused: half of an order that is missing is told as that', () => {
  expect(with_('side: w x\nrecord e on side\nmain: r x', { events: [{ name: 'e', followed: true }] })).toEqual([
    'read-after-write x: side 1, main 3',
  ]);
});

const turn = (stream: string, x: string) => `${stream}: r ${x} w ${x}\nhost waits device @s\n`;

test('serialized: the host waits in each turn between independent work', () => {
  const start = 'host waits device\n';
  expect(hazards(`${start}${turn('a', 'x')}${turn('b', 'y')}${turn('a', 'z')}`)).toEqual(['serialized by 3 (host), 4']);
  // One stream has nothing to overlap with, dependent work must not overlap, the default stream may be anybody's.
  expect(hazards(`${start}${turn('a', 'x')}${turn('a', 'y')}`)).toEqual(nothing);
  expect(hazards(`${start}${turn('a', 'x')}${turn('b', 'x')}`)).toEqual(nothing);
  expect(hazards(`${start}${turn('a', 'x')}${turn('main', 'y')}`)).toEqual(nothing);
  expect(with_(`${start}${turn('a', 'x')}${turn('b', 'y')}`, { blind: [3] })).toEqual(nothing);
});

test('serialized: the wait may be for a host access or a release', () => {
  const start = 'pinned h\nhost waits device\n';
  expect(hazards(`${start}${turn('a', 'x')}host reads h\n${turn('b', 'y')}`)).toEqual(nothing);
  expect(hazards(`${start}${turn('a', 'x')}release x\n${turn('b', 'y')}`)).toEqual(nothing);
});

test('serialized: one side stream waits for another without need', () => {
  const chain = 'a: w x\nrecord e on a\nb waits e\n';
  expect(hazards(`${chain}b: w y\nhost waits device`)).toEqual(['serialized by 3 (stream), 4']);
  expect(hazards(`${chain}b: r x`)).toEqual(nothing);
  // What the second stream passes on is needed by a third.
  expect(hazards(`${chain}b: w y\nrecord f on b\nmain waits f\nmain: r x r y`)).toEqual(nothing);
  expect(hazards(`${chain}b: w y\nescape y to b`)).toEqual(nothing);
});

test('too many: one place makes more streams of one priority than the pool has', () => {
  const { program } = tell('a: w x');
  const streams = (count: number, priority = 0) =>
    Array.from({ length: count }, (_, i) => ({
      name: `s${i}`,
      device: 0,
      isDefault: false,
      made: { origin: 0, priority },
    }));
  const counts = (entries: StreamProgram['streams']) =>
    findHazards({ ...program, streams: entries }).map((hazard) => hazard.kind);
  expect(counts(streams(33))).toEqual(['too-many-streams']);
  expect(counts(streams(32))).toEqual([]);
  expect(counts([...streams(20), ...streams(20, -1)])).toEqual([]);
});
