import { gzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openTrace, openTraceFrom, TraceError } from '../../../core/trace/index.ts';
import { summarize } from '../../../core/trace/summary.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { markKinds } from '../../../core/trace/trace.ts';
import { bytesOf, dump, expectWhole } from './dump.ts';
import { type KinetoEvent, kernel, kinetoText, memory, python, runtime, sync } from './kineto-text.ts';

function open(events: readonly KinetoEvent[], outer: Readonly<Record<string, unknown>> = {}): Trace {
  return openText(kinetoText(events, outer));
}

function openText(text: string): Trace {
  const trace = openTrace(bytesOf(text), 'trace.json');
  expectWhole(trace);
  return trace;
}

/** An upload on stream 13, a wait of the default stream for it, a kernel there. */
const pipeline: readonly KinetoEvent[] = [
  python('train.py(40): <module>', '100.000', '900.000'),
  python('train.py(12): step', '101.000', '800.000'),
  python('torch/nn/modules/module.py(1773): _call_impl', '102.000', '700.000'),
  { cat: 'cpu_op', name: 'aten::copy_', ts: '110.000', dur: '40.000', args: { 'External id': 3 } },
  runtime('cudaMemcpyAsync', '120.000', '10.000', 501),
  runtime('cudaEventRecord', '160.000', '5.000', 502),
  runtime('cudaStreamWaitEvent', '170.000', '5.000', 503),
  {
    cat: 'cpu_op',
    name: 'aten::mul',
    ts: '180.000',
    dur: '40.000',
    args: { 'External id': 4, 'Input Dims': [[2, 3], []] },
  },
  memory('185.000', 512, 0x7f0000000000, 512),
  runtime('cudaLaunchKernel', '190.000', '20.000', 504),
  memory('230.000', -512, 0x7f0000000000, 0),
  memory('231.000', -1024, 0x7f0000100000, 0),
  runtime('cudaDeviceSynchronize', '240.000', '260.000', 505),
  {
    cat: 'gpu_memcpy',
    name: 'Memcpy HtoD (Pinned -> Device)',
    pid: 0,
    tid: 13,
    ts: '130.000',
    dur: '150.000',
    args: { device: 0, context: 1, stream: 13, correlation: 501, bytes: 1048576, 'memory bandwidth (GB/s)': 47.6 },
  },
  kernel('void mul<float>(int)', 7, '285.000', '100.000', 504),
  sync('Stream Wait Event', 7, '171.000', '2.000', 503, { stream: 13, record: 502 }),
  sync('Context Sync', -1, '241.000', '258.000', 505),
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, ts: '0.000', args: { name: 'thread 1 (python)' } },
  { ph: 'i', name: 'Record Window End', pid: '', tid: '', ts: '1100.000' },
  { cat: 'Trace', name: 'PyTorch Profiler (0)', pid: 'Spans', tid: 'PyTorch Profiler', ts: '90.000', dur: '1000.000' },
  { ph: 's', cat: 'ac2g', name: 'ac2g', ts: '190.000' },
];

