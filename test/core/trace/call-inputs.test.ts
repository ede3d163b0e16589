/** Inputs of operators in our own recordings: said once a place, and true of calls that touch as much. */
import { gzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { readInputs, readInputsUnpacking } from '../../../core/trace/inputs.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { unpacker } from '../../../webview/unpacking.ts';
import { bytesOf, expectWhole } from './dump.ts';

const line = (value: object) => `${JSON.stringify(value)}\n`;
const op = (n: number, size: number, more: object = {}) =>
  line({ k: 'op', n, t: 100 - n, d: 5, st: 0, name: 0, s: 0, acc: [[0, 0, size, 'r'], [1, 0, 64, 'w']], ...more }); // biome-ignore format: one line

const text = [
  line({ raceline: 1, producer: 'x', mode: 'cuda', level: 'full' }),
  line({ k: 'str', id: 0, v: 'aten::addmm' }),
  line({ k: 'str', id: 1, v: 'train.py' }),
  line({ k: 'site', id: 0, file: 1, line: 4, fn: 0 }),
  line({ k: 'site', id: 1, file: 1, line: 9, fn: 0 }),
  line({ k: 'stream', id: 0, device: 0 }),
  line({ k: 'block', b: 0, size: 4096 }),
  line({ k: 'block', b: 1, size: 4096 }),
  op(1, 96, { in: [['float32', [8, 3]], [['int64', [2]], ['int64', []]], '1.5', null] }), // biome-ignore format: one line
  op(2, 96),
  op(3, 48),
  op(4, 96, { s: 1 }),
].join('');

const whole = `${text}${line({ k: 'end', t: 200, status: 'ok' })}`;

const shown = (bytes: Uint8Array) => {
  const trace = openTrace(bytes, 'run.raceline');
  expectWhole(trace);
  expect(trace.problems).toEqual([]);
  const inputs = readInputs(trace.format, bytes);
  // Later calls began earlier here: rows go with their slices whatever the order.
  return Array.from(trace.hostSlices.row!, (row) => inputs.of(row));
};

const first = [
  { type: 'float32', shape: '8 × 3', value: '' },
  { type: 'int64 list', shape: '2, no dimensions', value: '' },
  { type: '', shape: '', value: '1.5' },
  { type: '', shape: '', value: '' },
];

it.each([
  ['plain', bytesOf(whole)],
  ['packed', gzipSync(bytesOf(whole))],
])('the first call from a place, and the next that touches as much: %s', (_, bytes) => {
  expect(shown(bytes)).toEqual([[], [], first, first]);
});

it('the same where the host unpacks, and of a file that is cut', async () => {
  const packed = gzipSync(bytesOf(text));
  for (const bytes of [packed, packed.subarray(0, packed.length - 9), bytesOf(text.slice(0, -30))]) {
    const theirs = await readInputsUnpacking('raceline', bytes, unpacker!);
    for (let row = 0; row < 12; row++) expect(theirs.of(row)).toEqual(readInputs('raceline', bytes).of(row));
  }
});

it('what is not as it should be', () => {
  const odd = [
    {},
    [],
    ['float32'],
    [
      ['float32', 'x'],
      ['a\u202eb', [1]],
    ],
    'y'.repeat(9000),
    5,
  ].map((value) => value);
  const bytes = bytesOf(`${text}${op(5, 7, { in: odd, s: 1 })}${op(6, 8, { in: 'none', s: 1 })}{"k":"op","in":[1\n`);
  const inputs = readInputs('raceline', bytes);
  expect(inputs.of(12).map(({ type, shape }) => [type, shape])).toEqual([['', ''], ['', ''], ['', ''], ['a\ufffdb list', '1'], ['', ''], ['', '']]); // biome-ignore format: one line
  expect(inputs.of(12)[4]!.value).toHaveLength(200);
  expect(inputs.of(13)).toEqual([]);
  expect(inputs.of(99)).toEqual([]);
  expect(readInputs('raceline', bytesOf(`${text}${line({ k: 'op', in: Array(500).fill('1') })}`)).of(12)).toHaveLength(
    64,
  );
});
