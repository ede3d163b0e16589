/** Several files of one run: laid on one clock, streams of one process found again, ranks kept apart. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import type { Step } from '../../../core/program/program.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { areOneRun, mergeTraces } from '../../../core/trace/merge.ts';
import { severalHead } from '../../../core/trace/several.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';
import { markKinds, type Trace } from '../../../core/trace/trace.ts';
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

describe('recordings of several processes', () => {
  const files = ['graph_two_branches', 'backward_two_streams', 'two_host_threads', 'pinned_read_early'].map((name) => {
    const packed = readFileSync(new URL(`../../programs/${name}/trace.raceline.gz`, import.meta.url));
    return { name, trace: openTrace(packed, name, { gunzip: (bytes) => gunzipSync(bytes) }) };
  });
  const merged = mergeTraces(files);

  it('say together what each says alone: every row with all that it points at', () => {
    expectWhole(merged);
    const alone = files.flatMap(({ name, trace }) => told(trace, `${name}: `));
    expect(alone.length).toBeGreaterThan(500);
    for (const kind of [
      'slice',
      'record',
      'wait',
      'block',
      'fork',
      'captureBegin',
      'replay',
      'recordStream',
      'hostAccess',
    ])
      expect(
        alone.some((line) => line.startsWith(kind)),
        kind,
      ).toBe(true);
    expect(told(merged, '').sort()).toEqual(alone.sort());
  });

  it('have the hazards that they have alone', () => {
    const brief = (trace: Trace) => judgeTrace(trace).map(({ code, at }) => `${code} ${at.file}:${at.line}`);
    expect(brief(merged).sort()).toEqual(files.flatMap(({ trace }) => brief(trace)).sort());
  });
});

/** Every row of a trace in words, with Unix times and without numbers of rows. `prefix` is put before its names. */
function told(trace: Trace, prefix: string): string[] {
  const { streams, threads, sites, strings, program, deviceSlices: d, hostSlices: h, marks: m, blocks: b } = trace;
  const at = (time: number) => (time < 0 ? '?' : String(BigInt(trace.unixStart!) + BigInt(time)));
  const text = (id: number) => strings[id] ?? '?';
  const stream = (id: number) => (id < 0 ? '?' : prefix + streams[id]!.name);
  const device = (id: number) => stream(streams.findIndex((entry) => entry.device === id));
  const place = (site: number): string =>
    site < 0
      ? ''
      : `${text(sites.file[site]!)}:${sites.line[site]} ${text(sites.function[site]!)} < ${place(sites.parent[site]!)}`;
  const timeOf = (found: (step: Step) => boolean) => {
    const first = program.steps.findIndex(found);
    return first < 0 ? '?' : at(trace.stepTime![first]!);
  };
  const events = new Map<number, string>();
  const event = (id: number) => {
    const known = events.get(id) ?? timeOf((step) => 'event' in step && step.event === id);
    events.set(id, known);
    return `event of ${known}`;
  };
  const block = (id: number) => {
    const { size, memory: kind } = program.blocks[id]!;
    return `${kind} of ${size}, row ${at(b.allocated[b.programBlock.indexOf(id)] ?? -1)}`;
  };
  const step = (index: number): string => {
    const entry = program.steps[index];
    if (!entry) return '?';
    const { kind } = entry;
    const origin = program.origins[entry.origin]!;
    const parts = [kind, at(trace.stepTime![index]!), prefix + program.threads[entry.thread]!.name];
    if (origin.kind === 'trace') parts.push(`${origin.file}:${origin.line}`, place(origin.site ?? -1));
    if ('stream' in entry) parts.push(prefix + program.streams[entry.stream]!.name);
    if ('event' in entry) parts.push(event(entry.event));
    if ('block' in entry) parts.push(block(entry.block));
    if ('graph' in entry) parts.push(timeOf((other) => other.kind === 'captureBegin' && other.graph === entry.graph));
    if ('child' in entry) parts.push(prefix + program.threads[entry.child]!.name);
    if (kind === 'hostAccess') parts.push(block(entry.access.block));
    if (kind === 'launch') parts.push(entry.name, ...entry.accesses.map((access) => block(access.block)));
    if (kind === 'hostWait' || kind === 'poll') {
      const { on } = entry;
      parts.push(
        on.kind === 'event'
          ? event(on.event)
          : on.kind === 'stream'
            ? prefix + program.streams[on.stream]!.name
            : device(on.device),
      );
    }
    return parts.join(', ');
  };
  const steps = program.steps.map((_, i) => step(i));
  const thread = (id: number) => (id < 0 ? '?' : prefix + threads[id]!.name);
  const host = (i: number) =>
    i < 0
      ? '?'
      : `${thread(h.thread[i]!)} ${at(h.start[i]!)}+${h.duration[i]} ${text(h.name[i]!)} ${place(h.site[i]!)}`;
  const mark = (i: number) =>
    i < 0
      ? '?'
      : `${markKinds[m.kind[i]!]} mark ${stream(m.stream[i]!)} ${thread(m.thread[i]!)} ${at(m.hostTime[i]!)} ${at(m.deviceTime[i]!)} ${m.blocked[i]} ${steps[m.step[i]!]} ${place(m.site[i]!)}`;
  const rows = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i));
  return [
    ...steps,
    ...rows(
      d.length,
      (i) =>
        `slice ${stream(d.stream[i]!)} ${at(d.start[i]!)}+${d.duration[i]} ${text(d.name[i]!)} ${d.bytes[i]} ${steps[d.step[i]!]} by ${host(d.launcher[i]!)} ${place(d.site[i]!)}`,
    ),
    ...rows(h.length, (i) => `host ${host(i)}`),
    ...rows(m.length, (i) => `${mark(i)} for ${mark(m.other[i]!)}`),
    ...rows(
      b.length,
      (i) =>
        `block ${text(b.name[i]!)} ${b.address[i]} ${b.size[i]} ${stream(b.stream[i]!)} ${[b.allocated, b.releaseRequested, b.reusable, b.lastUse].map((column) => at(column[i]!)).join(' ')} ${place(b.allocationSite[i]!)} ${place(b.releaseSite[i]!)} ${b.programBlock[i]! < 0 ? '' : block(b.programBlock[i]!)}`,
    ),
    ...rows(trace.counters.length, (i) => {
      const { time, device: on, allocated, reserved, heldBack } = trace.counters;
      return `counter ${at(time[i]!)} ${device(on?.[i] ?? 0)} ${allocated[i]} ${reserved[i]} ${heldBack[i]}`;
    }),
  ];
}

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
