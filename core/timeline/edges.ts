/**
 * Event edges, from the record to the wait that it releases, and which of them to draw: all while they are few, else the
 * longest and those asked for.
 */
import type { MarkColumns } from '../trace/trace.ts';
import type { View } from './view.ts';

/** One row an edge, sorted by the earlier of its two times. */
export interface Edges {
  readonly length: number;
  /** Marks: the record, the wait. */
  readonly record: Int32Array;
  readonly wait: Int32Array;
  readonly recordTime: Float64Array;
  readonly waitTime: Float64Array;
  /** Latest end among each 256 edges: stretches that cannot reach the view are skipped. */
  readonly reach: Float64Array;
  /** All edges, the longest wait first. */
  readonly byBlocked: Int32Array;
  /** Each edge's place in `byBlocked`. */
  readonly rank: Int32Array;
}

const stretch = 256;

/** Over this many only the longest `fewest` are drawn, with those of the selection and the findings. */
export const mostEdges = 200;
export const fewestEdges = 50;

/** Up to so many in the view are ranked; among more, the longest of all are soon found to lie in it. */
const mostRanked = 2048;

export function buildEdges(marks: MarkColumns): Edges {
  const waits: number[] = [];
  for (let mark = 0; mark < marks.length; mark++) {
    const record = marks.other[mark]!;
    if (marks.kind[mark] !== 1 || record < 0 || record >= marks.length) continue;
    if (marks.stream[mark]! >= 0 && marks.stream[record]! >= 0) waits.push(mark);
  }
  const from = (wait: number): number => timeOf(marks, marks.other[wait]!);
  const to = (wait: number): number => Math.max(timeOf(marks, wait), from(wait));
  waits.sort((a, b) => from(a) - from(b) || a - b);
  const length = waits.length;
  const edges = {
    length,
    record: new Int32Array(length),
    wait: Int32Array.from(waits),
    recordTime: new Float64Array(length),
    waitTime: new Float64Array(length),
    reach: new Float64Array(Math.ceil(length / stretch)).fill(Number.NEGATIVE_INFINITY),
    byBlocked: Int32Array.from({ length }, (_, i) => i),
    rank: new Int32Array(length),
  };
  waits.forEach((wait, i) => {
    edges.record[i] = marks.other[wait]!;
    edges.recordTime[i] = from(wait);
    edges.waitTime[i] = to(wait);
    const at = Math.floor(i / stretch);
    if (edges.waitTime[i]! > edges.reach[at]!) edges.reach[at] = edges.waitTime[i]!;
  });
  const held = (edge: number): number => marks.blocked[edges.wait[edge]!]!;
  edges.byBlocked.sort((a, b) => held(b) - held(a) || a - b);
  edges.byBlocked.forEach((edge, i) => {
    edges.rank[edge] = i;
  });
  return edges;
}

/** Device time of a mark; where it is not known, the host's: the device cannot have been earlier. */
export function timeOf(marks: MarkColumns, mark: number): number {
  const device = marks.deviceTime[mark]!;
  return device >= 0 ? device : Math.max(0, marks.hostTime[mark]!);
}

/** Edges to draw in the view, in order. `always` are added if they lie in it. */
export function visibleEdges(edges: Edges, view: View, always: readonly number[] = []): number[] {
  const found: number[] = [];
  for (let from = 0; from < edges.length && edges.recordTime[from]! <= view.end; from += stretch) {
    if (edges.reach[from / stretch]! < view.start) continue;
    const end = Math.min(edges.length, from + stretch);
    for (let i = from; i < end; i++) if (isIn(edges, i, view)) found.push(i);
    if (found.length > mostRanked) return longest(edges, edges.byBlocked, view, always);
  }
  if (found.length <= mostEdges) return found;
  return longest(
    edges,
    found.sort((a, b) => edges.rank[a]! - edges.rank[b]!),
    view,
    always,
  );
}

/** The first of `ranked` that lie in the view. */
function longest(edges: Edges, ranked: ArrayLike<number>, view: View, always: readonly number[]): number[] {
  const chosen = new Set(always.filter((edge) => isIn(edges, edge, view)));
  let found = 0;
  for (let i = 0; i < ranked.length && found < fewestEdges; i++) {
    const edge = ranked[i]!;
    if (!isIn(edges, edge, view)) continue;
    found++;
    chosen.add(edge);
  }
  return [...chosen].sort((a, b) => a - b);
}

function isIn(edges: Edges, edge: number, view: View): boolean {
  return edges.recordTime[edge]! <= view.end && edges.waitTime[edge]! >= view.start;
}

/** The edge that ends in this wait, or starts in this record; -1: none. */
export function edgeOfMark(edges: Edges, mark: number): number {
  const wait = edges.wait.indexOf(mark);
  return wait >= 0 ? wait : edges.record.indexOf(mark);
}

/** How an edge runs: along the gutter of the record's lane, then to the wait's lane at the moment the wait ends. */
export interface EdgePath {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** The two gutters of a lane. */
export interface Gutters {
  readonly top: number;
  readonly bottom: number;
}

/** The record sits at its lane's bottom; the wait at the side of its lane that faces it. */
export function routeEdge(x1: number, x2: number, record: Gutters, wait: Gutters): EdgePath {
  const below = wait.top >= record.bottom;
  // Nearer than 4 px the line would be a hook: it falls straight.
  return { x1: Math.abs(x2 - x1) < 4 ? x2 : x1, y1: record.bottom, x2, y2: below ? wait.top : wait.bottom };
}
