/**
 * Where in the source a call of the host is: the Python function around it, found by nesting on its thread; and for each
 * allocator event the place and the operator around it. Knows nothing of streams.
 */
import { groupedOrder } from './columns.ts';
import { operatorSlice, pythonSlice } from './draft.ts';
import type { KinetoRows } from './kineto.ts';
import { NumberMap } from './number-map.ts';
import { type PythonFrame, parsePythonFrame } from './python-frames.ts';

/** So far outwards an allocator event looks for its operator: programs do not nest deeper. */
const deepest = 2000;

/** Beside the memory rows: the site, and the name of the operator; -1: none. */
export interface MemorySites {
  readonly site: Int32Array;
  readonly operator: Int32Array;
}

/** Gives every host row its site; the rows are in their order. */
export function findSites(rows: KinetoRows): MemorySites {
  return new Sweep(rows).run();
}

/** Goes over the rows of one thread after the other, and keeps what is open. */
class Sweep {
  readonly #rows: KinetoRows;
  readonly #frames = new Map<number, PythonFrame | undefined>();
  readonly #siteOf = new NumberMap();

  readonly #threads: Int32Array;
  readonly #starts: Float64Array;
  readonly #durations: Float64Array;
  readonly #kinds: Uint8Array;
  readonly #names: Int32Array;
  readonly #sites: Int32Array;

  /** Memory rows by thread and time, and the first one that is not settled; `#nextTime`: its time, on this thread. */
  readonly #memory: Int32Array;
  readonly #memoryThreads: Int32Array;
  readonly #memoryTimes: Float64Array;
  readonly #found: MemorySites;
  #next = 0;
  #nextTime = Number.POSITIVE_INFINITY;

  #thread = -2;
  #open = new Int32Array(256);
  #depth = 0;

  constructor(rows: KinetoRows) {
    this.#rows = rows;
    const { host } = rows.draft;
    this.#threads = host.thread.cells;
    this.#starts = host.start.cells;
    this.#durations = host.duration.cells;
    this.#kinds = host.kind.cells;
    this.#names = host.name.cells;
    this.#sites = host.site.cells;
    const { time, thread } = rows.memory;
    this.#memoryThreads = thread.cells;
    this.#memoryTimes = time.cells;
    this.#memory = groupedOrder(time.length, thread.cells, time.cells);
    this.#found = { site: new Int32Array(time.length).fill(-1), operator: new Int32Array(time.length).fill(-1) };
  }

  run(): MemorySites {
    const { length } = this.#rows.draft.host;
    for (let row = 0; row < length; row++) this.#enter(row);
    this.#settle(Number.POSITIVE_INFINITY);
    return this.#found;
  }

  #enter(row: number): void {
    const start = this.#starts[row]!;
    if (this.#threads[row] !== this.#thread) this.#begin(this.#threads[row]!);
    if (this.#nextTime < start) this.#settle(start);
    this.#close(start, this.#durations[row]! > 0);
    const outer = this.#depth > 0 ? this.#sites[this.#open[this.#depth - 1]!]! : -1;
    this.#sites[row] = this.#kinds[row] === pythonSlice ? this.#site(this.#names[row]!, outer) : outer;
    if (this.#depth === this.#open.length) this.#deepen();
    this.#open[this.#depth++] = row;
  }

  #begin(thread: number): void {
    this.#settle(Number.POSITIVE_INFINITY);
    this.#thread = thread;
    this.#depth = 0;
    const order = this.#memory;
    while (this.#next < order.length && this.#memoryThreads[order[this.#next]!]! < thread) this.#next++;
    this.#look();
  }

  #look(): void {
    const row = this.#next < this.#memory.length ? this.#memory[this.#next]! : -1;
    const here = row >= 0 && this.#memoryThreads[row] === this.#thread;
    this.#nextTime = here ? this.#memoryTimes[row]! : Number.POSITIVE_INFINITY;
  }

  /** Memory rows up to `time` happen inside what is open now. */
  #settle(time: number): void {
    while (this.#nextTime < time) {
      this.#place(this.#memory[this.#next]!, this.#nextTime);
      this.#next++;
      this.#look();
    }
  }

  #place(row: number, at: number): void {
    const { site, operator } = this.#found;
    let placed = false;
    for (let i = this.#depth - 1; i >= Math.max(0, this.#depth - deepest); i--) {
      const slice = this.#open[i]!;
      if (this.#starts[slice]! + this.#durations[slice]! < at) continue;
      if (!placed) site[row] = this.#sites[slice]!;
      placed = true;
      if (this.#kinds[slice] !== operatorSlice) continue;
      operator[row] = this.#names[slice]!;
      // The innermost operator; all further out only holds it.
      return;
    }
  }

  #close(start: number, lasts: boolean): void {
    while (this.#depth > 0) {
      const top = this.#open[this.#depth - 1]!;
      const end = this.#starts[top]! + this.#durations[top]!;
      // In traces of whole microseconds an empty call at the end of another is inside it.
      if (end > start || (end === start && !lasts)) return;
      this.#depth--;
    }
  }

  #deepen(): void {
    const deeper = new Int32Array(this.#open.length * 2);
    deeper.set(this.#open);
    this.#open = deeper;
  }

  #site(name: number, parent: number): number {
    const key = (parent + 1) * 2 ** 26 + name;
    const known = this.#siteOf.get(key);
    if (known >= 0) return known;
    const site = this.#newSite(name, parent);
    // A hidden frame without a caller has no site, which is worked out each time.
    this.#siteOf.set(key, site);
    return site;
  }

  #newSite(name: number, parent: number): number {
    const { strings, sites } = this.#rows.draft;
    let frame = this.#frames.get(name);
    if (!frame && !this.#frames.has(name)) {
      frame = parsePythonFrame(strings.list[name]!);
      this.#frames.set(name, frame);
    }
    if (!frame || frame.owner === 'hidden') return parent;
    const site = sites.add(strings.add(frame.file), frame.line, strings.add(frame.function), parent);
    if (frame.owner === 'user') sites.markUser(site);
    return site;
  }
}
