/** One life of one block, from its allocation to its release. */
import type { BlockEntry, BlockId, StepIndex, StreamId } from '../program/program.ts';
import type { Claim } from './reuse.ts';

/** An object is used again for another life after the release, unless it is `kept`: a run has millions. */
export class Life {
  block: BlockId = -1;
  entry!: BlockEntry;
  allocation: StepIndex = -1;
  stream: StreamId = -1;
  /** Allocated inside a graph capture: its pool is the graph's own. */
  captured = false;
  /** Streams other than the allocating one that used it, each with its last use. */
  readonly useStreams: StreamId[] = [];
  readonly useSteps: StepIndex[] = [];
  /** The streams of record_stream calls, and the calls; those for the allocating stream are left out. */
  readonly recorded: StreamId[] = [];
  readonly recordCalls: StepIndex[] = [];
  escaped = false;
  accessed = false;
  /** Former owners whose memory this block has, or may have; until its first access. */
  claims: Claim[] | undefined = undefined;
  /** Something speaks of it after its release. */
  kept = false;

  begin(block: BlockId, entry: BlockEntry, allocation: StepIndex, stream: StreamId, captured: boolean): void {
    this.block = block;
    this.entry = entry;
    this.allocation = allocation;
    this.stream = stream;
    this.captured = captured;
    // To set the length of a short array costs more than this.
    while (this.useStreams.length) {
      this.useStreams.pop();
      this.useSteps.pop();
    }
    while (this.recorded.length) this.recorded.pop();
    while (this.recordCalls.length) this.recordCalls.pop();
    this.escaped = false;
    this.accessed = false;
    this.claims = undefined;
  }

  used(stream: StreamId, step: StepIndex): void {
    const at = this.useStreams.indexOf(stream);
    if (at < 0) {
      this.useStreams.push(stream);
      this.useSteps.push(step);
    } else this.useSteps[at] = step;
  }

  /** The last use on `stream`, -1 for none. */
  lastUse(stream: StreamId): StepIndex {
    const at = this.useStreams.indexOf(stream);
    return at < 0 ? -1 : this.useSteps[at]!;
  }
}
