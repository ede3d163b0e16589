/**
 * The quick way over events against the plain one: the same events in the layout of Kineto's writer, which the quick way
 * takes, and on one line, which it does not.
 */
import { expect, test } from 'vitest';
import { openTrace, openTraceFrom } from '../../../core/trace/index.ts';
import { bytesOf, dump } from './dump.ts';
import { type KinetoEvent, kernel, kinetoText, runtime } from './kineto-text.ts';

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
}

const names = ['aten::mul', 'aten::mm', 'a "quoted" name', 'zwölf', 'aten::mul_', 'x', 'back\\slash', 'n'.repeat(900)];

/** A few heads in an order that often, and not always, is the same again. */
function events(seed: number, count: number, first: number, step: number): KinetoEvent[] {
  const random = randomFrom(seed);
  const result: KinetoEvent[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const ts = `${first + i * step}.${String(random(1000)).padStart(3, '0')}`;
    at = random(4) === 0 ? random(names.length) : (at + 1) % names.length;
    const args = { 'External id': i, 'Input Dims': [[random(5000), 768], []], note: 'y'.repeat(random(60)) };
    const durations = ['0.000', `${random(90)}.125`, `${random(9)}000000.500`, '123456789.001'];
    const dur = durations[random(durations.length)]!;
    result.push({ cat: 'cpu_op', name: names[at]!, tid: 1 + (random(9) === 0 ? 1 : 0), ts, dur, args });
    if (random(5) !== 0) continue;
    result.push(runtime('cudaLaunchKernel', ts, '3.000', i), kernel(names[at]!, 7 + random(2), ts, dur, i));
  }
  return result;
}

/** As another writer lays it out; numbers stay as they stand. */
function onOneLine(text: string): string {
  const held = text.replace(/"(ts|dur)": ([\d.]+)/g, '"$1": "@$2@"');
  return JSON.stringify(JSON.parse(held)).replace(/"@([\d.]+)@"/g, '$1');
}

test.each([
  ['one digit and more', 0, 1],
  ['seven digits to nine', 9_999_000, 97],
  ['thirteen digits, of which the first eight change', 5_113_776_099_000, 131],
  ['sixteen digits', 1_790_857_026_000_000, 100_003],
])('events with times of %s', async (_, first, step) => {
  const text = kinetoText(events(first % 7, 400, first, step));
  const wanted = dump(openTrace(bytesOf(onOneLine(text)), 'x'));
  const bytes = bytesOf(text);
  expect(dump(openTrace(bytes, 'x'))).toBe(wanted);
  for (const size of [331, 4099]) {
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
    };
    expect(dump(await openTraceFrom(pieces(), 'x')), `pieces of ${size}`).toBe(wanted);
  }
});

test('names that never come back', () => {
  const many = Array.from({ length: 9_000 }, (_, i) => ({
    cat: 'cpu_op',
    name: `op ${i}`,
    ts: `${1000 + i}.000`,
    dur: '1.000',
    args: { i },
  }));
  const trace = openTrace(bytesOf(kinetoText([...many, ...many.slice(0, 10)])), 'x');
  expect(trace.hostSlices.length).toBe(9_010);
  expect(new Set(trace.hostSlices.name).size).toBe(9_000);
});
