/**
 * What the end of the run had to wait for, from its last kernel back to its first call: at each piece of work the one thing
 * that came last before it could begin.
 *
 *     host      ██launch██───────────────────launch██
 *     copy          ██ upload ██────record
 *     compute                      └─wait─██ mul ██        path: launch, upload, mul
 *
 * A kernel begins when the work before it on its stream is done, the wait before it is released, and the host has launched
 * it. A host wait ends when the device has come to it. Edges inside a graph are not recorded: a graph is one piece.
 *
 * Deliberately unknown here: what a kernel would take if it ran alone.
 */
import { hostSliceKinds, markKinds, type Trace, type TracePlace } from '../trace/trace.ts';
import { placeOfStep } from './place.ts';

export interface PathPiece {
  /** `device`: a kernel or copy ran; `host`: the host was busy until it launched; `idle`: nothing that was recorded. */
  readonly kind: 'device' | 'host' | 'idle';
  readonly start: number;
  readonly end: number;
  /** Device slice, or host slice of a `host` piece; -1: none. */
  readonly slice: number;
  readonly stream: number;
  /** Why it is on the path: what it was that the next piece waited for. */
  readonly edge: 'stream' | 'event' | 'launch' | 'hostWait' | 'end';
}

export interface PathShare {
  readonly kind: PathPiece['kind'];
  readonly name: string;
  readonly stream: number;
  readonly at: TracePlace;
  readonly count: number;
  readonly time: number;
}

export interface CriticalPath {
  /** From the first to the last. */
  readonly pieces: readonly PathPiece[];
  readonly device: number;
  readonly host: number;
  readonly idle: number;
  /** What takes most of it, the most first. */
  readonly shares: readonly PathShare[];
  /** What another tool (HTA) has laid over the file as its critical path: how many arrows of which kind. */
  readonly recorded: readonly { readonly kind: string; readonly count: number; readonly time: number }[];
}

/** Host work between two launches is told as one piece; clocks of host and device may differ by so much. Nanoseconds. */
const clockStep = 2000;

export function criticalPathOf(trace: Trace): CriticalPath {
  const pieces = new Walk(trace).run();
  const total = (kind: PathPiece['kind']) =>
    pieces.reduce((sum, piece) => sum + (piece.kind === kind ? piece.end - piece.start : 0), 0);
  return {
    pieces,
    device: total('device'),
    host: total('host'),
    idle: total('idle'),
    shares: sharesOf(trace, pieces),
    recorded: recordedPath(trace),
  };
}

function recordedPath({ arrows = [], strings }: Trace): CriticalPath['recorded'] {
  const kinds = new Map<string, { kind: string; count: number; time: number }>();
  for (const { kind, fromTime, toTime } of arrows) {
    const name = strings[kind] ?? '';
    const known = kinds.get(name) ?? { kind: name, count: 0, time: 0 };
    known.count++;
    known.time += Math.max(0, toTime - fromTime);
    kinds.set(name, known);
  }
  return [...kinds.values()].sort((a, b) => b.time - a.time || b.count - a.count);
}

class Walk {
  readonly #trace: Trace;
  /** Per device slice the wait mark that comes before it on its stream, -1: none. */
  readonly #waitBefore: Int32Array;
  /** Device slices by end, of each stream and of all. */
  readonly #ofStream: readonly (readonly number[])[];
  readonly #byEnd: readonly number[];
  /** Host waits of each thread by their ends. */
  readonly #hostWaits = new Map<number, number[]>();

