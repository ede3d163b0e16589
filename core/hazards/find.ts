/**
 * The engine: one pass over the steps of a stream program, and the hazards that it has. The same program gives the same
 * hazards in the same order.
 *
 * Order comes from order/clocks.ts, bytes from accesses.ts, lives of blocks from lifetime.ts. Here is what a step means
 * to them, and which pairs are accused. Deliberately unknown here: source, traces, times, words.
 */
import { Clocks } from '../order/clocks.ts';
import type {
  Access,
  BlockId,
  HostWaitStep,
  StepIndex,
  StreamId,
  StreamProgram,
  ThreadId,
} from '../program/program.ts';
import { AccessMap, type Actor, type Cell, type PairCheck } from './accesses.ts';
import { Captures } from './captures.ts';
import type { Hazard, HostHazard, OrderHazard } from './hazard.ts';
import type { Life } from './life.ts';
import { Lifetimes } from './lifetime.ts';
import { Places } from './places.ts';
import { BoundWaits, findReversedWaits } from './reversed.ts';

export interface Examination {
  /** By the step at which each shows. */
  readonly hazards: readonly Hazard[];
  /** Per step 1 for a wait or host wait on which an access, a release, an allocation or an escape relied. */
  readonly relied: Uint8Array;
}

export function findHazards(program: StreamProgram): Hazard[] {
  return [...examine(program).hazards];
}

export function examine(program: StreamProgram): Examination {
  return new Examiner(program).run();
}

/** Beyond this many ranges of one block, settled ones are forgotten. */
const cellsBeforeCompacting = 64;

class Examiner implements PairCheck {
  readonly #program: StreamProgram;
  readonly #streams: number;
  readonly #clocks: Clocks;
  readonly #captures: Captures;
  readonly #places: Places;
  readonly #lifetimes: Lifetimes;
  readonly #hazards: Hazard[] = [];
  readonly #relied: Uint8Array;
  readonly #lives: (Life | undefined)[];
  readonly #maps: (AccessMap | undefined)[];
  readonly #freeMaps: AccessMap[] = [];
  /** Per block the number of ranges at which its map is compacted next. */
  readonly #compactAt = new Map<BlockId, number>();
  readonly #waits = new BoundWaits();
  /** By statement the first wait for an event without a record, and the statements of which one execution found one. */
  readonly #unrecorded = new Map<number, Hazard>();
  readonly #recorded = new Set<number>();
  /** Per waiting stream (or thread) and awaited stream the last wait, plus one. */
  readonly #lastWaitFor: Int32Array;
  /** Per stream its last launch, and per event that of its stream at the record; -1: none. */
  readonly #lastLaunch: Int32Array;
  readonly #launchedAtRecord: Int32Array;
  readonly #reportedPairs = new Set<string>();

  // The access that is being compared: fields, so that no pair needs an object of its own.
  #step: StepIndex = -1;
  #actor: Actor = -1;
  #thread: ThreadId = 0;
  #block: BlockId = -1;
  #start = 0;
  #end = 0;
  #accuse = false;

