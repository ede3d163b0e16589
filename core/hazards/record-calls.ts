/**
 * record_stream calls that change nothing: for the allocating stream, or with a join between the stream's last use and
 * the release. As all advice it holds only if it holds on every execution of the call.
 */
import type { Clocks } from '../order/clocks.ts';
import type { StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import type { RedundantRecordStream } from './hazard.ts';
import type { Life } from './life.ts';
import type { Places } from './places.ts';

export class RecordCalls {
  readonly #program: StreamProgram;
  readonly #clocks: Clocks;
  readonly #places: Places;
  readonly #redundant: { readonly hazard: RedundantRecordStream; readonly life: Life }[] = [];
  /** Statements with a call that changes something in one of its executions. */
  readonly #needed = new Set<number>();
  /** Calls for another stream than the block's whose block has not gone: each may be what the statement is there for. */
  readonly #open = new Set<StepIndex>();

  constructor(program: StreamProgram, clocks: Clocks, places: Places) {
    this.#program = program;
    this.#clocks = clocks;
    this.#places = places;
  }

  called(life: Life, stream: StreamId, step: StepIndex): void {
    if (stream === life.stream) {
      this.#push(life, { kind: 'redundant-record-stream', call: step, block: life.block, why: 'allocating-stream' });
      return;
    }
    if (!life.recorded.includes(stream)) life.recorded.push(stream);
    life.recordCalls.push(step);
    this.#open.add(step);
  }

  released(life: Life, thread: ThreadId): void {
    for (const call of life.recordCalls) {
      this.#open.delete(call);
      const step = this.#program.steps[call]!;
      if (step.kind !== 'recordStream') continue;
      const join = this.#joinOf(life, step.stream, thread);
      if (join >= 0)
        this.#push(life, {
          kind: 'redundant-record-stream',
          call,
          block: life.block,
          why: 'joined-before-release',
          join,
        });
      // A call without a known place has this one execution.
      else if (this.#places.statement(call) >= 0) this.#needed.add(this.#places.statement(call));
    }
  }

  finish(): readonly RedundantRecordStream[] {
    // Whoever gets the tensor may use it on that stream.
    for (const { hazard, life } of this.#redundant)
      if (life.escaped) this.#needed.add(this.#places.statement(hazard.call));
    const open = new Set([...this.#open].map((call) => this.#places.statement(call)));
    const seen = new Set<number>();
    const result: RedundantRecordStream[] = [];
    for (const { hazard } of this.#redundant) {
      const statement = this.#places.statement(hazard.call);
      if (this.#needed.has(statement) || seen.has(statement)) continue;
      if (hazard.why === 'allocating-stream' && open.has(statement)) continue;
      seen.add(statement);
      result.push(hazard);
    }
    return result;
  }

  /** The wait that makes a record of `stream` needless at the release, -1 for none. A use that is not seen needs it. */
  #joinOf(life: Life, stream: StreamId, thread: ThreadId): StepIndex {
    const use = life.lastUse(stream);
    if (use < 0) return -1;
    let join = -1;
    if (this.#clocks.streamAfter(life.stream, stream, use)) join = this.#clocks.lastWaitOfStream(life.stream, stream);
    else if (this.#clocks.hostAfter(thread, stream, use)) join = this.#clocks.lastWaitOfHost(thread, stream);
    const wait = this.#program.steps[join];
    // A wait that nobody wrote (a blocking copy, `.item()`) may go away with the code around it.
    return (wait?.kind === 'wait' || wait?.kind === 'hostWait') && wait.implicit ? -1 : join;
  }

  #push(life: Life, hazard: RedundantRecordStream): void {
    life.kept = true;
    this.#redundant.push({ hazard, life });
  }
}
