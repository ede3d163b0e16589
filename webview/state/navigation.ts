/** Where the keys lead: to the next slice of a row, to the lane above or below, along an edge to its other end. */
import { timeOf } from '../../core/timeline/edges.ts';
import { extentOf, type Target } from '../../core/timeline/hit.ts';
import type { LaneBox, Layout } from '../../core/timeline/layout.ts';
import { firstEndingAfter, firstStarting, type Intervals, nearest, type Row } from '../../core/timeline/row.ts';
import type { View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';

interface RowPlace {
  readonly box: LaneBox;
  readonly row: Row;
  readonly columns: Intervals;
  readonly kind: 'device' | 'host' | 'block';
}

/** All rows that can be walked, from top to bottom. */
function rowsOf({ trace, timeline }: Run, layout: Layout): RowPlace[] {
  return layout.boxes.flatMap((box): RowPlace[] => {
    const { lane } = box;
    const all = (rows: readonly Row[], columns: Intervals, kind: RowPlace['kind']): RowPlace[] =>
      rows.filter((row) => row.items.length > 0).map((row) => ({ box, row, columns, kind }));
    if (lane.kind === 'host') return all(lane.host.rows.slice(0, box.rows.length), trace.hostSlices, 'host');
    if (lane.kind === 'stream') return all(lane.stream.rows, trace.deviceSlices, 'device');
    if (lane.kind === 'pool') return all(lane.pool.rows, timeline.blocks, 'block');
    return [];
  });
}

interface Position {
  readonly place: number;
  readonly at: number;
}

function find(places: readonly RowPlace[], target: Target): Position | undefined {
  for (const [place, { row, columns, kind }] of places.entries()) {
    if (kind !== target.kind) continue;
    const start = columns.start[target.index]!;
    for (let at = firstStarting(row, columns, start); at < row.items.length; at++) {
      if (row.items[at] === target.index) return { place, at };
      if (columns.start[row.items[at]!]! > start) break;
    }
  }
  return undefined;
}

/** ← →: the slice before or after on the same row. Without a selection: the first one in view, from the top. */
export function nextSlice(
  run: Run,
  layout: Layout,
  view: View,
  selection: Target | undefined,
  by: 1 | -1,
): Target | undefined {
  const places = rowsOf(run, layout);
  const from = selection && find(places, selection);
  if (!from) return firstInView(places, view);
  const { row, kind } = places[from.place]!;
  const at = Math.min(Math.max(from.at + by, 0), row.items.length - 1);
  return { kind, index: row.items[at]! };
}

/** ↑ ↓: on the next row that has something, the slice nearest in time. */
export function nextLane(
  run: Run,
  layout: Layout,
  view: View,
  selection: Target | undefined,
  by: 1 | -1,
): Target | undefined {
  const places = rowsOf(run, layout);
  const from = selection && find(places, selection);
  if (!from) return firstInView(places, view);
  const next = places[from.place + by];
  if (!next) return selection;
  const { start, end } = extentOf(run.trace, run.timeline, selection!);
  const time = (Math.max(start, view.start) + Math.min(end, view.end)) / 2;
  const at = nearest(next.row, next.columns, time, Number.POSITIVE_INFINITY);
  return at < 0 ? selection : { kind: next.kind, index: next.row.items[at]! };
}

function firstInView(places: readonly RowPlace[], view: View): Target | undefined {
  for (const { row, columns, kind } of places) {
    const at = firstEndingAfter(row, columns, view.start);
    const item = row.items[at];
    if (item !== undefined && columns.start[item]! <= view.end) return { kind, index: item };
  }
  return undefined;
}

/**
 * `[` and `]`: from a slice to the edge that released it, or to the edge that it feeds; from an edge to the slice at its
 * record, or to the slice after its wait.
 */
export function otherEnd(run: Run, selection: Target | undefined, by: 1 | -1): Target | undefined {
  const { trace, timeline } = run;
  const { edges } = timeline;
  const { marks, deviceSlices } = trace;
  const edge =
    selection?.kind === 'held'
      ? edges.wait.indexOf(selection.index)
      : selection?.kind === 'edge'
        ? selection.index
        : -1;
  if (edge >= 0) {
    const mark = by < 0 ? edges.record[edge]! : edges.wait[edge]!;
    return sliceBeside(run, marks.stream[mark]!, timeOf(marks, mark), by);
  }
  if (selection?.kind !== 'device') return undefined;
  const stream = deviceSlices.stream[selection.index]!;
  const start = deviceSlices.start[selection.index]!;
  const end = start + deviceSlices.duration[selection.index]!;
  let best = -1;
  for (let i = 0; i < edges.length; i++) {
    if (by < 0) {
      if (marks.stream[edges.wait[i]!] !== stream || edges.waitTime[i]! > start) continue;
      if (best < 0 || edges.waitTime[i]! > edges.waitTime[best]!) best = i;
    } else {
      if (marks.stream[edges.record[i]!] !== stream || edges.recordTime[i]! < end) continue;
      if (best < 0 || edges.recordTime[i]! < edges.recordTime[best]!) best = i;
    }
  }
  return best < 0 ? undefined : { kind: 'edge', index: best };
}

/** The last slice that starts before a time on a stream, or the first at or after it. */
function sliceBeside({ trace, timeline }: Run, stream: number, time: number, by: 1 | -1): Target | undefined {
  const lane = timeline.streams.find((entry) => entry.stream === stream);
  const row = lane?.rows[0];
  if (!row) return undefined;
  const after = firstStarting(row, trace.deviceSlices, time);
  const item = row.items[by > 0 ? after : after - 1];
  return item === undefined ? undefined : { kind: 'device', index: item };
}
