/**
 * A witness: a schedule in which a pair of steps without an order happens the wrong way round. The first step's work is
 * held back on its stream until the second one's is done; streams and waits are obeyed as in any run, so a device may do
 * just that.
 *
 *     intended   a  |fill x|           witness   a           |fill x|
 *                b          |read x|             b  |read x|
 *
 * Deliberately unknown here: which pairs have no order (a pair that has one gets no witness), words.
 */
import type { StepIndex, StreamProgram } from '../program/program.ts';
import { type ExecuteOptions, execute } from './execute.ts';

export interface Pair {
  /** The step that should come first. */
  readonly first: StepIndex;
  readonly second: StepIndex;
  /** What the work of the two is called in the witness. */
  readonly names: ReadonlyMap<StepIndex, string>;
  /** A sentence about what goes wrong. */
  readonly note: string;
}

export interface Schedules {
  /** The texts of two `.raceline` files: the run as it would be by itself, and the one that goes wrong. */
  readonly intended: string;
  readonly witness: string;
}

/** Undefined: no hold of the first step lets the second one come before it. */
export function findWitness(program: StreamProgram, pair: Pair, options: ExecuteOptions): Schedules | undefined {
  const before = timed(program, options, pair);
  if (!before.first || !before.second) return undefined;
  const hold = Math.max(0, before.second.end - before.first.start) + margin;
  const after = timed(
    program,
    { ...options, delays: new Map([[pair.first, hold]]), names: pair.names, note: pair.note },
    pair,
  );
  // The host may have waited for the first step before it issued the second one.
  if (!after.first || !after.second || after.second.end > after.first.start) return undefined;
  return { intended: before.text, witness: after.text };
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** So that the two are seen apart. Nanoseconds. */
const margin = 2000;

function timed(program: StreamProgram, options: ExecuteOptions, { first, second }: Pair) {
  const extents = new Map<StepIndex, Extent>();
  const text = execute(program, {
    ...options,
    onWork: (step, start, end) => {
      if (step === first || (step === second && !extents.has(step))) extents.set(step, { start, end });
    },
  });
  return { text, first: extents.get(first), second: extents.get(second) };
}
