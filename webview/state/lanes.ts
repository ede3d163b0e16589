/** What can be done with a lane: pin it, move it among its like, hide it. Pure: keys of lanes in, a new state out. */
import { type Lane, laneKey, type Layout, sectionOf } from '../../core/timeline/layout.ts';
import type { State } from './state.ts';

export function togglePin(state: State, key: string): State {
  const pinned = state.pinned.includes(key) ? state.pinned.filter((one) => one !== key) : [...state.pinned, key];
  return { ...state, pinned };
}

/** Whether a lane can be pinned, moved and hidden: heads of groups cannot. */
export const isMovable = ({ kind }: Lane): boolean =>
  kind === 'host' || kind === 'stream' || kind === 'pool' || kind === 'totals';

/** Moves a lane up or down among the lanes of its section, or among the pinned ones. */
export function moveLane(state: State, layout: Layout, key: string, by: number): State {
  const at = state.pinned.indexOf(key);
  if (at >= 0) return { ...state, pinned: swapped(state.pinned, at, at + by) };
  const lane = layout.boxes.find((box) => laneKey(box.lane) === key)?.lane;
  if (!lane || !isMovable(lane)) return state;
  const section = sectionOf(lane);
  const keys = layout.boxes
    .slice(layout.pinnedCount)
    .filter((box) => isMovable(box.lane) && sectionOf(box.lane) === section)
    .map((box) => laneKey(box.lane));
  const from = keys.indexOf(key);
  const moved = swapped(keys, from, from + by);
  return moved === keys ? state : { ...state, order: [...state.order.filter((one) => !keys.includes(one)), ...moved] };
}

function swapped(keys: readonly string[], from: number, to: number): readonly string[] {
  if (to < 0 || to >= keys.length) return keys;
  const result = [...keys];
  const [key] = result.splice(from, 1);
  result.splice(to, 0, key!);
  return result;
}

/** What a lane is called in lists and menus. */
export function laneName(lane: Lane): string {
  switch (lane.kind) {
    case 'host':
      return lane.host.name;
    case 'stream':
      return lane.stream.name;
    case 'pool':
      return lane.pool.name;
    case 'totals':
      return lane.totals.device < 0 ? 'Totals' : `Totals of GPU ${lane.totals.device}`;
    case 'group':
    case 'part':
    case 'unrecorded':
      return lane.name;
  }
}

/** Which run a lane belongs to. */
export function partOf(lane: Lane): number {
  switch (lane.kind) {
    case 'host':
      return lane.host.part;
    case 'stream':
      return lane.stream.part;
    case 'pool':
      return lane.pool.part;
    case 'totals':
      return lane.totals.part;
    default:
      return 0;
  }
}
