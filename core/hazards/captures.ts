/**
 * Graph captures: the steps of capturing streams are recorded into a graph, and happen, all of them, at each replay.
 * A side stream joins a capture by waiting for an event that was recorded in it.
 */
import type { Access, EventId, GraphId, StreamId } from '../program/program.ts';

export class Captures {
  /** Per stream the graph that is captured on it, -1 for none. */
  readonly #graphOfStream: Int32Array;
  readonly #graphOfEvent: Int32Array;
  readonly #accesses = new Map<GraphId, Map<string, Access>>();
  #open = 0;

  constructor(streams: number, events: number) {
    this.#graphOfStream = new Int32Array(streams).fill(-1);
    this.#graphOfEvent = new Int32Array(events).fill(-1);
  }

  begin(graph: GraphId, stream: StreamId): void {
    this.#graphOfStream[stream] = graph;
    if (!this.#accesses.has(graph)) this.#accesses.set(graph, new Map());
    this.#open++;
  }

  end(graph: GraphId): void {
    for (let s = 0; s < this.#graphOfStream.length; s++)
      if (this.#graphOfStream[s] === graph) this.#graphOfStream[s] = -1;
    this.#open = Math.max(0, this.#open - 1);
  }

  capturing(stream: StreamId): boolean {
    return this.#open > 0 && this.#graphOfStream[stream]! >= 0;
  }

  launched(stream: StreamId, accesses: readonly Access[]): void {
    const kept = this.#accesses.get(this.#graphOfStream[stream]!)!;
    for (const access of accesses) {
      const key = `${access.block} ${access.write} ${access.start} ${access.end} ${access.unknownRange ?? false}`;
      if (!kept.has(key)) kept.set(key, access);
    }
  }

  recorded(event: EventId, stream: StreamId): void {
    this.#graphOfEvent[event] = this.#open > 0 ? this.#graphOfStream[stream]! : -1;
  }

  /** The event's latest record lies in a capture: it stands for no work that runs. */
  isCaptured(event: EventId): boolean {
    return this.#graphOfEvent[event]! >= 0;
  }

  /** `stream` waits for an event of a capture that is still open, and is part of it from now on. */
  forks(event: EventId, stream: StreamId): boolean {
    const graph = this.#graphOfEvent[event]!;
    if (graph < 0 || this.#open === 0 || !this.#graphOfStream.includes(graph)) return false;
    this.#graphOfStream[stream] = graph;
    return true;
  }

  accessesOf(graph: GraphId): readonly Access[] {
    return [...(this.#accesses.get(graph)?.values() ?? [])];
  }
}
