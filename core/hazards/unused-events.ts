/**
 * Events that are recorded, and that nothing ever waits for. Only events of which all is seen, and only statements of
 * which no execution records an event that is used.
 */
import type { EventId, StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import type { Hazard, UnusedEvent } from './hazard.ts';
import type { Places } from './places.ts';
import { type Missing, missingOrders } from './reversed.ts';

export function findUnusedEvents(program: StreamProgram, places: Places, hazards: readonly Hazard[]): UnusedEvent[] {
  if (!program.events.some(({ followed }) => followed)) return [];
  const used = new Set<EventId>();
  program.events.forEach(({ followed, timed, unknown }, event) => {
    if (!followed || timed || unknown) used.add(event);
  });
  for (const step of program.steps)
    if (step.kind === 'wait') used.add(step.event);
    else if ((step.kind === 'hostWait' || step.kind === 'poll') && step.on.kind === 'event') used.add(step.on.event);
  const missing = missingOrders(program, hazards);
  const found = new Map<number, UnusedEvent>();
  const needed = new Set<number>();
  program.steps.forEach((step, record) => {
    if (step.kind !== 'record') return;
    const statement = places.statement(record);
    // Half of an order that is missing: that is the fault.
    if (used.has(step.event) || covers(step.stream, record)) needed.add(statement);
    else if (!found.has(statement)) found.set(statement, { kind: 'unused-event', event: step.event, record });
  });
  return [...found].filter(([statement]) => !needed.has(statement)).map(([, hazard]) => hazard);

  function covers(stream: StreamId, record: StepIndex): boolean {
    for (let to = 0; to < program.streams.length; to++) {
      const pairs: readonly Missing[] = missing.get(stream * program.streams.length + to) ?? [];
      if (pairs.some(({ first, second }) => first < record && second > record)) return true;
    }
    return false;
  }
}
