/** The Chrome JSON that goes out keeps to the rules of the format, and comes in again as the same run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chromeTrace } from '../../../core/export/chrome.ts';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { summarize, summarizeWaits } from '../../../core/trace/summary.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { bytesOf, expectWhole } from '../trace/dump.ts';
import { kernel, kinetoText, memory, runtime, sync } from '../trace/kineto-text.ts';

interface ChromeEvent {
  readonly ph: string;
  readonly cat?: string;
  readonly name: string;
  readonly id?: number;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly bp?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

const programs = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../programs');
const recorded = (name: string): Trace =>
  openTrace(readFileSync(path.join(programs, name, 'trace.raceline.gz')), name, { gunzip: (b) => gunzipSync(b) });

const profiled = (): Trace =>
  openTrace(
    bytesOf(
      kinetoText(
        [
          runtime('cudaLaunchKernel', '10.000', '2.000', 1),
          kernel('a <b> "c"', 20, '20.000', '10.000', 1),
          runtime('cudaLaunchKernel', '13.000', '1.000', 5),
          kernel('late', 20, '25.500', '10.000', 5),
          runtime('cudaEventRecord', '14.000', '1.000', 2),
          runtime('cudaStreamWaitEvent', '16.000', '1.000', 3),
          sync('Stream Wait Event', 24, '16.000', '1.000', 3, { stream: 20, record: 2 }),
          runtime('cudaLaunchKernel', '18.000', '1.000', 4),
          kernel('c', 24, '37.000', '3.000', 4),
          memory('15.000', 512, 0x1000, 512),
          memory('17.000', -512, 0x1000, 0),
          runtime('cudaDeviceSynchronize', '20.000', '30.000', 6),
          sync('Context Sync', -1, '20.000', '30.000', 6),
        ],
        { baseTimeNanoseconds: 1790857026000000000n },
      ),
    ),
    'trace.json',
  );

const exported = (trace: Trace): string => [...chromeTrace(trace, judgeTrace(trace))].join('');
const eventsOf = (text: string) => (JSON.parse(text) as { traceEvents: ChromeEvent[] }).traceEvents;

describe.each([
  ['a profile', profiled],
  ...['missing_wait', 'views_overlap', 'prefetcher', 'graph_two_branches', 'two_host_threads'].map(
    (name) => [name, () => recorded(name)] as const,
  ),
] as const)('%s as Chrome JSON', (_, open) => {
  const trace = open();
  const text = exported(trace);
  const events = eventsOf(text);

  it('comes in again with the same slices, waits and edges', () => {
    const again = openTrace(bytesOf(text), 'again.json');
    expect(again.problems).toEqual([]);
    expectWhole(again);
    const counts = ({ kernels, copies, memsets, waits, waitsWithRecord, records }: Trace['counts']) => ({
      kernels,
      copies,
      memsets,
      waits,
      waitsWithRecord,
      records,
    });
    const known = [...trace.marks.stream].filter((stream, i) => trace.marks.kind[i] === 0 && stream < 0).length;
    expect({ ...counts(again.counts), records: again.counts.records - known }).toEqual({
      ...counts(trace.counts),
      records: trace.counts.records - known,
    });
    expect(slicesOf(again)).toEqual(slicesOf(trace));
    expect(summarizeWaits(again).map(({ record }) => record !== null)).toEqual(
      summarizeWaits(trace).map(({ record }) => record !== null),
    );
    expect(summarize(again).counts.memoryEvents).toBe(
      [...trace.blocks.allocated, ...trace.blocks.releaseRequested].filter((time) => time >= 0).length,
    );
  });

  it('keeps to the rules: numbers for rows, slices that nest, arrows with two ends that go forward', () => {
    for (const event of events) {
      expect([typeof event.pid, typeof event.tid, typeof event.ts]).toEqual(['number', 'number', 'number']);
      expect(event.ts).toBeGreaterThanOrEqual(0);
      if (event.ph === 'X') expect(event.dur).toBeGreaterThanOrEqual(0);
    }
    const rows = new Map<string, ChromeEvent[]>();
    for (const event of events)
      if (event.ph === 'X' && (event.cat === 'kernel' || event.cat?.startsWith('gpu_')))
        rows.set(`${event.pid} ${event.tid}`, [...(rows.get(`${event.pid} ${event.tid}`) ?? []), event]);
    for (const row of rows.values())
      for (let i = 1; i < row.length; i++)
        expect(row[i]!.ts).toBeGreaterThanOrEqual(Number((row[i - 1]!.ts + row[i - 1]!.dur!).toFixed(3)));
    const starts = new Map<string, ChromeEvent>();
    for (const event of events) if (event.ph === 's') starts.set(`${event.cat} ${event.id}`, event);
    const ends = events.filter((event) => event.ph === 'f');
    expect(new Set(ends.map((event) => `${event.cat} ${event.id}`)).size).toBe(starts.size);
    for (const end of ends) {
      expect(end.bp).toBe('e');
      const from = starts.get(`${end.cat} ${end.id}`)!;
      expect(from.ts).toBeLessThanOrEqual(end.ts);
      // Each end lies on a slice of its row, or nothing would draw it.
      for (const at of [from, end])
        expect(
          events.some(
            (slice) =>
              slice.ph === 'X' &&
              slice.pid === at.pid &&
              slice.tid === at.tid &&
              slice.ts <= at.ts + 1e-6 &&
              at.ts <= slice.ts + slice.dur! + 1e-6,
          ),
        ).toBe(true);
    }
  });

  it('marks each finding over all rows', () => {
    const findings = events.filter((event) => event.cat === 'raceline_finding');
    expect(findings.map((event) => event.name)).toEqual(
      judgeTrace(trace).map(({ code, status }) => `${code} (${status})`),
    );
  });
});

it('draws an edge for each wait whose record is known', () => {
  const edges = eventsOf(exported(profiled())).filter((event) => event.cat === 'event_edge');
  expect(edges.map(({ ph, tid }) => `${ph} ${tid}`)).toEqual(['s 1000020', 'f 1000024']);
});

it('draws an edge that is a guess, and does not tell it as a fact', () => {
  const trace = openTrace(
    bytesOf(
      kinetoText([
        runtime('cudaLaunchKernel', '10.000', '2.000', 1),
        kernel('a', 20, '20.000', '10.000', 1),
        runtime('cudaEventRecord', '14.000', '1.000', 2),
        {
          cat: 'cuda_event',
          name: 'cudaEvent',
          pid: 0,
          tid: 20,
          ts: '0.000',
          dur: '0.001',
          args: { event_id: 9, stream: 20, correlation: 2, device: 0 },
        },
        runtime('cudaStreamWaitEvent', '16.000', '1.000', 3),
        sync('Stream Wait Event', 24, '16.000', '1.000', 3, { stream: -1, record: -1 }),
        runtime('cudaLaunchKernel', '18.000', '1.000', 4),
        kernel('c', 24, '37.000', '3.000', 4),
      ]),
    ),
    'trace.json',
  );
  expect(summarizeWaits(trace)).toMatchObject([{ record: { stream: 20 }, inferred: true }]);
  const text = exported(trace);
  expect(eventsOf(text).filter((event) => event.cat === 'event_edge')).toMatchObject([
    { name: 'waits for, inferred' },
    { name: 'waits for, inferred' },
  ]);
  expect(openTrace(bytesOf(text), 'again.json').counts.waitsWithRecord).toBe(0);
});

it('puts what overlaps on one stream on a row of its own', () => {
  const kernels = eventsOf(exported(profiled())).filter((event) => event.cat === 'kernel');
  expect(kernels.map(({ name, tid, args }) => [name, tid, args?.stream])).toEqual([
    ['a <b> "c"', 20, 20],
    ['late', 2002001, 20],
    ['c', 24, 24],
  ]);
});

/** With Unix times: where time 0 of a trace lies is not what is compared. */
function slicesOf(trace: Trace): string[] {
  const { deviceSlices: d, strings } = trace;
  const at = (time: number) => BigInt(trace.unixStart ?? 0) + BigInt(time);
  return Array.from(
    { length: d.length },
    (_, i) => `${strings[d.name[i]!]} ${at(d.start[i]!)}+${d.duration[i]} ${d.bytes[i]}`,
  ).sort();
}
