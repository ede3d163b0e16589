/**
 * Real recordings, where a folder of them lies beside the checkout; skipped elsewhere. What an index of theirs counts, the
 * importers must count too.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../core/trace/index.ts';
import { summarize } from '../../../core/trace/summary.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { markKinds } from '../../../core/trace/trace.ts';
import { expectWhole } from './dump.ts';

const shared = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../../shared');
const has = (name: string) => existsSync(path.join(shared, name));

interface IndexRow {
  readonly program: string;
  readonly events: number;
  readonly cuda_sync: number;
  readonly allocator_entries?: number;
  readonly kernels: number;
  readonly memcpy: number;
  readonly memset: number;
  readonly stream_waits: number;
  readonly memory_events: number;
  readonly streams: readonly number[];
  readonly marked_waits?: number;
  readonly marked_waits_with_record?: number;
}

function open(file: string): Trace {
  const trace = openTrace(readFileSync(path.join(shared, file)), file, { gunzip: (packed) => gunzipSync(packed) });
  expect(trace.problems).toEqual([]);
  return trace;
}

describe.skipIf(!has('traces/INDEX.json'))('recorded programs', () => {
  const index = has('traces/INDEX.json')
    ? (JSON.parse(readFileSync(path.join(shared, 'traces/INDEX.json'), 'utf8')) as { programs: IndexRow[] }).programs
    : [];

  it.each(index.map((row) => [row.program, row] as const))('%s', (program, row) => {
    const trace = open(`traces/${program}/kineto.json.gz`);
    // The integrity of half a million rows takes long; the smaller ones stand for it.
    if (program !== 'large') expectWhole(trace);
    const { streams, counts } = summarize(trace);
    expect({
      kernels: counts.kernels,
      memcpy: counts.copies,
      memset: counts.memsets,
      stream_waits: counts.waits,
      memory_events: counts.memoryEvents,
      events: trace.counts.rows,
      cuda_sync: trace.counts.syncs,
      streams: streams.map((stream) => stream.number),
    }).toEqual({
      kernels: row.kernels,
      memcpy: row.memcpy,
      memset: row.memset,
      stream_waits: row.stream_waits,
      memory_events: row.memory_events,
      events: row.events,
      cuda_sync: row.cuda_sync,
      streams: row.streams,
    });
  });

  it.each(index.filter((row) => row.marked_waits !== undefined).map((row) => [row.program, row] as const))(
    '%s, with the records of its waits',
    (program, row) => {
      const trace = open(`traces/${program}/marked.json.gz`);
      expectWhole(trace);
      expect([trace.counts.waits, trace.counts.waitsWithRecord]).toEqual([
        row.marked_waits,
        row.marked_waits_with_record,
      ]);
    },
  );

  it.each(
    index
      .filter((row) => has(`traces/${row.program}/snapshot.pickle.gz`))
      .map((row) => [row.program, row.allocator_entries] as const),
  )('snapshot of %s', (program, entries) => {
    const trace = open(`traces/${program}/snapshot.pickle.gz`);
    expectWhole(trace);
    expect(trace.counts.rows).toBe(entries);
    expect(trace.counts.allocations).toBeGreaterThan(0);
    expect(trace.sites.length).toBeGreaterThan(0);
  });
});

describe.skipIf(!has('real-traces'))('traces of others', () => {
  const files = has('real-traces')
    ? readdirSync(path.join(shared, 'real-traces')).filter((name) => name.endsWith('.gz'))
    : [];

  it.each(files)('%s opens', (file) => {
    const trace = open(`real-traces/${file}`);
    if (trace.hostSlices.length < 100_000) expectWhole(trace);
    expect(trace.deviceSlices.length).toBeGreaterThan(0);
    for (const stream of trace.streams) expect(stream.number).toBeGreaterThanOrEqual(0);
  });

  it('a record on stream 20 and the wait of stream 24 for it', () => {
    const { marks, streams, counts } = open('real-traces/hta-event-sync-multi-stream.json.gz');
    expect(counts).toMatchObject({ kernels: 3, waits: 1, waitsWithRecord: 1 });
    const wait = [...marks.kind].indexOf(markKinds.indexOf('wait'));
    expect(streams[marks.stream[wait]!]!.number).toBe(24);
    expect(streams[marks.stream[marks.other[wait]!]!]!.number).toBe(20);
  });

  it('74 neighbours on one stream overlap, and none is dropped', () => {
    const { deviceSlices } = open('real-traces/tracelens-b200-overlaps.json.gz');
    let overlaps = 0;
    for (let i = 1; i < deviceSlices.length; i++)
      if (
        deviceSlices.stream[i] === deviceSlices.stream[i - 1] &&
        deviceSlices.start[i]! < deviceSlices.start[i - 1]! + deviceSlices.duration[i - 1]!
      )
        overlaps++;
    expect(overlaps).toBe(74);
  });

  it.each([
    ['hta-event-sync', 92],
    ['hta-critical-path-overlay', 1732],
    ['hta-v100-memory-events', 216_092],
    ['hta-absolute-fractional-ts', 68_692],
    ['hta-nccl', 40_573],
    ['hta-mi250-rocm', 220],
    ['tracelens-b200-overlaps', 24_656],
    ['tracelens-h100-qwen', 18_221],
    ['tracelens-triton', 246],
  ])('%s has %i events', (name, events) => {
    expect(open(`real-traces/${name}.json.gz`).counts.rows).toBe(events);
  });

  it('192 arrows of a critical path, and 41 rows about synchronization', () => {
    const { arrows, counts } = open('real-traces/hta-critical-path-overlay.json.gz');
    expect([arrows?.length, counts.syncs]).toEqual([192, 41]);
  });

  it('28,010 allocator events', () => {
    expect(summarize(open('real-traces/hta-v100-memory-events.json.gz')).counts.memoryEvents).toBe(28_010);
  });
});