describe('a profiled pipeline', () => {
  const trace = open(pipeline, { baseTimeNanoseconds: 1790857026000000000n });

  it('is read whole', () => {
    expect(trace.problems).toEqual([]);
    expect(dump(trace)).toMatchSnapshot();
  });

  it('joins the wait to its record, and works out how long it blocked', () => {
    const { marks } = trace;
    const wait = [...marks.kind].indexOf(markKinds.indexOf('wait'));
    const record = marks.other[wait]!;
    expect(trace.streams[marks.stream[record]!]!.number).toBe(13);
    // The upload ends at 280 µs, 180 after the first event; the wait was issued at 170.
    expect(marks.deviceTime[record]).toBe(180_000);
    expect(marks.blocked[wait]).toBe(110_000);
    expect(marks.inferred[wait]).toBe(0);
  });

  it('joins a kernel to its call and to the innermost Python frame of the program', () => {
    const { deviceSlices, hostSlices, sites, strings } = trace;
    const slice = [...deviceSlices.kind].indexOf(0);
    expect(strings[hostSlices.name[deviceSlices.launcher[slice]!]!]).toBe('cudaLaunchKernel');
    const site = deviceSlices.site[slice]!;
    expect([strings[sites.file[site]!], sites.line[site], strings[sites.function[site]!]]).toEqual([
      'train.py',
      12,
      'step',
    ]);
  });

  it('tells what the file does not hold', () => {
    expect(trace.limits.join('\n')).toContain('Which memory an operator reads or writes is not recorded');
    expect(trace.limits.join('\n')).toContain('Allocator events name no stream');
    expect(trace.limits.join('\n')).not.toContain('Waits are not recorded');
  });

  it('gives the summary', () => {
    const summary = summarize(trace);
    expect(summary.streams.map((stream) => [stream.number, stream.name, stream.slices])).toEqual([
      [7, 'default', 1],
      [13, 'stream 13', 1],
    ]);
    expect(summary.counts).toMatchObject({ kernels: 1, copies: 1, waits: 1, waitsWithRecord: 1, memoryEvents: 3 });
  });

  it('is the same in any pieces, packed or not', async () => {
    const bytes = bytesOf(kinetoText(pipeline, { baseTimeNanoseconds: 1790857026000000000n }));
    const wanted = dump(trace);
    for (const size of [1, 7, 64, 1000, 5000]) {
      const pieces = async function* (whole: Uint8Array) {
        for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size);
      };
      expect(dump(await openTraceFrom(pieces(bytes), 'x')), `pieces of ${size}`).toBe(wanted);
      expect(dump(await openTraceFrom(pieces(gzipSync(bytes)), 'x')), `packed pieces of ${size}`).toBe(wanted);
    }
  });

  it.each([
    ['one line', JSON.stringify],
    ['indented by one', (value: unknown) => JSON.stringify(value, undefined, 1)],
    ['indented by two', (value: unknown) => JSON.stringify(value, undefined, 2)],
    ['indented by tabs', (value: unknown) => JSON.stringify(value, undefined, '\t')],
  ])('is the same in the layout of another writer: %s', (_, print) => {
    const text = kinetoText(pipeline).replace(/"ts": ([\d.]+)/g, '"ts": $1');
    expect(dump(openText(print(JSON.parse(text))))).toBe(dump(openText(text)));
  });

  it('is the same as a bare array of events', () => {
    const events = (JSON.parse(kinetoText(pipeline)) as { traceEvents: unknown }).traceEvents;
    const bare = openText(JSON.stringify(events));
    expect(bare.counts).toEqual(open(pipeline).counts);
  });
});

describe('the three generations of times', () => {
  const at = (ts: readonly [string, string], outer: Readonly<Record<string, unknown>> = {}) => {
    const trace = open([runtime('cudaLaunchKernel', ts[0], '1', 5), kernel('k', 7, ts[1], '2', 5)], outer);
    return [trace.deviceSlices.start[0], trace.deviceSlices.duration[0], trace.unixStart];
  };

  it('whole microseconds since 1970', () => {
    expect(at(['1712867402348289', '1712867402348300'])).toEqual([11_000, 2000, '1712867402348289000']);
  });

  it('absolute microseconds with three decimals, past what a double holds', () => {
    expect(at(['1712867402348289.123', '1712867402348289.124'])).toEqual([1, 2000, '1712867402348289123']);
    expect(at(['1712867402348289.999', '1712867402348290.001'])).toEqual([2, 2000, '1712867402348289999']);
  });

  it('microseconds from a base', () => {
    expect(at(['5113717237449.288', '5113717237450.000'], { baseTimeNanoseconds: 1790857026000000000n })).toEqual([
      712,
      2000,
      '1795970743237449288',
    ]);
  });

  it('relative times without a base have no Unix time', () => {
    expect(at(['100.5', '101.25'])).toEqual([750, 2000, undefined]);
  });

  it('an exponent is a number too', () => {
    expect(at(['1e2', '1.5e2'])[0]).toBe(50_000);
  });
});

