/** Bytes of each device over the entries of a snapshot: reserved, allocated, and released but held back from reuse. */
import type { CounterRows } from './draft.ts';
import type { PickleTree } from './pickle-tree.ts';
import { actionOf, type Entries } from './snapshot-entries.ts';

/** What an entry does to a total, as a sign, by the number of its action. */
const reservedSign = new Int8Array(256);
reservedSign[actionOf.segment_alloc] = reservedSign[actionOf.segment_map] = 1;
reservedSign[actionOf.segment_free] = reservedSign[actionOf.segment_unmap] = -1;
const allocatedSign = new Int8Array(256);
allocatedSign[actionOf.alloc] = 1;
allocatedSign[actionOf.free_requested] = -1;

interface Total {
  reserved: number;
  allocated: number;
  heldBack: number;
  /** Addresses of the blocks that are held back now. */
  readonly held: Set<number>;
}

export class Totals {
  readonly #byDevice = new Map<number, Total>();
  readonly #entries: Entries;
  readonly #counters: CounterRows;

  /** `segments`: the cells of those of the end state. */
  constructor(entries: Entries, segments: readonly number[], counters: CounterRows) {
    this.#entries = entries;
    this.#counters = counters;
    this.#startFrom(segments);
  }

  /** Bytes reserved and allocated before the first entry: what the end state says, less what the entries changed. */
  #startFrom(segments: readonly number[]): void {
    const entries = this.#entries;
    const { tree } = entries;
    for (const segment of segments) {
      const total = this.#of(Math.max(0, tree.number(tree.get(segment, 'device'))));
      total.reserved += Math.max(0, tree.number(tree.get(segment, 'total_size')));
      for (const { block } of blocksOf(tree, segment))
        if (tree.text(tree.get(block, 'state')) === 'active_allocated') total.allocated += requestedSize(tree, block);
    }
    for (let i = 0; i < entries.length; i++) {
      if (entries.pinned.get(i) === 1) continue;
      const total = this.#of(entries.device.get(i));
      const action = entries.action.get(i);
      const size = entries.size.get(i);
      total.reserved -= size * reservedSign[action]!;
      total.allocated -= size * allocatedSign[action]!;
    }
    for (const total of this.#byDevice.values()) {
      total.allocated = segments.length > 0 ? Math.max(0, total.allocated) : 0;
      total.reserved = segments.length > 0 ? Math.max(0, total.reserved) : 0;
    }
  }

  /** `time`: of the entry, in the time of the trace. */
  take(index: number, time: number): void {
    const entries = this.#entries;
    const device = entries.device.get(index);
    const action = entries.action.get(index);
    const size = entries.size.get(index);
    const total = this.#of(device);
    const { reserved, allocated, heldBack } = total;
    total.reserved = Math.max(0, total.reserved + size * reservedSign[action]!);
    total.allocated = Math.max(0, total.allocated + size * allocatedSign[action]!);
    if (action === actionOf.free_requested && entries.atOnce.get(index) === 0 && size > 0) {
      total.heldBack += size;
      total.held.add(entries.address.get(index));
    } else if (action === actionOf.free_completed && total.held.delete(entries.address.get(index)))
      total.heldBack = Math.max(0, total.heldBack - size);
    if (reserved !== total.reserved || allocated !== total.allocated || heldBack !== total.heldBack)
      this.#counters.add(time, device, total.allocated, total.reserved, total.heldBack);
  }

  #of(device: number): Total {
    const known = this.#byDevice.get(device);
    if (known) return known;
    const total = { reserved: 0, allocated: 0, heldBack: 0, held: new Set<number>() };
    this.#byDevice.set(device, total);
    return total;
  }
}

/** Cells of the blocks of a segment with their addresses, which old files leave out: blocks lie one behind the other. */
export function blocksOf(tree: PickleTree, segment: number): { readonly block: number; readonly address: number }[] {
  let at = tree.number(tree.get(segment, 'address'));
  return tree.items(tree.get(segment, 'blocks')).map((block) => {
    const own = tree.get(block, 'address');
    const address = own < 0 ? at : tree.number(own);
    at = address + Math.max(0, tree.number(tree.get(block, 'size')));
    return { block, address };
  });
}

function requestedSize(tree: PickleTree, block: number): number {
  const requested = tree.get(block, 'requested_size');
  return Math.max(0, tree.number(requested < 0 ? tree.get(block, 'size') : requested));
}
