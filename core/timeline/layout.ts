/**
 * Where each lane lies, in CSS pixels from the top of the first lane. Heights depend only on what is in a lane and on
 * whether the panel is narrow; no drawing, no scrolling, no time.
 */
import type { Gutters } from './edges.ts';
import type { Pool } from './pools.ts';
import type { HostLane, StreamLane, Timeline } from './timeline.ts';
import type { TotalsLane } from './totals.ts';
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
  | { readonly kind: 'totals'; readonly totals: TotalsLane }
  /** The head of one of two runs on the same axis. */
  | {
      readonly kind: 'part';
      readonly part: number;
      readonly name: string;
      readonly note: string;
      readonly open: boolean;
    }
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
  /** The first boxes are pinned: so many, so high together. They stay while the others scroll. */
  readonly pinnedCount: number;
  readonly pinnedHeight: number;
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
  /** Keys of lanes that stay at the top, in their order. */
  readonly pinned?: readonly string[];
  /** Keys of lanes in the order that is wanted within their group; those not named come after, in their own order. */
  readonly order?: readonly string[];
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
      return `pool ${lane.pool.stream}${lane.pool.stream < 0 ? suffix(lane.pool.part) : ''}`;
    case 'group':
      return lane.key;
    case 'part':
      return `part ${lane.part}`;
    case 'totals':
      return `totals${lane.totals.device < 0 ? '' : ` ${lane.totals.device}`}${suffix(lane.totals.part)}`;
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

/** Keys of the second run's lanes are told from those of the first. */
const suffix = (part: number): string => (part === 0 ? '' : ` of run ${part + 1}`);

/** Lanes can change places with lanes of the same section. */
export function sectionOf(lane: Lane): string {
  if (lane.kind === 'host') return `hosts ${lane.host.part}`;
  if (lane.kind === 'stream') return `device ${lane.stream.device} ${lane.stream.part}`;
  if (lane.kind === 'pool') return `memory ${lane.pool.part}`;
  return laneKey(lane);
}

function place(timeline: Timeline, measures: Measures, options: LayoutOptions, sizes: Sizes): Layout {
  const boxes: LaneBox[] = [];
  const pinned = new Set(options.pinned);
  let y = 0;
  const putLane = (lane: Lane): void => {
    if (options.hidden.has(laneKey(lane))) return;
    const box = boxOf(lane, y, measures, options, sizes, timeline.parts.length > 1);
    boxes.push(box);
    y += box.height;
  };
  const sections = timeline.parts.map((_, part) => sectionsOf(timeline, part, measures, sizes));
  const lanes = sections.flat().flatMap((section) => section.lanes);
  const wanted = new Map(lanes.map((lane) => [laneKey(lane), lane]));
  for (const key of pinned) {
    const lane = wanted.get(key);
    if (lane) putLane(lane);
  }
  const pinnedCount = boxes.length;
  const pinnedHeight = y;
  const rank = new Map(options.order?.map((key, i) => [key, i]));
  const rankOf = (lane: Lane): number => rank.get(laneKey(lane)) ?? Number.POSITIVE_INFINITY;
  sections.forEach((ofPart, part) => {
    if (timeline.parts.length > 1) {
      const { name, note } = timeline.parts[part]!;
      const open = !options.closed.has(`part ${part}`);
      putLane({ kind: 'part', part, name, note, open });
      if (!open) return;
    }
    for (const { head, lanes: all } of ofPart) {
      const rest = all.filter((lane) => !pinned.has(laneKey(lane)));
      const open = !head || !options.closed.has(head.key);
      if (head && !measures.narrow) putLane({ kind: 'group', ...head, open });
      // A narrow panel has no heads to open a group by; only where two runs share it some start closed.
      if (!open && (!measures.narrow || sections.length > 1)) continue;
      for (const lane of rest.toSorted((a, b) => compare(rankOf(a), rankOf(b)))) putLane(lane);
    }
  });
  const streamBoxes = new Map<number, LaneBox>();
  for (const box of boxes) if (box.lane.kind === 'stream') streamBoxes.set(box.lane.stream.stream, box);
  return { boxes, height: y, pinnedCount, pinnedHeight, streamBoxes };
}

