// Reports of other checkers: a race of CSAN is two accesses that the engine judges, errors of compute-sanitizer are problems.
import { expect, test } from 'vitest';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';

const open = (text: string) => openTrace(new TextEncoder().encode(text), 'report.txt');

const race = (
  pointer: number,
  lines: readonly [number, number],
) => `CSAN detected a possible data race on tensor with data pointer ${pointer}
Access by stream 4096 during kernel:
aten::mul.Tensor(Tensor self, Tensor other) -> Tensor
reading from argument(s) self
With stack trace:
  File "/app/train.py", line 40, in <module>
    step()
  File "/app/train.py", line ${lines[1]}, in step
    y = x * 2
  File "/venv/lib/python3.12/site-packages/torch/cuda/_sanitizer.py", line 381, in _handle_kernel_launch
    stack_trace = traceback.StackSummary.extract(

Previous access by stream 0 during kernel:
aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
writing to argument(s) self, and to the output
With stack trace:
  File "/app/train.py", line ${lines[0]}, in step
    x.fill_(3)

Tensor was allocated with stack trace:
  File "/app/train.py", line 9, in step
    x = torch.empty(4)

`;

test('a race is found again by the engine, once', () => {
  const text = `${'='.repeat(28)}\n${race(140000000000000, [10, 12])}${race(140000000000000, [10, 12])}${race(140000000512000, [20, 22])}Traceback (most recent call last):\n`;
  const trace = open(text);
  expect(trace.problems).toEqual([]);
  expect(trace.producer).toBe('CUDA sanitizer of PyTorch');
  const hazards = judgeTrace(trace);
  expect(hazards.map(({ code, at, related }) => `${code} ${at.file}:${at.line} ${related[0]?.line}`)).toEqual([
    'missing-wait /app/train.py:12 10',
    'missing-wait /app/train.py:22 20',
  ]);
  expect(hazards[0]!.message).toContain('is read on stream 0x1000 by `aten::mul`');
  expect(trace.streams.map(({ name, isDefault, handle }) => [name, isDefault, handle])).toEqual([
    ['default', true, '0x0'],
    ['stream 0x1000', false, '0x1000'],
  ]);
  expect(trace.limits.join(' ')).toContain('stops at the operator that races first');
});

test('errors of compute-sanitizer are told with their place in the kernel', () => {
  const trace = open(`========= COMPUTE-SANITIZER
step 1
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x70 in /app/scale.cu:7
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f00 is out of bounds
=========     Saved host backtrace up to driver entry point
=========         Host Frame: main [0x1]
========= Use-after-free on allocation of size 4,194,304 bytes
=========     potentially accessed after it is free'd
========= ERROR SUMMARY: 2 errors
`);
  expect(trace.problems.map(({ message }) => message)).toEqual([
    'Invalid __global__ write of size 4 bytes at scale(float *, int)+0x70 in /app/scale.cu:7 Address 0x7f00 is out of bounds',
    "Use-after-free on allocation of size 4,194,304 bytes potentially accessed after it is free'd",
  ]);
  expect(judgeTrace(trace)).toEqual([]);
  expect(trace.producer).toBe('compute-sanitizer');
});

test('so are those of its XML', () => {
  const trace = open(
    '<?xml version="1.0"?>\n<ComputeSanitizerOutput><record><kind>Precise</kind><what><text>Invalid __global__ read of size 4 bytes</text><size>4</size></what><where><func>scale&lt;float&gt;</func><path>/app/scale.cu</path><line>7</line></where></record></ComputeSanitizerOutput>',
  );
  expect(trace.problems.map(({ message }) => message)).toEqual([
    'Invalid __global__ read of size 4 bytes at scale<float> in /app/scale.cu:7',
  ]);
});

test('a report cut anywhere, or with bytes changed, opens or says why not', () => {
  const text = race(140000000000000, [10, 12]);
  for (let cut = 60; cut < text.length; cut += 37) expect(() => open(text.slice(0, cut))).not.toThrow();
  expect(judgeTrace(open(text.replace('4096', 'none')))).toEqual([]);
});
