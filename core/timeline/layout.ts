/**
 * Where each lane lies, in CSS pixels from the top of the first lane. Heights depend only on what is in a lane and on
 * whether the panel is narrow; no drawing, no scrolling, no time.
 */
import type { Gutters } from './edges.ts';
import type { Pool } from './pools.ts';
import type { HostLane, StreamLane, Timeline } from './timeline.ts';
import { counted } from './units.ts';

export interface Measures {
  readonly narrow: boolean;
  readonly header: number;
  readonly minimap: number;
  readonly axis: number;
  readonly findings: number;
}

/** Up to 900 px wide the panel is narrow. */
export const narrowest = 900;

export function measuresFor(panelWidth: number): Measures {
  const narrow = panelWidth <= narrowest;
  return { narrow, header: narrow ? 108 : 176, minimap: narrow ? 36 : 48, axis: 24, findings: 30 };
}

export type Lane =
  | { readonly kind: 'host'; readonly host: HostLane }
  | { readonly kind: 'stream'; readonly stream: StreamLane }
  | { readonly kind: 'pool'; readonly pool: Pool; readonly rowHeight: number }
  | { readonly kind: 'totals' }
  | {
      readonly kind: 'group';
      readonly key: string;
      readonly name: string;
      readonly note: string;
      readonly open: boolean;
    }
  /** What the trace does not hold is said in its place: an empty lane would read as "none". */
  | { readonly kind: 'unrecorded'; readonly name: string; readonly text: string };

export interface LaneBox {
  readonly lane: Lane;
  readonly y: number;
  readonly height: number;
  /** Tops of the rows, from the top of the first lane, and their heights. */
  readonly rows: readonly RowBox[];
}

export interface RowBox {
  readonly y: number;
  readonly height: number;
}

export interface Layout {
  readonly boxes: readonly LaneBox[];
  readonly height: number;
  /** Box of each stream of the trace; undefined: hidden or without a lane. */
  readonly streamBoxes: ReadonlyMap<number, LaneBox>;
}

/** How tall things are: as tall as they like to be, or lower, where the lanes would not fit into the room otherwise. */
interface Sizes {
  /** Row of a pool with few address ranges, and a whole pool with many. */
  readonly poolRow: number;
  readonly pool: number;
  /** Rows of a host thread that are shown before its lane is opened. */
  readonly hostRows: number;
}

const roomySizes: Sizes = { poolRow: 30, pool: 264, hostRows: 8 };
const tightSizes: Sizes = { poolRow: 22, pool: 180, hostRows: 4 };
const narrowSizes: Sizes = { poolRow: 24, pool: 180, hostRows: 3 };

export interface LayoutOptions {
  /** Keys of closed groups, and of host lanes opened to all their rows (`host 0`). */
  readonly closed: ReadonlySet<string>;
  readonly opened: ReadonlySet<string>;
  /** Keys of lanes that are not wanted. */
  readonly hidden: ReadonlySet<string>;
  /** Pixels that the lanes may take without scrolling: pools and totals get lower to fit in. */
  readonly room?: number;
}

/** Names a lane in the sets above. */
export function laneKey(lane: Lane): string {
  switch (lane.kind) {
    case 'host':
      return `host ${lane.host.thread}`;
    case 'stream':
      return `stream ${lane.stream.stream}`;
    case 'pool':
      return `pool ${lane.pool.stream}`;
    case 'group':
      return lane.key;
    case 'totals':
      return 'totals';
    case 'unrecorded':
      return `unrecorded ${lane.name}`;
  }
}

export function layOut(timeline: Timeline, measures: Measures, options: LayoutOptions): Layout {
  if (measures.narrow) return place(timeline, measures, options, narrowSizes);
  const roomy = place(timeline, measures, options, roomySizes);
  const { room } = options;
  if (room === undefined || roomy.height <= room) return roomy;
  return place(timeline, measures, options, tightSizes);
}

