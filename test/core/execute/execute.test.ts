// The built-in executor: what its runs show, and that their hazards are those of the program itself.
import { expect, test } from 'vitest';
import { execute } from '../../../core/execute/execute.ts';
import { findHazards } from '../../../core/hazards/find.ts';
import type { Hazard } from '../../../core/hazards/hazard.ts';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import type { StreamProgram } from '../../../core/program/program.ts';
import { wordHazard } from '../../../core/rules/index.ts';
import { openTrace } from '../../../core/trace/index.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { randomProgram } from '../order/random.ts';
import { tell } from '../order/verbs.ts';

/** Each line of the text is a line of `told.py`. */
function run(text: string): Trace {
  const { program, lines } = tell(text);
  const raceline = execute(program, {
    producer: 'raceline test',
    placeOf: (step) => [{ file: 'told.py', line: lines[step]!, function: 'run' }],
  });
  return openTrace(new TextEncoder().encode(raceline), 'told.raceline');
}

/** Code, line, and line of the earlier step, as the run tells them. */
function seen(text: string): string[] {
  return judgeTrace(run(text)).map(({ code, at, related }) => `${code} ${at.line} ${related[0]?.line}`);
}

/** All but advice, which a run cannot give. */
function hazardsOfRuns(program: StreamProgram): Hazard[] {
  return findHazards(program).filter((hazard) => hazard.kind !== 'redundant-record-stream');
}

/** The same from the program alone. */
function told(text: string): string[] {
  const { program, lines } = tell(text);
  return hazardsOfRuns(program).map((hazard) => {
    const { rule, at, related } = wordHazard(hazard, program)!;
    return `${rule.code} ${lines[at]} ${related[0] ? lines[related[0].at] : undefined}`;
  });
}

const addressOf = (trace: Trace, name: string) =>
  trace.blocks.address[trace.strings.indexOf(name) < 0 ? -1 : trace.blocks.name.indexOf(trace.strings.indexOf(name))];

const used = 'alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\n';

test('a run is a trace without problems, in the order of the program', () => {
  const trace = run(`${used}keep x for b\nrelease x\nhost waits device\nhost polls e`);
  expect(trace.problems).toEqual([]);
  expect(trace.clock).toBe('model');
  expect(trace.program.steps.map((step) => step.kind)).toEqual([
    'allocate',
    'launch',
    'record',
    'wait',
    'launch',
    'recordStream',
    'release',
    'hostWait',
    'poll',
  ]);
  expect(trace.counts).toMatchObject({ kernels: 2, records: 1, waits: 1, waitsWithRecord: 1, hostWaits: 1 });
});

test('work of one stream runs in order, a waiting stream after the record', () => {
  const { deviceSlices: slices } = run(`${used}a: rw x\nb: r x`);
  const end = (i: number) => slices.start[i]! + slices.duration[i]!;
  const on = (stream: number) => [...slices.stream].flatMap((s, i) => (s === stream ? [i] : []));
  for (const stream of [0, 1]) {
    const [first, second] = on(stream);
    expect(slices.start[second!]!).toBeGreaterThanOrEqual(end(first!));
  }
  expect(slices.start[on(1)[0]!]!).toBeGreaterThanOrEqual(end(on(0)[0]!));
});

test('streams without an order overlap', () => {
  const { deviceSlices: slices } = run('alloc x on a size 268435456\nalloc y on b size 268435456\na: w x\nb: w y');
  expect(slices.start[1]!).toBeLessThan(slices.start[0]! + slices.duration[0]!);
});

test('a wait shows how long it held its stream', () => {
  const { marks } = run(`alloc x on a size 268435456\n${used.split('\n').slice(1).join('\n')}`);
  const wait = [...marks.kind].indexOf(1);
  expect(marks.blocked[wait]!).toBeGreaterThan(10_000);
  expect(marks.deviceTime[wait]!).toBeGreaterThan(marks.hostTime[wait]!);
});

test('a wait for an event without a record holds nothing', () => {
  const { marks } = run('alloc x on a size 268435456\na: w x\nb waits e\nb: r x');
  expect(marks.blocked[[...marks.kind].indexOf(1)]).toBe(0);
});

