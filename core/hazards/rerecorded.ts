/**
 * Records that hide an earlier one: the event is recorded again, on another stream, before anything has waited for it.
 * A wait takes the latest record alone, so the work before the first one stays without an order.
 *
 *     record e on p      record e on q      consumer waits e      consumer reads what p wrote
 *
 * Only where an order is missing that the lost record would have made: to record an event again is no fault by itself.
 */
import type { EventId, StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import type { Hazard, RerecordedEvent } from './hazard.ts';
import type { Places } from './places.ts';
import { type Missing, missingOrders, pairsAfter } from './reversed.ts';

interface Recorded {
  readonly record: StepIndex;
  /** The record that took its place; undefined: it is the latest. */
  hiddenBy: StepIndex | undefined;
}

export function findRerecordedEvents(
  program: StreamProgram,
  places: Places,
  hazards: readonly Hazard[],
): RerecordedEvent[] {
  const missing = missingOrders(program, hazards);
  const onHost = missingOnHost(hazards);
  if (missing.size === 0 && onHost.size === 0) return [];
  const n = program.streams.length;
  const found = new Map<number, RerecordedEvent>();
  /** Per event the last record on each stream that nothing has waited for. */
  const records = new Map<EventId, Map<StreamId, Recorded>>();
  let capturing = 0;

  const waitsFor = (wait: StepIndex, event: EventId, needs: (from: StreamId) => Iterable<readonly Missing[]>): void => {
    const known = records.get(event);
    if (!known) return;
    for (const [stream, { record: lost, hiddenBy }] of known) {
      if (hiddenBy === undefined) {
        known.delete(stream);
        continue;
      }
      const settles: Missing[] = [];
      for (const pairs of needs(stream)) settles.push(...pairsAfter(pairs, wait, (pair) => pair.first < lost));
      const later = program.steps[hiddenBy];
      if (settles.length === 0 || later?.kind !== 'record' || found.has(places.chain(hiddenBy))) continue;
      found.set(places.chain(hiddenBy), {
        kind: 'rerecorded',
        event,
        lost,
        lostStream: stream,
        record: hiddenBy,
        recordStream: later.stream,
        wait,
        settles: settles.map(({ first, second }) => [first, second] as const),
      });
    }
  };

  program.steps.forEach((step, at) => {
    if (step.kind === 'captureBegin') capturing++;
    else if (step.kind === 'captureEnd') capturing = Math.max(0, capturing - 1);
    // Inside a capture an event is an edge of the graph.
    else if (capturing > 0) return;
    else if (step.kind === 'record') {
      if (program.events[step.event]!.unknown) return;
      let known = records.get(step.event);
      if (!known) {
        known = new Map();
        records.set(step.event, known);
      }
      for (const [stream, recorded] of known)
        if (stream !== step.stream && recorded.hiddenBy === undefined) recorded.hiddenBy = at;
      known.set(step.stream, { record: at, hiddenBy: undefined });
    } else if (step.kind === 'wait' && !step.implicit)
      waitsFor(at, step.event, function* (from) {
        const pairs = missing.get(from * n + step.stream);
        if (pairs) yield pairs;
      });
    else if (step.kind === 'hostWait' && step.on.kind === 'event' && !step.implicit)
      waitsFor(at, step.on.event, function* (from) {
        for (let to = 0; to < n; to++) {
          const pairs = missing.get(from * n + to);
          if (pairs) yield pairs;
        }
        const pairs = onHost.get(from);
        if (pairs) yield pairs;
      });
  });
  return [...found.values()];
}

/** Orders that the host lacks, by the earlier stream and sorted by the later step. */
function missingOnHost(hazards: readonly Hazard[]): Map<StreamId, Missing[]> {
  const result = new Map<StreamId, Missing[]>();
  for (const hazard of hazards) {
    if (hazard.kind !== 'host') continue;
    const pairs = result.get(hazard.firstStream) ?? [];
    pairs.push({ first: hazard.first, second: hazard.second });
    result.set(hazard.firstStream, pairs);
  }
  for (const pairs of result.values()) pairs.sort((a, b) => a.second - b.second || a.first - b.first);
  return result;
}
