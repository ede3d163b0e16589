/**
 * Released blocks whose memory may be handed out too early. Streams with a use that the allocating stream is not after,
 * and that no record_stream covers, make a release *pending*:
 *
 *     allocate x on main    launch on side (r x)    release x      pending: side's use
 *     allocate y on main    launch on main (w y)                   y may be x's memory: a hazard
 *
 * What counts is the new owner's first access, not its allocation. Where addresses are known, only a new owner whose
 * bytes overlap is a reuse that was seen; one that would have fitted is a reuse that was possible.
 */
import type { Clocks } from '../order/clocks.ts';
import type { BlockEntry, BlockId, StepIndex, StreamId, StreamProgram, ThreadId } from '../program/program.ts';
import type { LifetimeHazard } from './hazard.ts';
import type { Life } from './life.ts';
import type { Places } from './places.ts';

export interface Claim {
  readonly pending: Pending;
  /** The addresses overlap. */
  readonly seen: boolean;
}

interface Use {
  readonly stream: StreamId;
  readonly step: StepIndex;
}

interface Pending {
  readonly life: Life;
  readonly release: StepIndex;
  /** Uses that nothing is known to come after; shrinks as they are settled. */
  uses: readonly Use[];
  /** Allocations on the pool's stream that were compared with it: only the first few can tell something new. */
  looked: number;
  /** A reuse that was possible but, by its address, did not happen; undefined: none. */
  possible: { readonly reuse: StepIndex; readonly uses: readonly Use[] } | undefined;
  /** No later allocation matters: all uses are settled, or the reuse has been reported. */
  done: boolean;
  reported: boolean;
}

interface Pool {
  /** Pending releases without an address, and those with one that few allocations have passed. */
  watched: Pending[];
  /** Pending releases with an address, sorted by it and disjoint: a later owner takes the place of an earlier one. */
  placed: Pending[];
}

/** How many allocations a pending release is compared with for a possible reuse. */
const looks = 8;
/** Requests up to this size come from other segments than larger ones (c10/cuda/CUDACachingAllocator.cpp). */
const smallRequest = 1 << 20;

export class Reuses {
  readonly #program: StreamProgram;
  readonly #clocks: Clocks;
  readonly #places: Places;
  readonly #pools = new Map<StreamId, Pool>();
  readonly #possible: Pending[] = [];
  readonly #hazards: LifetimeHazard[] = [];
  readonly #reported = new Set<string>();
  /** A pending release was left alone for want of evidence. */
  suspected = false;

  constructor(program: StreamProgram, clocks: Clocks, places: Places) {
    this.#program = program;
    this.#clocks = clocks;
    this.#places = places;
  }

  allocated(life: Life, thread: ThreadId): void {
    const pool = this.#pools.get(life.stream);
    if (pool) this.#claim(pool, life, thread);
  }