test('a host wait lasts until the work is done', () => {
  const trace = run('alloc x on a size 1073741824\na: w x\nhost waits stream a\na: r x');
  const { deviceSlices: slices, stepTime } = trace;
  expect(stepTime![3]!).toBeGreaterThanOrEqual(slices.start[0]! + slices.duration[0]!);
});

test('a dropped block is what the next allocation on its stream gets', () => {
  const trace = run(`${used}release x\nalloc y on a\na: w y`);
  expect(addressOf(trace, 'y')).toBe(addressOf(trace, 'x'));
  const other = run(`${used}release x\nalloc y on b\nb: w y`);
  expect(addressOf(other, 'y')).not.toBe(addressOf(other, 'x'));
});

test('with record_stream another one, and the old address comes back later', () => {
  const trace = run(`${used}keep x for b\nrelease x\nalloc y on a\na: w y\nhost waits device\nalloc z on a\na: w z`);
  expect(addressOf(trace, 'y')).not.toBe(addressOf(trace, 'x'));
  expect(addressOf(trace, 'z')).toBe(addressOf(trace, 'x'));
  const x = trace.blocks.name.indexOf(trace.strings.indexOf('x'));
  expect(trace.blocks.reusable[x]!).toBeGreaterThan(trace.blocks.releaseRequested[x]!);
  expect(Math.max(...trace.counters.heldBack)).toBeGreaterThan(0);
});

test('record_stream on the allocating stream does nothing', () => {
  const trace = run(`${used}keep x for a\nrelease x\nalloc y on a\na: w y`);
  expect(addressOf(trace, 'y')).toBe(addressOf(trace, 'x'));
});

test('a reuse while the reader runs is confirmed', () => {
  const [hazard] = judgeTrace(
    run(
      'alloc x on a size 1073741824\na: w x\nrecord e on a\nb waits e\nb: r x\nrelease x\nalloc y on a size 1073741824\na: w y',
    ),
  );
  expect(hazard).toMatchObject({ code: 'missing-record-stream', status: 'confirmed', severity: 'error' });
  expect(hazard!.firstSlice).toBeGreaterThanOrEqual(0);
  expect(hazard!.secondSlice).toBeGreaterThanOrEqual(0);
  expect(hazard!.end).toBeGreaterThan(hazard!.start);
});

test('captured work runs at each replay', () => {
  const trace = run(
    'alloc x on s\ncapture g on s\ns: w x\nrecord e on s\nside waits e\nside: r x\nrecord f on side\ns waits f\nend g\nreplay g on m\nreplay g on m',
  );
  expect(trace.counts.kernels).toBe(4);
  expect(new Set(trace.deviceSlices.stream).size).toBe(1);
  expect(judgeTrace(trace)).toEqual([]);
});

test('what the caller does with it is played', () => {
  expect(seen('alloc y on side\nside: w y\nescape y to main')).toEqual(['missing-wait 3 2']);
  expect(seen('alloc y on side\nside: w y\nrecord e on side\nmain waits e\nescape y to main')).toEqual([]);
  expect(seen(`${used}release x\noutside a`)).toEqual(['missing-record-stream 5 1']);
  expect(seen(`${used}keep x for b\nrelease x\noutside a`)).toEqual([]);
});

test('blocks that came from outside are there without an allocation', () => {
  const trace = run('a: r x w y\nb: r y');
  expect(trace.problems).toEqual([]);
  expect(trace.program.steps.map((step) => step.kind)).toEqual(['launch', 'launch']);
  expect(seen('a: r x w y\nb: r y')).toEqual(['missing-wait 2 1']);
});

test('a stream that is not known stays so', () => {
  const trace = run('unknown u\nalloc x on u\nu: w x\nrecord e on u\nb waits e\nb: r x');
  expect(trace.problems).toEqual([]);
  expect(trace.program.streams.map(({ unknown }) => unknown === true)).toEqual([true, false]);
  expect(trace.limits.some((limit) => limit.includes('come from outside'))).toBe(true);
});

