/**
 * Blocks of memory out of a profiler's allocator events: an allocation and the next release at the same address are the
 * two ends of one life. Which pool a block belongs to the profiler does not say.
 */
import { groupedOrder } from './columns.ts';
import type { KinetoRows } from './kineto.ts';
import type { MemorySites } from './kineto-sites.ts';
import { NumberMap } from './number-map.ts';

export function makeBlocks(rows: KinetoRows, found: MemorySites): void {
  const { time } = rows.memory;
  const order = groupedOrder(time.length, undefined, time.cells);
  const lives = new Lives(rows, found);
  for (let i = 0; i < order.length; i++) lives.add(order[i]!);
}

class Lives {
  readonly #rows: KinetoRows;
  readonly #found: MemorySites;
  /** By device: the block that lives at an address. */
  readonly #live = new Map<number, NumberMap>();

  constructor(rows: KinetoRows, found: MemorySites) {
    this.#rows = rows;
    this.#found = found;
  }

  add(row: number): void {
    const { draft, memory } = this.#rows;
    const device = memory.device.get(row);
    const address = memory.address.get(row);
    const live = this.#onDevice(device);
    if (memory.bytes.get(row) > 0) live.set(address, this.#allocate(row));
    else {
      const block = live.get(address);
      if (block >= 0) draft.blocks.releaseRequested.set(block, memory.time.get(row));
      draft.blocks.releaseSite.set(block >= 0 ? block : this.#older(row), this.#found.site[row]!);
      live.set(address, -1);
    }
    draft.counters.add(memory.time.get(row), device, memory.allocated.get(row), memory.reserved.get(row), -1);
  }

  #onDevice(device: number): NumberMap {
    let live = this.#live.get(device);
    if (!live) {
      live = new NumberMap();
      this.#live.set(device, live);
    }
    return live;
  }

  #allocate(row: number): number {
    const { draft, memory } = this.#rows;
    return draft.pushBlock({
      address: memory.address.get(row),
      size: memory.bytes.get(row),
      stream: -1,
      allocated: memory.time.get(row),
      releaseRequested: -1,
      name: this.#found.operator[row]!,
      allocationSite: this.#found.site[row]!,
      programBlock: -1,
    });
  }

  /** A release without an allocation: the block is older than the recording. */
  #older(row: number): number {
    const { draft, memory } = this.#rows;
    return draft.pushBlock({
      address: memory.address.get(row),
      size: Math.abs(memory.bytes.get(row)),
      stream: -1,
      allocated: -1,
      releaseRequested: memory.time.get(row),
      name: -1,
      allocationSite: -1,
      programBlock: -1,
    });
  }
}