describe('waits', () => {
  const calls = [
    runtime('cudaLaunchKernel', '10', '1', 1),
    kernel('k', 13, '20', '100', 1),
    runtime('cudaEventRecordWithFlags', '30', '1', 2),
    runtime('cudaStreamWaitEvent', '32', '1', 3),
    runtime('cudaLaunchKernel', '40', '1', 4),
    kernel('k', 7, '130', '10', 4),
  ];
  const waits = (trace: Trace) =>
    [...trace.marks.kind.keys()]
      .filter((mark) => markKinds[trace.marks.kind[mark]!] === 'wait')
      .map((mark) => ({
        stream: trace.streams[trace.marks.stream[mark]!]?.number ?? -1,
        other: trace.marks.other[mark]!,
        inferred: trace.marks.inferred[mark] === 1,
      }));

  it('that do not name their record are joined by position, as a guess', () => {
    const trace = open([...calls, sync('Stream Wait Event', 7, '32', '1', 3, { stream: -1, record: -1 })]);
    expect(waits(trace)).toEqual([{ stream: 7, other: 0, inferred: true }]);
    expect(trace.counts).toMatchObject({ waits: 1, waitsWithRecord: 0 });
    expect(trace.limits.join('\n')).toContain('1 of 1 waits do not say which record they wait for');
    // A guess is not told to the engine.
    const events = trace.program.steps.flatMap((step) =>
      step.kind === 'wait' ? [trace.program.events[step.event]!] : [],
    );
    expect(events).toEqual([{ name: expect.any(String), unknown: true }]);
  });

  it('are not guessed when another call stands between', () => {
    const trace = open([
      ...calls,
      runtime('cudaLaunchKernel', '31', '0.5', 9),
      sync('Stream Wait Event', 7, '32', '1', 3, { stream: -1, record: -1 }),
    ]);
    expect(waits(trace)).toEqual([{ stream: 7, other: -1, inferred: false }]);
  });

  it('take the stream of their record from the row of the event', () => {
    const trace = open([
      ...calls,
      {
        cat: 'cuda_event',
        name: 'cudaEvent',
        pid: 0,
        tid: 13,
        ts: '120',
        dur: '0.001',
        args: { event_id: 9, stream: 13, correlation: 2, device: 0 },
      },
      sync('Stream Wait Event', 7, '32', '1', 3, { stream: -1, record: 2 }),
    ]);
    expect(waits(trace)).toEqual([{ stream: 7, other: 0, inferred: false }]);
    expect(trace.streams[trace.marks.stream[0]!]!.number).toBe(13);
  });

  it('that are not recorded are not “no waits”', () => {
    const trace = open(calls);
    expect(trace.limits.join('\n')).toContain('Waits are not recorded');
    expect(waits(trace)).toEqual([{ stream: -1, other: 0, inferred: true }]);
  });

  it('a query that answered “done” is a poll, not a wait of the host', () => {
    const trace = open([
      ...calls,
      runtime('cudaEventQuery', '200', '1', 8),
      sync('Event Sync', -1, '200', '1', 8, { stream: 13, record: 2 }),
      sync('Stream Wait Event', 7, '32', '1', 3, { stream: 13, record: 2 }),
    ]);
    expect(trace.counts.hostWaits).toBe(0);
    expect(trace.program.steps.map((step) => step.kind)).toEqual(['launch', 'record', 'wait', 'launch', 'poll']);
  });
});

describe('streams', () => {
  it('overlaps on one stream are kept', () => {
    const trace = open([
      runtime('cudaLaunchKernelExC', '1', '1', 1),
      runtime('cudaLaunchKernelExC', '3', '1', 2),
      kernel('a', 7, '10', '20', 1),
      kernel('b', 7, '25', '20', 2),
    ]);
    expect([...trace.deviceSlices.start]).toEqual([9000, 24_000]);
    expect(trace.counts.kernels).toBe(2);
  });

  it('come from the arguments, whatever the row says', () => {
    const trace = open([{ ...kernel('a', 20, '10', '20', 1), tid: 1_000_020 }]);
    expect(trace.streams.map((stream) => stream.number)).toEqual([20]);
  });

  it('all kernels of a graph launch on a stream are one step', () => {
    const trace = open([
      runtime('cudaGraphLaunch', '1', '1', 1),
      kernel('a', 7, '10', '5', 1),
      kernel('b', 7, '20', '5', 1),
      kernel('c', 25, '12', '5', 1),
    ]);
    expect([...trace.deviceSlices.step].sort()).toEqual([0, 0, 1]);
  });
});

describe('broken files', () => {
  it('a quote that is not escaped costs its event alone', () => {
    const text = kinetoText([
      kernel('a', 7, '10', '5', 1),
      kernel('BROKEN', 7, '20', '5', 2),
      kernel('c', 7, '30', '5', 3),
    ]);
    const broken = text.replace('BROKEN', 'bro"ken');
    const trace = openText(broken);
    expect(trace.counts.kernels).toBe(2);
    expect(trace.problems).toEqual([
      {
        message: expect.stringContaining('is not JSON'),
        offset: broken.indexOf('  {\n', broken.indexOf('"a"')) + 2,
        row: 1,
      },
    ]);
  });

  it('a control character in a name is shown mended', () => {
    const trace = openText(kinetoText([kernel('aXb', 7, '10', '5', 1)]).replace('aXb', 'a\u0001b'));
    expect(trace.strings).toContain('a\ufffdb');
  });

  it('a cut file opens up to its last whole event and says where it ends', () => {
    const text = kinetoText(pipeline);
    const cut = text.slice(0, text.indexOf('void mul') + 4);
    const trace = openText(cut);
    expect(trace.counts).toMatchObject({ copies: 1, kernels: 0 });
    expect(trace.problems[0]!.message).toContain(`The file ends at byte ${cut.length}`);
  });

  it('events of a category that is not known are told once', () => {
    const trace = open([
      kernel('a', 7, '10', '5', 1),
      { cat: 'quantum', name: 'q', ts: '1' },
      { cat: 'quantum', name: 'q', ts: '2' },
    ]);
    expect(trace.problems.map((problem) => problem.message)).toEqual([
      '2 events of the category “quantum” are not known to this Raceline; they are left out.',
    ]);
  });

  it('names that are made to collide do not slow it down', () => {
    const events = Array.from({ length: 20_000 }, (_, i) => ({
      cat: 'cpu_op',
      name: `${'x'.repeat(40)}${i}`,
      ts: String(i),
      dur: '1',
    }));
    expect(open(events).hostSlices.length).toBe(20_000);
  });
});

