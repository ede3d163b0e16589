/**
 * Order between streams and host threads, as vector clocks.
 *
 * Every stream and every host thread holds one row: for each stream the latest step of that stream that is done before
 * anything this row does next. A step of stream `s` at index `i` is ordered before the next work of `t` when the row of
 * `t` holds at least `i` for `s`: one comparison, which is all that an access costs (the epochs of FastTrack).
 *
 *     step                      row of copy    row of compute
 *     1 launch on copy          copy: 1
 *     2 record e on copy        copy: 2                          e keeps a copy of copy's row
 *     3 wait for e on compute                  copy: 2  compute: 3
 *
 * Each entry also remembers through which waits it came, so that it can be said which wait an access relied on.
 * Deliberately unknown here: memory, hazards, captures.
 */
import type { EventId, StepIndex, StreamId, ThreadId } from '../program/program.ts';

export interface ClockSizes {
  readonly streams: number;
  readonly threads: number;
  readonly events: number;
  /** For each event the last step that waits for it, -1 for none: a record after it need not be kept. */
  readonly lastWait: Int32Array;
}

export class Clocks {
  readonly #streams: number;
  readonly #threads: number;
  /** Rows of streams, then of threads, then of events as they are needed. A stamp is a step index plus one; 0: nothing. */
  #stamps: Int32Array;
  /** The chain of waits through which the entry of the same place came; 0: none. */
  #chains: Int32Array;
  #rows: number;
  readonly #freeRows: number[] = [];
  readonly #hostVersion: Int32Array;
  /** Per stream and thread the version of the thread's row that the stream has taken in already. */
  readonly #inherited: Int32Array;
  readonly #eventRow: Int32Array;
  readonly #recordStep: Int32Array;
  readonly #recordStream: Int32Array;
  readonly #lastWait: Int32Array;
  /** Chains as linked lists: the wait, and the chain of the entry that it took over. */
  #chainWait = new Int32Array(64);
  #chainParent = new Int32Array(64);
  #chainRelied = new Uint8Array(64);
  #chainCount = 1;
  /** Called with each wait or host wait on which something relies, once per chain. */
  onRelied: (wait: StepIndex) => void = () => {};

  constructor(sizes: ClockSizes) {
    this.#streams = sizes.streams;
    this.#threads = Math.max(1, sizes.threads);
    this.#rows = sizes.streams + this.#threads;
    this.#stamps = new Int32Array(this.#rows * sizes.streams);
    this.#chains = new Int32Array(this.#rows * sizes.streams);
    this.#hostVersion = new Int32Array(this.#threads);
    this.#inherited = new Int32Array(this.#threads * sizes.streams);
    this.#eventRow = new Int32Array(sizes.events).fill(-1);
    this.#recordStep = new Int32Array(sizes.events).fill(-1);
    this.#recordStream = new Int32Array(sizes.events).fill(-1);
    this.#lastWait = sizes.lastWait;
  }

  /** Work is issued to `stream` by `thread`: it is ordered after all that the thread has waited for. */
  issue(stream: StreamId, thread: ThreadId, step: StepIndex): void {
    const version = this.#hostVersion[thread]!;
    const at = stream * this.#threads + thread;
    if (this.#inherited[at] !== version) {
      this.#inherited[at] = version;
      this.#take(stream, this.#streams + thread, -1);
    }
    this.#stamps[stream * this.#streams + stream] = step + 1;
  }

  record(event: EventId, stream: StreamId, thread: ThreadId, step: StepIndex): void {
    this.issue(stream, thread, step);
    this.#recordStep[event] = step;
    this.#recordStream[event] = stream;
    if (this.#lastWait[event]! <= step) return;
    let row = this.#eventRow[event]!;
    if (row < 0) {
      row = this.#newRow();
      this.#eventRow[event] = row;
    }
    const n = this.#streams;
    this.#stamps.copyWithin(row * n, stream * n, (stream + 1) * n);
    this.#chains.copyWithin(row * n, stream * n, (stream + 1) * n);
  }

