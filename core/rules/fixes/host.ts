/** Fixes that make the host wait before it touches memory of a copy in flight. */
import type { HostHazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import { originOf } from '../report.ts';
import { type Candidate, currentStream, outside, put, spoken, spotOf, streamAt, withImports } from './spot.ts';

export function hostFixes(path: LoweredPath, hazard: HostHazard): Candidate[] {
  const fixes: Candidate[] = [];
  const origin = originOf(path.program, hazard.second);
  for (let frame = (origin?.frames.length ?? 0) - 1; frame >= 0; frame--)
    for (let spot = spotOf(path, hazard.second, frame, 'before'); spot; spot = outside(spot)) {
      const stream = streamAt(spot, hazard.firstStream) ?? currentStream(spot);
      fixes.push({
        title: `Make the host wait for ${spoken(stream)} (synchronize)`,
        edits: withImports(spot, [put(spot, [`${stream}.synchronize()`])]),
      });
    }
  return fixes;
}
