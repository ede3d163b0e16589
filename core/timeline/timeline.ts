/**
 * A trace laid out over time but not yet over pixels: which lanes there are, what is on each of their rows, edges, blocks
 * by address, totals. Built once a trace (in a worker: everything is typed arrays or small), drawn many times.
 *
 * Order of lanes: host threads, streams (the default one first), pools by allocating stream, totals; one part after the
 * other where two runs share the axis.
 */
import type { Trace, TraceHazard } from '../trace/trace.ts';
import { buildEdges, type Edges } from './edges.ts';
import { groupBy, inOrder } from './grouping.ts';
import { packNested, packOverlaps, splitRows } from './pack.ts';
import { holds, type Part, partOfStream, wholeOf } from './parts.ts';
import { buildPools, type BlockTimes, blockTimes, type Pool } from './pools.ts';
import { type Intervals, makeRow, type Row } from './row.ts';
import { buildTotals, type TotalsLane } from './totals.ts';
import type { View } from './view.ts';

export interface Timeline {
  readonly bounds: View;
  /** One run, or the two that are compared. */
  readonly parts: readonly Part[];
  readonly hosts: readonly HostLane[];
  readonly streams: readonly StreamLane[];
  readonly pools: readonly Pool[];
  /** One a device of each part. */
  readonly totals: readonly TotalsLane[];
  readonly edges: Edges;
  /** Stream waits that no edge could be drawn for: their record or their stream is not known. */
  readonly waitsWithoutEdge: number;
  /** Times during which a wait held a stream; indices are marks. */
  readonly held: Intervals;
  readonly blocks: BlockTimes;
  /** Colour slot of each stream of the trace: fixed for the run, the default stream's is 0; the same name in both parts. */
  readonly slots: Int32Array;
  /** Set where a filter has taken slices out (filter.ts). */
  readonly filtered?: boolean;
}

export interface HostLane {
  readonly part: number;
  readonly thread: number;
  readonly name: string;
  readonly rows: readonly Row[];
}

export interface StreamLane {
  readonly part: number;
  readonly stream: number;
  readonly device: number;
  readonly name: string;
  readonly rows: readonly Row[];
  /** Waits that held this stream, as marks. */
  readonly held: Row;
  /** Share of the run during which something ran here. */
  readonly busy: number;
  /** Device slices here. */
  readonly slices: number;
}

export function buildTimeline(
  trace: Trace,
  hazards: readonly TraceHazard[],
  parts: readonly Part[] = [wholeOf(trace, hazards.length)],
): Timeline {
  const slots = streamSlots(trace, parts);
  const bounds = boundsOf(trace, hazards);
  const blocks = blockTimes(trace.blocks, bounds);
  const held = heldIntervals(trace);
  const edges = buildEdges(trace.marks);
  return {
    bounds,
    parts,
    hosts: hostLanes(trace, parts),
    streams: streamLanes(trace, held, bounds, parts),
    pools: buildPools(trace, blocks, parts),
    totals: buildTotals(trace, blocks, bounds, parts),
    edges,
    waitsWithoutEdge: trace.marks.kind.reduce((count, kind) => count + Number(kind === 1), 0) - edges.length,
    held,
    blocks,
    slots,
  };
}

/** Every time that is drawn lies in the bounds; a file's `duration` is not trusted to hold them. */
function boundsOf(trace: Trace, hazards: readonly TraceHazard[]): View {
  let start = 0;
  let end = Math.max(trace.duration, 0);
  const see = (from: number, to: number): void => {
    if (from >= 0 && to > end && Number.isFinite(to)) end = to;
    if (from < start && from !== -1 && Number.isFinite(from)) start = from;
  };
  for (const { length, start: from, duration } of [trace.deviceSlices, trace.hostSlices])
    for (let i = 0; i < length; i++) see(from[i]!, from[i]! + duration[i]!);
  for (let i = 0; i < trace.marks.length; i++) {
    see(0, trace.marks.hostTime[i]!);
    see(0, trace.marks.deviceTime[i]!);
  }
  const { blocks } = trace;
  for (let i = 0; i < blocks.length; i++) {
    see(0, blocks.allocated[i]!);
    see(0, blocks.releaseRequested[i]!);
    see(0, blocks.lastUse[i]!);
    see(0, blocks.reusable[i]!);
  }
  for (const hazard of hazards) see(hazard.start, hazard.end);
  return { start, end: Math.max(end, start + 1000) };
}