  /** The first access of a block that has, or may have, the memory of former ones. Bytes as in an Access. */
  firstAccess(life: Life, stream: StreamId, thread: ThreadId, start: number, end: number): void {
    const claims = life.claims!;
    life.claims = undefined;
    const later: Claim[] = [];
    for (const claim of claims) {
      const { pending, seen } = claim;
      if (pending.done) continue;
      if (seen && !overlaps(pending.life.entry, life.entry.address! + start, life.entry.address! + end)) {
        later.push(claim);
        continue;
      }
      const open = pending.uses.filter((use) => !this.#settled(stream, thread, use));
      // The same wait may come too late for the next owner of the block: only what was really handed out is settled.
      if (open.length === 0) pending.done = seen;
      else if (seen || life.entry.address === undefined || pending.life.entry.address === undefined)
        this.#report(pending, open, life.allocation, seen ? life.block : undefined);
      else if (!pending.possible) {
        pending.possible = { reuse: life.allocation, uses: open };
        this.#possible.push(pending);
      }
    }
    if (later.length) life.claims = later;
  }

  released(life: Life, thread: ThreadId, step: StepIndex): void {
    if (life.useStreams.length === 0 || this.#program.streams[life.stream]?.unknown) return;
    const uses: Use[] = [];
    for (let i = 0; i < life.useStreams.length; i++) {
      const use = { stream: life.useStreams[i]!, step: life.useSteps[i]! };
      if (this.#program.streams[use.stream]!.unknown || this.#settled(life.stream, thread, use)) continue;
      // The free waits for events on the recorded streams, so also for whatever those have waited for.
      if (life.recorded.some((stream) => this.#clocks.streamAfter(stream, use.stream, use.step))) continue;
      uses.push(use);
    }
    if (uses.length === 0) return;
    if (!life.entry.evidence) {
      this.suspected = true;
      return;
    }
    life.kept = true;
    const pool = this.#pool(life.stream);
    const pending = { life, release: step, uses, looked: 0, possible: undefined, done: false, reported: false };
    pool.watched.push(pending);
    if (life.entry.address !== undefined) place(pool.placed, pending);
  }

  /** Code that is not seen may allocate on `stream`. */
  outside(stream: StreamId, thread: ThreadId, step: StepIndex): void {
    const pool = this.#pools.get(stream);
    if (!pool) return;
    for (const pending of pool.watched) {
      if (!pending.done) this.#settle(pending, stream, thread);
      if (!pending.done) this.#report(pending, pending.uses, step, undefined);
    }
    pool.watched = [];
  }

  /** All that were found; those that were possible, but not seen, come last. */
  finish(): readonly LifetimeHazard[] {
    for (const pending of this.#possible) {
      const { reuse, uses } = pending.possible!;
      if (!pending.reported) this.#report(pending, uses, reuse, undefined);
    }
    return this.#hazards;
  }

  #claim(pool: Pool, life: Life, thread: ThreadId): void {
    const claims: Claim[] = [];
    const { address, size } = life.entry;
    if (address !== undefined && size !== undefined) {
      // They stay in place: another block may get the rest of their bytes, or the same once this one is gone.
      const [from, to] = overlapping(pool.placed, address, address + size);
      for (let i = from; i < to; i++) {
        const pending = pool.placed[i]!;
        if (!pending.done) this.#settle(pending, life.stream, thread);
        if (!pending.done) claims.push({ pending, seen: true });
      }
      if (claims.length < to - from) pool.placed.splice(from, to - from, ...claims.map((claim) => claim.pending));
    }
    let kept = 0;
    for (const pending of pool.watched) {
      if (pending.done) continue;
      this.#settle(pending, life.stream, thread);
      if (pending.done) continue;
      const placed = address !== undefined && pending.life.entry.address !== undefined;
      if (!placed) claims.push({ pending, seen: false });
      else if (!claims.some((claim) => claim.pending === pending) && couldFit(life.entry, pending.life.entry))
        claims.push({ pending, seen: false });
      if (placed && ++pending.looked >= looks) continue;
      pool.watched[kept++] = pending;
    }
    pool.watched.length = kept;
    if (claims.length) life.claims = claims;
  }

  #settle(pending: Pending, stream: StreamId, thread: ThreadId): void {
    pending.uses = pending.uses.filter((use) => !this.#settled(stream, thread, use));
    if (pending.uses.length === 0) pending.done = true;
  }

  #settled(stream: StreamId, thread: ThreadId, use: Use): boolean {
    if (this.#clocks.streamAfter(stream, use.stream, use.step)) {
      this.#clocks.relyOnStream(stream, use.stream);
      return true;
    }
    if (!this.#clocks.hostAfter(thread, use.stream, use.step)) return false;
    this.#clocks.relyOnHost(thread, use.stream);
    return true;
  }

  /** A stream that the program was given comes after the use: where the block goes back to, it may be the current one. */
  #joinedByGiven(home: StreamId, { stream, step }: Use): boolean {
    return this.#program.streams.some(
      ({ given }, other) =>
        given === true && other !== home && other !== stream && this.#clocks.streamAfter(other, stream, step),
    );
  }

  #report(pending: Pending, open: readonly Use[], reuse: StepIndex, nextBlock: BlockId | undefined): void {
    const uses = open.filter((use) => !this.#joinedByGiven(pending.life.stream, use));
    pending.done = true;
    if (uses.length === 0) {
      this.suspected = true;
      return;
    }
    pending.reported = true;
    const { life, release } = pending;
    for (const use of uses) {
      const key = `${this.#places.chain(use.step)} ${this.#places.chain(release)}`;
      if (this.#reported.has(key)) continue;
      this.#reported.add(key);
      this.#hazards.push({
        kind: 'lifetime',
        block: life.block,
        allocatedOn: life.stream,
        allocation: life.allocation,
        release,
        use: use.step,
        useStream: use.stream,
        reuse,
        nextBlock,
      });
    }
  }

  #pool(stream: StreamId): Pool {
    let pool = this.#pools.get(stream);
    if (!pool) {
      pool = { watched: [], placed: [] };
      this.#pools.set(stream, pool);
    }
    return pool;
  }
}

function overlaps(entry: BlockEntry, start: number, end: number): boolean {
  return start < entry.address! + (entry.size ?? 1) && entry.address! < end;
}

/** Whether a request of `next`'s size can be served from the memory of `former`. */
function couldFit(next: BlockEntry, former: BlockEntry): boolean {
  if (next.size === undefined || former.size === undefined) return false;
  return next.size <= former.size && next.size <= smallRequest === former.size <= smallRequest;
}

function firstEndingAfter(placed: readonly Pending[], address: number): number {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = placed[middle]!.life.entry;
    if (entry.address! + (entry.size ?? 1) <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function place(placed: Pending[], pending: Pending): void {
  const { address, size } = pending.life.entry;
  const [from, to] = overlapping(placed, address!, address! + (size ?? 1));
  placed.splice(from, to - from, pending);
}

function overlapping(placed: readonly Pending[], start: number, end: number): [from: number, to: number] {
  const from = firstEndingAfter(placed, start);
  let to = from;
  while (to < placed.length && placed[to]!.life.entry.address! < end) to++;
  return [from, to];
}