  constructor(trace: Trace) {
    this.#trace = trace;
    const { deviceSlices: d, marks: m, streams } = trace;
    const end = (slice: number) => d.start[slice]! + d.duration[slice]!;
    const ofStream = streams.map((): number[] => []);
    for (let i = 0; i < d.length; i++) ofStream[d.stream[i]!]?.push(i);
    for (const list of ofStream) list.sort((a, b) => end(a) - end(b) || a - b);
    this.#ofStream = ofStream;
    this.#byEnd = Array.from({ length: d.length }, (_, i) => i).sort((a, b) => end(a) - end(b) || a - b);
    this.#waitBefore = this.#findWaits();
    for (let mark = 0; mark < m.length; mark++) {
      if (markKinds[m.kind[mark]!] !== 'hostWait' || !(m.blocked[mark]! > 0)) continue;
      const list = this.#hostWaits.get(m.thread[mark]!);
      if (list) list.push(mark);
      else this.#hostWaits.set(m.thread[mark]!, [mark]);
    }
    const returned = (mark: number) => m.hostTime[mark]! + m.blocked[mark]!;
    for (const list of this.#hostWaits.values()) list.sort((a, b) => returned(a) - returned(b) || a - b);
  }

  run(): PathPiece[] {
    const { deviceSlices: d } = this.#trace;
    const pieces: PathPiece[] = [];
    let slice = this.#byEnd.at(-1) ?? -1;
    let edge: PathPiece['edge'] = 'end';
    let until = slice < 0 ? 0 : this.#end(slice);
    // Each step goes back in time, so each slice comes at most once; the bound guards against clocks that do not agree.
    for (let steps = 0; slice >= 0 && steps <= 2 * d.length; steps++) {
      const start = Math.min(d.start[slice]!, until);
      pieces.push({ kind: 'device', start, end: until, slice, stream: d.stream[slice]!, edge });
      const before = this.#before(slice);
      const launched = this.#launchOf(slice);
      const ready = before ? this.#end(before.slice) : Number.NEGATIVE_INFINITY;
      if (launched && launched.end >= ready - clockStep && launched.end <= start + clockStep) {
        const from = this.#hostBack(pieces, launched.thread, launched.slice, Math.min(launched.end, start), start);
        if (!from) break;
        slice = from.slice;
        until = Math.min(this.#end(slice), from.until);
        edge = 'hostWait';
      } else if (before) {
        until = Math.min(this.#end(before.slice), start);
        if (start - until > 0) pieces.push(idle(until, start));
        slice = before.slice;
        edge = before.edge;
      } else break;
    }
    return pieces.reverse();
  }

  /** The device work that the slice had to wait for: the last before it on its stream, or what its wait was released by. */
  #before(slice: number): { readonly slice: number; readonly edge: 'stream' | 'event' } | undefined {
    const { deviceSlices: d, marks: m } = this.#trace;
    const start = d.start[slice]!;
    const own = this.#lastEnding(this.#ofStream[d.stream[slice]!]!, start + clockStep, slice);
    const wait = this.#waitBefore[slice]!;
    const record = wait < 0 ? -1 : m.other[wait]!;
    const from = record < 0 ? -1 : m.stream[record]!;
    const reached = record < 0 ? -1 : m.deviceTime[record]!;
    const other =
      from >= 0 && reached >= 0
        ? this.#lastEnding(this.#ofStream[from]!, Math.min(reached, start) + clockStep, slice)
        : -1;
    if (other >= 0 && (own < 0 || this.#end(other) >= this.#end(own))) return { slice: other, edge: 'event' };
    return own < 0 ? undefined : { slice: own, edge: 'stream' };
  }

  #launchOf(slice: number): { readonly thread: number; readonly slice: number; readonly end: number } | undefined {
    const { deviceSlices: d, hostSlices: h, program, stepTime } = this.#trace;
    const launcher = d.launcher[slice]!;
    if (launcher >= 0) return { thread: h.thread[launcher]!, slice: launcher, end: h.start[launcher]! };
    const step = d.step[slice]!;
    const time = step < 0 ? -1 : (stepTime?.[step] ?? -1);
    return time < 0 ? undefined : { thread: program.steps[step]!.thread, slice: -1, end: time };
  }

  /** The host's own work before a launch, back to the wait that held it; where the device then was. */
  #hostBack(
    pieces: PathPiece[],
    thread: number,
    slice: number,
    launched: number,
    start: number,
  ): { readonly slice: number; readonly until: number } | undefined {
    const { marks: m } = this.#trace;
    const waits = this.#hostWaits.get(thread) ?? [];
    let low = 0;
    let high = waits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (m.hostTime[waits[middle]!]! + m.blocked[waits[middle]!]! <= launched) low = middle + 1;
      else high = middle;
    }
    const wait = waits[low - 1];
    const from = wait === undefined ? 0 : m.hostTime[wait]! + m.blocked[wait]!;
    // The launch itself, up to when the kernel began.
    pieces.push({ kind: 'host', start: from, end: start, slice, stream: -1, edge: 'launch' });
    if (wait === undefined) return undefined;
    const on = m.stream[wait]!;
    const found = this.#lastEnding(on >= 0 ? this.#ofStream[on]! : this.#byEnd, from + clockStep, -1);
    if (found < 0) return undefined;
    const until = Math.min(this.#end(found), from);
    if (from - until > 0) pieces.push(idle(until, from));
    return { slice: found, until };
  }

  /** The last slice of a list (by end) that ends at or before `time`; not `but`, and none that begins after it. */
  #lastEnding(list: readonly number[], time: number, but: number): number {
    const { deviceSlices: d } = this.#trace;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#end(list[middle]!) <= time) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && i >= low - 8; i--) {
      const found = list[i]!;
      if (found !== but && (but < 0 || d.start[found]! < d.start[but]!)) return found;
    }
    return -1;
  }

