/**
 * What is remembered of waits: which event had no record, which wait of a stream for another was the last, and which
 * record each wait of the user is bound to.
 */
import type { Clocks } from '../order/clocks.ts';
import type { EventId, StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import type { UnrecordedWait } from './hazard.ts';
import type { Places } from './places.ts';
import { BoundWaits } from './reversed.ts';

export class Waits {
  readonly bound = new BoundWaits();
  readonly #program: StreamProgram;
  readonly #clocks: Clocks;
  readonly #places: Places;
  readonly #streams: number;
  /** By statement the first wait for an event without a record, and the statements of which one execution found one. */
  readonly #unrecorded = new Map<number, UnrecordedWait>();
  readonly #recorded = new Set<number>();
  /** One of several events was recorded, nobody knows which. */
  #someRecorded = false;
  /** Per waiting stream (threads after the streams) and awaited stream the last wait, plus one. */
  readonly #lastWaitFor: Int32Array;
  /** Per stream its last launch, and per event that of its stream at the record; -1: none. */
  readonly #lastLaunch: Int32Array;
  readonly #launchedAtRecord: Int32Array;

  constructor(program: StreamProgram, clocks: Clocks, places: Places) {
    this.#program = program;
    this.#clocks = clocks;
    this.#places = places;
    this.#streams = program.streams.length;
    const rows = this.#streams + Math.max(1, program.threads.length);
    this.#lastWaitFor = new Int32Array(rows * this.#streams);
    this.#lastLaunch = new Int32Array(this.#streams).fill(-1);
    this.#launchedAtRecord = new Int32Array(program.events.length).fill(-1);
  }

  launched(stream: StreamId, step: StepIndex): void {
    this.#lastLaunch[stream] = step;
  }

  recorded(event: EventId, stream: StreamId): void {
    this.#launchedAtRecord[event] = this.#lastLaunch[stream]!;
    const { picked, unknown } = this.#program.events[event]!;
    this.#someRecorded ||= picked === true || unknown === true;
  }

  /** Before the clocks take in the wait. */
  streamWaits(stream: StreamId, event: EventId, step: StepIndex, explicit: boolean): void {
    if (explicit) this.#noteRecord(step, event);
    const record = this.#clocks.recordOf(event);
    if (record < 0) return;
    const recordStream = this.#clocks.recordStreamOf(event);
    this.#lastWaitFor[stream * this.#streams + recordStream] = step + 1;
    if (!explicit) return;
    const launched = this.#launchedAtRecord[event]!;
    const covers = launched >= 0 && !this.#clocks.streamAfter(stream, recordStream, launched);
    this.bound.add(step, stream, record, recordStream, covers);
  }

  hostWaitsForEvent(thread: ThreadId, event: EventId, step: StepIndex, explicit: boolean): void {
    if (explicit) this.#noteRecord(step, event);
    if (this.#clocks.recordOf(event) >= 0) this.hostWaitsFor(thread, this.#clocks.recordStreamOf(event), step);
  }

  hostWaitsFor(thread: ThreadId, stream: StreamId, step: StepIndex): void {
    this.#lastWaitFor[(this.#streams + thread) * this.#streams + stream] = step + 1;
  }

  /** Waits of `stream`, or of the host, for `of` that are there, the latest first: those that cover too little. */
  nearest(stream: StreamId, thread: ThreadId, of: StreamId): StepIndex[] {
    const n = this.#streams;
    const waits = [this.#lastWaitFor[stream * n + of]! - 1, this.#lastWaitFor[(n + thread) * n + of]! - 1];
    return waits.filter((wait) => wait >= 0).sort((a, b) => b - a);
  }

  /** Waits that found no record on any execution. */
  unrecorded(): UnrecordedWait[] {
    return [...this.#unrecorded]
      .filter(([statement, { event }]) => !this.#recorded.has(statement) && !this.#recordedEarlier(event))
      .map(([, hazard]) => hazard);
  }

  /** One of several, of which one is recorded here: a call before may have recorded this one. */
  #recordedEarlier(event: EventId): boolean {
    return this.#program.events[event]!.picked === true && this.#someRecorded;
  }

  /** A wait that does nothing on its first turn only is no finding. */
  #noteRecord(wait: StepIndex, event: EventId): void {
    const statement = this.#places.statement(wait);
    if (this.#clocks.recordOf(event) >= 0) {
      // A step without a place has one execution.
      if (statement >= 0) this.#recorded.add(statement);
      return;
    }
    const { unknown, shared } = this.#program.events[event]!;
    if (unknown || shared || this.#unrecorded.has(statement)) return;
    this.#unrecorded.set(statement, { kind: 'unrecorded', event, wait });
  }
}
