/**
 * Work that ran on the default stream although the code around it works on another one. Two signs, both certain enough to
 * look at: a kernel ran on another stream than the one that was current for its operator (an extension that launches without
 * asking for it); or an operator on the default stream stands, by its line and in time, between two on the same side stream.
 */
import type { Trace, TracePlace } from '../trace/trace.ts';
import { placeOfStep } from './place.ts';

export interface DefaultStreamUse {
  readonly why: 'launched-elsewhere' | 'between';
  readonly name: string;
  /** The side stream of the code around it. */
  readonly around: number;
  readonly at: TracePlace;
  readonly count: number;
  /** The first slice, -1: none. */
  readonly slice: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function defaultStreamUses(trace: Trace): DefaultStreamUse[] {
  const { deviceSlices: d, program, streams, strings } = trace;
  const uses = new Map<string, Mutable<DefaultStreamUse>>();
  const add = (use: DefaultStreamUse) => {
    const key = `${use.why} ${use.name} ${use.around} ${use.at.file}:${use.at.line}`;
    const known = uses.get(key);
    if (known) known.count += use.count;
    else uses.set(key, { ...use });
  };
  const traceStream = new Map(streams.map((stream, i) => [stream.programStream, i]));
  const sliceOf = new Int32Array(program.steps.length).fill(-1);
  for (let slice = 0; slice < d.length; slice++) {
    const at = d.step[slice]!;
    const step = program.steps[at];
    if (step?.kind !== 'launch') continue;
    if (sliceOf[at]! < 0) sliceOf[at] = slice;
    const around = traceStream.get(step.stream) ?? -1;
    if (around < 0 || around === d.stream[slice] || !streams[d.stream[slice]!]!.isDefault) continue;
    add({
      why: 'launched-elsewhere',
      name: strings[d.name[slice]!] ?? '',
      around,
      at: placeOfStep(trace, at),
      count: 1,
      slice,
    });
  }
  for (const { step, around } of between(trace)) {
    const launch = program.steps[step]!;
    add({
      why: 'between',
      name: launch.kind === 'launch' ? launch.name : '',
      around: traceStream.get(around) ?? -1,
      at: placeOfStep(trace, step),
      count: 1,
      slice: sliceOf[step]!,
    });
  }
  return [...uses.values()].sort((a, b) => b.count - a.count || a.slice - b.slice);
}

/** Launches of one thread in one function: side at a smaller line, default, side at a larger line. */
function* between(trace: Trace): Generator<{ readonly step: number; readonly around: number }> {
  const { program, sites } = trace;
  interface Seen {
    readonly step: number;
    readonly stream: number;
    readonly caller: string;
    readonly line: number;
  }
  const last = new Map<number, Seen>();
  const held = new Map<number, { readonly before: Seen; readonly steps: number[] }>();
  for (const [i, step] of program.steps.entries()) {
    if (step.kind !== 'launch') continue;
    const origin = program.origins[step.origin];
    const site = origin?.kind === 'trace' ? (origin.site ?? -1) : -1;
    const line = origin?.kind === 'trace' ? (origin.line ?? 0) : 0;
    // The same call of the same function: its caller's site and itself, but for the line.
    const caller = site < 0 ? '' : `${sites.parent[site]} ${sites.file[site]} ${sites.function[site]}`;
    const own: Seen = { step: i, stream: step.stream, caller, line };
    const { thread } = step;
    if (caller === '') {
      last.delete(thread);
      held.delete(thread);
      continue;
    }
    if (!program.streams[step.stream]!.isDefault) {
      const open = held.get(thread);
      if (open && open.before.caller === caller && open.before.stream === step.stream)
        for (const at of open.steps) {
          const inner = program.origins[program.steps[at]!.origin];
          const at_ = inner?.kind === 'trace' ? (inner.line ?? 0) : 0;
          if (open.before.line < at_ && at_ < line) yield { step: at, around: step.stream };
        }
      held.delete(thread);
      last.set(thread, own);
      continue;
    }
    const before = last.get(thread);
    const open = held.get(thread);
    if (open && open.before.caller === caller) open.steps.push(i);
    else if (before && before.caller === caller && !program.streams[before.stream]!.isDefault)
      held.set(thread, { before, steps: [i] });
    else held.delete(thread);
  }
}