  /** In the order of steps: the last wait of a stream before each launch. */
  #findWaits(): Int32Array {
    const { deviceSlices: d, marks: m, streams } = this.#trace;
    const result = new Int32Array(d.length).fill(-1);
    const last = new Int32Array(streams.length).fill(-1);
    const launches = Array.from({ length: d.length }, (_, i) => i)
      .filter((i) => d.step[i]! >= 0)
      .sort((a, b) => d.step[a]! - d.step[b]!);
    const waits = Array.from({ length: m.length }, (_, i) => i)
      .filter((i) => markKinds[m.kind[i]!] === 'wait' && m.step[i]! >= 0 && m.stream[i]! >= 0)
      .sort((a, b) => m.step[a]! - m.step[b]!);
    let next = 0;
    for (const slice of launches) {
      for (; next < waits.length && m.step[waits[next]!]! < d.step[slice]!; next++) {
        const wait = waits[next]!;
        const stream = m.stream[wait]!;
        const released = (mark: number) => (mark < 0 ? -1 : m.deviceTime[mark]!);
        // Of several waits before one kernel the one that ends last counts.
        if (last[stream]! < 0 || released(wait) >= released(last[stream]!)) last[stream] = wait;
      }
      result[slice] = last[d.stream[slice]!]!;
      last[d.stream[slice]!] = -1;
    }
    return result;
  }

  #end(slice: number): number {
    const { deviceSlices: d } = this.#trace;
    return d.start[slice]! + d.duration[slice]!;
  }
}

const idle = (start: number, end: number): PathPiece => ({
  kind: 'idle',
  start,
  end,
  slice: -1,
  stream: -1,
  edge: 'stream',
});

function sharesOf(trace: Trace, pieces: readonly PathPiece[]): PathShare[] {
  const { deviceSlices: d, hostSlices: h, strings } = trace;
  const shares = new Map<string, { -readonly [K in keyof PathShare]: PathShare[K] }>();
  for (const { kind, slice, stream, start, end } of pieces) {
    const step = kind === 'device' && slice >= 0 ? d.step[slice]! : -1;
    const at = placeOfStep(trace, step);
    const name =
      kind === 'device'
        ? (strings[d.name[slice]!] ?? '')
        : kind === 'host'
          ? slice >= 0
            ? `host, up to ${hostSliceKinds[h.kind[slice]!] === 'runtime' ? '' : 'the launch in '}${strings[h.name[slice]!] ?? ''}`
            : 'host'
          : 'nothing that was recorded';
    const key = `${kind} ${name} ${stream} ${at.file}:${at.line}`;
    const share = shares.get(key);
    if (share) {
      share.count++;
      share.time += end - start;
    } else shares.set(key, { kind, name, stream, at, count: 1, time: end - start });
  }
  return [...shares.values()].sort((a, b) => b.time - a.time);
}
