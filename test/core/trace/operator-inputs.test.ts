/** What operators were called with, out of every layout of a profile, and out of files that are cut or hostile. */
import { gzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { openTrace } from '../../../core/trace/index.ts';
import { unpacker } from '../../../webview/unpacking.ts';
import { readInputs, readInputsUnpacking } from '../../../core/trace/inputs.ts';
import { bytesOf } from './dump.ts';
import { kinetoText, runtime } from './kineto-text.ts';

const text = kinetoText([
  { cat: 'user_annotation', name: 'step', ts: '0.000', dur: '900.000', args: { 'External id': 1 } },
  {
    cat: 'cpu_op',
    name: 'aten::add',
    ts: '10.000',
    dur: '40.000',
    args: {
      'External id': 3,
      'Record function id': 0,
      'Concrete Inputs': ['', '', '1'],
      'Input type': ['c10::BFloat16', 'float', 'Scalar'],
      'Input Dims': [[8, 256, 768], [], []],
      'Ev Idx': 5,
    },
  },
  runtime('cudaLaunchKernel', '12.000', '3.000', 7),
  {
    cat: 'cpu_op',
    name: 'aten::cat',
    ts: '60.000',
    dur: '20.000',
    args: {
      'Input type': ['TensorList', ''],
      'Input Dims': [
        [
          [2, 3],
          [2, 5],
        ],
        [],
      ],
      'Concrete Inputs': ['', '0'],
    },
  },
  { cat: 'cpu_op', name: 'aten::mul', ts: '90.000', dur: '9.000', args: { 'External id': 9 } },
]);

/** By the names of operators. */
function inputsOf(bytes: Uint8Array): Record<string, unknown> {
  const { hostSlices, strings } = openTrace(bytes, 'x');
  const inputs = readInputs('kineto', bytes);
  return Object.fromEntries([...hostSlices.name].map((name, i) => [strings[name], inputs.of(hostSlices.row![i]!)]));
}

const expected = {
  step: [],
  'aten::add': [
    { type: 'BFloat16', shape: '8 × 256 × 768', value: '' },
    { type: 'float', shape: '', value: '' },
    { type: 'Scalar', shape: '', value: '1' },
  ],
  cudaLaunchKernel: [],
  'aten::cat': [
    { type: 'TensorList', shape: '2 × 3, 2 × 5', value: '' },
    { type: '', shape: '', value: '0' },
  ],
  'aten::mul': [],
};

test.each([
  ['as Kineto writes it', bytesOf(text)],
  ['packed', gzipSync(bytesOf(text))],
  ['on one line', bytesOf(JSON.stringify(JSON.parse(text)))],
])('inputs of a profile %s', (_, bytes) => {
  expect(inputsOf(bytes)).toEqual(expected);
});

test('the same where the host unpacks, whole and cut', async () => {
  const packed = gzipSync(bytesOf(text));
  for (const bytes of [bytesOf(text), packed, packed.subarray(0, packed.length - 20)]) {
    const ours = readInputs('kineto', bytes);
    const theirs = await readInputsUnpacking('kineto', bytes, unpacker!);
    for (let row = 0; row < 8; row++) expect(theirs.of(row)).toEqual(ours.of(row));
  }
  expect((await readInputsUnpacking('kineto', packed, unpacker!)).of(1)).toEqual(expected['aten::add']);
});

test('a file that is cut has those that came before', () => {
  const packed = gzipSync(bytesOf(text));
  expect(() => readInputs('kineto', packed.subarray(0, packed.length - 20)).of(1)).not.toThrow();
  const plain = bytesOf(text.slice(0, text.indexOf('aten::mul')));
  expect(inputsOf(plain)).toMatchObject({ 'aten::cat': expected['aten::cat'] });
});

test('arguments that are not what they should be', () => {
  const odd = [
    { 'Input Dims': 'no list', 'Input type': { a: 1 } },
    { 'Input Dims': [[1, 'x'], [[['deep']]]], 'Input type': ['a\u202eb', 5] },
    { 'Input Dims': Array.from({ length: 5000 }, () => [1]), 'Input type': [] },
  ];
  const bytes = bytesOf(
    kinetoText(odd.map((args, i) => ({ cat: 'cpu_op', name: `odd ${i}`, ts: `${i}.000`, dur: '0.500', args }))),
  );
  const inputs = readInputs('kineto', bytes);
  expect(inputs.of(0)).toEqual([]);
  expect(inputs.of(1)).toEqual([
    { type: 'a\ufffdb', shape: '', value: '' },
    { type: '5', shape: '', value: '' },
  ]);
  expect(inputs.of(2)).toHaveLength(64);
  expect(inputs.of(99)).toEqual([]);
  expect(readInputs('kineto', bytesOf('no JSON')).of(0)).toEqual([]);
});
