/**
 * Synchronizations that keep work on several side streams from overlapping although nothing in it depends on them: a
 * host wait in each turn of a loop that spreads work over streams, or a wait of one side stream for another that no
 * access, release or allocation needs.
 *
 *     a: …    host waits device    b: …    host waits device    a: …        b could have run beside a
 *
 * Only where all is seen in between, no host access and no release, which the wait may be for.
 */
import type { Access, HostWaitStep, StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import type { Hazard, SerializedStreams } from './hazard.ts';
import type { Places } from './places.ts';
import { type BoundWaits, missingOrders } from './reversed.ts';

interface Work {
  readonly stream: StreamId;
  readonly accesses: readonly Access[];
}

export function findSerializedStreams(
  program: StreamProgram,
  places: Places,
  waits: BoundWaits,
  relied: Uint8Array,
  hazards: readonly Hazard[],
): SerializedStreams[] {
  if (program.threads.length > 1 || !program.origins.some(({ kind }) => kind === 'source')) return [];
  return [...betweenTurns(program, places), ...needlessChains(program, places, waits, relied, hazards)];
}

/** Host waits that come again and again between independent work on different side streams. */
function betweenTurns(program: StreamProgram, places: Places): SerializedStreams[] {
  const executions = new Map<string, StepIndex[]>();
  const { steps } = program;
  steps.forEach((step, at) => {
    if (step.kind !== 'hostWait' || step.implicit) return;
    const key = `${places.statement(at)} ${activationOf(program, at)}`;
    const known = executions.get(key);
    if (known) known.push(at);
    else executions.set(key, [at]);
  });
  const found: SerializedStreams[] = [];
  for (const turns of executions.values()) {
    if (turns.length < 2 || turns.length > 64) continue;
    const start = rangeBefore(program, turns[0]!);
    const all: Work[][] = [];
    let from = start;
    for (const turn of turns) {
      const work = workIn(program, from, turn);
      if (!work) break;
      all.push(work);
      from = turn + 1;
    }
    if (all.length < turns.length || isBlind(program, start, turns.at(-1)!)) continue;
    const serializes = turns.slice(0, -1).every((turn, k) => {
      const on = (steps[turn] as HostWaitStep).on;
      const before = new Set(all[k]!.map(({ stream }) => stream));
      const others = all[k + 1]!.filter(({ stream }) => !before.has(stream));
      return (on.kind !== 'stream' || before.has(on.stream)) && before.size > 0 && others.length > 0;
    });
    if (!serializes || dependsAcrossTurns(all)) continue;
    found.push({ kind: 'serialized-streams', wait: turns[0]!, how: 'host', next: firstLaunch(program, turns[0]!) });
  }
  return found;
}

/** Waits of one side stream for another on which nothing relies, in none of their executions. */
function needlessChains(
  program: StreamProgram,
  places: Places,
  waits: BoundWaits,
  relied: Uint8Array,
  hazards: readonly Hazard[],
): SerializedStreams[] {
  const missing = missingOrders(program, hazards);
  const n = program.streams.length;
  const found = new Map<number, SerializedStreams>();
  const needed = new Set<number>();
  const blind = program.blind?.at(-1) ?? -1;
  for (let i = 0; i < waits.length; i++) {
    const wait = waits.wait[i]!;
    const statement = places.statement(wait);
    const [from, to] = [waits.recordStream[i]!, waits.stream[i]!];
    const next = firstLaunch(program, wait, to);
    // Where an order is missing between the two, the wait was meant for that.
    const meant = missing.has(from * n + to) || missing.has(to * n + from);
    if (
      meant ||
      relied[wait] ||
      !waits.covers[i] ||
      !isSide(program, from) ||
      !isSide(program, to) ||
      next < 0 ||
      blind > wait
    )
      needed.add(statement);
    else if (program.steps.slice(wait).some(({ kind }) => kind === 'outside' || kind === 'escape' || kind === 'replay'))
      needed.add(statement);
    else if (!found.has(statement))
      found.set(statement, { kind: 'serialized-streams', wait, how: 'stream', awaited: from, next });
  }
  return [...found].filter(([statement]) => !needed.has(statement)).map(([, hazard]) => hazard);
}

/** Where the work begins that the first wait of a loop waits for: behind the host wait before it. */
function rangeBefore(program: StreamProgram, wait: StepIndex): StepIndex {
  for (let i = wait - 1; i >= 0; i--) if (program.steps[i]!.kind === 'hostWait') return i + 1;
  return 0;
}

/** Undefined if anything but work of side streams is in the range that the wait behind it could be for. */
function workIn(program: StreamProgram, from: StepIndex, to: StepIndex): Work[] | undefined {
  const work: Work[] = [];
  for (let i = from; i < to; i++) {
    const step = program.steps[i]!;
    if (step.kind === 'launch') {
      if (!isSide(program, step.stream)) return undefined;
      work.push(step);
    } else if (
      step.kind !== 'allocate' &&
      step.kind !== 'record' &&
      step.kind !== 'recordStream' &&
      (step.kind !== 'wait' || step.implicit)
    )
      return undefined;
  }
  return work;
}

function dependsAcrossTurns(turns: readonly (readonly Work[])[]): boolean {
  for (let later = 1; later < turns.length; later++)
    for (let earlier = 0; earlier < later; earlier++)
      for (const a of turns[earlier]!)
        for (const b of turns[later]!) if (a.stream !== b.stream && conflict(a.accesses, b.accesses)) return true;
  return false;
}

function conflict(a: readonly Access[], b: readonly Access[]): boolean {
  return a.some((x) => b.some((y) => x.block === y.block && (x.write || y.write) && overlap(x, y)));
}

function overlap(a: Access, b: Access): boolean {
  if (a.unknownRange || b.unknownRange) return true;
  const endA = a.end ?? Number.POSITIVE_INFINITY;
  const endB = b.end ?? Number.POSITIVE_INFINITY;
  return (a.start ?? 0) < endB && (b.start ?? 0) < endA;
}

function isSide(program: StreamProgram, stream: StreamId): boolean {
  const { isDefault, unknown, collective } = program.streams[stream]!;
  return !isDefault && !unknown && !collective;
}

function isBlind({ blind }: StreamProgram, from: StepIndex, to: StepIndex): boolean {
  return blind?.some((at) => at >= from && at <= to) === true;
}

function firstLaunch(program: StreamProgram, after: StepIndex, stream?: StreamId): StepIndex {
  return program.steps.findIndex(
    (step, at) => at > after && step.kind === 'launch' && (stream === undefined || step.stream === stream),
  );
}

function activationOf(program: StreamProgram, at: StepIndex): number {
  const origin = program.origins[program.steps[at]!.origin];
  return origin?.kind === 'source' ? (origin.frames.at(-1)?.activation ?? -1) : -1;
}
