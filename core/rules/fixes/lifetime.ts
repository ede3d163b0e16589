/**
 * Fixes for memory that goes too early: `record_stream` while the tensor still has a name, or a wait of the allocating
 * stream for the user before the reference goes.
 */
import type { LifetimeHazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import { originOf } from '../report.ts';
import { guarded, mayBeNone } from './none.ts';
import {
  type Candidate,
  currentStream,
  expressionsAt,
  holder,
  outside,
  put,
  type Spot,
  spoken,
  spotOf,
  streamAt,
  withImports,
} from './spot.ts';

export function lifetimeFixes(path: LoweredPath, hazard: LifetimeHazard): Candidate[] {
  const fixes: Candidate[] = [];
  const use = originOf(path.program, hazard.use);
  for (let frame = (use?.frames.length ?? 0) - 1; frame >= 0; frame--)
    for (const side of ['before', 'after'] as const) {
      const spot = spotOf(path, hazard.use, frame, side);
      if (spot && (side === 'before' || !leaves(spot))) fixes.push(...recordAt(spot, hazard));
    }
  const release = path.program.steps[hazard.release];
  if (release?.kind === 'release' && release.how === 'statement') {
    const frame = (originOf(path.program, hazard.release)?.frames.length ?? 0) - 1;
    const drop = spotOf(path, hazard.release, frame, 'before');
    if (drop) fixes.push(...recordAt(drop, hazard), ...join(drop, hazard));
  }
  for (let frame = 0; frame < (use?.frames.length ?? 0); frame++) {
    let spot = spotOf(path, hazard.use, frame, 'after');
    for (; spot; spot = outside(spot)) if (!leaves(spot)) fixes.push(...join(spot, hazard));
  }
  return fixes;
}

/** The call of record_stream, where the tensor has a name. */
export function recordAt(spot: Spot, { block, useStream }: LifetimeHazard): Candidate[] {
  const tensor = expressionsAt(spot, { kind: 'tensor', block })[0];
  if (!tensor) return [];
  const stream = streamAt(spot, useStream) ?? currentStream(spot);
  return [
    {
      title: `Tell the allocator that ${spoken(stream)} uses \`${tensor}\` (record_stream)`,
      edits: withImports(spot, [put(spot, guarded(spot, stream, [`${tensor}.record_stream(${stream})`]))]),
    },
  ];
}

function join(spot: Spot, hazard: LifetimeHazard): Candidate[] {
  const owner = streamAt(spot, hazard.allocatedOn) ?? currentStream(spot);
  const user = streamAt(spot, hazard.useStream) ?? currentStream(spot);
  if (owner === user || mayBeNone(spot, user)) return [];
  return [
    {
      title: `Make ${spoken(owner)} wait for ${spoken(user)} before the memory goes back (wait_stream)`,
      edits: withImports(spot, [put(spot, guarded(spot, owner, [`${owner}.wait_stream(${user})`]))]),
    },
  ];
}

/** Nothing put after such a statement would run. */
export function leaves(spot: Spot): boolean {
  const { kind } = holder(spot);
  return kind === 'Return' || kind === 'Raise' || kind === 'Break' || kind === 'Continue';
}
