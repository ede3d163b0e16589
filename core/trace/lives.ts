/**
 * What follows from block lives: the last use of each block on a device, and the counters of bytes over time where the
 * file has none of its own.
 */
import type { TraceDraft } from './draft.ts';

/** `lastUse` of a block is the end of the last device slice of a step that accesses it. */
export function workOutLastUses(draft: TraceDraft): void {
  const { steps, device, blocks } = draft;
  const rowOfBlock = new Int32Array(draft.programBlocks.length).fill(-1);
  for (let row = 0; row < blocks.length; row++) {
    const block = blocks.programBlock.get(row);
    if (block >= 0) rowOfBlock[block] = row;
  }
  for (let slice = 0; slice < device.length; slice++) {
    const step = steps[device.step.get(slice)];
    if (step?.kind !== 'launch') continue;
    const end = device.start.get(slice) + device.duration.get(slice);
    for (const access of step.accesses) {
      const row = rowOfBlock[access.block]!;
      if (row >= 0 && end > blocks.lastUse.get(row)) blocks.lastUse.set(row, end);
    }
  }
}

interface Change {
  readonly time: number;
  readonly device: number;
  readonly allocated: number;
  readonly heldBack: number;
}

/**
 * Allocated and held-back bytes from the lives of device blocks. `deviceOf` gives the device of a block row, -1 for a
 * block that does not count (pinned memory). Reserved bytes are not known from lives.
 */
export function countersFromLives(draft: TraceDraft, deviceOf: (row: number) => number): void {
  const { blocks, counters } = draft;
  const changes: Change[] = [];
  for (let row = 0; row < blocks.length; row++) {
    const device = deviceOf(row);
    if (device < 0) continue;
    const size = blocks.size.get(row);
    if (size < 0) continue;
    const allocated = Math.max(0, blocks.allocated.get(row));
    const released = blocks.releaseRequested.get(row);
    const reusable = blocks.reusable.get(row);
    changes.push({ time: allocated, device, allocated: size, heldBack: 0 });
    if (released < 0) continue;
    const held = reusable > released;
    changes.push({ time: released, device, allocated: -size, heldBack: held ? size : 0 });
    if (held) changes.push({ time: reusable, device, allocated: 0, heldBack: -size });
  }
  changes.sort((a, b) => a.time - b.time);
  const totals = new Map<number, { allocated: number; heldBack: number }>();
  for (const [i, change] of changes.entries()) {
    const total = totals.get(change.device) ?? { allocated: 0, heldBack: 0 };
    totals.set(change.device, total);
    total.allocated += change.allocated;
    total.heldBack += change.heldBack;
    // One row a moment and device.
    const next = changes[i + 1];
    if (next && next.time === change.time && next.device === change.device) continue;
    counters.add(change.time, change.device, total.allocated, -1, total.heldBack);
  }
}
