/**
 * Fixes on records that miss: an event recorded again too early gets a fresh event, or its wait in time; a record_stream
 * for the wrong tensor becomes one for the tensor in danger.
 */
import type { Hazard, LateRecordStream, LifetimeHazard, RerecordedEvent } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import { originOf } from '../report.ts';
import { remove } from './edits.ts';
import { lifetimeFixes, recordAt } from './lifetime.ts';
import {
  type Candidate,
  expressionsAt,
  holder,
  joined,
  put,
  type Spot,
  spoken,
  spotOf,
  streamAt,
  waitSpots,
  withImports,
} from './spot.ts';

export function rerecordedFixes(path: LoweredPath, hazard: RerecordedEvent): Candidate[] {
  const record = innermost(path, hazard.record);
  const wait = path.program.steps[hazard.wait];
  if (!record) return [];
  const event = expressionsAt(record, { kind: 'event', event: hazard.event })[0];
  if (!event) return [];
  const torch = `${record.activation.torchName ?? 'torch'}.cuda`;
  // An attribute or an item would be another event for whoever holds the old one.
  const fresh: Candidate[] = /^\w+$/.test(event)
    ? [
        {
          title: `Record a fresh event as \`${event}\` instead of the same one again`,
          edits: withImports(record, [put(record, [`${event} = ${torch}.Event()`])]),
        },
      ]
    : [];
  const waits: Candidate[] = [];
  for (const spot of waitSpots(record)) {
    const waiting = wait?.kind === 'wait' ? streamAt(spot, wait.stream) : undefined;
    if (waiting)
      waits.push({
        title: `Make ${spoken(waiting)} wait for \`${event}\` before it is recorded again`,
        edits: [put(spot, [`${waiting}.wait_event(${event})`])],
      });
    else if (wait?.kind === 'hostWait')
      waits.push({
        title: `Make the host wait for \`${event}\` before it is recorded again (synchronize)`,
        edits: [put(spot, [`${event}.synchronize()`])],
      });
  }
  // One statement that records in each turn: a wait in the loop would let the turns follow each other.
  const lost = innermost(path, hazard.lost);
  const loop = lost && holder(lost) === holder(record);
  return loop ? [...fresh, ...waits] : [...waits, ...fresh];
}

/** The call names the tensor in danger, or goes and comes back before the drop. */
export function lateFixes(path: LoweredPath, hazard: LateRecordStream, all: readonly Hazard[]): Candidate[] {
  const call = innermost(path, hazard.call);
  const missed = all.find(
    (other): other is LifetimeHazard => other.kind === 'lifetime' && other.release === hazard.release,
  );
  if (!call || !missed) return [];
  const fixes = hazard.release > hazard.call ? renamed(call, hazard) : [];
  const removal = remove(call.module, call.links.at(-1)!);
  const drop = innermost(path, hazard.release);
  const step = path.program.steps[hazard.release];
  const early = drop && step?.kind === 'release' && step.how === 'statement' ? recordAt(drop, missed) : [];
  for (const { title, edits } of [...early, ...lifetimeFixes(path, missed)])
    if (edits.some(({ newText }) => newText.includes('.record_stream(')))
      fixes.push({ title: `${title}, instead of this call`, edits: joined(removal, edits, call.module.text) });
  return fixes;
}

/** For the lifetime hazard itself: a record_stream that missed it is the one to mend. */
export function insteadOfLate(path: LoweredPath, { release }: LifetimeHazard, all: readonly Hazard[]): Candidate[] {
  const late = all.find(
    (other): other is LateRecordStream => other.kind === 'late-record-stream' && other.release === release,
  );
  return late ? lateFixes(path, late, all) : [];
}

function renamed(call: Spot, hazard: LateRecordStream): Candidate[] {
  const statement = holder(call);
  const tensor = expressionsAt(call, { kind: 'tensor', block: hazard.unprotected })[0];
  if (!tensor || statement.kind !== 'ExpressionStatement' || statement.value.kind !== 'Call') return [];
  const { callee } = statement.value;
  if (callee.kind !== 'Attribute') return [];
  const { start, end } = callee.value;
  return [
    {
      title: `Call record_stream on \`${tensor}\`, which is in danger`,
      edits: [{ file: call.module.file, start, end, newText: tensor }],
    },
  ];
}

function innermost(path: LoweredPath, at: number): Spot | undefined {
  const depth = originOf(path.program, at)?.frames.length ?? 0;
  return depth ? spotOf(path, at, depth - 1, 'before') : undefined;
}
