/**
 * Fixes for a tensor that leaves unjoined: the caller's stream waits before the tensor is handed over. Inside of the side
 * stream's own `with` the caller's stream has no name; it is taken before the block then.
 */
import type { LoweredPath } from '../../lower/lowered.ts';
import type { SourceFrame } from '../../program/program.ts';
import { type Need, orderFixes } from './order.ts';
import {
  type Candidate,
  currentStream,
  freshName,
  outside,
  put,
  putBefore,
  spoken,
  type Spot,
  spotAt,
  streamAt,
  withImports,
} from './spot.ts';

export function unjoinedFixes(path: LoweredPath, needs: readonly Need[], places: readonly SourceFrame[]): Candidate[] {
  const [need] = needs;
  const spot = need && places[0] && spotAt(path, places[0], need.second, 'before');
  if (!spot) return [];
  const ordered = orderFixes(path, needs, places);
  // A join is the caller's idiom; the event pair does the same in two lines.
  const joins = ordered.filter((candidate) => candidate.title.endsWith('(wait_stream)'));
  const events = ordered.filter((candidate) => !candidate.title.endsWith('(wait_stream)'));
  return [...joins, ...callerTakenBefore(needs, spot), ...events];
}

function callerTakenBefore(needs: readonly Need[], spot: Spot): Candidate[] {
  let around = outside(spot);
  for (let next = around && outside(around); next; next = outside(next)) around = next;
  if (!around) return [];
  const sides = needs.map((need) => streamAt(spot, need.producer) ?? currentStream(spot));
  const caller = freshName(spot.module.text, 'caller');
  const waits = putBefore(
    spot,
    needs[0]!.first,
    sides.map((side) => `${caller}.wait_stream(${side})`),
  );
  if (!waits.length) return [];
  return [
    {
      title: `Make the caller's stream wait for ${sides.map(spoken).join(' and ')} (wait_stream)`,
      edits: withImports(spot, [put(around, [`${caller} = ${currentStream(spot)}`]), ...waits]),
    },
  ];
}
