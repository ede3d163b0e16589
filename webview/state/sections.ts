/**
 * What the panel says in tables, as plain text: the whole run, a range, two runs next to each other. How tables are laid out
 * is the panel's.
 */
import { count as countOf } from '../../core/timeline/parts.ts';
import { type Difference, differencesOf } from '../../core/timeline/differences.ts';
import { headline } from '../../core/timeline/findings.ts';
import type { Target } from '../../core/timeline/hit.ts';
import { grouped, percent, sizeText, timeNumber, timeText, unitFor } from '../../core/timeline/units.ts';
import type { View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';
import type { Place } from './details.ts';
import { statisticsOf } from './statistics.ts';

export interface SectionRow {
  readonly cells: readonly string[];
  /** The stream whose colour stands before the first cell. */
  readonly stream?: number;
  /** What the first cell selects. */
  readonly target?: Target;
  readonly place?: Place;
}

export interface Section {
  readonly title?: string;
  /** Heads of the columns; the first one is of text, the others of numbers. */
  readonly columns: readonly string[];
  readonly rows: readonly SectionRow[];
  /** Sentences under the table. */
  readonly notes?: readonly string[];
}

export function summarySections(run: Run): Section[] {
  const { trace, timeline } = run;
  const { counts } = trace;
  const two = timeline.parts.length > 1;
  const streams: Section = {
    columns: ['Stream', 'busy', 'slices'],
    rows: timeline.streams.map((lane) => ({
      cells: [
        two ? `${lane.name}, ${timeline.parts[lane.part]!.name}` : lane.name,
        percent(lane.busy),
        grouped(lane.slices),
      ],
      stream: lane.stream,
    })),
  };
  if (two) return [streams];
  const waits =
    counts.waits === counts.waitsWithRecord
      ? grouped(counts.waits)
      : `${grouped(counts.waits)}, ${grouped(counts.waitsWithRecord)} with their record`;
  return [
    streams,
    {
      columns: ['Recorded', 'count'],
      rows: [
        { cells: ['Kernels', grouped(counts.kernels)] },
        { cells: ['Copies', grouped(counts.copies)] },
        { cells: ['Event records', grouped(counts.records)] },
        { cells: ['Waits', waits] },
        { cells: ['Allocations', grouped(counts.allocations)] },
      ],
    },
  ];
}

export function rangeSections(run: Run, range: View): Section[] {
  const statistics = statisticsOf(run, range);
  const unit = unitFor(Math.max(0, ...statistics.longest.map((entry) => entry.total)));
  const notes = ['Slices that cross an edge count with the part inside.'];
  if (statistics.sampled) notes.push('The table of names counts the first 200 000 slices.');
  return [
    {
      columns: ['Stream', 'busy', 'waiting', 'slices'],
      rows: statistics.streams.map((entry) => ({
        cells: [entry.name, percent(entry.busy), timeText(entry.waiting), grouped(entry.slices)],
        stream: entry.stream,
      })),
    },
    {
      columns: ['Longest', 'count', 'total'],
      rows: statistics.longest.map((entry, i) => ({
        cells: [entry.name, grouped(entry.count), timeNumber(entry.total, unit) + (i === 0 ? ` ${unit.name}` : '')],
      })),
    },
    {
      columns: ['Memory', 'lowest', 'highest'],
      rows: statistics.memory.map((entry) => ({
        cells: [entry.name, sizeText(entry.lowest), sizeText(entry.highest)],
      })),
      notes,
    },
  ];
}

export function differenceSections(run: Run): Section[] {
  const { whole, streams, kernels, findings } = differencesOf(run.trace, run.hazards, run.timeline);
  const heads = ['first', 'second', 'difference'];
  const table = (title: string, list: readonly Difference[]): Section => ({
    columns: [title, ...heads],
    rows: list.map(rowOf),
  });
  const parts = run.timeline.parts;
  const runName = (i: number): string => parts[i]?.name ?? '';
  const sections = [
    table('Whole run', whole),
    table('Time on a stream', streams),
    table('Largest differences', kernels),
  ];
  sections.push({
    columns: ['Findings of one run only', ''],
    rows: findings.map(({ run: which, hazard }) => ({
      cells: [headline(run.hazards[hazard]!.message), which === 0 ? 'first' : 'second'],
      target: { kind: 'hazard', index: hazard },
    })),
    notes: [
      ...(findings.length === 0
        ? [countOf(parts[0]!.hazards) > 0 ? 'Both runs have the same findings.' : 'None.']
        : []),
      `First: ${runName(0)}. Second: ${runName(1)}.`,
    ],
  });
  return sections.filter((section) => section.rows.length > 0 || section.notes);
}

function rowOf({ name, unit, first, second }: Difference): SectionRow {
  const text = (value: number | undefined): string =>
    value === undefined
      ? '–'
      : unit === 'time'
        ? timeText(value)
        : unit === 'bytes'
          ? sizeText(value)
          : unit === 'share'
            ? percent(value)
            : grouped(value);
  return { cells: [name, text(first), text(second), changeText(unit, first, second)] };
}

function changeText(unit: Difference['unit'], first: number | undefined, second: number | undefined): string {
  if (first === undefined) return 'new';
  if (second === undefined) return 'gone';
  const by = second - first;
  if (by === 0) return 'same';
  const sign = by > 0 ? '+' : '−';
  if (unit === 'count' || first === 0) {
    const size = Math.abs(by);
    return sign + (unit === 'time' ? timeText(size) : unit === 'bytes' ? sizeText(size) : grouped(size));
  }
  const share = Math.abs(by / first);
  return sign + (share >= 10 ? `${grouped(1 + by / first)} ×` : percent(share));
}