  constructor(program: StreamProgram) {
    this.#program = program;
    this.#streams = program.streams.length;
    const threads = Math.max(1, program.threads.length);
    this.#relied = new Uint8Array(program.steps.length);
    this.#clocks = new Clocks({
      streams: this.#streams,
      threads,
      events: program.events.length,
      lastWait: lastWaits(program),
    });
    this.#clocks.onRelied = (wait) => {
      this.#relied[wait] = 1;
    };
    this.#captures = new Captures(this.#streams, program.events.length);
    this.#places = new Places(program);
    this.#lifetimes = new Lifetimes(program, this.#clocks, this.#places);
    this.#lives = new Array(program.blocks.length);
    this.#maps = new Array(program.blocks.length);
    this.#lastLaunch = new Int32Array(this.#streams).fill(-1);
    this.#launchedAtRecord = new Int32Array(program.events.length).fill(-1);
    this.#lastWaitFor = new Int32Array((this.#streams + threads) * this.#streams);
  }

  run(): Examination {
    const steps = this.#program.steps;
    for (let i = 0; i < steps.length; i++) this.#take(i);
    const { lifetime, redundant } = this.#lifetimes.finish();
    for (const [statement, hazard] of this.#unrecorded) if (!this.#recorded.has(statement)) this.#hazards.push(hazard);
    const hazards = [...this.#hazards, ...lifetime];
    hazards.push(...findReversedWaits(this.#program, this.#places, this.#waits, this.#relied, hazards), ...redundant);
    const keyed = hazards.map((hazard, index) => ({ hazard, index, at: shownAt(hazard) }));
    keyed.sort((a, b) => a.at - b.at || a.index - b.index);
    return { hazards: keyed.map(({ hazard }) => hazard), relied: this.#relied };
  }

  #take(i: StepIndex): void {
    const step = this.#program.steps[i]!;
    switch (step.kind) {
      case 'launch':
        if (this.#captures.capturing(step.stream)) this.#captures.launched(step.stream, step.accesses);
        else this.#run(i, step.stream, step.thread, step.accesses);
        break;
      case 'replay':
        this.#run(i, step.stream, step.thread, this.#captures.accessesOf(step.graph));
        break;
      case 'record':
        this.#captures.recorded(step.event, step.stream);
        if (!this.#captures.capturing(step.stream)) {
          this.#clocks.record(step.event, step.stream, step.thread, i);
          this.#launchedAtRecord[step.event] = this.#lastLaunch[step.stream]!;
        }
        break;
      case 'wait':
        this.#wait(i, step.stream, step.event, step.thread, step.implicit ?? false);
        break;
      case 'hostWait':
      case 'poll':
        this.#hostWait(i, step.thread, step.on, step.kind === 'hostWait' && !step.implicit);
        break;
      case 'hostAccess':
        this.#hostAccess(i, step.thread, step.access);
        break;
      case 'allocate':
        this.#forget(step.block);
        this.#lives[step.block] = this.#lifetimes.allocated(
          step.block,
          step.stream,
          step.thread,
          i,
          this.#captures.capturing(step.stream),
        );
        break;
      case 'release': {
        const life = this.#lives[step.block];
        if (life) {
          // A graph reads its blocks again at each replay.
          if (!life.captured) this.#forget(step.block);
          this.#lifetimes.released(life, step.thread, i);
        }
        this.#lives[step.block] = undefined;
        break;
      }
      case 'recordStream': {
        const life = this.#lives[step.block];
        if (life && !life.captured && !this.#captures.capturing(step.stream))
          this.#lifetimes.recordStream(life, step.stream, i);
        break;
      }
      case 'captureBegin':
        this.#captures.begin(step.graph, step.stream);
        break;
      case 'captureEnd':
        this.#captures.end(step.graph);
        break;
      case 'fork':
        this.#clocks.fork(step.thread, step.child);
        break;
      case 'join':
        this.#clocks.join(step.thread, step.child);
        break;
      case 'escape':
        this.#escape(i, step.block, step.stream, step.thread);
        break;
      case 'outside':
        this.#lifetimes.outside(step.stream, step.thread, i);
        break;
    }
  }

  #run(i: StepIndex, stream: StreamId, thread: ThreadId, accesses: readonly Access[]): void {
    this.#clocks.issue(stream, thread, i);
    this.#lastLaunch[stream] = i;
    this.#step = i;
    this.#actor = stream;
    this.#thread = thread;
    // Reads first: an operator that reads and writes in place is a reader of what came before it.
    for (let a = 0; a < accesses.length; a++) if (!accesses[a]!.write) this.#access(accesses[a]!);
    for (let a = 0; a < accesses.length; a++) if (accesses[a]!.write) this.#access(accesses[a]!);
  }

  #hostAccess(i: StepIndex, thread: ThreadId, access: Access): void {
    this.#step = i;
    this.#actor = this.#streams + thread;
    this.#thread = thread;
    this.#access(access);
  }

  #access(access: Access): void {
    const { block, write } = access;
    const entry = this.#program.blocks[block]!;
    const actor = this.#actor;
    const onHost = actor >= this.#streams;
    const start = access.start ?? 0;
    const end = access.end ?? entry.size ?? Number.POSITIVE_INFINITY;
    const life = this.#lives[block];
    if (life && !onHost) this.#lifetimes.accessed(life, actor, this.#thread, this.#step, start, end);
    // Copies from and to pageable memory are staged, or block: nobody can race with them.
    if (entry.memory === 'pageable' || end <= start) return;
    this.#block = block;
    this.#start = start;
    this.#end = end;
    const unknownStream = !onHost && this.#program.streams[actor]!.unknown;
    this.#accuse = entry.evidence && !unknownStream && !access.unknownRange;
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

  readAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor) || cell.reported?.includes(this.#actor)) return;
    if (this.#report('read-after-write', cell, first, firstActor)) {
      if (cell.reported) cell.reported.push(this.#actor);
      else cell.reported = [this.#actor];
    }
  }

  writeAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor) || cell.reported?.includes(this.#actor)) return;
    // A later read of the same stream stands for its write: whatever orders the one orders the other.
    if (cell.readBy(firstActor) > first) return;
    this.#report('write-after-write', cell, first, firstActor);
  }

  writeAfterRead(cell: Cell, first: StepIndex, firstActor: Actor): void {
    if (this.#ordered(first, firstActor)) return;
    if (cell.writeActor === firstActor && cell.writeStep === first) return;
    this.#report('write-after-read', cell, first, firstActor);
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

  #report(conflict: OrderHazard['conflict'], cell: Cell, first: StepIndex, firstActor: Actor): boolean {
    if (!this.#accuse || this.#program.streams[firstActor]!.unknown) return false;
    const pair = `${this.#places.chain(first)} ${this.#places.chain(this.#step)}`;
    if (this.#reportedPairs.has(pair)) return true;
    this.#reportedPairs.add(pair);
    const block = this.#block;
    if (this.#actor >= this.#streams) {
      const kind: HostHazard['conflict'] =
        conflict === 'read-after-write' ? 'host-read-before-copy-done' : 'host-write-during-copy';
      this.#hazards.push({
        kind: 'host',
        conflict: kind,
        block,
        first,
        firstStream: firstActor,
        second: this.#step,
      });
      return true;
    }
    const start = Math.max(this.#start, cell.start);
    const end = Math.min(this.#end, cell.end);
    const size = this.#program.blocks[block]!.size ?? Number.POSITIVE_INFINITY;
    const whole = start === 0 && end === size;
    this.#hazards.push({
      kind: 'order',
      conflict,
      block,
      start: whole ? undefined : start,
      end: whole ? undefined : end,
      first,
      firstStream: firstActor,
      second: this.#step,
      secondStream: this.#actor,
      nearest: this.#nearest(firstActor),
    });
    return true;
  }

  /** Waits of the second stream, or the host, for the first stream that are there but cover too little. */
  #nearest(firstActor: StreamId): StepIndex[] {
    const n = this.#streams;
    const waits = [
      this.#lastWaitFor[this.#actor * n + firstActor]! - 1,
      this.#lastWaitFor[(n + this.#thread) * n + firstActor]! - 1,
    ];
    return waits.filter((wait) => wait >= 0).sort((a, b) => b - a);
  }

  /** The block's life is over: its accesses concern nobody. */
  #forget(block: BlockId): void {
    const map = this.#maps[block];
    if (!map) return;
    this.#maps[block] = undefined;
    map.clear();
    this.#freeMaps.push(map);
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
    const threads = this.#program.blocks[block]!.memory === 'device' ? 0 : Math.max(1, this.#program.threads.length);
    for (let s = 0; s < this.#streams; s++) if (!this.#clocks.streamAfter(s, actor, step)) return false;
    for (let t = 0; t < threads; t++) if (!this.#clocks.hostAfter(t, actor, step)) return false;
    // What is forgotten can no longer tell which waits it would have relied on: all of them, then.
    for (let s = 0; s < this.#streams; s++) this.#clocks.relyOnStream(s, actor);
    for (let t = 0; t < threads; t++) this.#clocks.relyOnHost(t, actor);
    return true;
  }

  #wait(i: StepIndex, stream: StreamId, event: number, thread: ThreadId, implicit: boolean): void {
    if (this.#captures.isCaptured(event)) {
      this.#captures.forks(event, stream);
      return;
    }
    if (this.#captures.capturing(stream)) return;
    if (!implicit) this.#noteRecord(i, event);
    const record = this.#clocks.recordOf(event);
    if (record >= 0) {
      const recordStream = this.#clocks.recordStreamOf(event);
      this.#lastWaitFor[stream * this.#streams + recordStream] = i + 1;
      if (!implicit) {
        const launched = this.#launchedAtRecord[event]!;
        const covers = launched >= 0 && !this.#clocks.streamAfter(stream, recordStream, launched);
        this.#waits.add(i, stream, record, recordStream, covers);
      }
    }
    this.#clocks.wait(stream, event, thread, i);
  }

  #hostWait(i: StepIndex, thread: ThreadId, on: HostWaitStep['on'], explicit: boolean): void {
    const row = (this.#streams + thread) * this.#streams;
    if (on.kind === 'event') {
      if (this.#captures.isCaptured(on.event)) return;
      if (explicit) this.#noteRecord(i, on.event);
      if (this.#clocks.recordOf(on.event) >= 0) this.#lastWaitFor[row + this.#clocks.recordStreamOf(on.event)] = i + 1;
      this.#clocks.hostWaitEvent(thread, on.event, i);
    } else
      for (let s = 0; s < this.#streams; s++) {
        if (on.kind === 'stream' && s !== on.stream) continue;
        // A stream whose device is not known may be on this one: waiting for it keeps quiet.
        const device = this.#program.streams[s]!.device;
        if (on.kind === 'device' && on.device >= 0 && device >= 0 && device !== on.device) continue;
        this.#lastWaitFor[row + s] = i + 1;
        this.#clocks.hostWaitStream(thread, s, i);
      }
  }

  /** Notes whether the event has a record; a wait that does nothing on its first turn only is no finding. */
  #noteRecord(i: StepIndex, event: number): void {
    const statement = this.#places.statement(i);
    if (this.#clocks.recordOf(event) >= 0) {
      // A step without a place has one execution.
      if (statement >= 0) this.#recorded.add(statement);
    } else if (!this.#program.events[event]!.unknown && !this.#unrecorded.has(statement))
      this.#unrecorded.set(statement, { kind: 'unrecorded', event, wait: i });
  }

  #escape(i: StepIndex, block: BlockId, stream: StreamId, thread: ThreadId): void {
    const life = this.#lives[block];
    if (life) life.escaped = true;
    const entry = this.#program.blocks[block]!;
    if (entry.memory !== 'device') return;
    const seen = new Set<Actor>();
    for (const cell of this.#maps[block]?.cells ?? []) {
      const { writeStep: write, writeActor: writer } = cell;
      if (write < 0 || writer >= this.#streams || writer === stream || seen.has(writer)) continue;
      if (this.#clocks.streamAfter(stream, writer, write)) this.#clocks.relyOnStream(stream, writer);
      else if (this.#clocks.hostAfter(thread, writer, write)) this.#clocks.relyOnHost(thread, writer);
      else if (entry.evidence && !this.#program.streams[writer]!.unknown && !this.#program.streams[stream]!.unknown) {
        const pair = `${this.#places.chain(write)} ${this.#places.chain(i)}`;
        seen.add(writer);
        if (this.#reportedPairs.has(pair)) continue;
        this.#reportedPairs.add(pair);
        this.#hazards.push({
          kind: 'unjoined',
          block,
          write,
          writeStream: writer,
          escape: i,
          escapeStream: stream,
        });
      }
    }
  }
}

/** For each event the last step that waits for it, -1 for none. */
function lastWaits(program: StreamProgram): Int32Array {
  const last = new Int32Array(program.events.length).fill(-1);
  const steps = program.steps;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    if (step.kind === 'wait') last[step.event] = i;
    else if ((step.kind === 'hostWait' || step.kind === 'poll') && step.on.kind === 'event') last[step.on.event] = i;
  }
  return last;
}

function shownAt(hazard: Hazard): StepIndex {
  switch (hazard.kind) {
    case 'order':
    case 'host':
      return hazard.second;
    case 'lifetime':
      return hazard.release;
    case 'unjoined':
      return hazard.escape;
    case 'unrecorded':
    case 'reversed':
      return hazard.wait;
    case 'redundant-record-stream':
      return hazard.call;
  }
}
