/** Fixes that make the host wait before it touches memory of a copy in flight. */
import type { HostHazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import {
  type Candidate,
  currentStream,
  expressionsAt,
  placesOf,
  put,
  type Spot,
  spoken,
  streamAt,
  withImports,
} from './spot.ts';

export function hostFixes(path: LoweredPath, hazard: HostHazard): Candidate[] {
  const fixes: Candidate[] = [];
  for (const spot of placesOf(path, hazard.second, 'before')) {
    const event = eventBehind(spot, hazard);
    if (event)
      fixes.push({
        title: `Make the host wait for \`${event}\` (synchronize)`,
        edits: [put(spot, [`${event}.synchronize()`])],
      });
    const stream = streamAt(spot, hazard.firstStream) ?? currentStream(spot);
    fixes.push({
      title: `Make the host wait for ${spoken(stream)} (synchronize)`,
      edits: withImports(spot, [put(spot, [`${stream}.synchronize()`])]),
    });
  }
  return fixes;
}

/** An event with a name here that was recorded behind the copy and covers no more than it must. */
function eventBehind(spot: Spot, hazard: HostHazard): string | undefined {
  const { steps } = spot.path.program;
  for (let i = hazard.first + 1; i < hazard.second; i++) {
    const step = steps[i]!;
    if (step.kind !== 'record' || step.stream !== hazard.firstStream) continue;
    const [event] = expressionsAt(spot, { kind: 'event', event: step.event });
    if (event) return event;
  }
  return undefined;
}
