/** Fixes at the border of a graph capture: the join that it lacks, a wait or a record on its right side. */
import type { CaptureExternalEvent, CaptureUnjoined } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import type { StepIndex } from '../../program/program.ts';
import { originOf } from '../report.ts';
import { remove } from './edits.ts';
import {
  type Candidate,
  currentStream,
  holder,
  outwards,
  placesOf,
  put,
  type Spot,
  spoken,
  spotOf,
  streamAt,
  withImports,
} from './spot.ts';

/** Behind the last work of the forked stream, as far out as the capture reaches: the analysis tells. */
export function captureJoins(path: LoweredPath, hazard: CaptureUnjoined): Candidate[] {
  const fixes: Candidate[] = [];
  for (const spot of placesOf(path, hazard.launch, 'after')) {
    const side = streamAt(spot, hazard.stream);
    if (!side) continue;
    const root = streamAt(spot, hazard.captureStream) ?? currentStream(spot);
    fixes.push({
      title: `Make ${spoken(root)} wait for ${spoken(side)} before the capture ends (wait_stream)`,
      edits: withImports(spot, [put(spot, [`${root}.wait_stream(${side})`])]),
    });
  }
  return fixes;
}

/** The wait goes before the capture, or the record behind the last replay before the wait. */
export function borderFixes(path: LoweredPath, hazard: CaptureExternalEvent): Candidate[] {
  if (hazard.way === 'into') {
    const wait = innermost(path, hazard.wait, 'before');
    if (!wait || !isCall(wait)) return [];
    return outwards(wait)
      .slice(1)
      .map((spot) => ({
        title: 'Wait before the capture begins',
        edits: [put(spot, [sourceOf(wait)]), remove(wait.module, wait.links.at(-1)!)],
      }));
  }
  const record = innermost(path, hazard.record, 'before');
  const replay = path.program.steps.findLastIndex(
    (step, at) => at < hazard.wait && step.kind === 'replay' && step.graph === hazard.graph,
  );
  const target = replay < 0 ? undefined : innermost(path, replay, 'after');
  if (!record || !target || target.activation !== record.activation || !isCall(record)) return [];
  return [
    {
      title: 'Record the event after the replay',
      edits: [remove(record.module, record.links.at(-1)!), put(target, [sourceOf(record)])],
    },
  ];
}

function innermost(path: LoweredPath, at: StepIndex, side: Spot['side']): Spot | undefined {
  const depth = originOf(path.program, at)?.frames.length ?? 0;
  return depth ? spotOf(path, at, depth - 1, side) : undefined;
}

function isCall(spot: Spot): boolean {
  const statement = holder(spot);
  return statement.kind === 'ExpressionStatement' && statement.value.kind === 'Call';
}

function sourceOf(spot: Spot): string {
  const { start, end } = holder(spot);
  return spot.module.text.slice(start, end);
}
