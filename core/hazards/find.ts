/**
 * The engine: one pass over the steps of a stream program, and the hazards that it has. The same program gives the same
 * hazards in the same order.
 *
 * Order comes from order/clocks.ts, conflicts of bytes from conflicts.ts, lives of blocks from lifetime.ts, waits from
 * waits.ts and reversed.ts. Here is what each step means to them. Deliberately unknown here: source, traces, times, words.
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
import { findCaptureFaults } from './capture-faults.ts';
import { Captures } from './captures.ts';
import { Conflicts } from './conflicts.ts';
import type { Hazard } from './hazard.ts';
import { findLateRecordStreams } from './late.ts';
import { Lifetimes } from './lifetime.ts';
import { Places } from './places.ts';
import { RedundantWaits } from './redundant-waits.ts';
import { findRerecordedEvents } from './rerecorded.ts';
import { findReversedWaits } from './reversed.ts';
import { findSerializedStreams } from './serialized.ts';
import { findExternalStreamZeros, findTooManyStreams } from './stream-pool.ts';
import { findUnusedEvents } from './unused-events.ts';
import { Waits } from './waits.ts';

export interface Examination {
  /** By the step at which each shows. */
  readonly hazards: readonly Hazard[];
  /** Per step 1 for a wait or host wait on which an access, a release, an allocation or an escape relied. */
  readonly relied: Uint8Array;
  /**
   * What is around the program decides more: it leaves work on a stream other than the default, leaves a copy from or to
   * pinned memory that the host has not waited for, or has a pair without order that only lacks the evidence to be told.
   */
  readonly open: boolean;
  /** It works with a stream other than the default. */
  readonly elsewhere: boolean;
  /** It fills memory and starts copies from it, and may not know whether that is pinned. */
  readonly stages: boolean;
}

export function findHazards(program: StreamProgram): Hazard[] {
  return [...examine(program).hazards];
}

export function examine(program: StreamProgram): Examination {
  return new Examiner(program).run();
}

class Examiner {
  readonly #program: StreamProgram;
  readonly #relied: Uint8Array;
  readonly #clocks: Clocks;
  readonly #captures: Captures;
  readonly #places: Places;
  readonly #waits: Waits;
  readonly #redundant: RedundantWaits;
  readonly #lifetimes: Lifetimes;
  readonly #conflicts: Conflicts;

