/** Several files of one run: laid on one clock, streams of one process found again, ranks kept apart. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { areOneRun, mergeTraces } from '../../../core/trace/merge.ts';
import { severalHead } from '../../../core/trace/several.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';
import { bytesOf, dump, expectWhole } from './dump.ts';
import { kernel, kinetoText, memory, runtime, sync } from './kineto-text.ts';

/** The instant at which the snapshot fixtures begin. */
const base = 1764441974000000000n;
const snapshot = () =>
  openTrace(
    readFileSync(new URL('../../fixtures/trace/snapshot-protocol-4.pickle', import.meta.url)),
    'snapshot.pickle',
  );

const profile = (rank: number | undefined, pid = 1, at = base) =>
  openTrace(
    bytesOf(
      kinetoText(
        [
          { ...runtime('cudaLaunchKernel', '11.000', '2.000', 1), pid },
          kernel('mul', 20, '20.000', '10.000', 1),
          { ...memory('10.000', 65536, 0x7f0000010000, 65536), pid },
          { ...runtime('cudaLaunchKernel', '101.000', '2.000', 2), pid },
          kernel('add', 20, '105.000', '10.000', 2),
          { ...runtime('cudaEventRecord', '106.000', '1.000', 3), pid },
          { ...runtime('cudaStreamWaitEvent', '108.000', '1.000', 4), pid },
          sync('Stream Wait Event', 7, '108.000', '1.000', 4, { stream: 20, record: 3 }),
          { ...runtime('cudaLaunchKernel', '110.000', '1.000', 5), pid },
          kernel('sum', 7, '120.000', '5.000', 5),
        ],
        {
          baseTimeNanoseconds: at,
          ...(rank === undefined ? {} : { distributedInfo: { backend: 'nccl', rank, world_size: 2 } }),
        },
      ),
    ),
    'trace.json',
  );

describe('a profile and the snapshot beside it', () => {
  const files = [
    { name: 'trace.json', trace: profile(undefined) },
    { name: 'snapshot.pickle', trace: snapshot() },
  ];
  const merged = mergeTraces(files);

  it('are one run, on one clock', () => {
    expect(areOneRun(files.map(({ trace }) => trace))).toBe(true);
    expectWhole(merged);
    expect(merged.unixStart).toBe(String(base));
    expect(merged.counts).toMatchObject({ kernels: 3, waits: 1, waitsWithRecord: 1 });
    const mul = [...merged.deviceSlices.name].findIndex((name) => merged.strings[name] === 'mul');
    expect(merged.deviceSlices.start[mul]).toBe(20_000);
  });

  it('share their streams: handles are found by the launches that follow allocations, and that is said', () => {
    expect(merged.streams.map(({ number, handle }) => [number, handle])).toEqual([
      [20, '0x55e0'],
      [7, ''],
    ]);
    expect(merged.limits.some((limit) => limit.includes('0x55e0 is 20'))).toBe(true);
  });

  it('tell each block once, with its pool', () => {
    expect(merged.blocks.length).toBe(files[1]!.trace.blocks.length);
    expect([...merged.blocks.stream].every((stream) => merged.streams[stream]!.number === 20)).toBe(true);
    expect(merged.limits.some((limit) => /name no stream|allocator alone/.test(limit))).toBe(false);
  });

  it('put their steps in the order of the calls', () => {
    const times = [...merged.stepTime!].filter((time) => time >= 0);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(merged.program.steps).toHaveLength(
      files[0]!.trace.program.steps.length + files[1]!.trace.program.steps.length,
    );
    expect(merged.program.steps.map((step) => step.kind)).toContain('allocate');
  });
});

describe('profiles of two ranks', () => {
  const merged = mergeTraces([
    { name: 'a.json', trace: profile(0, 100) },
    { name: 'b.json', trace: profile(1, 200, base + 1_000_000n) },
  ]);

  it('keep their streams and threads apart', () => {
    expectWhole(merged);
    expect(merged.streams.map(({ name, device }) => `${name} on ${device}`)).toEqual([
      'rank 0: stream 20 on 0',
      'rank 0: default on 0',
      'rank 1: stream 20 on 1',
      'rank 1: default on 1',
    ]);
    expect(merged.threads.map((thread) => thread.name)).toEqual(['rank 0: thread 1', 'rank 1: thread 1']);
    expect(merged.counts).toMatchObject({ kernels: 6, waits: 2, waitsWithRecord: 2 });
  });

  it('lie as far apart as their clocks say', () => {
    const starts = [...merged.deviceSlices.start].filter(
      (_, i) => merged.strings[merged.deviceSlices.name[i]!] === 'mul',
    );
    expect(starts[1]! - starts[0]!).toBe(1_000_000);
  });
});

