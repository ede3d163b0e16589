/** What the view shows as rows of a table, in order of time: the way in for those who do not see the canvas. */
import type { Target } from '../../core/timeline/hit.ts';
import type { Layout } from '../../core/timeline/layout.ts';
import { firstEndingAfter, type Intervals, type Row } from '../../core/timeline/row.ts';
import { shortened, timeText } from '../../core/timeline/units.ts';
import type { View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';
import { placeText, sourceOf } from './details.ts';
import { laneName } from './lanes.ts';

export interface ViewRow {
  readonly target: Target;
  readonly start: number;
  readonly cells: readonly string[];
}

export const tableColumns = ['What', 'Start', 'Length', 'Lane', 'Source', 'Finding'] as const;

/** Rows of one lane's row at most: a table of more is not read. */
const mostOfRow = 100;
const most = 400;

export function rowsInView(run: Run, layout: Layout, view: View): { rows: ViewRow[]; more: boolean } {
  const { trace, timeline } = run;
  const rows: ViewRow[] = [];
  let more = false;
  const add = (
    lane: string,
    list: readonly Row[],
    columns: Intervals,
    kind: 'device' | 'host' | 'block',
    nameOf: (item: number) => string,
  ): void => {
    for (const row of list) {
      const from = firstEndingAfter(row, columns, view.start);
      for (let i = from; i < row.items.length; i++) {
        const item = row.items[i]!;
        if (columns.start[item]! > view.end) break;
        if (i - from >= mostOfRow) {
          more = true;
          break;
        }
        const target: Target = { kind, index: item };
        const place = sourceOf(run, target);
        const start = columns.start[item]!;
        const cells = [
          shortened(nameOf(item)),
          timeText(start),
          timeText(columns.duration[item]!),
          lane,
          place ? placeText(place) : '',
          findingOf(run, target),
        ];
        rows.push({ target, start, cells });
      }
    }
  };
  for (const { lane, rows: shown } of layout.boxes) {
    const name = shortened(laneName(lane));
    const text = (index: number): string => trace.strings[index] ?? '';
    if (lane.kind === 'stream')
      add(
        name,
        lane.stream.rows,
        trace.deviceSlices,
        'device',
        (item) => text(trace.deviceSlices.name[item]!) || 'kernel',
      );
    else if (lane.kind === 'host')
      add(
        name,
        lane.host.rows.slice(0, shown.length),
        trace.hostSlices,
        'host',
        (item) => text(trace.hostSlices.name[item]!) || 'call',
      );
    else if (lane.kind === 'pool')
      add(name, lane.pool.rows, timeline.blocks, 'block', (item) => text(trace.blocks.name[item]!) || 'block');
  }
  rows.sort((a, b) => a.start - b.start);
  return { rows: rows.slice(0, most), more: more || rows.length > most };
}

function findingOf({ hazards }: Run, { kind, index }: Target): string {
  return hazards
    .filter((hazard) =>
      kind === 'device'
        ? hazard.firstSlice === index || hazard.secondSlice === index
        : kind === 'block' && hazard.block === index,
    )
    .map((hazard) => hazard.code)
    .join(', ');
}
