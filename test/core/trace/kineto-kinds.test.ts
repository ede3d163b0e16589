/** What profiles of other vendors, other tools and several ranks hold beside the usual. */
import { describe, expect, it } from 'vitest';
import { criticalPathOf } from '../../../core/answers/critical-path.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { summarizeWaits } from '../../../core/trace/summary.ts';
import { bytesOf, expectWhole } from './dump.ts';
import { type KinetoEvent, kernel, kinetoText, runtime, sync } from './kineto-text.ts';

function open(events: readonly KinetoEvent[], outer: Readonly<Record<string, unknown>> = {}) {
  const trace = openTrace(bytesOf(kinetoText(events, outer)), 'trace.json');
  expectWhole(trace);
  return trace;
}

describe('other vendors', () => {
  it.each(['xpu_runtime', 'xpu_driver', 'mtia_runtime', 'privateuse1_runtime', 'privateuse1_driver', 'hpu_op'])(
    'calls of %s launch their kernels',
    (cat) => {
      const trace = open([
        { ...runtime('urEnqueueKernelLaunch', '10.000', '2.000', 1), cat },
        kernel('gemm', 3, '20.000', '5.000', 1),
      ]);
      expect(trace.problems).toEqual([]);
      expect(trace.counts).toMatchObject({ kernels: 1 });
      expect(trace.deviceSlices.launcher[0]).toBe(0);
    },
  );

  it('device work of MTIA is a kernel', () => {
    const trace = open([{ ...kernel('op', 2, '20.000', '5.000', 1), cat: 'mtia_ccp_events' }]);
    expect([trace.counts.kernels, trace.problems]).toEqual([1, []]);
  });
});

describe('waits that name their event only', () => {
  const record = (correlation: number, stream: number, event: number): KinetoEvent => ({
    cat: 'cuda_event',
    name: 'cudaEvent',
    pid: 0,
    tid: stream,
    ts: '0.000',
    dur: '0.001',
    args: { event_id: event, stream, correlation, device: 0, context: 1 },
  });
  const wait: KinetoEvent = {
    ...sync('Stream Wait Event', 7, '40.000', '1.000', 5, { stream: -1, record: -1 }),
  };

  it('get the newest record of it before them, and that is a guess', () => {
    const trace = open([
      runtime('cudaLaunchKernel', '5.000', '1.000', 1),
      kernel('a', 20, '6.000', '5.000', 1),
      runtime('cudaEventRecord', '10.000', '1.000', 2),
      record(2, 20, 9),
      runtime('cudaEventRecord', '20.000', '1.000', 3),
      record(3, 24, 9),
      runtime('cudaLaunchKernel', '30.000', '1.000', 4),
      kernel('b', 24, '31.000', '5.000', 4),
      runtime('cudaStreamWaitEvent', '40.000', '1.000', 5),
      wait,
      runtime('cudaEventRecord', '50.000', '1.000', 6),
      record(6, 20, 9),
    ]);
    expect(summarizeWaits(trace)).toMatchObject([{ stream: 7, record: { stream: 24 }, inferred: true }]);
  });
});

describe('a critical path that HTA laid over the file', () => {
  const arrow = (ph: string, ts: string, tid: number, type?: string): KinetoEvent => ({
    ph,
    cat: 'critical_path',
    name: 'critical_path',
    pid: tid === 20 ? 0 : 1,
    tid,
    ts,
    ...(type ? { args: { weight: 4, critical: true, type } } : {}),
  });
  const events = [
    runtime('cudaLaunchKernel', '10.000', '2.000', 1),
    kernel('a', 20, '20.000', '10.000', 1),
    arrow('s', '10.000', 1, 'critical_path_kernel_launch_delay'),
    arrow('f', '20.000', 20, 'critical_path_kernel_launch_delay'),
  ];

  it('is kept as arrows between its rows', () => {
    const trace = open(events);
    expect(trace.problems).toEqual([]);
    expect(trace.arrows).toMatchObject([
      { fromTime: 0, fromThread: 0, fromStream: -1, toTime: 10_000, toThread: -1, toStream: 0 },
    ]);
    expect(criticalPathOf(trace).recorded).toEqual([
      { kind: 'critical_path_kernel_launch_delay', count: 1, time: 10_000 },
    ]);
  });

  it('with an arrow of one end is told, and the rest is there', () => {
    const trace = open([...events, arrow('f', '40.000', 20), arrow('s', '50.000', 1)]);
    expect(trace.arrows).toHaveLength(1);
    expect(trace.problems).toHaveLength(1);
  });
});

it('the rank is known from distributedInfo', () => {
  const events = [kernel('a', 20, '20.000', '10.000', 1)];
  expect(open(events, { distributedInfo: { backend: 'nccl', rank: 3, world_size: 8 } }).rank).toBe(3);
  expect(open(events).rank).toBeUndefined();
});

it('an event whose brackets of arguments are empty does not swallow the next', () => {
  const text = kinetoText([
    { cat: 'user_annotation', name: 'ProfilerStep#1', ts: '1.000', dur: '50.000', args: {} },
    runtime('cudaLaunchKernel', '10.000', '2.000', 1),
    kernel('a', 20, '20.000', '10.000', 1),
  ]).replace(/"args": \{\s*\}/, '"args": {}');
  expect(text).toContain('"args": {}');
  const trace = openTrace(bytesOf(text), 'trace.json');
  expectWhole(trace);
  expect(trace.problems).toEqual([]);
  expect([trace.counts.rows, trace.hostSlices.length, trace.deviceSlices.launcher[0]]).toEqual([3, 2, 1]);
});