function place(timeline: Timeline, measures: Measures, options: LayoutOptions, sizes: Sizes): Layout {
  const boxes: LaneBox[] = [];
  let y = 0;
  const put = (lane: Lane, height: number, rows: readonly RowBox[] = []): void => {
    if (options.hidden.has(laneKey(lane))) return;
    boxes.push({ lane, y, height, rows });
    y += height;
  };
  const group = (key: string, name: string, note: string): boolean => {
    const open = !options.closed.has(key);
    if (!measures.narrow) put({ kind: 'group', key, name, note, open }, 22);
    return open || measures.narrow;
  };

  for (const host of timeline.hosts) {
    const rows = hostRows(
      y,
      host,
      measures,
      options.opened.has(`host ${host.thread}`) ? host.rows.length : sizes.hostRows,
    );
    put({ kind: 'host', host }, rows[rows.length - 1]!.y + rows[0]!.height + 6 - y, rows);
  }
  const devices = [...new Set(timeline.streams.map((stream) => stream.device))];
  for (const device of devices) {
    const streams = timeline.streams.filter((stream) => stream.device === device);
    const count = `${streams.length} ${streams.length === 1 ? 'stream' : 'streams'}`;
    if (!group(`device ${device}`, device < 0 ? 'GPU' : `GPU ${device}`, count)) continue;
    for (const stream of streams) {
      const rows = streamRows(y, stream, measures);
      const last = rows[rows.length - 1]!;
      put({ kind: 'stream', stream }, last.y + last.height + 11 - y, rows);
    }
  }
  if (timeline.streams.length === 0)
    put({ kind: 'unrecorded', name: 'Streams', text: 'No kernel or copy in this trace' }, 38);
  const { waitsWithoutEdge: waits } = timeline;
  if (waits > 0) {
    const text = `${counted(waits, 'wait')} without ${waits === 1 ? 'its' : 'their'} record: no ${waits === 1 ? 'edge' : 'edges'} drawn`;
    put({ kind: 'unrecorded', name: 'Waits', text }, 38);
  }
  if (timeline.pools.length === 0)
    put({ kind: 'unrecorded', name: 'Memory', text: 'Not recorded: no blocks to draw' }, 38);
  else if (group('memory', 'Memory', 'by address, in the colour of the allocating stream')) {
    for (const pool of timeline.pools) {
      const rowHeight = poolRow(pool, measures, sizes);
      const rows = poolRows(y, pool.lowest.length, rowHeight);
      put({ kind: 'pool', pool, rowHeight }, Math.ceil(rowHeight * pool.lowest.length) + 12, rows);
    }
  }
  if (timeline.totals.length > 0) {
    const left = (options.room ?? Number.POSITIVE_INFINITY) - y;
    put({ kind: 'totals' }, Math.max(40, Math.min(measures.narrow ? 60 : 110, left)));
  }
  const streamBoxes = new Map<number, LaneBox>();
  for (const box of boxes) if (box.lane.kind === 'stream') streamBoxes.set(box.lane.stream.stream, box);
  return { boxes, height: y, streamBoxes };
}

function hostRows(y: number, host: HostLane, { narrow }: Measures, most: number): RowBox[] {
  const count = Math.min(host.rows.length, most);
  const height = narrow ? 17 : count > 4 ? 16 : 18;
  return Array.from({ length: Math.max(1, count) }, (_, i) => ({ y: y + 5 + i * (height + 2), height }));
}

function streamRows(y: number, stream: StreamLane, { narrow }: Measures): RowBox[] {
  const first = narrow ? 20 : 24;
  return Array.from({ length: Math.max(1, stream.rows.length) }, (_, i) =>
    i === 0 ? { y: y + 10, height: first } : { y: y + 10 + first + 2 + (i - 1) * 16, height: 14 },
  );
}

/** On whole pixels, so that outlines stay sharp, with a gap between rows where there is room for one. */
function poolRows(y: number, count: number, rowHeight: number): RowBox[] {
  const gap = rowHeight >= 16 ? 3 : rowHeight >= 10 ? 2 : rowHeight >= 6 ? 1 : 0;
  const top = (i: number): number => (rowHeight >= 4 ? Math.round(i * rowHeight) : i * rowHeight);
  return Array.from({ length: count }, (_, i) => ({
    y: y + 6 + top(i),
    height: Math.max(1, top(i + 1) - top(i) - gap),
  }));
}

function poolRow(pool: Pool, { narrow }: Measures, sizes: Sizes): number {
  const count = pool.lowest.length;
  if (narrow) return Math.min(sizes.poolRow, sizes.pool / count);
  if (count <= 3) return sizes.poolRow;
  if (count <= 4) return Math.min(sizes.poolRow, 25);
  return Math.min(22, sizes.pool / count);
}

/** The gutters of a stream's lane, where its record and wait marks sit. */
export function guttersOf(box: LaneBox): Gutters {
  return { top: box.y + 5, bottom: box.y + box.height - 6 };
}

/** The box at a height; undefined: above the first or below the last. */
export function boxAt(layout: Layout, y: number): LaneBox | undefined {
  let low = 0;
  let high = layout.boxes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const box = layout.boxes[middle]!;
    if (y < box.y) high = middle - 1;
    else if (y >= box.y + box.height) low = middle + 1;
    else return box;
  }
  return undefined;
}

/** Row of a box at a height; the gaps between rows belong to the nearer one. -1: outside all. */
export function rowAt(box: LaneBox, y: number): number {
  for (let i = 0; i < box.rows.length; i++) {
    const row = box.rows[i]!;
    if (y >= row.y - 1 && y < row.y + row.height + 1) return i;
  }
  return -1;
}
