/** How long each wait held its stream or the host, by the place that it stands at: loops give one row. */
import { markKinds, type Trace, type TracePlace } from '../trace/trace.ts';
import { placeOfSite, placeOfStep } from './place.ts';

export interface Waiting {
  readonly kind: 'wait' | 'hostWait';
  /** What is held: the waiting stream, -1 for the host. */
  readonly stream: number;
  /** What is waited for: the stream of the record, or of a host wait; -1: not known, or the whole device. */
  readonly on: number;
  readonly at: TracePlace;
  readonly count: number;
  /** Nanoseconds; waits whose time is not known count 0. */
  readonly blocked: number;
  readonly longest: number;
  /** How many of them did not hold anything up. */
  readonly free: number;
  /** The mark that held longest, to show. */
  readonly mark: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The longest first. */
export function waitingOf(trace: Trace): Waiting[] {
  const { marks: m } = trace;
  const groups = new Map<string, Mutable<Waiting>>();
  for (let mark = 0; mark < m.length; mark++) {
    const kind = markKinds[m.kind[mark]!]!;
    if (kind === 'record') continue;
    const record = m.other[mark]!;
    const stream = kind === 'wait' ? m.stream[mark]! : -1;
    const on = record >= 0 ? m.stream[record]! : kind === 'hostWait' ? m.stream[mark]! : -1;
    const own = placeOfStep(trace, m.step[mark]!);
    const at = own.file ? own : placeOfSite(trace, m.site[mark]!);
    const blocked = Math.max(0, m.blocked[mark]!);
    const key = `${kind} ${stream} ${on} ${at.file}:${at.line}`;
    const group = groups.get(key);
    if (!group) {
      groups.set(key, {
        kind,
        stream,
        on,
        at,
        count: 1,
        blocked,
        longest: blocked,
        free: m.blocked[mark] === 0 ? 1 : 0,
        mark,
      });
      continue;
    }
    group.count++;
    group.blocked += blocked;
    if (m.blocked[mark] === 0) group.free++;
    if (blocked > group.longest) {
      group.longest = blocked;
      group.mark = mark;
    }
  }
  return [...groups.values()].sort((a, b) => b.blocked - a.blocked || a.mark - b.mark);
}
