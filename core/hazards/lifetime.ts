/**
 * Lives of blocks as the steps of a program make them. What the caching allocator may hand out too early is found in
 * reuse.ts, which record_stream calls change nothing in record-calls.ts.
 * Deliberately unknown here: byte order inside a block (accesses.ts).
 */
import type { Clocks } from '../order/clocks.ts';
import type { BlockId, StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import type { LifetimeHazard, RedundantRecordStream } from './hazard.ts';
import { Life } from './life.ts';
import type { Places } from './places.ts';
import { RecordCalls } from './record-calls.ts';
import { Reuses } from './reuse.ts';

export class Lifetimes {
  readonly #program: StreamProgram;
  readonly #clocks: Clocks;
  readonly #reuses: Reuses;
  readonly #recordCalls: RecordCalls;
  /** Blocks that are held now and were allocated in the program. */
  readonly #lives: (Life | undefined)[];
  readonly #free: Life[] = [];

  constructor(program: StreamProgram, clocks: Clocks, places: Places) {
    this.#program = program;
    this.#clocks = clocks;
    this.#reuses = new Reuses(program, clocks, places);
    this.#recordCalls = new RecordCalls(program, clocks, places);
    this.#lives = new Array(program.blocks.length);
  }

  allocated(block: BlockId, stream: StreamId, thread: ThreadId, step: StepIndex, captured: boolean): void {
    const life = this.#free.pop() ?? new Life();
    life.begin(block, this.#program.blocks[block]!, step, stream, captured);
    if (!captured) this.#reuses.allocated(life, thread);
    this.#lives[block] = life;
  }

  /** The block belongs to a graph's own pool. */
  isCaptured(block: BlockId): boolean {
    return this.#lives[block]?.captured === true;
  }

  /** Bytes as in an Access. */
  accessed(block: BlockId, stream: StreamId, thread: ThreadId, step: StepIndex, start: number, end: number): void {
    const life = this.#lives[block];
    if (!life) return;
    if (life.claims) this.#reuses.firstAccess(life, stream, thread, start, end);
    if (life.stream !== stream) {
      life.used(stream, step);
      // Who touches a fresh block first needs the allocating stream's work for the memory's former owners to be over.
      if (!life.accessed && this.#clocks.streamAfter(stream, life.stream, life.allocation))
        this.#clocks.relyOnStream(stream, life.stream);
    }
    life.accessed = true;
  }

  recordStream(block: BlockId, stream: StreamId, step: StepIndex): void {
    const life = this.#lives[block];
    if (life && !life.captured) this.#recordCalls.called(life, stream, step);
  }

  /** A release that came too early was not told, for want of evidence or of knowledge about a stream. */
  get suspected(): boolean {
    return this.#reuses.suspected;
  }

  escaped(block: BlockId): void {
    const life = this.#lives[block];
    if (life) life.escaped = true;
  }

  released(block: BlockId, thread: ThreadId, step: StepIndex): void {
    const life = this.#lives[block];
    if (!life) return;
    this.#lives[block] = undefined;
    if (!life.captured && life.entry.memory === 'device') {
      this.#recordCalls.released(life, thread);
      this.#reuses.released(life, thread, step);
    }
    if (!life.kept) this.#free.push(life);
  }

  /** Code that is not seen may allocate on `stream`. */
  outside(stream: StreamId, thread: ThreadId, step: StepIndex): void {
    this.#reuses.outside(stream, thread, step);
  }

  finish(): { readonly lifetime: readonly LifetimeHazard[]; readonly redundant: readonly RedundantRecordStream[] } {
    return { lifetime: this.#reuses.finish(), redundant: this.#recordCalls.finish() };
  }
}
