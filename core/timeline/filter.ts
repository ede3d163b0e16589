/**
 * A timeline with only those slices and blocks that are wanted: rows and lanes without any are left out, so that what is
 * left is drawn, walked and counted as if it were all. Knows nothing of why something is wanted.
 */
import type { Trace } from '../trace/trace.ts';
import { makePool } from './pools.ts';
import { type Intervals, makeRow, type Row } from './row.ts';
import type { Timeline } from './timeline.ts';

export interface Wanted {
  readonly device: (slice: number) => boolean;
  readonly host: (slice: number) => boolean;
  readonly block: (block: number) => boolean;
}

export function filterTimeline(timeline: Timeline, trace: Trace, wanted: Wanted): Timeline {
  const rowsOf = (rows: readonly Row[], columns: Intervals, keep: (item: number) => boolean): Row[] =>
    rows.map(({ items }) => makeRow(items.filter(keep), columns)).filter((row) => row.items.length > 0);
  return {
    ...timeline,
    filtered: true,
    hosts: timeline.hosts
      .map((lane) => ({ ...lane, rows: rowsOf(lane.rows, trace.hostSlices, wanted.host) }))
      .filter((lane) => lane.rows.length > 0),
    streams: timeline.streams
      .map((lane) => {
        const rows = rowsOf(lane.rows, trace.deviceSlices, wanted.device);
        return { ...lane, rows, slices: rows.reduce((sum, row) => sum + row.items.length, 0) };
      })
      .filter((lane) => lane.rows.length > 0),
    pools: timeline.pools.flatMap((pool) => {
      const items = Int32Array.from(pool.rows.flatMap((row) => [...row.items.filter(wanted.block)]));
      return items.length === 0
        ? []
        : [makePool(pool.part, pool.stream, pool.name, items, trace.blocks, timeline.blocks)];
    }),
  };
}