test('the hazards of the run are those of the program', () => {
  const programs = [
    used,
    'alloc x on a\na: w x\nb: r x',
    'alloc x on a\na: r x\nb: w x',
    'alloc x on a\na: w x\nb: w x',
    'alloc x on a\na: w x[0..4096]\nb: r x[4096..8192]',
    'alloc x on a\na: w x[0..4096]\nb: r x[2048..8192]',
    'alloc x on a\nrecord e on a\na: w x\nb waits e\nb: r x',
    'alloc x on main\nmain: w x\nrecord e on side\nmain waits e\nside: r x',
    'alloc x on a\na: w x\nb waits e\nb: r x',
    `${used}release x\nalloc y on a\na: w y`,
    `${used}keep x for b\nrelease x\nalloc y on a\na: w y`,
    `${used}record f on b\na waits f\nrelease x\nalloc y on a\na: w y`,
    `${used}release x\nalloc y on a\nrecord f on b\na waits f\na: w y`,
    `${used}host waits stream b\nrelease x\nalloc y on a\na: w y`,
    `${used}release x\nalloc y on b\nb: w y`,
    `${used}keep x for b\nrecord f on b\na waits f\nrelease x`,
    `${used}keep x for a\nrelease x\nalloc y on a\na: w y`,
    'pinned p\nalloc p on a\nalloc x on a\na: w x\na: r x w p\nhost reads p',
    'pinned p\nalloc p on a\nalloc x on a\na: w x\na: r x w p\nhost waits stream a\nhost reads p',
    'pinned p\nalloc x on a\nhost writes p\na: r p w x\nhost writes p',
    'unknown u\nalloc x on a\na: w x\nu: r x',
    'blind x\nalloc x on a\na: w x\nb: r x',
    'alloc x on a\na: w x[?]\nb: r x',
    'alloc x on a\na: w x\nfork worker\nhost waits stream a\nworker: b: r x',
    'alloc x on a\na: w x\nhost waits stream a\nfork worker\nworker: b: r x',
    'alloc in on main\nalloc out on main\ncapture g on s\ns: r in w out\nend g\nside: w in\nreplay g on main',
  ];
  let hazards = 0;
  for (const text of programs) {
    expect(seen(text), text).toEqual(told(text));
    hazards += told(text).length;
  }
  expect(hazards).toBeGreaterThan(10);
});

test('random programs, too, have the hazards of their runs', () => {
  let hazards = 0;
  let reuses = 0;
  let possible = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const program = randomProgram(seed, {
      streams: 2 + (seed % 3),
      events: 3,
      blocks: 3,
      threads: 1 + (seed % 2),
      steps: 60,
      ranges: seed % 2 === 0,
      unplaced: true,
    });
    const raceline = execute(program, {
      producer: 'raceline test',
      placeOf: (step) => [{ file: 'random.py', line: step + 1, function: 'run' }],
    });
    const trace = openTrace(new TextEncoder().encode(raceline), 'random.raceline');
    expect(trace.problems).toEqual([]);
    const ran = judgeTrace(trace).map(
      ({ code, at, related }) => `${code} ${at.line - 1} ${(related[0]?.line ?? 0) - 1}`,
    );
    const known = hazardsOfRuns(program).map((hazard) => {
      const { rule, at, related } = wordHazard(hazard, program)!;
      return `${rule.code} ${at} ${related[0]?.at ?? -1}`;
    });
    // A reuse that is possible in the program may, in one run, go to an owner that is in order; so may the wait that
    // comes too early to settle it.
    const reuse = (one: string) => one.startsWith('missing-record-stream');
    const others = (list: readonly string[]) =>
      [...new Set(list.filter((one) => !reuse(one) && !one.startsWith('reversed-wait')))].sort();
    expect(others(ran), `seed ${seed}`).toEqual(others(known));
    for (const one of ran) expect(known, `seed ${seed}`).toContain(one);
    reuses += ran.filter(reuse).length;
    possible += new Set(known.filter(reuse)).size;
    hazards += ran.length;
  }
  expect(hazards).toBeGreaterThan(300);
  expect(reuses / possible).toBeGreaterThan(0.9);
});
