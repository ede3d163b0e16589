/**
 * Accesses of the same bytes without an order, and which of them are accused.
 *
 * A pair is reported once: the later access takes the place of the earlier one, and clocks are not mended, or what
 * follows would be judged by an order that is not there.
 */
import type { Clocks } from '../order/clocks.ts';
import type { Access, BlockId, StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import { AccessMap, type Actor, type Cell, type PairCheck } from './accesses.ts';
import type { Hazard, OrderHazard } from './hazard.ts';
import type { Lifetimes } from './lifetime.ts';
import type { Places } from './places.ts';
import type { Waits } from './waits.ts';

/** Beyond this many ranges of one block, settled ones are forgotten. */
const cellsBeforeCompacting = 64;

export class Conflicts implements PairCheck {
  readonly hazards: Hazard[] = [];
  readonly #program: StreamProgram;
  readonly #streams: number;
  readonly #threads: number;
  readonly #clocks: Clocks;
  readonly #places: Places;
  readonly #waits: Waits;
  readonly #lifetimes: Lifetimes;
  readonly #maps: (AccessMap | undefined)[];
  readonly #freeMaps: AccessMap[] = [];
  /** Per block the number of ranges at which its map is compacted next. */
  readonly #compactAt = new Map<BlockId, number>();
  readonly #reportedPairs = new Set<string>();

  // The access that is being compared: fields, so that no pair needs an object of its own.
  #step: StepIndex = -1;
  #actor: Actor = -1;
  #thread: ThreadId = 0;
  #block: BlockId = -1;
  #start = 0;
  #end = 0;
  #accuse = false;
  #rows = false;
  /** A pair without order was not told, for want of evidence or of knowledge about a stream. */
  suspected = false;

  constructor(program: StreamProgram, clocks: Clocks, places: Places, waits: Waits, lifetimes: Lifetimes) {
    this.#program = program;
    this.#streams = program.streams.length;
    this.#threads = Math.max(1, program.threads.length);
    this.#clocks = clocks;
    this.#places = places;
    this.#waits = waits;
    this.#lifetimes = lifetimes;
    this.#maps = new Array(program.blocks.length);
  }

  launched(step: StepIndex, stream: StreamId, thread: ThreadId, accesses: readonly Access[]): void {
    this.#step = step;
    this.#actor = stream;
    this.#thread = thread;
    // Reads first: an operator that reads and writes in place is a reader of what came before it.
    for (let a = 0; a < accesses.length; a++) if (!accesses[a]!.write) this.#access(accesses[a]!);
    for (let a = 0; a < accesses.length; a++) if (accesses[a]!.write) this.#access(accesses[a]!);
  }

  hostAccessed(step: StepIndex, thread: ThreadId, access: Access): void {
    this.#step = step;
    this.#actor = this.#streams + thread;
    this.#thread = thread;
    this.#access(access);
  }

  /** The block's life is over, or another begins: its accesses concern nobody. */
  forget(block: BlockId): void {
    const map = this.#maps[block];
    if (!map) return;
    this.#maps[block] = undefined;
    map.clear();
    this.#freeMaps.push(map);
  }

  /** The block is handed to a receiver on `stream`, who may read all of it. */
  escaped(step: StepIndex, block: BlockId, stream: StreamId, thread: ThreadId): void {
    const entry = this.#program.blocks[block]!;
    if (entry.memory !== 'device') return;
    const seen = new Set<Actor>();
    for (const { writeStep: write, writeActor: writer } of this.#maps[block]?.cells ?? []) {
      if (write < 0 || writer >= this.#streams || writer === stream || seen.has(writer)) continue;
      if (this.#clocks.streamAfter(stream, writer, write)) this.#clocks.relyOnStream(stream, writer);
      else if (this.#clocks.hostAfter(thread, writer, write)) this.#clocks.relyOnHost(thread, writer);
      else if (!entry.evidence || this.#unknown(writer) || this.#unknown(stream) || this.#lent(writer))
        this.suspected = true;
      else if (this.#joinedByGiven(writer, write)) this.suspected = true;
      else {
        seen.add(writer);
        if (this.#isNew(write, step))
          this.hazards.push({
            kind: 'unjoined',
            block,
            write,
            writeStream: writer,
            escape: step,
            escapeStream: stream,
          });
      }
    }
  }

  /** Whether a stream may still be busy with pinned memory, as far as the host's first thread knows. */
  copying(): boolean {
    const busy = (actor: Actor, step: StepIndex) =>
      step >= 0 && actor < this.#streams && !this.#clocks.hostAfter(0, actor, step);
    return this.#maps.some(
      (map, block) =>
        map !== undefined &&
        this.#program.blocks[block]!.memory === 'pinned' &&
        map.cells.some(
          (cell) =>
            busy(cell.writeActor, cell.writeStep) ||
            cell.readActors.some((actor, r) => busy(actor, cell.readSteps[r]!)),
        ),
    );
  }

  readAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor) || cell.reported?.includes(this.#actor)) return;
    if (!this.#report('read-after-write', cell, first, firstActor)) return;
    if (cell.reported) cell.reported.push(this.#actor);
    else cell.reported = [this.#actor];
  }

  writeAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor) || cell.reported?.includes(this.#actor)) return;
    // A later read of the same stream stands for its write: whatever orders the one orders the other.
    if (cell.readBy(firstActor) > first) return;
    this.#report('write-after-write', cell, first, firstActor);
  }

  writeAfterRead(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor)) return;
    // One step that read and wrote is told as a writer.
    if (cell.writeActor === firstActor && cell.writeStep === first) return;
    this.#report('write-after-read', cell, first, firstActor);
  }

  #access(access: Access): void {
    const { block, write } = access;
    const entry = this.#program.blocks[block]!;
    const actor = this.#actor;
    const onHost = actor >= this.#streams;
    const start = access.start ?? 0;
    const end = access.end ?? entry.size ?? Number.POSITIVE_INFINITY;
    if (!onHost) this.#lifetimes.accessed(block, actor, this.#thread, this.#step, start, end);
    // Copies from and to pageable memory are staged, or block: nobody can race with them.
    if (entry.memory === 'pageable' || end <= start) return;
    this.#block = block;
    this.#start = start;
    this.#end = end;
    this.#rows = access.rows === true;
    this.#accuse = entry.evidence && !access.unknownRange && (onHost || !this.#unknown(actor));
    let map = this.#maps[block];
    if (!map) {
      map = this.#freeMaps.pop() ?? new AccessMap();
      this.#maps[block] = map;
    }
    if (access.unknownRange) map.touch(write, actor, this);
    else if (write) map.write(start, end, this.#step, actor, this);
    else map.read(start, end, this.#step, actor, this);
    if (map.cells.length > cellsBeforeCompacting) this.#compact(block, map);
  }

  #ordered(first: StepIndex, firstActor: Actor): boolean {
    // What the host did before it issued this is over.
    if (firstActor >= this.#streams) return true;
    if (this.#actor >= this.#streams) {
      if (!this.#clocks.hostAfter(this.#thread, firstActor, first)) return false;
      this.#clocks.relyOnHost(this.#thread, firstActor);
      return true;
    }
    if (!this.#clocks.streamAfter(this.#actor, firstActor, first)) return false;
    this.#clocks.relyOnStream(this.#actor, firstActor);
    return true;
  }

  /** Whether the pair is one that may be accused; it may have been told already. */
  #report(conflict: OrderHazard['conflict'], cell: Cell, first: StepIndex, firstStream: StreamId): boolean {
    if (
      !this.#accuse ||
      this.#unknown(firstStream) ||
      this.#isAnyOf(first, firstStream) ||
      (this.#rows && this.#picksRows(first)) ||
      this.#joinedByUnknown(first, firstStream) ||
      (this.#actor >= this.#streams && first < (this.#program.entered ?? 0))
    ) {
      this.suspected = true;
      return false;
    }
    const block = this.#block;
    const second = this.#step;
    if (!this.#isNew(first, second)) return true;
    if (this.#actor >= this.#streams) {
      const early = conflict === 'read-after-write';
      this.hazards.push({
        kind: 'host',
        conflict: early ? 'host-read-before-copy-done' : 'host-write-during-copy',
        block,
        first,
        firstStream,
        second,
      });
      return true;
    }
    const start = Math.max(this.#start, cell.start);
    const end = Math.min(this.#end, cell.end);
    const whole = start === 0 && end === (this.#program.blocks[block]!.size ?? Number.POSITIVE_INFINITY);
    this.hazards.push({
      kind: 'order',
      conflict,
      block,
      start: whole ? undefined : start,
      end: whole ? undefined : end,
      first,
      firstStream,
      second,
      secondStream: this.#actor,
      nearest: this.#waits.nearest(this.#actor, this.#thread, firstStream),
    });
    return true;
  }

  #isNew(first: StepIndex, second: StepIndex): boolean {
    const pair = `${this.#places.chain(first)} ${this.#places.chain(second)}`;
    if (this.#reportedPairs.has(pair)) return false;
    this.#reportedPairs.add(pair);
    return true;
  }

  #unknown(stream: StreamId): boolean {
    return this.#program.streams[stream]!.unknown === true;
  }

  /**
   * Whether which stream one of the two is on is not known well enough: two groups that may be one, or what the caller did
   * for another of the streams that this one was picked from.
   */
  #isAnyOf(first: StepIndex, firstStream: StreamId): boolean {
    const { streams } = this.#program;
    if (streams[firstStream]!.givenGroup && streams[this.#actor]?.givenGroup) return true;
    if (this.#actor >= this.#streams || this.#program.streams[this.#actor]!.picked !== true) return false;
    const step = this.#program.steps[first]!;
    return step.kind === 'launch' && step.before === true;
  }

  /** Whether the earlier access, too, is to rows that a table picks. */
  #picksRows(first: StepIndex): boolean {
    const step = this.#program.steps[first]!;
    return step.kind === 'launch' && step.accesses.every(({ block, rows }) => block !== this.#block || rows === true);
  }

  /** A stream that the program was given waits for the write: that is where its receiver is said to work. */
  #joinedByGiven(writer: StreamId, write: StepIndex): boolean {
    return this.#program.streams.some(
      ({ made, isDefault, collective }, stream) =>
        !made && !isDefault && !collective && stream !== writer && this.#clocks.streamAfter(stream, writer, write),
    );
  }

  /**
   * A stream of which nobody knows which one it is comes after the access: it may be one that the other has waited for. What
   * lies before the entry is ordered before streams that it was given, which says nothing.
   */
  #joinedByUnknown(first: StepIndex, firstStream: StreamId): boolean {
    const step = this.#program.steps[first]!;
    if (step.kind === 'launch' && step.before) return false;
    return this.#program.streams.some(
      ({ unknown }, stream) =>
        unknown === true && stream !== this.#actor && this.#clocks.streamAfter(stream, firstStream, first),
    );
  }

  #lent(stream: StreamId): boolean {
    const { lent, joinedElsewhere } = this.#program.streams[stream]!;
    return lent === true || joinedElsewhere === true;
  }

  #compact(block: BlockId, map: AccessMap): void {
    if (map.cells.length < (this.#compactAt.get(block) ?? 0)) return;
    map.compact((cell) => {
      if (cell.writeStep >= 0 && !this.#beforeEverything(cell.writeStep, cell.writeActor, block)) return false;
      return cell.readActors.every((actor, r) => this.#beforeEverything(cell.readSteps[r]!, actor, block));
    });
    this.#compactAt.set(block, 2 * map.cells.length);
  }

  #beforeEverything(step: StepIndex, actor: Actor, block: BlockId): boolean {
    if (actor >= this.#streams) return true;
    // The host touches host memory only.
    const threads = this.#program.blocks[block]!.memory === 'device' ? 0 : this.#threads;
    for (let s = 0; s < this.#streams; s++) if (!this.#clocks.streamAfter(s, actor, step)) return false;
    for (let t = 0; t < threads; t++) if (!this.#clocks.hostAfter(t, actor, step)) return false;
    // What is forgotten can no longer tell which waits it would have relied on: all of them, then.
    for (let s = 0; s < this.#streams; s++) this.#clocks.relyOnStream(s, actor);
    for (let t = 0; t < threads; t++) this.#clocks.relyOnHost(t, actor);
    return true;
  }
}
