/**
 * Two runs as one trace on one time axis: tables are put one after the other, indices moved accordingly, times shifted.
 * What is drawn, hit, searched and counted then needs no notion of a second run.
 */
import type { Trace, TraceHazard } from '../trace/trace.ts';
import { type Part, wholeOf } from './parts.ts';

export interface Side {
  readonly name: string;
  readonly note?: string;
  readonly trace: Trace;
  readonly hazards: readonly TraceHazard[];
}

export interface United {
  readonly trace: Trace;
  readonly hazards: readonly TraceHazard[];
  readonly parts: readonly [Part, Part];
}

/** `shift`: by how many nanoseconds the second run starts after the first; negative: before. */
export function unite(first: Side, second: Side, shift = 0): United {
  const a = first.trace;
  const b = second.trace;
  // A time of -1 says "not known", so nothing may move below 0: the other run moves up in its place.
  const moves = { a: Math.max(0, -shift), b: Math.max(0, shift) };
  const { strings, place } = joinStrings(a.strings, b.strings);
  const sites = a.sites.length;
  const site = { a: same, b: by(sites) };
  const trace: Trace = {
    ...a,
    duration: Math.max(a.duration + moves.a, b.duration + moves.b),
    strings,
    streams: [
      ...a.streams,
      ...b.streams.map((stream) => ({
        ...stream,
        programStream: stream.programStream < 0 ? -1 : stream.programStream + a.program.streams.length,
      })),
    ],
    threads: [...a.threads, ...b.threads],
    sites: {
      length: sites + b.sites.length,
      file: joined(a.sites.file, b.sites.file, same, place),
      line: joined(a.sites.line, b.sites.line),
      function: joined(a.sites.function, b.sites.function, same, place),
      parent: joined(a.sites.parent, b.sites.parent, site.a, site.b),
    },
    deviceSlices: {
      length: a.deviceSlices.length + b.deviceSlices.length,
      stream: joined(a.deviceSlices.stream, b.deviceSlices.stream, same, by(a.streams.length)),
      start: joined(a.deviceSlices.start, b.deviceSlices.start, plus(moves.a), plus(moves.b)),
      duration: joined(a.deviceSlices.duration, b.deviceSlices.duration),
      name: joined(a.deviceSlices.name, b.deviceSlices.name, same, place),
      kind: joined(a.deviceSlices.kind, b.deviceSlices.kind),
      bytes: joined(a.deviceSlices.bytes, b.deviceSlices.bytes),
      correlation: joined(a.deviceSlices.correlation, b.deviceSlices.correlation),
      step: joined(a.deviceSlices.step, b.deviceSlices.step, same, by(a.program.steps.length)),
      site: joined(a.deviceSlices.site, b.deviceSlices.site, site.a, site.b),
      launcher: joined(a.deviceSlices.launcher, b.deviceSlices.launcher, same, by(a.hostSlices.length)),
    },
    hostSlices: {
      length: a.hostSlices.length + b.hostSlices.length,
      thread: joined(a.hostSlices.thread, b.hostSlices.thread, same, by(a.threads.length)),
      start: joined(a.hostSlices.start, b.hostSlices.start, plus(moves.a), plus(moves.b)),
      duration: joined(a.hostSlices.duration, b.hostSlices.duration),
      name: joined(a.hostSlices.name, b.hostSlices.name, same, place),
      kind: joined(a.hostSlices.kind, b.hostSlices.kind),
      site: joined(a.hostSlices.site, b.hostSlices.site, site.a, site.b),
    },
    marks: {
      length: a.marks.length + b.marks.length,
      kind: joined(a.marks.kind, b.marks.kind),
      stream: joined(a.marks.stream, b.marks.stream, same, by(a.streams.length)),
      thread: joined(a.marks.thread, b.marks.thread, same, by(a.threads.length)),
      hostTime: joined(a.marks.hostTime, b.marks.hostTime, known(moves.a), known(moves.b)),
      deviceTime: joined(a.marks.deviceTime, b.marks.deviceTime, known(moves.a), known(moves.b)),
      blocked: joined(a.marks.blocked, b.marks.blocked),
      other: joined(a.marks.other, b.marks.other, same, by(a.marks.length)),
      inferred: joined(a.marks.inferred, b.marks.inferred),
      implicit: joined(a.marks.implicit, b.marks.implicit),
      step: joined(a.marks.step, b.marks.step, same, by(a.program.steps.length)),
      site: joined(a.marks.site, b.marks.site, site.a, site.b),
    },
    blocks: {
      length: a.blocks.length + b.blocks.length,
      address: joined(a.blocks.address, b.blocks.address),
      size: joined(a.blocks.size, b.blocks.size),
      stream: joined(a.blocks.stream, b.blocks.stream, same, by(a.streams.length)),
      allocated: joined(a.blocks.allocated, b.blocks.allocated, known(moves.a), known(moves.b)),
      releaseRequested: joined(a.blocks.releaseRequested, b.blocks.releaseRequested, known(moves.a), known(moves.b)),
      lastUse: joined(a.blocks.lastUse, b.blocks.lastUse, known(moves.a), known(moves.b)),
      reusable: joined(a.blocks.reusable, b.blocks.reusable, known(moves.a), known(moves.b)),
      name: joined(a.blocks.name, b.blocks.name, same, place),
      allocationSite: joined(a.blocks.allocationSite, b.blocks.allocationSite, site.a, site.b),
      releaseSite: joined(a.blocks.releaseSite, b.blocks.releaseSite, site.a, site.b),
      programBlock: joined(a.blocks.programBlock, b.blocks.programBlock, same, by(a.program.blocks.length)),
    },
    counters: {
      length: a.counters.length + b.counters.length,
      time: joined(a.counters.time, b.counters.time, plus(moves.a), plus(moves.b)),
      allocated: joined(a.counters.allocated, b.counters.allocated),
      reserved: joined(a.counters.reserved, b.counters.reserved),
      heldBack: joined(a.counters.heldBack, b.counters.heldBack),
      device: joined(devicesOf(a), devicesOf(b)),
    },
    stepTime: undefined,
    accesses: undefined,
    limits: [...new Set([...a.limits, ...b.limits])],
    problems: [...a.problems, ...b.problems],
    // Only the tables of the program are put together: no step of two runs has an order to the other's.
    program: {
      ...a.program,
      streams: [...a.program.streams, ...b.program.streams],
      blocks: [...a.program.blocks, ...b.program.blocks],
      steps: [],
    },
  };
  const hazards = [
    ...first.hazards.map((hazard) => moved(hazard, a, moves.a, 0, 0)),
    ...second.hazards.map((hazard) => moved(hazard, b, moves.b, a.deviceSlices.length, a.blocks.length)),
  ];
  return { trace, hazards, parts: partsOf(first, second, moves) };
}

