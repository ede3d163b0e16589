/**
 * Virtual streams: each does its work in the order in which it was issued, as soon as the host has issued it and the
 * events it waits for are reached. Streams do not slow each other down. Times are nanoseconds.
 */
import type { EventId, StreamId } from '../program/program.ts';
import { gap, launchLatency } from './costs.ts';

export class VirtualDevice {
  /** When all work issued so far is done. */
  readonly #done: Float64Array;
  /** When the latest record is reached; -1: never recorded. */
  readonly #reached: Float64Array;

  constructor(streams: number, events: number) {
    this.#done = new Float64Array(streams);
    this.#reached = new Float64Array(events).fill(-1);
  }

  /** The start of the work: `delay` later than it could be. */
  run(stream: StreamId, issued: number, duration: number, delay = 0): number {
    const start = Math.max(this.#done[stream]! + gap, issued + launchLatency) + delay;
    this.#done[stream] = start + duration;
    return start;
  }

  record(event: EventId, stream: StreamId, issued: number): number {
    const time = Math.max(this.#done[stream]!, issued);
    this.#done[stream] = time;
    this.#reached[event] = time;
    return time;
  }

  /** When the wait ends, and for how long it held its stream. An event without a record holds nothing. */
  wait(stream: StreamId, event: EventId, issued: number): { readonly time: number; readonly blocked: number } {
    const free = Math.max(this.#done[stream]!, issued);
    const time = Math.max(free, this.#reached[event]!);
    this.#done[stream] = time;
    return { time, blocked: time - free };
  }

  doneAt(stream: StreamId): number {
    return this.#done[stream]!;
  }

  reachedAt(event: EventId): number {
    return Math.max(0, this.#reached[event]!);
  }
}
