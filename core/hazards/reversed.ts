/**
 * Waits in the wrong direction, or queued before the work that they should cover: waits on which nothing relied while
 * the same wait, swapped or moved, would have settled a hazard that was found.
 */
import type { StepIndex, StreamId, StreamProgram, WaitStep } from '../program/program.ts';
import type { Hazard, ReversedWait } from './hazard.ts';
import type { Places } from './places.ts';

/** Waits somebody wrote, each with the record that it is bound to. In columns: a run has millions. */
export class BoundWaits {
  length = 0;
  wait = new Int32Array(16);
  record = new Int32Array(16);
  /** Waiting stream, recording stream. */
  stream = new Int32Array(16);
  recordStream = new Int32Array(16);
  /** 1: the recording stream had launched something that the waiting one did not come after yet. */
  covers = new Uint8Array(16);

  add(wait: StepIndex, stream: StreamId, record: StepIndex, recordStream: StreamId, covers: boolean): void {
    if (this.length === this.wait.length) {
      this.wait = doubled(this.wait);
      this.record = doubled(this.record);
      this.stream = doubled(this.stream);
      this.recordStream = doubled(this.recordStream);
      const larger = new Uint8Array(this.wait.length);
      larger.set(this.covers);
      this.covers = larger;
    }
    this.wait[this.length] = wait;
    this.record[this.length] = record;
    this.stream[this.length] = stream;
    this.covers[this.length] = covers ? 1 : 0;
    this.recordStream[this.length++] = recordStream;
  }
}

function doubled(column: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}

/** The missing order of a hazard: `second` should come after `first`. */
export interface Missing {
  readonly first: StepIndex;
  readonly second: StepIndex;
}

/** No more pairs than this are listed for one wait; a loop would repeat the same ones. */
const listed = 8;

export function findReversedWaits(
  program: StreamProgram,
  places: Places,
  waits: BoundWaits,
  relied: Uint8Array,
  hazards: readonly Hazard[],
): ReversedWait[] {
  const missing = missingOrders(program, hazards);
  if (missing.size === 0) return [];
  const candidates = new Map<number, ReversedWait>();
  const n = program.streams.length;
  for (let i = 0; i < waits.length; i++) {
    const wait = waits.wait[i]!;
    const record = waits.record[i]!;
    const [from, to] = [waits.recordStream[i]!, waits.stream[i]!];
    if (relied[wait] || from === to) continue;
    const swapped = missing.get(to * n + from);
    const early = missing.get(from * n + to);
    if ((!swapped && !early) || candidates.has(places.call(wait))) continue;
    let how: ReversedWait['how'] = 'swapped';
    let settles = pairsAfter(swapped, wait, (pair) => pair.first < record);
    if (settles.length === 0) {
      how = 'early';
      settles = pairsAfter(early, wait, (pair) => pair.first > wait);
    }
    if (settles.length === 0) continue;
    candidates.set(places.call(wait), {
      kind: 'reversed',
      event: (program.steps[wait] as WaitStep).event,
      record,
      wait,
      how,
      settles: settles.map((pair) => [pair.first, pair.second] as const),
    });
  }
  if (candidates.size === 0) return [];
  // Advice about a call holds for all of its executions. A wait that covers work, needed or not, was not queued too early.
  for (let i = 0; i < waits.length && candidates.size > 0; i++) {
    const relies = relied[waits.wait[i]!] === 1;
    if (!relies && !waits.covers[i]) continue;
    const call = places.call(waits.wait[i]!);
    if (relies || candidates.get(call)?.how === 'early') candidates.delete(call);
  }
  return [...candidates.values()];
}

/** Missing orders by (earlier stream, later stream), sorted by the later step. */
export function missingOrders(program: StreamProgram, hazards: readonly Hazard[]): Map<number, Missing[]> {
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

export function pairsAfter(
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