function partsOf(first: Side, second: Side, moves: { readonly a: number; readonly b: number }): [Part, Part] {
  const one = wholeOf(first.trace, first.hazards.length);
  const two = wholeOf(second.trace, second.hazards.length);
  const after = (rows: 'streams' | 'threads' | 'deviceSlices' | 'hostSlices' | 'marks' | 'blocks' | 'counters') => ({
    from: one[rows].to,
    to: one[rows].to + two[rows].to,
  });
  return [
    { ...one, name: first.name, note: first.note ?? '', shift: moves.a },
    {
      name: second.name,
      note: second.note ?? '',
      streams: after('streams'),
      threads: after('threads'),
      deviceSlices: after('deviceSlices'),
      hostSlices: after('hostSlices'),
      marks: after('marks'),
      blocks: after('blocks'),
      counters: after('counters'),
      hazards: { from: one.hazards.to, to: one.hazards.to + two.hazards.to },
      shift: moves.b,
      duration: two.duration,
    },
  ];
}

type Column = Int32Array | Float64Array | Uint8Array;
type Change = (value: number) => number;

const same: Change = (value) => value;
/** An index into a table that now begins later; -1 stays "none". */
const by =
  (offset: number): Change =>
  (index) =>
    index < 0 ? index : index + offset;
const plus =
  (time: number): Change =>
  (value) =>
    value + time;
/** A time that may be "not known". */
const known =
  (time: number): Change =>
  (value) =>
    value < 0 ? value : value + time;

function joined<T extends Column>(a: T, b: T, changeA: Change = same, changeB: Change = same): T {
  const result = new (a.constructor as new (length: number) => T)(a.length + b.length);
  if (changeA === same) result.set(a);
  else for (let i = 0; i < a.length; i++) result[i] = changeA(a[i]!);
  if (changeB === same) result.set(b, a.length);
  else for (let i = 0; i < b.length; i++) result[a.length + i] = changeB(b[i]!);
  return result;
}

function joinStrings(a: readonly string[], b: readonly string[]): { strings: string[]; place: Change } {
  const strings = [...a];
  const known = new Map(a.map((text, i) => [text, i]));
  const places = b.map((text) => {
    const there = known.get(text);
    if (there !== undefined) return there;
    known.set(text, strings.length);
    return strings.push(text) - 1;
  });
  return { strings, place: (index) => places[index] ?? -1 };
}

const devicesOf = ({ counters }: Trace): Int32Array => counters.device ?? new Int32Array(counters.length);

function moved(hazard: TraceHazard, trace: Trace, time: number, slices: number, blocks: number): TraceHazard {
  const at = (index: number, offset: number, length: number): number =>
    index < 0 || index >= length ? -1 : index + offset;
  return {
    ...hazard,
    firstSlice: at(hazard.firstSlice, slices, trace.deviceSlices.length),
    secondSlice: at(hazard.secondSlice, slices, trace.deviceSlices.length),
    block: at(hazard.block, blocks, trace.blocks.length),
    start: hazard.start < 0 ? hazard.start : hazard.start + time,
    end: hazard.end < 0 ? hazard.end : hazard.end + time,
  };
}
