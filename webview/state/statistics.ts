/** Sums over a range of time: how busy each stream was, how long it waited, what ran longest, memory. Pure. */
import { busyBetween, firstEndingAfter, firstStarting, type Intervals, type Row } from '../../core/timeline/row.ts';
import { stepAt } from '../../core/timeline/totals.ts';
import { span, type View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';

export interface StreamStatistics {
  readonly stream: number;
  readonly name: string;
  /** Share of the range. */
  readonly busy: number;
  readonly waiting: number;
  readonly slices: number;
}

export interface NameStatistics {
  readonly name: string;
  readonly count: number;
  readonly total: number;
}

export interface Statistics {
  readonly streams: readonly StreamStatistics[];
  /** The names with the most time in the range. */
  readonly longest: readonly NameStatistics[];
  /** Not all slices were counted by name: there are too many. */
  readonly sampled: boolean;
  readonly memory: readonly { readonly name: string; readonly lowest: number; readonly highest: number }[];
}

/** Slices looked at by name; above this the table would cost more than a frame. */
const most = 200_000;
const shown = 5;

export function statisticsOf(run: Run, range: View): Statistics {
  const { trace, timeline } = run;
  const names = new Map<number, { count: number; total: number }>();
  let looked = 0;
  const streams = timeline.streams.map((lane): StreamStatistics => {
    let busy = 0;
    let slices = 0;
    for (const row of lane.rows) {
      const [from, to] = within(row, trace.deviceSlices, range);
      slices += to - from;
      busy += coveredBy(row, trace.deviceSlices, range, from, to);
      for (let i = from; i < to && looked < most; i++, looked++) {
        const item = row.items[i]!;
        const name = trace.deviceSlices.name[item]!;
        const entry = names.get(name) ?? { count: 0, total: 0 };
        entry.count++;
        entry.total += inside(trace.deviceSlices, item, range);
        names.set(name, entry);
      }
    }
    const [from, to] = within(lane.held, timeline.held, range);
    const waiting = coveredBy(lane.held, timeline.held, range, from, to);
    return { stream: lane.stream, name: lane.name, busy: Math.min(1, busy / span(range)), waiting, slices };
  });
  const longest = [...names]
    .map(([name, entry]) => ({ name: trace.strings[name] ?? '', ...entry }))
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
    .slice(0, shown);
  return { streams, longest, sampled: looked >= most, memory: memoryIn(run, range) };
}

function within(row: Row, columns: Intervals, range: View): readonly [number, number] {
  const from = firstEndingAfter(row, columns, range.start);
  return [from, Math.max(from, firstStarting(row, columns, range.end, from))];
}

function coveredBy(row: Row, columns: Intervals, range: View, from: number, to: number): number {
  if (to <= from) return 0;
  let busy = busyBetween(row, columns, from, to);
  // The first and the last may cross an edge of the range: they count with the part inside.
  for (const at of new Set([from, to - 1])) {
    const item = row.items[at]!;
    busy -= columns.duration[item]! - inside(columns, item, range);
  }
  return busy;
}

function inside({ start, duration }: Intervals, item: number, range: View): number {
  const from = Math.max(start[item]!, range.start);
  const to = Math.min(start[item]! + duration[item]!, range.end);
  return Math.max(0, to - from);
}

function memoryIn({ timeline }: Run, range: View): Statistics['memory'] {
  return timeline.totals.flatMap(({ totals, part, device }) => {
    const from = stepAt(totals, range.start);
    const to = stepAt(totals, range.end);
    if (to < 0) return [];
    const where = [timeline.parts.length > 1 && timeline.parts[part]!.name, device >= 0 && `GPU ${device}`];
    const suffix = where.filter(Boolean).map((text) => `, ${text}`);
    const extremes = (name: string, values: Float64Array): { name: string; lowest: number; highest: number } => {
      let lowest = from < 0 ? 0 : Number.POSITIVE_INFINITY;
      let highest = 0;
      for (let i = Math.max(0, from); i <= to; i++) {
        lowest = Math.min(lowest, values[i]!);
        highest = Math.max(highest, values[i]!);
      }
      return { name: name + suffix.join(''), lowest, highest };
    };
    return [extremes('Allocated', totals.allocated), extremes('Held back', totals.heldBack)];
  });
}
