/** What lies under a point. The same rows, boxes and routes as drawing uses, so that what is seen is what is hit. */
import type { MarkColumns, Trace } from '../trace/trace.ts';
import { routeEdge, visibleEdges } from './edges.ts';
import { boxAt, guttersOf, type LaneBox, type Layout, rowAt } from './layout.ts';
import { rowsOfBlock } from './pools.ts';
import { type Intervals, nearest, type Row } from './row.ts';
import type { Timeline } from './timeline.ts';
import { type Scale, toTime, toX } from './view.ts';

export type Target =
  | { readonly kind: 'device'; readonly index: number }
  | { readonly kind: 'host'; readonly index: number }
  | { readonly kind: 'block'; readonly index: number }
  /** An edge, by its row in `timeline.edges`. */
  | { readonly kind: 'edge'; readonly index: number }
  /** A wait that held its stream, by its mark. */
  | { readonly kind: 'held'; readonly index: number }
  | { readonly kind: 'hazard'; readonly index: number };

export const sameTarget = (a: Target | undefined, b: Target | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.kind === b.kind && a.index === b.index);

/** How far from a mark a pointer still means it. */
const reach = 4;

export interface HitScene {
  readonly trace: Trace;
  readonly timeline: Timeline;
  readonly layout: Layout;
  readonly scale: Scale;
  /** Edges that are drawn. */
  readonly edges: readonly number[];
}

/** `y` is counted from the top of the first lane. */
export function hit(scene: HitScene, x: number, y: number): Target | undefined {
  const box = boxAt(scene.layout, y);
  if (!box) return undefined;
  const edge = hitEdgeEnd(scene, x, y);
  if (edge >= 0) return { kind: 'edge', index: edge };
  return hitLane(scene, box, x, y) ?? hitEdgeLine(scene, x, y);
}

function hitLane(scene: HitScene, box: LaneBox, x: number, y: number): Target | undefined {
  const { trace, timeline, scale } = scene;
  const row = rowAt(box, y);
  if (row < 0) return undefined;
  const { lane } = box;
  if (lane.kind === 'host') {
    const index = at(lane.host.rows[row], trace.hostSlices, scale, x);
    return index < 0 ? undefined : { kind: 'host', index };
  }
  if (lane.kind === 'stream') {
    const index = at(lane.stream.rows[row], trace.deviceSlices, scale, x);
    if (index >= 0) return { kind: 'device', index };
    const mark = row === 0 ? at(lane.stream.held, timeline.held, scale, x) : -1;
    return mark < 0 ? undefined : { kind: 'held', index: mark };
  }
  if (lane.kind === 'pool') {
    // A block reaches down from the row it starts in: look there first, then above.
    for (let above = row; above >= 0; above--) {
      const index = at(lane.pool.rows[above], timeline.blocks, scale, x);
      if (index >= 0 && rowsOfBlock(lane.pool, trace.blocks, index)[1] > row) return { kind: 'block', index };
    }
  }
  return undefined;
}

/** Item of a row under x; thin ones can be hit a few pixels beside. -1: none. */
function at(row: Row | undefined, columns: Intervals, scale: Scale, x: number): number {
  if (!row) return -1;
  const position = nearest(row, columns, toTime(scale, x), (2 / scale.width) * (scale.end - scale.start));
  return position < 0 ? -1 : row.items[position]!;
}

function hitEdgeEnd(scene: HitScene, x: number, y: number): number {
  for (const edge of scene.edges) {
    const path = edgePath(scene, edge);
    if (!path) continue;
    if (Math.hypot(path.x1 - x, path.y1 - y) <= reach || Math.hypot(path.x2 - x, path.y2 - y) <= reach) return edge;
  }
  return -1;
}

function hitEdgeLine(scene: HitScene, x: number, y: number): Target | undefined {
  for (const edge of scene.edges) {
    const path = edgePath(scene, edge);
    if (!path) continue;
    const along =
      Math.abs(y - path.y1) <= reach - 1 && x >= Math.min(path.x1, path.x2) && x <= Math.max(path.x1, path.x2);
    const across =
      Math.abs(x - path.x2) <= reach - 1 && y >= Math.min(path.y1, path.y2) && y <= Math.max(path.y1, path.y2);
    if (along || across) return { kind: 'edge', index: edge };
  }
  return undefined;
}

/** Where an edge is drawn; undefined: one of its lanes is not shown. */
export function edgePath(scene: Omit<HitScene, 'edges'>, edge: number): ReturnType<typeof routeEdge> | undefined {
  const { trace, timeline, layout, scale } = scene;
  const from = layout.streamBoxes.get(trace.marks.stream[timeline.edges.record[edge]!]!);
  const to = layout.streamBoxes.get(trace.marks.stream[timeline.edges.wait[edge]!]!);
  if (!from || !to) return undefined;
  return routeEdge(
    toX(scale, timeline.edges.recordTime[edge]!),
    toX(scale, timeline.edges.waitTime[edge]!),
    guttersOf(from),
    guttersOf(to),
  );
}

/** Edges to draw now: those of the selection and of the findings are kept when others are thinned. */
export function drawnEdges(timeline: Timeline, marks: MarkColumns, scale: Scale, kept: readonly number[]): number[] {
  return visibleEdges(timeline.edges, scale, kept).filter((edge) => marks.stream[timeline.edges.wait[edge]!]! >= 0);
}

/** Time extent of a target. */
export function extentOf(trace: Trace, timeline: Timeline, target: Target): { start: number; end: number } {
  const { index } = target;
  switch (target.kind) {
    case 'device':
      return extent(trace.deviceSlices, index);
    case 'host':
      return extent(trace.hostSlices, index);
    case 'block':
      return extent(timeline.blocks, index);
    case 'held':
      return extent(timeline.held, index);
    case 'edge':
      return { start: timeline.edges.recordTime[index]!, end: timeline.edges.waitTime[index]! };
    case 'hazard':
      return { start: 0, end: 0 };
  }
}

function extent({ start, duration }: Intervals, index: number): { start: number; end: number } {
  return { start: start[index]!, end: start[index]! + duration[index]! };
}
