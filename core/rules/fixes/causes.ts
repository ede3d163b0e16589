/**
 * Fixes for a wait that is there and is for the wrong stream: it asks for the current stream where that is the one that is
 * meant, or names that one. The call that misleads is mended; a second one beside it would leave it standing.
 */
import type { Hazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import { type AskedInside, causeOf, type OtherStream } from '../causes.ts';
import {
  type Candidate,
  currentStream,
  moved,
  outside,
  outwards,
  spoken,
  spotAt,
  streamAt,
  withImports,
} from './spot.ts';

export function causeFixes(path: LoweredPath, hazard: Hazard): Candidate[] {
  const cause = causeOf(path, hazard);
  if (!cause) return [];
  return cause.kind === 'asked-inside' ? askOutside(path, cause) : nameRight(path, cause);
}

function askOutside(path: LoweredPath, { asked, asks, frame, wait, waits }: AskedInside): Candidate[] {
  // A current stream that is waited for is the one before the region, one that waits is the one behind it.
  const side = asks === 'wait' && waits ? 'after' : 'before';
  const place = { activation: frame.activation, file: frame.file, start: asked.start, end: asked.end };
  const from = spotAt(path, place, wait, side);
  const around = from && outside(from);
  if (!from || !around) return [];
  const title =
    asks === 'record'
      ? 'Record the event before the `with`, where the current stream is the one that is meant'
      : asks === 'name'
        ? 'Ask for the current stream before the `with`'
        : `Move the wait ${side === 'before' ? 'before' : 'behind'} the \`with\`, where the current stream is the one that is meant`;
  return outwards(around).map((to) => ({ title, edits: moved(from, to) }));
}

function nameRight(path: LoweredPath, { operand, frame, right, wait, side }: OtherStream): Candidate[] {
  const spot = spotAt(path, frame, wait, 'before');
  if (!spot) return [];
  const names = [streamAt(spot, right), currentStream(spot)].filter((name) => name !== undefined);
  return [...new Set(names)].map((name) => ({
    title: side === 'awaited' ? `Wait for ${spoken(name)} instead` : `Make ${spoken(name)} wait instead`,
    edits: withImports(spot, [{ file: frame.file, start: operand.start, end: operand.end, newText: name }]),
  }));
}