describe('other JSON', () => {
  const message = (text: string) => {
    try {
      openTrace(bytesOf(text), 'file.json');
    } catch (error) {
      expect(error).toBeInstanceOf(TraceError);
      return (error as Error).message;
    }
    return expect.fail('it opened');
  };

  it.each([
    ['a rocprofiler result', '{"rocprofiler-sdk-tool": [{"metadata": {}}]}', 'rocprofiler-sdk result'],
    ['an execution trace', '{"schema": "1.1.1", "nodes": [{"id": 1}]}', 'ExecutionTraceObserver'],
    [
      'a Chrome trace of a browser',
      '{"traceEvents":[{"ph":"X","cat":"toplevel","name":"task","ts":1,"dur":1,"pid":1,"tid":1}]}',
      'none of its events is of a GPU',
    ],
    ['an empty trace', '{"schemaVersion": 1, "traceEvents": []}', 'without events'],
    ['a package.json', '{"name": "x", "version": "1"}', 'with the keys “name”, “version”'],
  ])('%s is named', (_, text, words) => {
    expect(message(text)).toContain(words);
  });
});

describe('arguments laid out as those of the event before', () => {
  const event = (correlation: number, args: string) =>
    `  {\n    "ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 9,\n    "ts": ${correlation}.000, "dur": 1.000,\n    "args": {\n      ${args}\n    }\n  }`;
  const read = (args: readonly string[]) =>
    openText(`{\n  "traceEvents": [\n${args.map((text, i) => event(i + 1, text)).join(',\n')}\n  ]\n}`);
  const usual = '"device": 0, "stream": 7, "correlation": 21';

  it.each([
    ['another number', '"device": 0, "stream": 7, "correlation": 3456', 3456],
    ['a negative one', '"device": 0, "stream": 7, "correlation": -5', -5],
    ['an exponent', '"device": 0, "stream": 7, "correlation": 3e2', 300],
    ['decimals', '"device": 0, "stream": 7, "correlation": 12.75', 12],
    ['null', '"device": 0, "stream": 7, "correlation": null', -1],
    ['another key', '"device": 0, "stream": 7, "correlatiom": 22', -1],
    ['another order', '"correlation": 22, "device": 0, "stream": 7', 22],
    ['one key twice', '"device": 0, "device": 0, "stream": 7', -1],
    ['an empty key', '"":1, "device": 0, "stream": 7, "correlation": 22', 22],
    ['nothing', '', -1],
  ])('%s is read for itself', (_, args, correlation) => {
    // Twice: the second time after itself.
    const { deviceSlices } = read([usual, usual, args, args, usual]);
    const found = [...deviceSlices.start].map((start, i) => [start, deviceSlices.correlation[i]]);
    const got = new Map(found.map(([start, value]) => [start, value]));
    const alone = read([args]).deviceSlices.correlation[0];
    expect([got.get(0), got.get(1000), got.get(2000), got.get(3000), got.get(4000)]).toEqual([
      21,
      21,
      alone,
      alone,
      21,
    ]);
    expect(alone === 0 ? 0 : alone).toBe(correlation);
  });

  it('does not keep the memory of a piece, also not of a Node Buffer', async () => {
    const text = Buffer.from(`{\n  "traceEvents": [\n${[1, 2, 3, 4].map((i) => event(i, usual)).join(',\n')}\n  ]\n}`);
    const half = text.indexOf('"ts": 3');
    async function* overwritten() {
      const piece = Buffer.alloc(text.length);
      for (const part of [text.subarray(0, half), text.subarray(half)]) {
        part.copy(piece);
        yield piece.subarray(0, part.length);
        piece.fill(120);
      }
    }
    const trace = await openTraceFrom(overwritten(), 'trace.json');
    expect([...trace.deviceSlices.correlation]).toEqual([21, 21, 21, 21]);
  });
});
