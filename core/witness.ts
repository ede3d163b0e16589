/**
 * Witness schedules of a stream program: for each hazard that makes a value wrong, two runs of the built-in executor, the
 * one that is meant and one that goes wrong, with the wrong value named.
 */
import { findWitness, type Schedules } from './execute/witness.ts';
import type { ExecuteOptions, Frame } from './execute/execute.ts';
import { findHazards } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import type { BlockId, StepIndex, StreamProgram } from './program/program.ts';
import { wordHazard } from './rules/index.ts';

export interface Witness extends Schedules {
  readonly code: string;
  /** The step at which the hazard is reported, and its frames, outermost first. */
  readonly at: StepIndex;
  readonly frames: readonly Frame[];
  readonly message: string;
  /** The wrong value: ``mul` reads what `fill_` has not written`. */
  readonly wrong: string;
}

export function witnesses(program: StreamProgram, options: ExecuteOptions): Witness[] {
  const found: Witness[] = [];
  for (const hazard of findHazards(program)) {
    const story = tell(program, hazard);
    const words = story && wordHazard(hazard, program);
    if (!story || !words) continue;
    const { first, second, wrong, wrongAt } = story;
    const pair = { first, second, names: new Map([[wrongAt, wrong.replaceAll('`', '')]]), note: wrong };
    const schedules = findWitness(program, pair, options);
    if (!schedules) continue;
    const { at, message } = words;
    found.push({ ...schedules, code: words.rule.code, at, frames: options.placeOf?.(at) ?? [], message, wrong });
  }
  return found;
}

interface Story {
  readonly first: StepIndex;
  readonly second: StepIndex;
  readonly wrong: string;
  /** The step whose work is called by what goes wrong with it. */
  readonly wrongAt: StepIndex;
}

function tell(program: StreamProgram, hazard: Hazard): Story | undefined {
  const name = (at: StepIndex) => nameOf(program, at);
  switch (hazard.kind) {
    case 'order': {
      const { first, second } = hazard;
      if (hazard.conflict === 'read-after-write')
        return { first, second, wrong: `${name(second)} reads what ${name(first)} has not written`, wrongAt: second };
      if (hazard.conflict === 'write-after-read')
        return { first, second, wrong: `${name(first)} reads what ${name(second)} wrote over it`, wrongAt: first };
      return { first, second, wrong: `${name(first)} writes over what ${name(second)} wrote`, wrongAt: first };
    }
    case 'host': {
      const { first, second } = hazard;
      return hazard.conflict === 'host-read-before-copy-done'
        ? { first, second, wrong: `the host reads what ${name(first)} has not brought`, wrongAt: first }
        : { first, second, wrong: `${name(first)} takes what the host wrote after it`, wrongAt: first };
    }
    case 'unjoined': {
      const { write: first, escape: second } = hazard;
      return { first, second, wrong: `the caller reads what ${name(first)} has not written`, wrongAt: second };
    }
    case 'lifetime': {
      const next = firstWork(program, hazard.nextBlock, hazard.reuse);
      if (next === undefined) return undefined;
      const { use: first } = hazard;
      return { first, second: next, wrong: `${name(first)} reads what ${name(next)} wrote there`, wrongAt: first };
    }
    default:
      return undefined;
  }
}

/** The first work on the block that gets the memory; what the caller does counts for itself. */
function firstWork(program: StreamProgram, known: BlockId | undefined, reuse: StepIndex): StepIndex | undefined {
  const step = program.steps[reuse]!;
  if (step.kind === 'outside') return reuse;
  const block = known ?? (step.kind === 'allocate' ? step.block : undefined);
  for (let i = reuse; i < program.steps.length; i++) {
    const other = program.steps[i]!;
    if (other.kind === 'launch' && other.accesses.some((access) => access.block === block)) return i;
  }
  return undefined;
}

function nameOf(program: StreamProgram, at: StepIndex): string {
  const step = program.steps[at]!;
  if (step.kind === 'launch') return step.before ? 'the caller’s work before' : `\`${step.name || 'operation'}\``;
  if (step.kind === 'replay') return 'the replay';
  return step.kind === 'outside' ? 'the caller’s next tensor' : 'the host';
}
