/** What lies at a place of the stage. Knows no events. */
import { findingMarks } from '../core/timeline/findings.ts';
import { extentOf, hit, type Target } from '../core/timeline/hit.ts';
import { toTime, toX } from '../core/timeline/view.ts';
import { lanesTop, type Scene } from './draw/scene.ts';
import type { Run } from './messages.ts';

/** So near in pixels, the beginning and the end of something are meant exactly. */
const near = 6;

export function targetAt(scene: Scene, x: number, y: number): Target | undefined {
  const top = lanesTop(scene);
  if (x < scene.scale.left) return undefined;
  if (y >= top) return hit(scene, x, y - top + scene.scroll);
  if (y < top - scene.measures.findings) return undefined;
  const mark = findingMarks(scene.hazards, scene.urgency, scene.scale).find(
    (one) => x >= one.x - 2 && x <= Math.max(one.end, one.x + one.room - 10),
  );
  return mark && { kind: 'hazard', index: nextOf(mark.hazards, scene.hazard) };
}

/** A click on a mark of several findings goes through them. */
function nextOf(hazards: readonly number[], current: number): number {
  return hazards[(hazards.indexOf(current) + 1) % hazards.length]!;
}

/** The time at a place; of something that begins or ends within a few pixels, exactly that. */
export function momentAt(run: Run, scene: Scene, x: number, y: number): number {
  const { scale } = scene;
  const target = targetAt(scene, x, y);
  if (target && target.kind !== 'hazard') {
    const { start, end } = extentOf(run.trace, run.timeline, target);
    for (const time of [start, end]) if (Math.abs(toX(scale, time) - x) <= near) return time;
  }
  return toTime(scale, Math.max(scale.left, x));
}