  constructor(program: StreamProgram) {
    this.#program = program;
    this.#relied = new Uint8Array(program.steps.length);
    this.#clocks = new Clocks({
      streams: program.streams.length,
      threads: program.threads.length,
      events: program.events.length,
      lastWait: lastWaits(program),
    });
    this.#clocks.onRelied = (wait) => {
      this.#relied[wait] = 1;
    };
    this.#captures = new Captures(program.streams.length, program.events.length);
    this.#places = new Places(program);
    this.#waits = new Waits(program, this.#clocks, this.#places);
    this.#redundant = new RedundantWaits(program, this.#clocks, this.#places);
    this.#lifetimes = new Lifetimes(program, this.#clocks, this.#places);
    this.#conflicts = new Conflicts(program, this.#clocks, this.#places, this.#waits, this.#lifetimes);
  }

  run(): Examination {
    const { length } = this.#program.steps;
    for (let i = 0; i < length; i++) this.#take(i);
    const { lifetime, redundant } = this.#lifetimes.finish();
    const missing = [...this.#conflicts.hazards, ...lifetime];
    const reversed = findReversedWaits(this.#program, this.#places, this.#waits.bound, this.#relied, missing);
    const rerecorded = findRerecordedEvents(this.#program, this.#places, missing);
    const late = findLateRecordStreams(this.#program, this.#places, lifetime);
    const captures = findCaptureFaults(this.#program, this.#places);
    const wrongCalls = [...captures.filter((fault) => fault.kind === 'capture-record-stream'), ...late];
    const unrecorded = this.#waits.unrecorded();
    const redundantWaits = this.#redundant
      .finish()
      .filter(({ wait }) => ![...unrecorded, ...reversed].some((other) => this.#sameStatement(other.wait, wait)));
    const hazards: Hazard[] = [
      ...missing,
      ...unrecorded,
      ...reversed,
      ...rerecorded,
      ...late.filter(
        ({ call }) =>
          !captures.some((fault) => fault.kind === 'capture-record-stream' && this.#sameStatement(fault.call, call)),
      ),
      ...captures,
      ...redundantWaits,
      ...findSerializedStreams(this.#program, this.#places, this.#waits.bound, this.#relied, missing).filter(
        ({ wait }) =>
          ![...unrecorded, ...reversed, ...redundantWaits].some((other) => this.#sameStatement(other.wait, wait)),
      ),
      ...findTooManyStreams(this.#program),
      ...findExternalStreamZeros(this.#program),
      ...findUnusedEvents(this.#program, this.#places, missing),
      ...redundant.filter(({ call }) => !wrongCalls.some((other) => this.#sameStatement(other.call, call))),
    ];
    const placed = hazards.map((hazard, index) => ({ hazard, index, at: shownAt(hazard) }));
    placed.sort((a, b) => a.at - b.at || a.index - b.index);
    const open =
      this.#conflicts.suspected || this.#lifetimes.suspected || this.#leavesOtherStreams() || this.#conflicts.copying();
    return {
      hazards: placed.map(({ hazard }) => hazard),
      relied: this.#relied,
      open,
      elsewhere: this.#program.steps.some((step) => 'stream' in step && !this.#program.streams[step.stream]?.isDefault),
      stages: this.#stages(),
    };
  }

  /**
   * Whether work on a stream other than the default is left to others: to wait for, or because the stream is one that they
   * choose. Handles of collectives may go to those who wait for them.
   */
  #leavesOtherStreams(): boolean {
    const { streams, steps } = this.#program;
    const last = new Map<StreamId, StepIndex>();
    for (const [i, step] of steps.entries()) {
      if (!('stream' in step) || streams[step.stream]?.isDefault !== false) continue;
      const { lent, given, collective } = streams[step.stream]!;
      if (lent || given || collective) return true;
      last.set(step.stream, i);
    }
    const defaults = [...streams.keys()].filter((stream) => streams[stream]!.isDefault);
    return [...last].some(
      ([stream, at]) =>
        !this.#clocks.hostAfter(0, stream, at) && !defaults.some((one) => this.#clocks.streamAfter(one, stream, at)),
    );
  }

  #stages(): boolean {
    const { blocks, steps } = this.#program;
    const vague = (block: BlockId) => blocks[block]!.memory === 'device' && !blocks[block]!.evidence;
    const filled = new Set<BlockId>();
    return steps.some((step, at) => {
      if (step.kind !== 'launch') return false;
      // A copy that holds the host leaves nothing in flight.
      if (step.name === 'copy' && steps[at + 1]?.kind !== 'hostWait')
        return step.accesses.some(({ block, write }) => !write && filled.has(block));
      for (const { block, write } of step.accesses) if (write && vague(block)) filled.add(block);
      return false;
    });
  }

  #sameStatement(a: StepIndex, b: StepIndex): boolean {
    return this.#places.statement(a) === this.#places.statement(b);
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
        if (this.#captures.capturing(step.stream)) break;
        this.#clocks.record(step.event, step.stream, step.thread, i);
        this.#waits.recorded(step.event, step.stream);
        this.#redundant.recorded(step.event, step.stream);
        break;
      case 'wait':
        // Inside a capture a wait is an edge of the graph, and makes its stream a part of it.
        if (this.#captures.isCaptured(step.event)) this.#captures.forks(step.event, step.stream);
        else if (!this.#captures.capturing(step.stream)) {
          this.#waits.streamWaits(step.stream, step.event, i, !step.implicit);
          if (!step.implicit) this.#redundant.streamWaits(step.stream, step.event, step.thread, i);
          this.#clocks.wait(step.stream, step.event, step.thread, i);
        }
        break;
      case 'hostWait':
        if (!step.implicit) this.#redundant.hostWaits(step.thread, step.on, i);
        this.#hostWait(i, step.thread, step.on, !step.implicit);
        break;
      case 'poll':
        // That an event without a record is "done" is what a poll is for.
        this.#hostWait(i, step.thread, step.on, false);
        break;
      case 'hostAccess':
        this.#conflicts.hostAccessed(i, step.thread, step.access);
        break;
      case 'allocate':
        this.#conflicts.forget(step.block);
        this.#redundant.worked(step.stream, i);
        this.#lifetimes.allocated(step.block, step.stream, step.thread, i, this.#captures.capturing(step.stream));
        break;
      case 'release':
        // A graph touches its own blocks again at each replay.
        if (!this.#lifetimes.isCaptured(step.block)) this.#conflicts.forget(step.block);
        this.#lifetimes.released(step.block, step.thread, i);
        break;
      case 'recordStream':
        if (!this.#captures.capturing(step.stream)) this.#lifetimes.recordStream(step.block, step.stream, i);
        break;
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
        this.#lifetimes.escaped(step.block);
        this.#conflicts.escaped(i, step.block, step.stream, step.thread);
        break;
      case 'outside':
        this.#redundant.unseen(i);
        this.#lifetimes.outside(step.stream, step.thread, i);
        break;
    }
  }

  #run(i: StepIndex, stream: StreamId, thread: ThreadId, accesses: readonly Access[]): void {
    this.#clocks.issue(stream, thread, i);
    this.#waits.launched(stream, i);
    this.#redundant.worked(stream, i);
    this.#conflicts.launched(i, stream, thread, accesses);
  }

  #hostWait(i: StepIndex, thread: ThreadId, on: HostWaitStep['on'], explicit: boolean): void {
    if (on.kind === 'event') {
      if (this.#captures.isCaptured(on.event)) return;
      this.#waits.hostWaitsForEvent(thread, on.event, i, explicit);
      this.#clocks.hostWaitEvent(thread, on.event, i);
      return;
    }
    this.#program.streams.forEach(({ device }, stream) => {
      if (on.kind === 'stream' && stream !== on.stream) return;
      // A stream whose device is not known may be on this one: waiting for it keeps quiet.
      if (on.kind === 'device' && on.device >= 0 && device >= 0 && device !== on.device) return;
      this.#waits.hostWaitsFor(thread, stream, i);
      this.#clocks.hostWaitStream(thread, stream, i);
    });
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
    case 'redundant-sync':
    case 'serialized-streams':
      return hazard.wait;
    case 'unused-event':
      return hazard.record;
    case 'too-many-streams':
    case 'external-stream-zero':
      return 0;
    case 'redundant-record-stream':
    case 'late-record-stream':
    case 'capture-record-stream':
      return hazard.call;
    case 'capture-unjoined':
      return hazard.fork;
    case 'capture-external-event':
      return hazard.wait;
    case 'capture-illegal-sync':
      return hazard.sync;
    case 'rerecorded':
      return hazard.record;
  }
}
