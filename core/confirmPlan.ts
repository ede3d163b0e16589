/**
 * What to do to a program so that a hazard of its recording happens: which call to hold back on its stream until which
 * other call is done, and which released block to fill first. A rerun finds these calls by operator, line and count.
 *
 *     order, host   hold back `first`, until `second` is through
 *     lifetime      hold back `first` (the use), fill the block where `second` (its next owner) is made
 *
 * Hazards of other kinds change no value, end the program by themselves, or are the cause of one that is in the plan.
 */
import type { Hazard } from './hazards/hazard.ts';
import { judge } from './judgeTrace.ts';
import type { Step, StepIndex, StreamProgram } from './program/program.ts';
import type { Trace, TraceHazard } from './trace/trace.ts';

export interface ConfirmPlan {
  readonly version: 1;
  readonly hazards: readonly PlannedHazard[];
}

export interface PlannedHazard {
  /** Its position among the hazards of the trace. */
  readonly id: number;
  readonly kind: 'order' | 'lifetime' | 'host';
  readonly conflict: string;
  readonly first: CallPlace;
  readonly second: CallPlace;
  /** Bytes of the block, 0: not known. */
  readonly size: number;
}

export interface CallPlace {
  /** `aten::mul`; '' for whatever makes the block. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** Which of the calls of this name at this line, from 0. */
  readonly occurrence: number;
}

/** A hazard of the trace, and why it is not in the plan; undefined: it is. */
export interface ConsideredHazard {
  readonly told: TraceHazard;
  readonly planned: PlannedHazard | undefined;
  readonly left?: 'no-value' | 'no-place';
}

export function planConfirm(trace: Trace): ConsideredHazard[] {
  const calls = new Calls(trace.program);
  return judge(trace).map(({ hazard, told }, id) => {
    const pair = pairOf(hazard);
    if (!pair) return { told, planned: undefined, left: 'no-value' };
    const first = calls.place(pair.first);
    const second = calls.place(pair.second);
    if (!first || !second) return { told, planned: undefined, left: 'no-place' };
    const size = trace.program.blocks[pair.block]?.size ?? 0;
    return { told, planned: { id, kind: pair.kind, conflict: pair.conflict, first, second, size } };
  });
}

function pairOf(hazard: Hazard) {
  switch (hazard.kind) {
    case 'order':
    case 'host':
      return { ...hazard, kind: hazard.kind };
    case 'lifetime':
      return { kind: hazard.kind, conflict: 'reuse', first: hazard.use, second: hazard.reuse, block: hazard.block };
    default:
      return undefined;
  }
}

/** Counts calls of one name at one line, in host order. */
class Calls {
  readonly #program: StreamProgram;
  readonly #occurrence: Int32Array;

  constructor(program: StreamProgram) {
    this.#program = program;
    this.#occurrence = new Int32Array(program.steps.length);
    const seen = new Map<string, number>();
    program.steps.forEach((step, at) => {
      const { file, line } = this.#origin(step);
      const key = `${nameOf(step)}\n${file}\n${line}`;
      const count = seen.get(key) ?? 0;
      this.#occurrence[at] = count;
      seen.set(key, count + 1);
    });
  }

  place(at: StepIndex): CallPlace | undefined {
    const step = this.#program.steps[at];
    if (!step) return undefined;
    const { file, line } = this.#origin(step);
    return file && line ? { name: nameOf(step), file, line, occurrence: this.#occurrence[at]! } : undefined;
  }

  #origin(step: Step): { readonly file: string; readonly line: number } {
    const origin = this.#program.origins[step.origin];
    return origin?.kind === 'trace' ? { file: origin.file ?? '', line: origin.line ?? 0 } : { file: '', line: 0 };
  }
}

function nameOf(step: Step): string {
  if (step.kind === 'launch' || step.kind === 'hostAccess') return step.name;
  return step.kind === 'replay' ? 'replay' : '';
}