it('hazards of one file are those of the merged run', () => {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full', unix: String(base) });
  for (const [id, name] of ['main', 'side'].entries())
    w.stream({ id, device: 0, num: [7, 20][id]!, name, default: id === 0 });
  w.alloc({ n: 0, t: 0, b: 0, addr: '0x1000', size: 512, st: 1, s: w.site('run.py', 1, 'run') });
  w.op({ n: 1, t: 12_000, st: 1, name: 'fill', acc: [[0, 0, 512, 'w']], s: w.site('run.py', 2, 'run') });
  w.op({ n: 2, t: 14_000, st: 0, name: 'mul', acc: [[0, 0, 512, 'r']], s: w.site('run.py', 3, 'run') });
  w.end(200_000, 'ok');
  const own = openTrace(bytesOf(w.take()), 'run.raceline');
  const merged = mergeTraces([
    { name: 'run.raceline', trace: own },
    { name: 'trace.json', trace: profile(undefined) },
  ]);
  expectWhole(merged);
  const brief = (hazards: ReturnType<typeof judgeTrace>) => hazards.map(({ code, at }) => `${code} ${at.line}`);
  expect(brief(judgeTrace(merged))).toEqual(brief(judgeTrace(own)));
  expect(brief(judgeTrace(own))).toEqual(['missing-wait 3']);
  // The file that knows names gives them.
  expect(merged.streams.map(({ name, number }) => `${name} ${number}`)).toEqual(['main 7', 'side 20']);
});

it('a stream that nobody knows stays unknown: it is accused in no file', () => {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full', unix: String(base) });
  w.stream({ id: 0, device: 0, num: 7, name: 'main', default: true });
  w.stream({ id: 1, device: 0, num: 20, name: 'foreign', unknown: true });
  w.stream({ id: 2, device: 0, num: 24, name: 'nccl', collective: true });
  w.alloc({ n: 0, t: 0, b: 0, addr: '0x1000', size: 512, st: 1 });
  w.op({ n: 1, t: 12_000, st: 1, name: 'fill', acc: [[0, 0, 512, 'w']] });
  w.op({ n: 2, t: 14_000, st: 0, name: 'mul', acc: [[0, 0, 512, 'r']] });
  w.end(200_000, 'ok');
  const own = openTrace(bytesOf(w.take()), 'run.raceline');
  const merged = mergeTraces([
    { name: 'run.raceline', trace: own },
    { name: 'trace.json', trace: profile(undefined) },
  ]);
  expect(judgeTrace(own)).toEqual([]);
  expect(judgeTrace(merged)).toEqual([]);
  expect(merged.program.streams.map(({ unknown, collective }) => [unknown, collective])).toEqual([
    [undefined, undefined],
    [true, undefined],
    [undefined, true],
  ]);
});

it('one file merged with nothing is itself', () => {
  const trace = profile(undefined);
  expect(dump(mergeTraces([{ name: 'trace.json', trace }]))).toBe(dump(trace));
});

it('runs of different times are not one', () => {
  expect(areOneRun([profile(0), profile(1, 2, base + 3_600_000_000_000n)])).toBe(false);
  expect(areOneRun([profile(0)])).toBe(false);
});

describe('several files in one piece of bytes', () => {
  const pack = (files: readonly { name: string; bytes: Uint8Array }[]) =>
    Uint8Array.from(
      [
        severalHead(files.map(({ name, bytes }) => ({ name, size: bytes.length }))),
        ...files.map((f) => f.bytes),
      ].flatMap((part) => [...part]),
    );
  const run = (unix: bigint) => {
    const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full', unix: String(unix) });
    w.stream({ id: 0, device: 0, num: 7, name: 'main', default: true });
    w.gpu({ st: 0, t: 5, d: 5, name: 'k', kind: 'kernel' });
    w.end(1000, 'ok');
    return bytesOf(w.take());
  };

  it('open as one run; one that is none is told', () => {
    const files = [
      { name: 'a µ.raceline', bytes: run(base) },
      { name: 'b.raceline', bytes: run(base + 100n) },
      { name: 'noise', bytes: bytesOf('what') },
    ];
    const trace = openTrace(pack(files), 'together');
    expectWhole(trace);
    expect(trace.counts.kernels).toBe(2);
    expect(trace.problems.map((problem) => problem.message)).toEqual([expect.stringMatching(/^“noise” is left out/)]);
  });

  it('of different runs are refused, with what to do', () => {
    const files = [run(base), run(base + 10_000_000_000n)].map((bytes, i) => ({ name: `${i}`, bytes }));
    expect(() => openTrace(pack(files), 'together')).toThrow(/different runs.*compare them/);
  });

  it('cut anywhere do not break the reader', () => {
    const whole = pack([{ name: 'a', bytes: run(base) }]);
    for (let length = 15; length < whole.length; length++) {
      try {
        openTrace(whole.subarray(0, length), 'together');
      } catch (error) {
        expect((error as Error).name).toMatch(/TraceError/);
      }
    }
  });
});
