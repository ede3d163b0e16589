/**
 * A model of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, the native one): pools by stream and size
 * class, best fit, blocks that are split and merged, frees that wait for recorded streams, and the private pools of graph
 * captures. It gives addresses, so that a run shows which tensors share memory.
 *
 *     one segment of 20 MiB    | x 4 MiB | y 4 MiB | free 12 MiB |       split: the rest is a free block
 *     release y                | x 4 MiB | free 16 MiB           |       merged with its free neighbour
 *
 * Deliberately unknown here: tensors, clocks (it is told the time).
 */

/** All sizes are rounded up to this. */
const granule = 512;
/** Requests up to this size share small segments. */
const smallRequest = 1 << 20;
const smallSegment = 2 << 20;
/** Requests from `smallRequest` up to `mediumRequest` share segments of 20 MiB. */
const mediumRequest = 10 << 20;
const mediumSegment = 20 << 20;
const largeGranule = 2 << 20;

export interface Memory {
  readonly address: number;
  /** What the allocator handed out: the request, rounded up. */
  readonly size: number;
}

interface Chunk {
  address: number;
  size: number;
  readonly stream: number;
  readonly small: boolean;
  /** The graph whose private pool it belongs to. */
  readonly graph: number | undefined;
  free: boolean;
  /** Neighbours in the segment. */
  previous: Chunk | undefined;
  next: Chunk | undefined;
  /** Events of recorded streams that are not known to be reached. */
  events: number;
  owner: number;
}

interface PendingEvent {
  readonly time: number;
  readonly chunk: Chunk;
}

export class CachingAllocator {
  /** Sum of the segments got from the driver. */
  reserved = 0;
  /** Handed out and not released. */
  allocated = 0;
  /** Released, but waiting for recorded streams. */
  heldBack = 0;
  /** Told when memory can be handed out again: at its release, or when the allocator sees its events reached. */
  onReusable: (owner: number, time: number) => void = () => {};
  readonly #pools = new Map<string, Chunk[]>();
  readonly #owned = new Map<number, Chunk>();
  /** By recorded stream, in order of record: the allocator looks at the head only. */
  readonly #events = new Map<number, PendingEvent[]>();
  /** Released during a capture with recorded streams: no event can tell when those are through. */
  #deferred: Chunk[] = [];
  #capturing = 0;
  #nextSegment: number;

  /** `firstAddress` is where the first segment lies. */
  constructor(firstAddress: number) {
    this.#nextSegment = firstAddress;
  }

  /** `owner`: the caller's id for what it gets. `graph`: the capture that asks, whose pool is its own. */
  allocate(owner: number, bytes: number, stream: number, now: number, graph?: number): Memory {
    // Events cannot be asked during a capture.
    if (!this.#capturing) this.#processEvents(now);
    const size = roundUp(Math.max(bytes, 1), granule);
    const small = size <= smallRequest;
    const chunk = this.#bestFit(stream, small, graph, size) ?? this.#newSegment(stream, small, graph, size);
    const rest = chunk.size - size;
    if (small ? rest >= granule : rest > smallRequest) this.#split(chunk, size);
    chunk.free = false;
    chunk.owner = owner;
    this.#owned.set(owner, chunk);
    this.allocated += chunk.size;
    return { address: chunk.address, size: chunk.size };
  }

  /** `events`: the time at which each recorded stream is through with what is queued on it now. */
  release(owner: number, events: ReadonlyMap<number, number>, now: number): void {
    const chunk = this.#owned.get(owner);
    if (!chunk) return;
    this.#owned.delete(owner);
    this.allocated -= chunk.size;
    if (events.size === 0) {
      this.#makeFree(chunk, now);
      return;
    }
    this.heldBack += chunk.size;
    if (this.#capturing) {
      this.#deferred.push(chunk);
      return;
    }
    chunk.events = events.size;
    for (const [stream, time] of events) {
      const queue = this.#events.get(stream);
      if (queue) queue.push({ time, chunk });
      else this.#events.set(stream, [{ time, chunk }]);
    }
  }

  captureBegins(): void {
    this.#capturing++;
  }

  /** What was deferred comes back: captured work did not run, so nothing is left to wait for. */
  captureEnds(now: number): void {
    if (--this.#capturing > 0) return;
    for (const chunk of this.#deferred) {
      this.heldBack -= chunk.size;
      this.#makeFree(chunk, now);
    }
    this.#deferred = [];
  }

  #processEvents(now: number): void {
    for (const queue of this.#events.values()) {
      let reached = 0;
      while (reached < queue.length && queue[reached]!.time <= now) {
        const { chunk } = queue[reached++]!;
        if (--chunk.events > 0) continue;
        this.heldBack -= chunk.size;
        this.#makeFree(chunk, now);
      }
      if (reached) queue.splice(0, reached);
    }
  }

  #bestFit(stream: number, small: boolean, graph: number | undefined, size: number): Chunk | undefined {
    const pool = this.#pool(stream, small, graph);
    let best: Chunk | undefined;
    for (const chunk of pool) {
      if (chunk.size < size) continue;
      if (!best || chunk.size < best.size || (chunk.size === best.size && chunk.address < best.address)) best = chunk;
    }
    if (best) pool.splice(pool.indexOf(best), 1);
    return best;
  }

  #newSegment(stream: number, small: boolean, graph: number | undefined, size: number): Chunk {
    const bytes = small ? smallSegment : size < mediumRequest ? mediumSegment : roundUp(size, largeGranule);
    const address = this.#nextSegment;
    // Segments lie apart, as the driver's do: blocks of two segments never merge.
    this.#nextSegment += bytes + largeGranule;
    this.reserved += bytes;
    return {
      address,
      size: bytes,
      stream,
      small,
      graph,
      free: false,
      previous: undefined,
      next: undefined,
      events: 0,
      owner: -1,
    };
  }

  #split(chunk: Chunk, size: number): void {
    const rest: Chunk = {
      ...chunk,
      address: chunk.address + size,
      size: chunk.size - size,
      free: true,
      previous: chunk,
      owner: -1,
    };
    if (rest.next) rest.next.previous = rest;
    chunk.next = rest;
    chunk.size = size;
    this.#pool(chunk.stream, chunk.small, chunk.graph).push(rest);
  }

  #makeFree(chunk: Chunk, now: number): void {
    this.onReusable(chunk.owner, now);
    chunk.free = true;
    chunk.owner = -1;
    const pool = this.#pool(chunk.stream, chunk.small, chunk.graph);
    const { previous, next } = chunk;
    if (previous?.free) {
      pool.splice(pool.indexOf(previous), 1);
      chunk.address = previous.address;
      chunk.size += previous.size;
      chunk.previous = previous.previous;
      if (chunk.previous) chunk.previous.next = chunk;
    }
    if (next?.free) {
      pool.splice(pool.indexOf(next), 1);
      chunk.size += next.size;
      chunk.next = next.next;
      if (chunk.next) chunk.next.previous = chunk;
    }
    pool.push(chunk);
  }

  #pool(stream: number, small: boolean, graph: number | undefined): Chunk[] {
    const key = `${stream} ${small} ${graph ?? ''}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = [];
      this.#pools.set(key, pool);
    }
    return pool;
  }
}

function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
