/**
 * The findings of a run on the time axis: their order by urgency, what is drawn where in the findings lane, and what a
 * finding's two accesses are. Wording belongs to the rules.
 */
import type { TraceHazard } from '../trace/trace.ts';
import { type Scale, toX } from './view.ts';

const urgencies = { error: 0, warning: 1, hint: 2 } as const;

/** A confirmed finding is an error, whatever its rule's severity. */
export function severityOf(hazard: TraceHazard): 'error' | 'warning' | 'hint' {
  return hazard.status === 'confirmed' && hazard.severity === 'warning' ? 'error' : hazard.severity;
}

/** Faults of a block's life: somebody else gets its memory while it is used. All others are of order. */
export const isLifetime = (hazard: TraceHazard): boolean => hazard.code === 'missing-record-stream';

/** Most urgent first: confirmed before not seen, then severity, then time. */
export function byUrgency(hazards: readonly TraceHazard[]): number[] {
  return hazards
    .map((_, i) => i)
    .sort((a, b) => {
      const first = hazards[a]!;
      const second = hazards[b]!;
      return (
        Number(second.status === 'confirmed') - Number(first.status === 'confirmed') ||
        urgencies[severityOf(first)] - urgencies[severityOf(second)] ||
        first.start - second.start ||
        a - b
      );
    });
}

/** One mark in the findings lane: one finding, or several that would lie on top of each other. */
export interface FindingMark {
  /** Most urgent first. */
  readonly hazards: readonly number[];
  readonly x: number;
  /** Where the extent of the first ends. */
  readonly end: number;
  /** Room for its words, up to the next mark. */
  readonly room: number;
}

/** Nearer than this, marks become one. */
const nearest = 18;

export function findingMarks(hazards: readonly TraceHazard[], order: readonly number[], scale: Scale): FindingMark[] {
  const rank = new Int32Array(hazards.length);
  order.forEach((hazard, i) => {
    rank[hazard] = i;
  });
  const right = scale.left + scale.width;
  const seen = order
    .filter((hazard) => hazards[hazard]!.start >= 0)
    .map((hazard) => ({ hazard, x: toX(scale, hazards[hazard]!.start), end: toX(scale, hazards[hazard]!.end) }))
    .filter(({ x, end }) => end >= scale.left && x <= right)
    .sort((a, b) => a.x - b.x);
  const groups: { hazards: number[]; x: number; last: number }[] = [];
  for (const { hazard, x } of seen) {
    const at = Math.max(x, scale.left);
    const group = groups[groups.length - 1];
    if (group && at - group.last < nearest) {
      group.hazards.push(hazard);
      group.last = at;
    } else groups.push({ hazards: [hazard], x: at, last: at });
  }
  return groups.map((group, i) => {
    const next = groups[i + 1]?.x ?? right;
    const list = group.hazards.sort((a, b) => rank[a]! - rank[b]!);
    const end = Math.max(group.x, ...list.map((hazard) => toX(scale, hazards[hazard]!.end)));
    return { hazards: list, x: group.x, end: Math.min(end, right + 10), room: next - group.x };
  });
}

/** `x is reused while compute still reads it` out of a longer message: its first clause, without the backticks. */
export function headline(message: string): string {
  return plain(message.slice(0, headlineLength(message)));
}

/** What a message says beyond its headline, as a sentence of its own; '': nothing. Backticks stay: they set names apart. */
export function afterHeadline(message: string): string {
  const rest = message.slice(headlineLength(message)).replace(/^[.;:,]?\s*/, '');
  return rest === '' ? '' : rest[0]!.toUpperCase() + rest.slice(1);
}

/** A name alone may hold a stop, so the clause ends only where white space follows, and not in the first few letters. */
function headlineLength(message: string): number {
  const end = message.indexOf('\n') < 0 ? message.length : message.indexOf('\n');
  const stop = /[.;:](?=\s+\S)/.exec(message.slice(0, end));
  return stop && stop.index > 12 ? stop.index : end;
}

export const plain = (message: string): string => message.replaceAll('`', '').replace(/\.$/, '');
