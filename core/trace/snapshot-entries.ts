/**
 * The entries of a snapshot's history in columns, as they stand in the file, and in the order of time over all devices.
 * Knows what an entry says and nothing of what follows from it.
 */
import { float64, groupedOrder, int32, uint8 } from './columns.ts';
import { listCell, textCell } from './pickle-cells.ts';
import { Fields, type PickleTree } from './pickle-tree.ts';

const actions = [
  'alloc',
  'free_requested',
  'free_completed',
  'segment_alloc',
  'segment_free',
  'segment_map',
  'segment_unmap',
  'oom',
  'user_defined',
] as const;
type Action = (typeof actions)[number];

/** The numbers of actions in the column. */
export const actionOf = Object.fromEntries(actions.map((action, i) => [action, i])) as Readonly<Record<Action, number>>;

/** `snapshot`, `annotate` and what newer releases may add. */
const otherAction = 255;

export class Entries {
  readonly tree: PickleTree;
  /** The cell of the dictionary. */
  readonly cell = int32();
  readonly action = uint8();
  /** -1 where there is none; so is the size 0. */
  readonly address = float64();
  readonly size = float64();
  readonly device = int32();
  /** 1: of pinned host memory. */
  readonly pinned = uint8();
  /** Unix microseconds, or the place in the list where the file has no times. */
  readonly time = float64();
  /** 1: the release and its completion are one, nothing held the block. */
  readonly atOnce = uint8();
  /** The cell of the stack. */
  readonly frames = int32();
  hasTimes = true;

  constructor(tree: PickleTree) {
    this.tree = tree;
    // A list that a file names in many places is still one device's.
    const taken = new Set<number>();
    for (const [key, pinned] of [['device_traces', 0], ['host_traces', 1]] as const) // biome-ignore format: a table
      for (const [device, list] of tree.items(tree.get(tree.root, key)).entries()) {
        const which = tree.which(list, listCell);
        if (taken.has(which)) continue;
        taken.add(which);
        this.#take(list, device, pinned);
      }
  }

  get length(): number {
    return this.cell.length;
  }

  /** In the order of time over all devices. */
  order(): Int32Array {
    return groupedOrder(this.length, undefined, this.time.cells);
  }

  #take(list: number, device: number, pinned: number): void {
    const { tree } = this;
    const numbers = new Map(actions.map((action) => [tree.texts.idOf(action), actionOf[action]]));
    const fields = new Fields(tree, ['action', 'addr', 'size', 'time_us', 'frames']);
    const [action, addr, size, timeUs, frames] = [0, 1, 2, 3, 4] as const;
    const { cells } = fields;
    const length = tree.length(list);
    const first = tree.first(list);
    let time = 0;
    for (let i = 0; i < length; i++) {
      fields.look(first + i);
      const stamp = tree.number(cells[timeUs]!);
      if (stamp < 0) this.hasTimes = false;
      // Entries of a device stand in order; a clock that was set back must not tear them apart.
      time = Math.max(time, stamp < 0 ? i : stamp);
      const at = this.length;
      this.cell.push(first + i);
      this.action.push(numbers.get(tree.which(cells[action]!, textCell)) ?? otherAction);
      this.address.push(tree.number(cells[addr]!));
      this.size.push(Math.max(0, tree.number(cells[size]!)));
      this.device.push(device);
      this.pinned.push(pinned);
      this.time.push(time);
      this.atOnce.push(0);
      this.frames.push(cells[frames]!);
      if (i > 0 && this.#completes(at)) this.atOnce.set(at - 1, 1);
    }
  }

  /** Whether the entry is the completion of the release before it. */
  #completes(at: number): boolean {
    const { action, address } = this;
    return (
      action.get(at) === actionOf.free_completed &&
      action.get(at - 1) === actionOf.free_requested &&
      address.get(at) === address.get(at - 1)
    );
  }
}
