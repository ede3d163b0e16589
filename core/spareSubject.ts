/**
 * One path as it is judged while calls are taken out of it: everything unknown at its worst, nothing that orders by accident
 * only, and behind its end whatever its caller may do with what still lives. Does not know which calls are tried, or why.
 */
import { examine } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import type { LoweredEntry, LoweredPath } from './lower/lowered.ts';
import type { BlockId, SourceFrame, Step, StepIndex, StreamProgram } from './program/program.ts';
import { nothing, worstCase } from './worstCase.ts';

/** One path, and its program with what has been taken out so far. */
export interface Subject {
  readonly path: LoweredPath;
  readonly steps: Step[];
  readonly program: StreamProgram;
  /** The steps of the path itself; what follows them stands for whoever comes later. */
  readonly own: number;
  readonly decides: boolean;
  found: Found;
}

/** The races of a program, by what they are about, and per step whether something relied on that wait. */
export interface Found {
  readonly races: ReadonlyMap<string, Hazard>;
  readonly relied: Uint8Array;
}

export function frameOf({ steps, origins }: StreamProgram, at: StepIndex): SourceFrame | undefined {
  const origin = origins[steps[at]!.origin];
  return origin?.kind === 'source' ? origin.frames.at(-1) : undefined;
}

export function subjectOf(entry: LoweredEntry, path: LoweredPath): Subject {
  const { program } = path;
  const unknownEvents = new Set(program.events.flatMap(({ unknown }, event) => (unknown ? [event] : [])));
  const own = program.steps.length;
  const worst = worstCase(program);
  // What nobody wrote is no order to lean on: it may go with the next edit of the code that has it as a side effect.
  const steps = worst.steps.map((step): Step => {
    const event = step.kind === 'wait' ? step.event : undefined;
    const leaned =
      (step.kind === 'wait' && (step.implicit || unknownEvents.has(event!))) ||
      (step.kind === 'hostWait' && step.implicit) ||
      step.kind === 'poll';
    return leaned ? nothing(step) : step;
  });
  // The end of the program needs nothing.
  if (entry.name !== '<module>') steps.push(...laterUse(worst, steps));
  const numbered = steps.map((step, origin): Step => ({ ...step, origin }));
  const subject: Subject = {
    path,
    steps: numbered,
    own,
    // Each step is an execution of its own: none stands for another.
    program: {
      ...worst,
      steps: numbered,
      origins: numbered.map((_, row) => ({ kind: 'trace', row })),
    },
    decides:
      program.threads.length <= 1 &&
      !program.steps.some(({ kind }) => kind === 'captureBegin' || kind === 'replay' || kind === 'poll'),
    found: { races: new Map(), relied: new Uint8Array() },
  };
  subject.found = racesIn(subject.program);
  return subject;
}

/** Whatever still lives can be read, written and dropped later, on every stream; pinned memory on the host. */
function laterUse(program: StreamProgram, steps: readonly Step[]): Step[] {
  const live = new Set<BlockId>();
  const isOnGpu = (block: BlockId) => program.blocks[block]!.evidence && program.blocks[block]!.memory === 'device';
  for (const step of steps) {
    if (step.kind === 'launch') for (const { block } of step.accesses) live.add(block);
    if (step.kind === 'hostAccess') live.add(step.access.block);
    if (step.kind === 'release') live.delete(step.block);
  }
  const uses: Step[] = [];
  const base = { thread: 0, origin: 0 };
  for (const block of live) {
    if (program.blocks[block]!.memory === 'pinned')
      uses.push({ ...base, kind: 'hostAccess', name: 'later work', access: { block, write: true } });
    else if (isOnGpu(block))
      for (let stream = 0; stream < program.streams.length; stream++)
        // Reads: what one later reader does to the next is not this entry's.
        uses.push({ ...base, kind: 'launch', stream, name: 'later work', accesses: [{ block, write: false }] });
  }
  for (const block of live)
    if (isOnGpu(block))
      for (let stream = 0; stream < program.streams.length; stream++)
        uses.push({ ...base, kind: 'launch', stream, name: 'later work', accesses: [{ block, write: true }] });
  for (let stream = 0; stream < program.streams.length; stream++) uses.push({ ...base, kind: 'outside', stream });
  return uses;
}

export function without(subject: Subject, gone: readonly StepIndex[]): StreamProgram {
  const steps = [...subject.steps];
  for (const at of gone) steps[at] = nothing(steps[at]!);
  return { ...subject.program, steps };
}

export function racesIn(program: StreamProgram): Found {
  const races = new Map<string, Hazard>();
  const { hazards, relied } = examine(program);
  for (const hazard of hazards) {
    const key = keyOf(hazard);
    if (key) races.set(key, hazard);
  }
  return { races, relied };
}

function keyOf(hazard: Hazard): string | undefined {
  switch (hazard.kind) {
    case 'order':
    case 'host':
      return `${hazard.kind} ${hazard.block} ${hazard.first} ${hazard.second}`;
    case 'unjoined':
      return `unjoined ${hazard.block} ${hazard.write} ${hazard.escape}`;
    case 'lifetime':
      return `lifetime ${hazard.block} ${hazard.use} ${hazard.release}`;
    default:
      return undefined;
  }
}
