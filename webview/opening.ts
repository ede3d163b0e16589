/** From trace files' bytes to a run ready to be drawn. Runs in the worker; tests and benchmarks call it directly. */
import { type Alignment, alignments, shiftOf } from '../core/timeline/align.ts';
import type { Part } from '../core/timeline/parts.ts';
import { buildTimeline } from '../core/timeline/timeline.ts';
import { type Side, unite } from '../core/timeline/unite.ts';
import { type OpenOptions, openTrace, openTraceUnpacking, type Unpack } from '../core/trace/index.ts';
import type { Trace, TraceHazard } from '../core/trace/trace.ts';
import { judgeTrace } from '../core/judgeTrace.ts';
import type { Run } from './messages.ts';

/** A page has a few gigabytes in all; a trace takes about as much memory as its text, unpacked. */
const mostBytes = 3e9;

export type Progress = (phase: 'reading' | 'judging' | 'laying out', read: number, total: number) => void;

export function openRun(bytes: Uint8Array, name: string, progress: Progress): Run {
  return runOf(openSide(bytes, name, '', progress), bytes, progress);
}

/** The run of a side, laid out. */
export function runOf({ trace, hazards, name }: Side, bytes: Uint8Array, progress: Progress): Run {
  progress('laying out', bytes.length, bytes.length);
  return makeRun(trace, hazards, name);
}

/** One trace, read and judged. */
export function openSide(bytes: Uint8Array, name: string, note: string, progress: Progress): Side {
  return judgedSide(openTrace(bytes, name, reading(progress)), bytes, name, note, progress);
}

/** As `openSide`, where the host unpacks. */
export async function readSide(
  bytes: Uint8Array,
  name: string,
  note: string,
  progress: Progress,
  unpack: Unpack,
): Promise<Side> {
  const trace = await openTraceUnpacking(bytes, name, unpack, reading(progress));
  return judgedSide(trace, bytes, name, note, progress);
}

function reading(progress: Progress): OpenOptions {
  return { onProgress: (read, total) => progress('reading', read, total), mostBytes };
}

function judgedSide(trace: Trace, bytes: Uint8Array, name: string, note: string, progress: Progress): Side {
  progress('judging', bytes.length, bytes.length);
  const judgement = judged(trace);
  return { name, note, trace: judgement.trace, hazards: judgement.list };
}

export function makeRun(trace: Trace, hazards: readonly TraceHazard[], name: string, parts?: readonly Part[]): Run {
  return {
    name,
    trace,
    hazards,
    timeline: buildTimeline(trace, hazards, parts),
    accesses:
      trace.accesses !== false &&
      trace.program.steps.some((step) => step.kind === 'launch' && step.accesses.length > 0),
    canPlay: (trace.stepTime ?? trace.program.steps).length > 0,
  };
}

/** Two runs on one axis; where the wanted alignment is not to be had, both begin together. */
export function compareRuns(first: Side, second: Side, by: Alignment): Run {
  const shift = shiftOf(first.trace, second.trace, by);
  const { trace, hazards, parts } = unite(first, second, shift ?? 0);
  const choices = alignments.filter((choice) => shiftOf(first.trace, second.trace, choice) !== undefined);
  return {
    ...makeRun(trace, hazards, `${first.name} and ${second.name}`, parts),
    accesses: true,
    canPlay: false,
    aligned: { by: shift === undefined ? 'start' : by, choices },
  };
}

/** A run that cannot be judged is still worth seeing: what went wrong becomes one of its limits. */
function judged(trace: Trace): { trace: Trace; list: readonly TraceHazard[] } {
  try {
    return { trace, list: judgeTrace(trace) };
  } catch (error) {
    const limit = `Findings could not be worked out: ${(error as Error).message}`;
    return { trace: { ...trace, limits: [...trace.limits, limit] }, list: [] };
  }
}