function boxOf(
  lane: Lane,
  y: number,
  measures: Measures,
  options: LayoutOptions,
  sizes: Sizes,
  isOneOfTwo: boolean,
): LaneBox {
  const box = (height: number, rows: readonly RowBox[] = []): LaneBox => ({ lane, y, height, rows });
  switch (lane.kind) {
    case 'host': {
      const most = options.opened.has(laneKey(lane)) ? lane.host.rows.length : sizes.hostRows;
      const rows = hostRows(y, lane.host, measures, most);
      return box(rows[rows.length - 1]!.y + rows[0]!.height + 6 - y, rows);
    }
    case 'stream': {
      const rows = streamRows(y, lane.stream, measures);
      const last = rows[rows.length - 1]!;
      return box(last.y + last.height + 11 - y, rows);
    }
    case 'pool': {
      const { length } = lane.pool.lowest;
      return box(Math.ceil(lane.rowHeight * length) + 12, poolRows(y, length, lane.rowHeight));
    }
    case 'totals': {
      const left = (options.room ?? Number.POSITIVE_INFINITY) - y;
      return box(Math.max(40, Math.min(measures.narrow || isOneOfTwo ? 60 : 110, left)));
    }
    case 'unrecorded':
      return box(38);
    case 'group':
      return box(22);
    case 'part':
      return box(lane.note && !measures.narrow ? 44 : 28);
  }
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

interface Section {
  /** What stands over its lanes, and closes them. */
  readonly head?: { readonly key: string; readonly name: string; readonly note: string };
  readonly lanes: readonly Lane[];
}

/** The lanes of one run, from top to bottom. */
function sectionsOf(timeline: Timeline, part: number, measures: Measures, sizes: Sizes): Section[] {
  const of = <T extends { readonly part: number }>(list: readonly T[]): T[] => list.filter((one) => one.part === part);
  const streams = of(timeline.streams);
  const pools = of(timeline.pools);
  const totals = of(timeline.totals).map((lane): Lane => ({ kind: 'totals', totals: lane }));
  const isOneOfTwo = timeline.parts.length > 1;
  const result: Section[] = [{ lanes: of(timeline.hosts).map((host) => ({ kind: 'host', host })) }];
  for (const device of new Set(streams.map((stream) => stream.device))) {
    const here = streams.filter((stream) => stream.device === device);
    result.push({
      head: {
        key: `device ${device}${suffix(part)}`,
        name: device < 0 ? 'GPU' : `GPU ${device}`,
        note: counted(here.length, 'stream'),
      },
      lanes: here.map((stream) => ({ kind: 'stream', stream })),
    });
  }
  const missing = (name: string, text: string): void => {
    result.push({ lanes: [{ kind: 'unrecorded', name, text }] });
  };
  if (streams.length === 0)
    missing('Streams', timeline.filtered ? 'No kernel or copy matches' : 'No kernel or copy in this trace');
  const { waitsWithoutEdge: waits } = timeline;
  if (waits > 0 && part === 0)
    missing(
      'Waits',
      `${counted(waits, 'wait')} without ${waits === 1 ? 'its' : 'their'} record: no ${waits === 1 ? 'edge' : 'edges'} drawn`,
    );
  if (pools.length === 0) missing('Memory', timeline.filtered ? 'No block matches' : 'Not recorded: no blocks to draw');
  else
    result.push({
      head: {
        key: `memory${suffix(part)}`,
        name: 'Memory',
        note: 'by address, in the colour of the allocating stream',
      },
      lanes: [
        ...pools.map((pool): Lane => ({ kind: 'pool', pool, rowHeight: poolRow(pool, measures, sizes) })),
        // Where two runs are compared the streams come first: totals go with the memory.
        ...(isOneOfTwo ? totals : []),
      ],
    });
  if (!isOneOfTwo || pools.length === 0) result.push({ lanes: totals });
  return result;
}

/** The layout as it stands on screen: pinned lanes moved down by what the others are scrolled up. */
export function withPinned(layout: Layout, scroll: number): Layout {
  if (layout.pinnedCount === 0 || scroll === 0) return layout;
  const streamBoxes = new Map(layout.streamBoxes);
  const boxes = layout.boxes.map((box, i) => {
    if (i >= layout.pinnedCount) return box;
    const moved = { ...box, y: box.y + scroll, rows: box.rows.map(({ y, height }) => ({ y: y + scroll, height })) };
    if (box.lane.kind === 'stream') streamBoxes.set(box.lane.stream.stream, moved);
    return moved;
  });
  return { ...layout, boxes, streamBoxes };
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
  for (let i = 0; i < layout.pinnedCount; i++) {
    const box = layout.boxes[i]!;
    if (y >= box.y && y < box.y + box.height) return box;
  }
  let low = layout.pinnedCount;
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
