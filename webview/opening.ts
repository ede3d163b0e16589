/** From a trace file's bytes to a run ready to be drawn. Runs in the worker; tests and benchmarks call it directly. */
import { buildTimeline } from '../core/timeline/timeline.ts';
import { openTrace } from '../core/trace/index.ts';
import type { Trace, TraceHazard } from '../core/trace/trace.ts';
import { judgeTrace } from '../core/judgeTrace.ts';
import type { Run } from './messages.ts';

export type Progress = (phase: 'reading' | 'judging' | 'laying out', read: number, total: number) => void;

export function openRun(bytes: Uint8Array, name: string, progress: Progress): Run {
  const trace = openTrace(bytes, name, { onProgress: (read, total) => progress('reading', read, total) });
  progress('judging', bytes.length, bytes.length);
  const hazards = judged(trace);
  progress('laying out', bytes.length, bytes.length);
  return makeRun(hazards.trace, hazards.list, name);
}

export function makeRun(trace: Trace, hazards: readonly TraceHazard[], name: string): Run {
  return {
    name,
    trace,
    hazards,
    timeline: buildTimeline(trace, hazards),
    accesses: trace.program.steps.some((step) => step.kind === 'launch' && step.accesses.length > 0),
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
