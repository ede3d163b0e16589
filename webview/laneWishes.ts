/** What is done with lanes: opened, pinned, moved, hidden, by their names, their menu and the list of all. */
import type { Target } from '../core/timeline/hit.ts';
import { type Lane, laneKey, layOut, measuresFor } from '../core/timeline/layout.ts';
import type { MenuEntry } from './dom/menu.ts';
import { openLaneList } from './dom/popups.ts';
import { poolBox } from './draw/fault.ts';
import type { Scene } from './draw/scene.ts';
import type { Run } from './messages.ts';
import type { RunStage } from './runHost.ts';
import { isMovable, laneName, moveLane, partOf, togglePin } from './state/lanes.ts';
import { toggled } from './state/state.ts';

export interface LaneWishes {
  toggle(key: string): void;
  pin(key: string): void;
  move(key: string, by: number): void;
  hide(key: string): void;
  menu(key: string): MenuEntry[];
  /** Opens the list of all lanes below what it belongs to. */
  choose(anchor: HTMLElement): void;
}

/** `anchor`: where the list opens from a menu; `focus`: gives a lane's name the focus. */
export function makeLaneWishes(at: RunStage, anchor: () => HTMLElement, focus: (key: string) => void): LaneWishes {
  const laneOf = (key: string): Lane | undefined => at.layout().boxes.find(({ lane }) => laneKey(lane) === key)?.lane;
  const wishes: LaneWishes = {
    toggle(key) {
      const lane = laneOf(key);
      const state = at.state();
      if (lane?.kind === 'group' || lane?.kind === 'part') at.update({ ...state, closed: toggled(state.closed, key) });
      if (lane?.kind === 'host') at.update({ ...state, opened: toggled(state.opened, key) });
    },
    pin: (key) => at.update(togglePin(at.state(), key)),
    move: (key, by) => at.update(moveLane(at.state(), at.layout(), key, by)),
    hide: (key) => at.update({ ...at.state(), hidden: toggled(at.state().hidden, key) }),
    menu(key) {
      const lane = laneOf(key);
      if (!lane) return [];
      if (!isMovable(lane)) return [{ words: 'Open or close', act: () => wishes.toggle(key) }];
      const move = (by: number) => () => {
        wishes.move(key, by);
        focus(key);
      };
      const isPinned = at.state().pinned.includes(key);
      return [
        { words: isPinned ? 'Unpin' : 'Pin to the top', key: 'P', act: () => wishes.pin(key) },
        { words: 'Move up', key: 'Alt ↑', act: move(-1) },
        { words: 'Move down', key: 'Alt ↓', act: move(1) },
        'line',
        ...(lane.kind === 'host' ? [{ words: 'All rows, or few', act: () => wishes.toggle(key) }] : []),
        { words: 'Hide', key: 'Del', act: () => wishes.hide(key) },
        { words: 'Choose lanes…', key: 'L', act: () => wishes.choose(anchor()) },
      ];
    },
    choose(from) {
      const page = document.querySelector('main') ?? document.body;
      openLaneList(page, from, () => choicesOf(at), {
        toggle: wishes.hide,
        pin: wishes.pin,
        move: wishes.move,
        showAll: () => at.update({ ...at.state(), hidden: new Set() }),
      });
    },
  };
  return wishes;
}

/** All lanes of the run, those of closed groups and hidden ones too. */
function choicesOf(at: RunStage) {
  const state = at.state();
  const { timeline } = at.run;
  const none = new Set<string>();
  const all = layOut(timeline, measuresFor(at.panelWidth()), { ...state, closed: none, opened: none, hidden: none });
  return all.boxes
    .filter(({ lane }) => isMovable(lane))
    .map(({ lane }) => {
      const key = laneKey(lane);
      const where = timeline.parts.length > 1 ? `, ${timeline.parts[partOf(lane)]?.name}` : '';
      return {
        key,
        name: laneName(lane) + where,
        shown: !state.hidden.has(key),
        pinned: state.pinned.includes(key),
      };
    });
}

/** The lane in which a target lies; undefined: in none, or in one that is not shown. */
export function laneOfTarget(
  { trace }: Run,
  scene: Pick<Scene, 'layout' | 'trace' | 'timeline'>,
  target: Target,
): string | undefined {
  const stream =
    target.kind === 'device'
      ? trace.deviceSlices.stream[target.index]!
      : target.kind === 'held'
        ? trace.marks.stream[target.index]!
        : -1;
  if (stream >= 0) return `stream ${stream}`;
  if (target.kind === 'host') return `host ${trace.hostSlices.thread[target.index]!}`;
  const box = target.kind === 'block' ? poolBox(scene, target.index) : undefined;
  return box && laneKey(box.lane);
}
