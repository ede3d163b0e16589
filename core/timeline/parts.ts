/**
 * Which rows of a trace's tables belong to which run. A trace is one run; two that are drawn on one time axis are one trace
 * of two parts (unite.ts). Knows nothing of lanes.
 */
import type { Trace } from '../trace/trace.ts';

/** Rows [from, to). */
export interface Rows {
  readonly from: number;
  readonly to: number;
}

export interface Part {
  readonly name: string;
  /** A second line under the name; '': none. */
  readonly note: string;
  readonly streams: Rows;
  readonly threads: Rows;
  readonly deviceSlices: Rows;
  readonly hostSlices: Rows;
  readonly marks: Rows;
  readonly blocks: Rows;
  readonly counters: Rows;
  readonly hazards: Rows;
  /** Nanoseconds on the axis that this run's own times were moved by. */
  readonly shift: number;
  /** Its own length in nanoseconds. */
  readonly duration: number;
}

export const holds = ({ from, to }: Rows, row: number): boolean => row >= from && row < to;

export const count = ({ from, to }: Rows): number => to - from;

/** The whole of a trace as its only part. */
export function wholeOf(trace: Trace, hazards: number): Part {
  const all = ({ length }: { readonly length: number }): Rows => ({ from: 0, to: length });
  return {
    name: '',
    note: '',
    streams: all(trace.streams),
    threads: all(trace.threads),
    deviceSlices: all(trace.deviceSlices),
    hostSlices: all(trace.hostSlices),
    marks: all(trace.marks),
    blocks: all(trace.blocks),
    counters: all(trace.counters),
    hazards: { from: 0, to: hazards },
    shift: 0,
    duration: trace.duration,
  };
}

/** The part that a stream belongs to. */
export const partOfStream = (parts: readonly Part[], stream: number): number =>
  Math.max(
    0,
    parts.findIndex((part) => holds(part.streams, stream)),
  );