  /** The latest record of `event` that was issued, -1 for none. */
  recordOf(event: EventId): StepIndex {
    return this.#recordStep[event]!;
  }

  /** The stream of that record, -1 for none. */
  recordStreamOf(event: EventId): StreamId {
    return this.#recordStream[event]!;
  }

  /** `stream` waits for the latest record of `event`. Nothing happens if there is none. */
  wait(stream: StreamId, event: EventId, thread: ThreadId, step: StepIndex): void {
    this.issue(stream, thread, step);
    this.#waitRow(stream, event, step);
    this.#dropRow(event, step);
  }

  hostWaitEvent(thread: ThreadId, event: EventId, step: StepIndex): void {
    if (this.#waitRow(this.#streams + thread, event, step)) this.#bump(thread);
    this.#dropRow(event, step);
  }

  hostWaitStream(thread: ThreadId, stream: StreamId, step: StepIndex): void {
    const row = this.#streams + thread;
    // Who knows the last work of a stream knows all that the stream knows.
    const last = this.#stamps[stream * this.#streams + stream]!;
    if (this.#stamps[row * this.#streams + stream] === last) return;
    if (this.#take(row, stream, step)) this.#bump(thread);
  }

  /** The child starts with what the parent has waited for. */
  fork(parent: ThreadId, child: ThreadId): void {
    if (this.#take(this.#streams + child, this.#streams + parent, -1)) this.#bump(child);
  }

  join(parent: ThreadId, child: ThreadId): void {
    if (this.#take(this.#streams + parent, this.#streams + child, -1)) this.#bump(parent);
  }

  /** Whether the next work of `stream` comes after the step `step` of the stream `of`. */
  streamAfter(stream: StreamId, of: StreamId, step: StepIndex): boolean {
    return stream === of || this.#stamps[stream * this.#streams + of]! > step;
  }

  /** Whether `thread` has waited for the step `step` of the stream `of`. */
  hostAfter(thread: ThreadId, of: StreamId, step: StepIndex): boolean {
    return this.#stamps[(this.#streams + thread) * this.#streams + of]! > step;
  }

  /**
   * Whether `stream` comes after all that the latest record of `event` stands for. `done` tells of a stream the last
   * step that counts: records and waits later than that are no work.
   */
  streamCovers(stream: StreamId, event: EventId, done: (of: StreamId) => StepIndex): boolean {
    return this.#covers(stream, this.#eventRow[event]!, done);
  }

  hostCovers(thread: ThreadId, event: EventId, done: (of: StreamId) => StepIndex): boolean {
    return this.#covers(this.#streams + thread, this.#eventRow[event]!, done);
  }

  hostCoversStream(thread: ThreadId, stream: StreamId, done: (of: StreamId) => StepIndex): boolean {
    return this.#covers(this.#streams + thread, stream, done);
  }

  #covers(row: number, source: number, done: (of: StreamId) => StepIndex): boolean {
    if (source < 0) return false;
    const n = this.#streams;
    for (let s = 0; s < n; s++) {
      if (s === row) continue;
      const wanted = this.#stamps[source * n + s]!;
      const known = this.#stamps[row * n + s]!;
      if (wanted > known && known <= done(s)) return false;
    }
    return true;
  }

  /** The waits through which `stream` came after `of`, the last one first. */
  waitsOfStream(stream: StreamId, of: StreamId): StepIndex[] {
    return this.#waitsOf(this.#chains[stream * this.#streams + of]!);
  }

  waitsOfHost(thread: ThreadId, of: StreamId): StepIndex[] {
    return this.#waitsOf(this.#chains[(this.#streams + thread) * this.#streams + of]!);
  }

  #waitsOf(start: number): StepIndex[] {
    const waits: StepIndex[] = [];
    for (let chain = start; chain !== 0; chain = this.#chainParent[chain]!) waits.push(this.#chainWait[chain]!);
    return waits;
  }

  /** The last wait through which `stream` came after `of`, -1 for none. */
  lastWaitOfStream(stream: StreamId, of: StreamId): StepIndex {
    const chain = this.#chains[stream * this.#streams + of]!;
    return chain === 0 ? -1 : this.#chainWait[chain]!;
  }

  lastWaitOfHost(thread: ThreadId, of: StreamId): StepIndex {
    const chain = this.#chains[(this.#streams + thread) * this.#streams + of]!;
    return chain === 0 ? -1 : this.#chainWait[chain]!;
  }

  /** Something needs that `stream` comes after `of`: all waits of the chain are needed. */
  relyOnStream(stream: StreamId, of: StreamId): void {
    if (stream !== of) this.#rely(this.#chains[stream * this.#streams + of]!);
  }

  relyOnHost(thread: ThreadId, of: StreamId): void {
    this.#rely(this.#chains[(this.#streams + thread) * this.#streams + of]!);
  }

  #rely(start: number): void {
    let chain = start;
    while (chain !== 0 && this.#chainRelied[chain] === 0) {
      this.#chainRelied[chain] = 1;
      this.onRelied(this.#chainWait[chain]!);
      chain = this.#chainParent[chain]!;
    }
  }

  #waitRow(row: number, event: EventId, step: StepIndex): boolean {
    const source = this.#eventRow[event]!;
    if (source < 0) return false;
    // Who already knows the record itself knows all that its stream knew there.
    const of = this.#recordStream[event]!;
    if (row === of || this.#stamps[row * this.#streams + of]! > this.#recordStep[event]!) return false;
    return this.#take(row, source, step);
  }

  /** Pointwise maximum of `source` into `row`. `wait`: the step that makes the edge, -1: no step of its own. */
  #take(row: number, source: number, wait: StepIndex): boolean {
    const n = this.#streams;
    const stamps = this.#stamps;
    const to = row * n;
    const from = source * n;
    let changed = false;
    for (let s = 0; s < n; s++) {
      const stamp = stamps[from + s]!;
      if (stamp <= stamps[to + s]! || s === row) continue;
      stamps[to + s] = stamp;
      const chain = this.#chains[from + s]!;
      this.#chains[to + s] = wait < 0 ? chain : this.#newChain(wait, chain);
      changed = true;
    }
    return changed;
  }

  #newChain(wait: StepIndex, parent: number): number {
    if (this.#chainCount === this.#chainWait.length) {
      const grow = (old: Int32Array<ArrayBuffer>) => {
        const larger = new Int32Array(old.length * 2);
        larger.set(old);
        return larger;
      };
      this.#chainWait = grow(this.#chainWait);
      this.#chainParent = grow(this.#chainParent);
      const relied = new Uint8Array(this.#chainWait.length);
      relied.set(this.#chainRelied);
      this.#chainRelied = relied;
    }
    const chain = this.#chainCount++;
    this.#chainWait[chain] = wait;
    this.#chainParent[chain] = parent;
    return chain;
  }

  #newRow(): number {
    const free = this.#freeRows.pop();
    if (free !== undefined) return free;
    const row = this.#rows++;
    if (this.#rows * this.#streams > this.#stamps.length) {
      const length = Math.max(this.#stamps.length * 2, this.#rows * this.#streams);
      const stamps = new Int32Array(length);
      stamps.set(this.#stamps);
      this.#stamps = stamps;
      const chains = new Int32Array(length);
      chains.set(this.#chains);
      this.#chains = chains;
    }
    return row;
  }

  #dropRow(event: EventId, step: StepIndex): void {
    const row = this.#eventRow[event]!;
    if (row < 0 || this.#lastWait[event]! > step) return;
    this.#eventRow[event] = -1;
    this.#freeRows.push(row);
  }

  #bump(thread: ThreadId): void {
    this.#hostVersion[thread] = this.#hostVersion[thread]! + 1;
  }
}
