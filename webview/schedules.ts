/**
 * How a finding of a recorded run goes wrong: the run's own program on the built-in executor, once as it is meant and once
 * in a schedule in which the two accesses come the wrong way round. Runs in the worker.
 */
import type { StreamProgram } from '../core/program/program.ts';
import type { TraceHazard } from '../core/trace/trace.ts';
import { witnesses } from '../core/witness.ts';

/** Programs of more steps are not run again: it would take longer than anybody waits. */
const mostSteps = 20_000;

export interface Schedule {
  readonly intended: string;
  readonly witness: string;
  readonly wrong: string;
}

/** Undefined: no schedule was found in which it does. */
export function scheduleOf(
  program: StreamProgram,
  hazard: Pick<TraceHazard, 'code' | 'message' | 'at'>,
): Schedule | undefined {
  if (program.steps.length > mostSteps)
    throw new Error('This run is too long to be played again. Record a few steps of the program, and ask there.');
  const placeOf = (step: number) => {
    const origin = program.origins[program.steps[step]?.origin ?? -1];
    return origin?.kind === 'trace' && origin.file !== undefined
      ? [{ file: origin.file, line: origin.line ?? 1, function: '' }]
      : [];
  };
  const found = witnesses(program, { producer: 'raceline', placeOf }).filter(({ code }) => code === hazard.code);
  const isHere = (frames: readonly { readonly file: string; readonly line: number }[]): boolean =>
    frames.some(({ file, line }) => file === hazard.at.file && line === hazard.at.line);
  return (
    found.find(({ message }) => message === hazard.message) ?? found.find(({ frames }) => isHere(frames)) ?? found[0]
  );
}
