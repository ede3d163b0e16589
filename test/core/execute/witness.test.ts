// Witness schedules: every hazard that makes a value wrong has one, it is a run like any other, and it goes wrong in it.
import { expect, test } from 'vitest';
import { findHazards } from '../../../core/hazards/find.ts';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import type { StreamProgram } from '../../../core/program/program.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { witnesses } from '../../../core/witness.ts';
import { randomProgram } from '../order/random.ts';
import { tell } from '../order/verbs.ts';

const options = (lines: readonly number[]) => ({
  producer: 'raceline test',
  placeOf: (step: number) => [{ file: 'told.py', line: lines[step]!, function: 'run' }],
});

function shown(text: string): string[] {
  const { program, lines } = tell(text);
  return witnesses(program, options(lines)).map(({ code, at, wrong }) => `${code} ${lines[at]}: ${wrong}`);
}

const open = (text: string) => openTrace(new TextEncoder().encode(text), 'told.raceline');

test('the wrong value is named', () => {
  expect(shown('alloc x on a\na: w x\nb: r x')).toMatchInlineSnapshot(`
    [
      "missing-wait 3: \`line 3\` reads what \`line 2\` has not written",
    ]
  `);
  expect(shown('alloc x on a\na: r x\nb: w x')).toMatchInlineSnapshot(`
    [
      "write-after-read 3: \`line 2\` reads what \`line 3\` wrote over it",
    ]
  `);
  expect(shown('alloc x on a\na: w x\nb: w x')).toMatchInlineSnapshot(`
    [
      "missing-wait 3: \`line 2\` writes over what \`line 3\` wrote",
    ]
  `);
  expect(
    shown('alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\nrelease x\nalloc y on a\na: w y'),
  ).toMatchInlineSnapshot(`
    [
      "missing-record-stream 5: \`line 5\` reads what \`line 8\` wrote there",
    ]
  `);
  expect(shown('pinned p\nalloc p on a\nalloc x on a\na: w x\na: r x w p\nhost reads p')).toMatchInlineSnapshot(`
    [
      "host-read-before-sync 6: the host reads what \`line 5\` has not brought",
    ]
  `);
  expect(shown('pinned p\nalloc x on a\nhost writes p\na: r p w x\nhost writes p')).toMatchInlineSnapshot(`
    [
      "pinned-overwritten-in-flight 5: \`line 4\` takes what the host wrote after it",
    ]
  `);
});

test('a program in order has none', () => {
  expect(shown('alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x')).toEqual([]);
});

test('the witness goes wrong where the intended run does not, and is called so', () => {
  const { program, lines } = tell('alloc x on a\na: w x\nhost polls stream a\nb: r x');
  for (const { intended, witness, wrong } of witnesses(program, options(lines))) {
    expect(judgeTrace(open(intended)).map(({ status }) => status)).toEqual(['latent']);
    const trace = open(witness);
    expect(judgeTrace(trace).map(({ status }) => status)).toEqual(['confirmed']);
    expect([...trace.deviceSlices.name].map((name) => trace.strings[name])).toContain(wrong);
  }
});

test('random programs: every missing order has a witness, which is as legal as the intended run', () => {
  let hazards = 0;
  let found = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const program = randomProgram(seed, {
      streams: 2 + (seed % 3),
      events: 3,
      blocks: 3,
      threads: 1 + (seed % 2),
      steps: 40,
      ranges: false,
      unplaced: true,
    });
    const orders = findHazards(program).filter(({ kind }) => kind === 'order');
    const shownOnes = witnesses(program, { producer: 'raceline test' });
    hazards += orders.length;
    for (const { witness, intended, code, at } of shownOnes) {
      const trace = open(witness);
      expect(trace.problems, `seed ${seed}`).toEqual([]);
      expect(kinds(trace.program), `seed ${seed} ${code} ${at}`).toEqual(kinds(open(intended).program));
      inOrder(trace);
    }
    found += shownOnes.filter(({ at }) => orders.some((hazard) => 'second' in hazard && hazard.second === at)).length;
  }
  expect(hazards).toBeGreaterThan(30);
  expect(found / hazards).toBeGreaterThan(0.9);
});

const kinds = ({ steps }: StreamProgram) => steps.map(({ kind }) => kind);

/** Work of one stream runs in the order of its issue, and none before a wait above it has ended. */
function inOrder(trace: ReturnType<typeof open>): void {
  const { deviceSlices: slices, marks, program } = trace;
  const end = new Map<number, number>();
  const events: { step: number; stream: number; start: number; end: number }[] = [];
  for (let i = 0; i < slices.length; i++)
    events.push({
      step: slices.step[i]!,
      stream: slices.stream[i]!,
      start: slices.start[i]!,
      end: slices.start[i]! + slices.duration[i]!,
    });
  for (let i = 0; i < marks.length; i++)
    if (marks.kind[i] === 1)
      events.push({
        step: marks.step[i]!,
        stream: marks.stream[i]!,
        start: marks.deviceTime[i]!,
        end: marks.deviceTime[i]!,
      });
  events.sort((a, b) => a.step - b.step);
  const early = events.filter(({ stream, start, end: stop }) => {
    const before = end.get(stream) ?? 0;
    end.set(stream, Math.max(stop, before));
    return start < before - 1;
  });
  expect(early.map(({ step }) => program.steps[step]?.kind)).toEqual([]);
}
