/**
 * Blocks as address × time: a pool is what one stream allocated, its rows are the address ranges that blocks start at,
 * with the unused addresses between them taken out. Four times a block: allocated, release requested, last GPU use,
 * reusable.
 */
import { groupedOrder } from '../trace/columns.ts';
import { groupBy, inOrder } from './grouping.ts';
import { memoryOf } from './memory.ts';
import { holds, type Part } from './parts.ts';
import type { BlockColumns, Trace } from '../trace/trace.ts';
import { makeRow, type Intervals, type Row } from './row.ts';
import type { View } from './view.ts';

/** Start and duration of each block from its allocation to when it can be handed out again; `release` between. */
export interface BlockTimes extends Intervals {
  readonly release: Float64Array;
}

export interface Pool {
  readonly part: number;
  /** The allocating stream; -1: not known; -2: host memory. */
  readonly stream: number;
  readonly name: string;
  /** Sum of the address ranges, and the sizes of the blocks, in bytes. */
  readonly bytes: number;
  readonly smallest: number;
  readonly largest: number;
  /** Address range i is [lowest[i], lowest[i] + length); a block covers `spanRows` of them from the row it starts in. */
  readonly lowest: Float64Array;
  /** Blocks that start in this range, by time. */
  readonly rows: readonly Row[];
  readonly blocks: number;
}

/** Blocks' times with what is not known filled in: alive before the trace, or until its end. */
export function blockTimes(blocks: BlockColumns, bounds: View): BlockTimes {
  const start = new Float64Array(blocks.length);
  const duration = new Float64Array(blocks.length);
  const release = new Float64Array(blocks.length);
  for (let i = 0; i < blocks.length; i++) {
    const from = blocks.allocated[i]! >= 0 ? blocks.allocated[i]! : bounds.start;
    const requested = blocks.releaseRequested[i]! >= 0 ? blocks.releaseRequested[i]! : bounds.end;
    const free = blocks.reusable[i]! >= 0 ? blocks.reusable[i]! : requested;
    start[i] = from;
    release[i] = Math.max(from, requested);
    duration[i] = Math.max(release[i]!, free) - from;
  }
  return { start, duration, release };
}

export function buildPools(trace: Trace, times: BlockTimes, parts: readonly Part[]): Pool[] {
  const { blocks, streams } = trace;
  const pools: Pool[] = [];
  parts.forEach((part, index) => {
    const host = streams.length;
    const unknown = streams.length + 1;
    const key = new Int32Array(blocks.length).fill(-1);
    for (let i = part.blocks.from; i < part.blocks.to; i++) {
      const stream = blocks.stream[i]!;
      if (memoryOf(trace, i) !== 'device') key[i] = host;
      else key[i] = holds(part.streams, stream) ? stream : unknown;
    }
    groupBy(key, blocks.length, streams.length + 2).forEach((items, group) => {
      if (items.length === 0) return;
      const name =
        group === host ? 'Host memory' : group === unknown ? 'Pool not known' : `${streams[group]!.name}’s pool`;
      const stream = group === host ? -2 : group === unknown ? -1 : group;
      pools.push(makePool(index, stream, name, items, blocks, times));
    });
  });
  return pools.sort((a, b) => a.part - b.part || rank(a, trace) - rank(b, trace) || a.stream - b.stream);
}

/** Side streams' pools first: faults of lifetime lie there. Then the default stream's, then what is not on a device. */
function rank(pool: Pool, { streams }: Trace): number {
  if (pool.stream < 0) return pool.stream === -1 ? 2 : 3;
  return streams[pool.stream]!.isDefault ? 1 : 0;
}

export function makePool(
  part: number,
  stream: number,
  name: string,
  items: Int32Array,
  blocks: BlockColumns,
  times: BlockTimes,
): Pool {
  const byAddress = inOrderOfAddress(items, blocks);
  const lowest = addressRanges(byAddress, blocks);
  const rowOf = new Int32Array(items.length);
  const counts = new Int32Array(lowest.length);
  let smallest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let i = 0; i < items.length; i++) {
    const row = lastAtMost(lowest, blocks.address[items[i]!]!);
    rowOf[i] = row;
    counts[row]!++;
    smallest = Math.min(smallest, blocks.size[items[i]!]!);
    largest = Math.max(largest, blocks.size[items[i]!]!);
  }
  const rows = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  for (let i = 0; i < items.length; i++) {
    const row = rowOf[i]!;
    rows[row]![counts[row]!++] = items[i]!;
  }
  return {
    part,
    stream,
    name,
    bytes: usedBytes(byAddress, blocks),
    smallest,
    largest,
    lowest,
    rows: rows.map((row) => makeRow(inOrder(row, times), times)),
    blocks: items.length,
  };
}

function inOrderOfAddress(items: Int32Array, { address }: BlockColumns): Int32Array {
  const addresses = new Float64Array(items.length);
  for (let i = 0; i < items.length; i++) addresses[i] = address[items[i]!]!;
  const order = groupedOrder(items.length, undefined, addresses);
  for (let i = 0; i < order.length; i++) order[i] = items[order[i]!]!;
  return order;
}

/** Starts of the elementary ranges that some block covers: cut at every block's first and end address, gaps left out. */
function addressRanges(byAddress: Int32Array, { address, size }: BlockColumns): Float64Array {
  const cuts = new Float64Array(2 * byAddress.length);
  for (let i = 0; i < byAddress.length; i++) {
    const block = byAddress[i]!;
    cuts[2 * i] = address[block]!;
    cuts[2 * i + 1] = address[block]! + Math.max(1, size[block]!);
  }
  cuts.sort();
  let kept = 0;
  let covered = Number.NEGATIVE_INFINITY;
  let next = 0;
  for (let i = 0; i < cuts.length; i++) {
    const cut = cuts[i]!;
    for (; next < byAddress.length && address[byAddress[next]!]! <= cut; next++) {
      const block = byAddress[next]!;
      covered = Math.max(covered, address[block]! + Math.max(1, size[block]!));
    }
    // What is kept never passes what is read.
    if (covered > cut && (kept === 0 || cuts[kept - 1] !== cut)) cuts[kept++] = cut;
  }
  return cuts.slice(0, kept);
}

function usedBytes(byAddress: Int32Array, { address, size }: BlockColumns): number {
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < byAddress.length; i++) {
    const block = byAddress[i]!;
    const from = Math.max(until, address[block]!);
    const to = address[block]! + size[block]!;
    if (to > from) {
      total += to - from;
      until = to;
    }
  }
  return total;
}

/** Index of the last value that is not above `value`; 0 if all are. */
export function lastAtMost(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Rows [first, end) that a block covers in its pool. */
export function rowsOfBlock(pool: Pool, blocks: BlockColumns, block: number): readonly [number, number] {
  const first = lastAtMost(pool.lowest, blocks.address[block]!);
  const last = lastAtMost(pool.lowest, blocks.address[block]! + Math.max(1, blocks.size[block]!) - 0.5);
  return [first, Math.max(last, first) + 1];
}