/** Slots go by the first kernel or copy; the default stream of the first device takes 0. */
function streamSlots(trace: Trace, parts: readonly Part[]): Int32Array {
  const first = new Float64Array(trace.streams.length).fill(Number.POSITIVE_INFINITY);
  const see = (stream: number, time: number): void => {
    if (stream >= 0 && stream < first.length && time >= 0 && time < first[stream]!) first[stream] = time;
  };
  const { deviceSlices: slices, marks, blocks } = trace;
  for (let i = 0; i < slices.length; i++) see(slices.stream[i]!, slices.start[i]!);
  // Streams on which nothing ran come after: by their first mark or block.
  const ran = first.map((time) => (Number.isFinite(time) ? 1 : 0));
  const late = (stream: number, time: number): void => {
    if (ran[stream] === 0) see(stream, time + Number.MAX_SAFE_INTEGER / 2);
  };
  for (let i = 0; i < marks.length; i++) late(marks.stream[i]!, marks.hostTime[i]!);
  for (let i = 0; i < blocks.length; i++) late(blocks.stream[i]!, blocks.allocated[i]!);
  const { streams } = trace;
  const slots = new Int32Array(streams.length);
  const taken = new Map<string, number>();
  let next = 0;
  for (const { streams: rows } of parts) {
    const order = Array.from({ length: rows.to - rows.from }, (_, i) => rows.from + i);
    const main = order.find((stream) => streams[stream]!.isDefault) ?? -1;
    order.sort((a, b) => Number(b === main) - Number(a === main) || compareTimes(first[a]!, first[b]!) || a - b);
    // Without a default stream in the trace, slot 0 stays free: its grey says "default" in the editor too.
    if (main < 0 && next === 0) next = 1;
    // A stream of the second run has the colour of its namesake in the first.
    const keys = order.map((stream) => `${streams[stream]!.device} ${stream === main ? '' : streams[stream]!.name}`);
    const shared = keys.map((key) => taken.get(key));
    order.forEach((stream, i) => {
      slots[stream] = shared[i] ?? next++;
      taken.set(keys[i]!, slots[stream]!);
    });
  }
  return slots;
}

const compareTimes = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

function hostLanes(trace: Trace, parts: readonly Part[]): HostLane[] {
  const { hostSlices } = trace;
  const lanes: HostLane[] = [];
  groupBy(hostSlices.thread, hostSlices.length, trace.threads.length).forEach((items, thread) => {
    if (items.length === 0) return;
    const sorted = inOrder(items, hostSlices);
    const rows = splitRows(sorted, packNested(sorted, hostSlices)).map((row) => makeRow(row, hostSlices));
    const part = Math.max(
      0,
      parts.findIndex(({ threads }) => holds(threads, thread)),
    );
    lanes.push({ part, thread, name: trace.threads[thread]!.name || `thread ${trace.threads[thread]!.tid}`, rows });
  });
  // The thread that begins is the program's own; its workers and autograd's threads come after.
  const begin = (lane: HostLane): number => lane.rows[0]?.sampleStart[0] ?? 0;
  return lanes.sort((a, b) => a.part - b.part || begin(a) - begin(b) || a.thread - b.thread);
}

function streamLanes(trace: Trace, held: Intervals, bounds: View, parts: readonly Part[]): StreamLane[] {
  const { deviceSlices, marks, streams } = trace;
  const marksOf = groupBy(marks.stream, marks.length, streams.length);
  const lanes = groupBy(deviceSlices.stream, deviceSlices.length, streams.length).map((items, stream): StreamLane => {
    const sorted = inOrder(items, deviceSlices);
    const rows = splitRows(sorted, packOverlaps(sorted, deviceSlices)).map((row) => makeRow(row, deviceSlices));
    const waits = marksOf[stream]!.filter((mark) => held.duration[mark]! > 0);
    const entry = streams[stream]!;
    const part = partOfStream(parts, stream);
    // Two runs on one axis: each stream's share is that of its own run.
    const length = parts.length > 1 ? Math.max(1, parts[part]!.duration) : bounds.end - bounds.start;
    return {
      part,
      stream,
      device: entry.device,
      name: entry.name || (entry.number >= 0 ? `stream ${entry.number}` : `stream ${stream}`),
      rows,
      held: makeRow(inOrder(waits, held), held),
      busy: Math.min(1, covered(sorted, deviceSlices) / length),
      slices: items.length,
    };
  });
  return lanes
    .filter((lane) => lane.rows.length > 0 || marksOf[lane.stream]!.length > 0)
    .sort(
      (a, b) =>
        a.part - b.part ||
        a.device - b.device ||
        Number(streams[b.stream]!.isDefault) - Number(streams[a.stream]!.isDefault) ||
        a.stream - b.stream,
    );
}

/** Length of the union: two kernels at once do not make a stream twice as busy. */
function covered(items: Int32Array, { start, duration }: Intervals): number {
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < items.length; i++) {
    const from = Math.max(start[items[i]!]!, until);
    const to = start[items[i]!]! + duration[items[i]!]!;
    if (to > from) {
      total += to - from;
      until = to;
    }
  }
  return total;
}

function heldIntervals({ marks }: Trace): Intervals {
  const start = new Float64Array(marks.length);
  const duration = new Float64Array(marks.length);
  for (let i = 0; i < marks.length; i++) {
    const isWait = marks.kind[i] === 1;
    const known = isWait && marks.deviceTime[i]! >= 0 && marks.blocked[i]! > 0;
    start[i] = known ? marks.deviceTime[i]! - marks.blocked[i]! : Math.max(0, marks.deviceTime[i]!);
    duration[i] = known ? marks.blocked[i]! : 0;
  }
  return { start, duration };
}
