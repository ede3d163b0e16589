/**
 * record_stream calls that miss: the memory has gone back already, or the call names a block made from, or put in the
 * place of, the one that is in danger. Found only beside a lifetime hazard, which is the damage; a call that protects
 * its own block in any of its executions is none.
 */
import type { BlockId, RecordStreamStep, SourceFrame, StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import type { LateRecordStream, LifetimeHazard } from './hazard.ts';
import type { Places } from './places.ts';

export function findLateRecordStreams(
  program: StreamProgram,
  places: Places,
  lifetimes: readonly LifetimeHazard[],
): LateRecordStream[] {
  if (lifetimes.length === 0) return [];
  const calls: { readonly at: StepIndex; readonly step: RecordStreamStep }[] = [];
  program.steps.forEach((step, at) => {
    if (step.kind === 'recordStream' && framesOf(program, at).length > 0) calls.push({ at, step });
  });
  if (calls.length === 0) return [];
  const uses = usesOf(program, new Set(calls.map(({ step }) => step.block)));
  const found = new Map<number, LateRecordStream>();
  const protecting = new Set<number>();
  for (const { at, step } of calls) {
    const statement = places.statement(at);
    const hazard = lifetimes.find((lifetime) => missedBy(program, at, step, lifetime));
    const released = hazard?.block === step.block;
    if (!released && uses.get(step.block)?.has(step.stream) && program.blocks[step.block]!.stream !== step.stream) {
      protecting.add(statement);
      continue;
    }
    if (!hazard || found.has(statement)) continue;
    found.set(statement, {
      kind: 'late-record-stream',
      call: at,
      block: step.block,
      why: released ? 'released' : replaces(program, hazard, step.block) ? 'replaced' : 'derived',
      unprotected: hazard.block,
      release: hazard.release,
      use: hazard.use,
      useStream: hazard.useStream,
    });
  }
  return [...found].filter(([statement]) => !protecting.has(statement)).map(([, hazard]) => hazard);
}

/** Whether the call is for the stream and in the scope of the use that the hazard is about, and for a block close to it. */
function missedBy(program: StreamProgram, at: StepIndex, call: RecordStreamStep, hazard: LifetimeHazard): boolean {
  if (call.stream !== hazard.useStream || at < hazard.use) return false;
  const scope = framesOf(program, at).at(-1)?.activation;
  if (!framesOf(program, hazard.use).some(({ activation }) => activation === scope)) return false;
  if (call.block === hazard.block) return at > hazard.release;
  return replaces(program, hazard, call.block) || isDerived(program, hazard, call.block, at);
}

/** Whether the statement that drops the block of the hazard allocates `next`, or puts it in the place of that. */
function replaces(program: StreamProgram, { release }: LifetimeHazard, next: BlockId): boolean {
  const step = program.steps[release];
  if (step?.kind !== 'release' || step.how !== 'statement') return false;
  if (step.successor === next) return true;
  const dropped = framesOf(program, release).at(-1);
  if (!dropped) return false;
  for (let i = release - 1; i >= 0; i--) {
    const earlier = program.steps[i]!;
    const frame = framesOf(program, i).find(({ activation }) => activation === dropped.activation);
    if (!frame || frame.start < dropped.start || frame.end > dropped.end) return false;
    if (earlier.kind === 'allocate' && earlier.block === next) return true;
  }
  return false;
}

/** Whether `made` was computed, in one or more steps, from the block of the hazard. */
function isDerived(program: StreamProgram, hazard: LifetimeHazard, made: BlockId, until: StepIndex): boolean {
  const derived = new Set([hazard.block]);
  for (let i = Math.max(0, hazard.allocation); i < until; i++) {
    const step = program.steps[i]!;
    if (step.kind !== 'launch' || !step.accesses.some(({ block, write }) => !write && derived.has(block))) continue;
    for (const { block, write } of step.accesses) if (write) derived.add(block);
  }
  return derived.has(made);
}

/** Per block the streams on which it is used, or expected by whoever it is handed to. */
function usesOf(program: StreamProgram, blocks: ReadonlySet<BlockId>): Map<BlockId, Set<StreamId>> {
  const uses = new Map([...blocks].map((block) => [block, new Set<StreamId>()] as const));
  for (const step of program.steps)
    if (step.kind === 'launch') for (const { block } of step.accesses) uses.get(block)?.add(step.stream);
    else if (step.kind === 'escape') uses.get(step.block)?.add(step.stream);
  return uses;
}

function framesOf(program: StreamProgram, at: StepIndex): readonly SourceFrame[] {
  const origin = program.origins[program.steps[at]?.origin ?? -1];
  return origin?.kind === 'source' ? origin.frames : [];
}
