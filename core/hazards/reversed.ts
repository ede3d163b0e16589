/**
 * Waits in the wrong direction, or queued before the work that they should cover: waits on which nothing relied while
 * the same wait, swapped or moved, would have settled a hazard that was found.
 */
import type { StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import type { Hazard, ReversedWait } from './hazard.ts';
import type { Places } from './places.ts';

/** A wait somebody wrote, with the record that it is bound to. */
export interface BoundWait {
  readonly wait: StepIndex;
  readonly stream: StreamId;
  readonly record: StepIndex;
  readonly recordStream: StreamId;
}

/** The missing order of a hazard: `second` should come after `first`. */
interface Missing {
  readonly first: StepIndex;
  readonly second: StepIndex;
}

/** No more pairs than this are listed for one wait; a loop would repeat the same ones. */
const listed = 8;

export function findReversedWaits(
  program: StreamProgram,
  places: Places,
  waits: readonly BoundWait[],
  relied: Uint8Array,
  hazards: readonly Hazard[],
): ReversedWait[] {
  const missing = missingOrders(program, hazards);
  if (missing.size === 0) return [];
  const needed = new Set<number>();
  for (const { wait } of waits) if (relied[wait]) needed.add(places.statement(wait));
  const found: ReversedWait[] = [];
  const seen = new Set<number>();
  const n = program.streams.length;
  for (const bound of waits) {
    const statement = places.statement(bound.wait);
    if (needed.has(statement) || seen.has(statement) || bound.stream === bound.recordStream) continue;
    const after = bound.wait;
    const swapped = pairsAfter(
      missing.get(bound.stream * n + bound.recordStream),
      after,
      (p) => p.first < bound.record,
    );
    const early = swapped.length
      ? []
      : pairsAfter(missing.get(bound.recordStream * n + bound.stream), after, (p) => p.first > bound.record);
    const settles = swapped.length ? swapped : early;
    if (settles.length === 0) continue;
    seen.add(statement);
    found.push({
      kind: 'reversed',
      event: (program.steps[bound.wait] as { readonly event: number }).event,
      record: bound.record,
      wait: bound.wait,
      how: swapped.length ? 'swapped' : 'early',
      settles: settles.map((pair) => [pair.first, pair.second] as const),
    });
  }
  return found;
}

/** Missing orders by (earlier stream, later stream), sorted by the later step. */
function missingOrders(program: StreamProgram, hazards: readonly Hazard[]): Map<number, Missing[]> {
  const result = new Map<number, Missing[]>();
  const n = program.streams.length;
  const add = (from: StreamId, to: StreamId, first: StepIndex, second: StepIndex) => {
    const key = from * n + to;
    const pairs = result.get(key);
    if (pairs) pairs.push({ first, second });
    else result.set(key, [{ first, second }]);
  };
  for (const h of hazards) {
    if (h.kind === 'order') add(h.firstStream, h.secondStream, h.first, h.second);
    else if (h.kind === 'unjoined') add(h.writeStream, h.escapeStream, h.write, h.escape);
    else if (h.kind === 'lifetime') add(h.useStream, h.allocatedOn, h.use, h.reuse);
  }
  for (const pairs of result.values()) pairs.sort((a, b) => a.second - b.second || a.first - b.first);
  return result;
}

function pairsAfter(
  pairs: readonly Missing[] | undefined,
  step: StepIndex,
  fits: (pair: Missing) => boolean,
): Missing[] {
  if (!pairs) return [];
  let low = 0;
  let high = pairs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairs[middle]!.second <= step) low = middle + 1;
    else high = middle;
  }
  const result: Missing[] = [];
  for (let i = low; i < pairs.length && i < low + 4 * listed && result.length < listed; i++)
    if (fits(pairs[i]!)) result.push(pairs[i]!);
  return result;
}
