/** How far the lanes are scrolled, so that something is on screen. Knows no state beyond what it is given. */
import type { Target } from '../core/timeline/hit.ts';
import type { Layout } from '../core/timeline/layout.ts';
import { poolBox } from './draw/fault.ts';
import { placeOf } from './draw/overlay.ts';
import type { Scene } from './draw/scene.ts';
import type { Run } from './messages.ts';

interface Place {
  readonly y: number;
  readonly height: number;
}

/** Whole pixels: half of one would blur every line of the lanes. */
export function clampScroll(scroll: number, layout: Layout, room: number): number {
  return Math.round(Math.max(0, Math.min(scroll, layout.height - room)));
}

/** As little as possible further, so that the place is on screen. */
export function scrolledTo(scroll: number, place: Place, layout: Layout, room: number): number {
  // Pinned lanes are always on screen.
  if (place.y < layout.pinnedHeight) return scroll;
  if (place.y < scroll + layout.pinnedHeight) return place.y - layout.pinnedHeight - 8;
  return place.y + place.height > scroll + room ? place.y + place.height - room + 8 : scroll;
}

/** The same for the lanes of a target; `scene` has the lanes as they are laid out. */
export function scrolledToTarget(run: Run, scene: Scene, target: Target, room: number): number {
  let { scroll } = scene;
  // The last one wins where not all fit: the streams say more than the block.
  for (const place of placesOf(run, scene, target)) scroll = scrolledTo(scroll, place, scene.layout, room);
  return clampScroll(scroll, scene.layout, room);
}

function placesOf(run: Run, scene: Scene, target: Target): Place[] {
  if (target.kind !== 'hazard') {
    const place = placeOf({ ...scene, scroll: 0 }, 0, target);
    return place ? [place] : [];
  }
  const places: Place[] = [];
  const hazard = run.hazards[target.index]!;
  const block = hazard.block >= 0 ? poolBox(scene, hazard.block) : undefined;
  if (block) places.push({ y: block.y, height: Math.min(block.height, 60) });
  for (const slice of [hazard.secondSlice, hazard.firstSlice]) {
    const box = scene.layout.streamBoxes.get(run.trace.deviceSlices.stream[slice]!);
    if (box) places.push(box);
  }
  return places;
}
