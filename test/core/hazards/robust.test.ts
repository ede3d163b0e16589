// Programs that no front end should make, and traces that were cut: the engine judges what is there and never throws.
import { expect, test } from 'vitest';
import { findHazards } from '../../../core/hazards/find.ts';
import type { Step, StreamProgram } from '../../../core/program/program.ts';
import { randomNumbers } from '../order/random.ts';
import { hazards } from '../order/verbs.ts';

const nothing: string[] = [];

function soup(seed: number): StreamProgram {
  const pick = randomNumbers(seed);
  const streams = 1 + pick(4);
  const steps: Step[] = [];
  for (let i = 0; i < 120; i++) {
    const base = { thread: pick(2), origin: pick(5) - 1 };
    const [stream, event, block, graph] = [pick(streams), pick(3), pick(5), pick(2)];
    const start = pick(64);
    const access = pick(2)
      ? { block, write: pick(2) === 0, start, end: start + pick(64) }
      : { block, write: pick(2) === 0, unknownRange: pick(3) === 0 };
    const on = (['event', 'stream', 'device'] as const)[pick(3)]!;
    const target =
      on === 'event' ? { kind: on, event } : on === 'stream' ? { kind: on, stream } : { kind: on, device: pick(3) - 1 };
    const kinds: readonly Step[] = [
      { ...base, kind: 'launch', stream, name: '', accesses: [access] },
      { ...base, kind: 'launch', stream, name: '', accesses: [] },
      { ...base, kind: 'record', stream, event },
      { ...base, kind: 'wait', stream, event, implicit: pick(2) === 0 },
      { ...base, kind: 'hostWait', on: target },
      { ...base, kind: 'poll', on: target },
      { ...base, kind: 'hostAccess', name: '', access },
      { ...base, kind: 'allocate', block, stream },
      { ...base, kind: 'release', block },
      { ...base, kind: 'recordStream', block, stream },
      { ...base, kind: 'captureBegin', graph, stream },
      { ...base, kind: 'captureEnd', graph },
      { ...base, kind: 'replay', graph, stream },
      { ...base, kind: 'fork', child: pick(2) },
      { ...base, kind: 'join', child: pick(2) },
      { ...base, kind: 'escape', block, stream, how: 'return' },
      { ...base, kind: 'outside', stream },
    ];
    steps.push(kinds[pick(kinds.length)]!);
  }
  return {
    streams: Array.from({ length: streams }, (_, s) => ({
      name: `s${s}`,
      device: pick(3) - 1,
      isDefault: false,
      unknown: pick(4) === 0,
    })),
    events: [{ name: 'e' }, { name: 'f', unknown: true }, { name: 'g' }],
    blocks: Array.from({ length: 5 }, (_, b) => ({
      name: `b${b}`,
      memory: (['device', 'device', 'device', 'pinned', 'pageable'] as const)[b]!,
      evidence: pick(4) > 0,
      size: pick(2) ? 128 : undefined,
      address: pick(2) ? 0x1000 + 64 * pick(4) : undefined,
    })),
    threads: [{ name: 'main' }, { name: 'worker' }],
    origins: [
      { kind: 'trace', row: 1 },
      { kind: 'trace', row: 2, file: 'a.py', line: 3 },
      { kind: 'source', frames: [], streamFrame: -1 },
      { kind: 'source', frames: [{ activation: 0, file: 'a.py', start: 1, end: 2 }], streamFrame: 0 },
    ],
    steps,
  };
}

test('any steps in any order are judged, twice the same', () => {
  let found = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const program = soup(seed);
    const hazards = findHazards(program);
    expect(findHazards(program)).toEqual(hazards);
    for (const hazard of hazards)
      for (const [key, value] of Object.entries(hazard))
        if (typeof value === 'number') expect(value, `seed ${seed}: ${hazard.kind}.${key}`).toBeGreaterThanOrEqual(0);
    found += hazards.length;
  }
  expect(found).toBeGreaterThan(300);
});

test('unknown streams, events and blocks without evidence are in no hazard', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const program = soup(seed);
    for (const hazard of findHazards(program)) {
      // A record_stream call is wrong by itself, whatever the memory.
      if ('block' in hazard && !/record-stream$/.test(hazard.kind))
        expect(program.blocks[hazard.block]!.evidence, `seed ${seed}: ${hazard.kind}`).toBe(true);
      if (hazard.kind === 'order')
        for (const stream of [hazard.firstStream, hazard.secondStream])
          expect(program.streams[stream]!.unknown, `seed ${seed}`).toBe(false);
      if (hazard.kind === 'unrecorded') expect(program.events[hazard.event]!.unknown).toBeUndefined();
    }
  }
});

test('an empty program has no hazard', () => {
  expect(findHazards({ streams: [], events: [], blocks: [], threads: [], origins: [], steps: [] })).toEqual([]);
});

test('steps of blocks that were never allocated, or are gone', () => {
  expect(hazards('release x\nkeep x for b\nescape x to b\na: r x')).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nrelease x\nrelease x\nalloc y on a\na: w y')).toEqual(nothing);
  expect(hazards('alloc x on a\na: w x\nrelease x\nb: r x')).toEqual(nothing);
});

test('captures without an end, or without a begin', () => {
  expect(hazards('capture g on s\ns: w x\nmain: r x')).toEqual(nothing);
  expect(hazards('end g\nreplay g on main\nmain: r x')).toEqual(nothing);
});
