/**
 * What differs between the two runs that share a timeline, as rows of a table: lengths, streams by name, kernels by name,
 * waits, memory, findings. Figures only; how they are worded and sorted on screen is the panel's.
 */
import type { Trace, TraceHazard } from '../trace/trace.ts';
import { count, type Part, type Rows } from './parts.ts';
import type { Timeline } from './timeline.ts';

export interface Difference {
  readonly name: string;
  readonly unit: 'time' | 'bytes' | 'count' | 'share';
  /** Undefined: the run has nothing of that name. */
  readonly first: number | undefined;
  readonly second: number | undefined;
}

export interface Differences {
  readonly whole: readonly Difference[];
  /** Busy time of each stream, by name. */
  readonly streams: readonly Difference[];
  /** Time of each kernel or copy, by name; the largest differences. */
  readonly kernels: readonly Difference[];
  /** Findings that only one of the two has. */
  readonly findings: readonly { readonly run: 0 | 1; readonly hazard: number }[];
}

const mostKernels = 12;

export function differencesOf(trace: Trace, hazards: readonly TraceHazard[], timeline: Timeline): Differences {
  const [a, b] = timeline.parts;
  if (!a || !b) return { whole: [], streams: [], kernels: [], findings: [] };
  const both = (name: string, unit: Difference['unit'], of: (part: Part, index: number) => number): Difference => ({
    name,
    unit,
    first: of(a, 0),
    second: of(b, 1),
  });
  const peak = (part: number, values: 'allocated' | 'heldBack'): number =>
    Math.max(0, ...timeline.totals.filter((lane) => lane.part === part).map(({ totals }) => highest(totals[values])));
  return {
    whole: [
      both('Length', 'time', (part) => part.duration),
      both('Kernels and copies', 'count', (part) => count(part.deviceSlices)),
      both('Time on streams', 'time', (part) => sum(trace.deviceSlices.duration, part.deviceSlices)),
      both('Streams held by waits', 'time', (part) => sum(timeline.held.duration, part.marks)),
      both('Highest allocated', 'bytes', (_, i) => peak(i, 'allocated')),
      both('Highest held back', 'bytes', (_, i) => peak(i, 'heldBack')),
      both('Findings', 'count', (part) => count(part.hazards)),
    ],
    streams: byName(
      timeline.streams.map((lane) => ({
        part: lane.part,
        name: lane.name,
        value: lane.busy * Math.max(1, timeline.parts[lane.part]!.duration),
      })),
    ),
    kernels: kernels(trace, timeline.parts),
    findings: findings(hazards, a, b),
  };
}

function sum(values: Float64Array, { from, to }: Rows): number {
  let total = 0;
  for (let i = from; i < to; i++) total += Math.max(0, values[i]!);
  return total;
}

function highest(values: Float64Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]!);
  return most;
}

function byName(
  list: Iterable<{ readonly part: number; readonly name: string; readonly value: number }>,
): Difference[] {
  const rows = new Map<string, [number | undefined, number | undefined]>();
  for (const { part, name, value } of list) {
    const row = rows.get(name) ?? [undefined, undefined];
    row[part === 0 ? 0 : 1] = (row[part === 0 ? 0 : 1] ?? 0) + value;
    rows.set(name, row);
  }
  return [...rows].map(([name, [first, second]]) => ({ name, unit: 'time', first, second }));
}

function kernels({ deviceSlices, strings }: Trace, parts: readonly Part[]): Difference[] {
  const totals = parts.map(({ deviceSlices: rows }) => {
    const time = new Map<number, number>();
    for (let i = rows.from; i < rows.to; i++) {
      const name = deviceSlices.name[i]!;
      time.set(name, (time.get(name) ?? 0) + deviceSlices.duration[i]!);
    }
    return time;
  });
  const rows = byName(
    totals.flatMap((time, part) => [...time].map(([name, value]) => ({ part, name: strings[name] ?? '', value }))),
  );
  return rows.sort((x, y) => size(y) - size(x) || (x.name < y.name ? -1 : 1)).slice(0, mostKernels);
}

const size = ({ first = 0, second = 0 }: Difference): number => Math.abs(second - first);

/** A finding is the same in both where its code and its source line are. */
function findings(hazards: readonly TraceHazard[], a: Part, b: Part): Differences['findings'] {
  const key = (i: number): string => `${hazards[i]!.code} ${hazards[i]!.at.file}:${hazards[i]!.at.line}`;
  const rows = ({ from, to }: Rows): number[] => Array.from({ length: to - from }, (_, i) => from + i);
  const only = (mine: Rows, others: Rows, run: 0 | 1): { run: 0 | 1; hazard: number }[] => {
    const known = new Set(rows(others).map(key));
    return rows(mine)
      .filter((i) => !known.has(key(i)))
      .map((hazard) => ({ run, hazard }));
  };
  return [...only(a.hazards, b.hazards, 0), ...only(b.hazards, a.hazards, 1)];
}
