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

/** `others`: tensors that go too early with the same statement. */
export function lifetimeFixes(
  path: LoweredPath,
  hazard: LifetimeHazard,
  others: readonly LifetimeHazard[] = [],
): Candidate[] {
  const fixes: Candidate[] = [];
  const use = originOf(path.program, hazard.use);
  const together = [hazard, ...others];
  for (let frame = (use?.frames.length ?? 0) - 1; frame >= 0; frame--)
    for (const side of ['before', 'after'] as const) {
      const spot = spotOf(path, hazard.use, frame, side);
      if (spot && (side === 'before' || !leaves(spot)))
        fixes.push(...recordAll(spot, together, (other) => spotOf(path, other.use, frame, side)));
    }
  const release = path.program.steps[hazard.release];
  if (release?.kind === 'release' && release.how === 'statement') {
    const frame = (originOf(path.program, hazard.release)?.frames.length ?? 0) - 1;
    const drop = spotOf(path, hazard.release, frame, 'before');
    if (drop) {
      fixes.push(...recordAll(drop, together, (other) => spotOf(path, other.release, frame, 'before')));
      fixes.push(...join(drop, hazard));
    }
  }
  for (let frame = 0; frame < (use?.frames.length ?? 0); frame++) {
    let spot = spotOf(path, hazard.use, frame, 'after');
    for (; spot; spot = outside(spot)) if (!leaves(spot)) fixes.push(...join(spot, hazard));
  }
  return fixes;
}

/** A call for each tensor; one that has no name here, at its own time, is left out. */
function recordAll(
  spot: Spot,
  hazards: readonly LifetimeHazard[],
  spotFor: (hazard: LifetimeHazard) => Spot | undefined,
): Candidate[] {
  const calls = hazards.flatMap((hazard) => {
    const own = spotFor(hazard);
    if (!own || holder(own) !== holder(spot)) return [];
    const stream = streamAt(own, hazard.useStream) ?? currentStream(own);
    const tensor = tensorAt(own, hazard);
    return tensor ? [{ stream, tensor }] : [];
  });
  const [first] = calls;
  if (!first) return [];
  const lines = [...new Set(calls.flatMap((call) => guarded(spot, call.stream, [recording(call)])))];
  const tensors = [...new Set(calls.map(({ tensor }) => `\`${tensor}\``))];
  return [
    {
      title: `Tell the allocator that ${spoken(first.stream)} uses ${tensors.join(' and ')} (record_stream)`,
      edits: withImports(spot, [put(spot, lines)]),
    },
  ];
}

function tensorAt(spot: Spot, { block }: LifetimeHazard): string | undefined {
  return expressionsAt(spot, { kind: 'tensor', block })[0];
}

function recording({ tensor, stream }: { readonly tensor: string; readonly stream: string }): string {
  return `${tensor}.record_stream(${stream})`;
}

/** The call for one tensor, on a stream whose name is known. */
export function recordAt(spot: Spot, hazard: LifetimeHazard, stream: string): Candidate[] {
  const tensor = tensorAt(spot, hazard);
  if (!tensor) return [];
  return [
    {
      title: `Tell the allocator that ${spoken(stream)} uses \`${tensor}\` (record_stream)`,
      edits: withImports(spot, [put(spot, guarded(spot, stream, [recording({ tensor, stream })]))]),
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
