/**
 * Waits that order nothing new: a stream for itself, or for work that an earlier wait of the same activation covers.
 * As all advice it holds only if it holds on every execution of the statement, and only where everything is seen: code
 * that is not may have launched work in between. What merely is of no use to anybody is not called redundant.
 */
import type { Clocks } from '../order/clocks.ts';
import type { EventId, HostWaitStep, Step, StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import type { RedundantSync } from './hazard.ts';
import type { Places } from './places.ts';

/** Which of the devices that nobody knows a wait is about; undefined: none of them. */
export function chosenDevice(step: Step): number | undefined {
  return step.kind === 'wait' || step.kind === 'hostWait' ? step.chosenDevice : undefined;
}

export class RedundantWaits {
  readonly #program: StreamProgram;
  readonly #clocks: Clocks;
  readonly #places: Places;
  readonly #found = new Map<number, RedundantSync>();
  readonly #needed = new Set<number>();
  /** Per stream its last launch or allocation, and per event that of its stream at the record; -1: none. */
  readonly #work: Int32Array;
  readonly #workAtRecord: Int32Array;
  readonly #lastWork = (stream: StreamId): StepIndex => this.#work[stream]!;
  readonly #applies: boolean;
  #nextBlind = 0;
  /** The last step before which something ran that is not seen. */
  #blind: StepIndex = -1;

  constructor(program: StreamProgram, clocks: Clocks, places: Places) {
    this.#program = program;
    this.#clocks = clocks;
    this.#places = places;
    this.#work = new Int32Array(program.streams.length).fill(-1);
    this.#workAtRecord = new Int32Array(program.events.length).fill(-1);
    // What other threads do in between, nobody knows. A trace is one execution.
    this.#applies = program.threads.length <= 1 && program.origins.some(({ kind }) => kind === 'source');
  }

  /** A launch or an allocation: the memory of a fresh block may be in use by its former owner. */
  worked(stream: StreamId, step: StepIndex): void {
    this.#work[stream] = step;
  }

  unseen(step: StepIndex): void {
    this.#blind = step;
  }

  recorded(event: EventId, stream: StreamId): void {
    this.#workAtRecord[event] = this.#work[stream]!;
  }

  /** Before the clocks take in the wait. */
  streamWaits(stream: StreamId, event: EventId, thread: ThreadId, wait: StepIndex): void {
    if (!this.#applies) return;
    const from = this.#clocks.recordOf(event) < 0 ? -1 : this.#clocks.recordStreamOf(event);
    if (from < 0) return;
    if (from === stream) {
      // Whose the default stream is depends on the caller.
      const { unknown, isDefault } = this.#program.streams[stream]!;
      // What is current on a device that the program chooses is that device's own.
      if (unknown || isDefault || chosenDevice(this.#program.steps[wait]!) !== undefined) this.#note(wait, undefined);
      else this.#note(wait, { kind: 'redundant-sync', wait, why: 'same-stream' });
      return;
    }
    const work = this.#workAtRecord[event]!;
    this.#note(wait, work < 0 ? undefined : this.#orderedBefore(stream, event, thread, from, work, wait));
  }

  hostWaits(thread: ThreadId, on: HostWaitStep['on'], wait: StepIndex): void {
    if (!this.#applies) return;
    if (on.kind === 'event') {
      const from = this.#clocks.recordOf(on.event) < 0 ? -1 : this.#clocks.recordStreamOf(on.event);
      const work = from < 0 ? -1 : this.#workAtRecord[on.event]!;
      const covered =
        work >= 0 &&
        this.#clocks.hostAfter(thread, from, work) &&
        this.#clocks.hostCovers(thread, on.event, this.#lastWork);
      this.#note(wait, covered ? this.#ordered(wait, this.#clocks.waitsOfHost(thread, from)) : undefined);
      return;
    }
    let earlier: RedundantSync | undefined;
    for (let stream = 0; stream < this.#work.length; stream++) {
      const { device, unknown } = this.#program.streams[stream]!;
      if (on.kind === 'stream' ? stream !== on.stream : on.device >= 0 && device >= 0 && device !== on.device) continue;
      const work = this.#work[stream]!;
      if (work < 0 && !unknown) continue;
      const covered =
        work >= 0 &&
        this.#clocks.hostAfter(thread, stream, work) &&
        this.#clocks.hostCoversStream(thread, stream, this.#lastWork);
      earlier = covered ? this.#ordered(wait, this.#clocks.waitsOfHost(thread, stream)) : undefined;
      if (!earlier) break;
    }
    this.#note(wait, earlier);
  }

  finish(): RedundantSync[] {
    return [...this.#found].filter(([statement]) => !this.#needed.has(statement)).map(([, hazard]) => hazard);
  }

  #orderedBefore(
    stream: StreamId,
    event: EventId,
    thread: ThreadId,
    from: StreamId,
    work: StepIndex,
    wait: StepIndex,
  ): RedundantSync | undefined {
    if (this.#clocks.streamAfter(stream, from, work) && this.#clocks.streamCovers(stream, event, this.#lastWork))
      return this.#ordered(wait, this.#clocks.waitsOfStream(stream, from));
    // What the host has waited for is over before the stream gets anything new.
    if (this.#clocks.hostAfter(thread, from, work) && this.#clocks.hostCovers(thread, event, this.#lastWork))
      return this.#ordered(wait, this.#clocks.waitsOfHost(thread, from));
    return undefined;
  }

  /** Undefined unless the waits that make the order were written, and stand in the same activation, with all seen since. */
  #ordered(wait: StepIndex, waits: readonly StepIndex[]): RedundantSync | undefined {
    const { blind } = this.#program;
    while (blind && this.#nextBlind < blind.length && blind[this.#nextBlind]! <= wait)
      this.#blind = Math.max(this.#blind, blind[this.#nextBlind++]!);
    const [earlier] = waits;
    if (earlier === undefined || this.#blind > earlier) return undefined;
    const device = chosenDevice(this.#program.steps[wait]!);
    for (const step of waits.map((at) => this.#program.steps[at]!))
      if ((step.kind !== 'wait' && step.kind !== 'hostWait') || step.implicit || step.chosenDevice !== device)
        return undefined;
    const activation = this.#activation(wait);
    if (activation === undefined || this.#activation(earlier) !== activation) return undefined;
    return { kind: 'redundant-sync', wait, why: 'ordered', earlier };
  }

  #activation(at: StepIndex): number | undefined {
    const origin = this.#program.origins[this.#program.steps[at]!.origin];
    return origin?.kind === 'source' ? origin.frames.at(-1)?.activation : undefined;
  }

  #note(wait: StepIndex, redundant: RedundantSync | undefined): void {
    const statement = this.#places.statement(wait);
    if (!redundant) this.#needed.add(statement);
    else if (!this.#found.has(statement)) this.#found.set(statement, redundant);
  }
}
