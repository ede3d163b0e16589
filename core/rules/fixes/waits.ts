/**
 * Fixes on waits and records that exist: swapped, moved to where they cover the work, removed, and the record that an
 * event lacks.
 */
import type { Hazard, HostHazard, ReversedWait, UnrecordedWait } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import type { SourceFrame, StepIndex, StreamId } from '../../program/program.ts';
import type { Call, Expression, Statement } from '../../python/ast.ts';
import { originOf } from '../report.ts';
import { recordOf } from '../rule.ts';
import { type OffsetEdit, remove } from './edits.ts';
import { type Need, needOf, orderFixes } from './order.ts';
import {
  type Candidate,
  currentStream,
  expressionsAt,
  holder,
  moved,
  outwards,
  put,
  type Spot,
  spoken,
  spotAt,
  spotOf,
  streamAt,
  waitSpots,
  withImports,
} from './spot.ts';

/** The whole statement of a useless call goes. */
export function removal(path: LoweredPath, at: StepIndex, what: string): Candidate[] {
  const spot = innermost(path, at, 'before');
  if (!spot || !(callOf(holder(spot)) || isUnread(spot))) return [];
  return [{ title: `Remove the ${what}`, edits: [remove(spot.module, spot.links.at(-1)!)] }];
}

/** Whether the statement only gives its call's result a name that nothing else mentions. */
function isUnread(spot: Spot): boolean {
  const statement = holder(spot);
  if (statement.kind !== 'Assign' || statement.value.kind !== 'Call' || statement.targets.length !== 1) return false;
  const [target] = statement.targets;
  if (target?.kind !== 'Name' || spot.root.kind !== 'FunctionDef') return false;
  const { text } = spot.module;
  const mentions = text.slice(spot.root.start, spot.root.end).match(new RegExp(`\\b${target.id}\\b`, 'gu'));
  return mentions?.length === 1;
}

/** A host wait in each turn of a loop becomes one behind the loop. */
export function behindLoop(path: LoweredPath, at: StepIndex): Candidate[] {
  const from = innermost(path, at, 'after');
  if (!from || !callOf(holder(from))) return [];
  const loop = from.links.findLastIndex(({ parent }) => parent?.kind === 'For' || parent?.kind === 'While');
  if (loop < 1) return [];
  return [{ title: 'Wait once, behind the loop', edits: moved(from, { ...from, links: from.links.slice(0, loop) }) }];
}

/** The value of a tensor that the host asks for stays on the device. */
export function keepOnDevice(path: LoweredPath, at: StepIndex): Candidate[] {
  const frame = originOf(path.program, at)?.frames.at(-1);
  const module = frame && path.activations[frame.activation]?.module;
  const asked = module && /\s*\.item\(\s*\)$/.exec(module.text.slice(frame.start, frame.end))?.[0];
  if (!frame || !asked) return [];
  const edit = { file: frame.file, start: frame.end - asked.length, end: frame.end, newText: '' };
  return [{ title: 'Keep the value on the device (no `item()`)', edits: [edit] }];
}

export function reversedFixes(path: LoweredPath, hazard: ReversedWait, place: SourceFrame): Candidate[] {
  const own = originOf(path.program, hazard.wait)?.frames.at(-1);
  // A helper that waits as it is told is right; the call that tells it is not.
  if (own && own.activation !== place.activation) return swappedArguments(path, hazard, place);
  const fixes = hazard.how === 'swapped' ? swaps(path, hazard) : [];
  const [first, second] = hazard.settles[0] ?? [];
  if (first === undefined || second === undefined) return fixes;
  return [...fixes, ...moves(path, hazard, first, second), ...ordered(path, first, second)];
}

/** The order that the wait should have made, where the wait itself can be neither swapped nor moved. */
function ordered(path: LoweredPath, first: StepIndex, second: StepIndex): Candidate[] {
  const [work, use] = [path.program.steps[first], path.program.steps[second]];
  const frames = originOf(path.program, second)?.frames ?? [];
  if (work?.kind !== 'launch' || (use?.kind !== 'launch' && use?.kind !== 'escape')) return [];
  return orderFixes(path, [{ first, producer: work.stream, second, consumer: use.stream }], [...frames].reverse());
}

/** `a.wait_stream(b)` becomes `b.wait_stream(a)`; of an event pair both calls change their stream. */
function swaps(path: LoweredPath, hazard: ReversedWait): Candidate[] {
  const wait = innermost(path, hazard.wait, 'before');
  const call = wait && callOf(holder(wait));
  if (!wait || !call || call.callee.kind !== 'Attribute') return [];
  const { file, text } = wait.module;
  const replace = (node: Expression, newText: string): OffsetEdit => ({
    file,
    start: node.start,
    end: node.end,
    newText,
  });
  const source = (node: Expression) => text.slice(node.start, node.end);
  const [argument] = call.args;
  if (call.callee.name === 'wait_stream' && argument) {
    const waiting = source(call.callee.value);
    const awaited = source(argument);
    return [
      {
        title: `Swap the streams: make ${spoken(awaited)} wait for ${spoken(waiting)}`,
        edits: [replace(call.callee.value, awaited), replace(argument, waiting)],
      },
    ];
  }
  const record = innermost(path, hazard.record, 'before');
  const recording = record && recordingCall(holder(record));
  if (!record || record.module !== wait.module || recording?.callee.kind !== 'Attribute') return [];
  const waiting = streamOperand(call, 'wait_event', 'wait');
  const recorded = streamOperand(recording, 'record_event', 'record');
  if (!waiting || !recorded) return [];
  return [
    {
      title: `Swap the streams: record on ${spoken(source(waiting))}, wait on ${spoken(source(recorded))}`,
      edits: [replace(waiting, source(recorded)), replace(recorded, source(waiting))],
    },
  ];
}

/** `follow(a, b)` becomes `follow(b, a)`, for the two arguments that name the streams. */
function swappedArguments(path: LoweredPath, hazard: ReversedWait, place: SourceFrame): Candidate[] {
  const spot = spotAt(path, place, hazard.wait, 'before');
  const wait = path.program.steps[hazard.wait];
  const record = path.program.steps[hazard.record];
  const call = spot && callOf(holder(spot));
  if (!spot || !call || wait?.kind !== 'wait' || record?.kind !== 'record') return [];
  const { file, text } = spot.module;
  const source = (node: Expression) => text.slice(node.start, node.end);
  const given = [...call.args, ...call.keywords.map((keyword) => keyword.value)];
  const argumentFor = (stream: StreamId) => {
    const names = expressionsAt(spot, { kind: 'stream', stream });
    return given.find((node) => names.includes(source(node)));
  };
  const waiting = argumentFor(wait.stream);
  const awaited = argumentFor(record.stream);
  if (!waiting || !awaited) return [];
  return [
    {
      title: `Swap the streams: make ${spoken(source(awaited))} wait for ${spoken(source(waiting))}`,
      edits: [
        { file, start: waiting.start, end: waiting.end, newText: source(awaited) },
        { file, start: awaited.start, end: awaited.end, newText: source(waiting) },
      ],
    },
  ];
}

/** The stream of `stream.wait_event(e)` or `e.wait(stream)`, and likewise of a record. */
function streamOperand(call: Call, onStream: string, onEvent: string): Expression | undefined {
  if (call.callee.kind !== 'Attribute') return undefined;
  if (call.callee.name === onStream) return call.callee.value;
  return call.callee.name === onEvent ? call.args[0] : undefined;
}

/** The wait goes to just before the work that needs it, and its record to just after the work that it should cover. */
function moves(path: LoweredPath, hazard: ReversedWait, first: StepIndex, second: StepIndex): Candidate[] {
  const wait = innermost(path, hazard.wait, 'before');
  if (!wait || !callOf(holder(wait))) return [];
  const record = innermost(path, hazard.record, 'before');
  const pair = record && holder(record) !== holder(wait) && isMovable(holder(record)) ? record : undefined;
  const fixes: Candidate[] = [];
  for (const target of spotsOf(path, second, 'before')) {
    if (target.activation !== wait.activation || holder(target) === holder(wait)) continue;
    if (!pair) fixes.push({ title: 'Move the wait behind the work that it should cover', edits: moved(wait, target) });
  }
  if (pair)
    for (const target of spotsOf(path, first, 'after')) {
      if (target.activation !== pair.activation || holder(target) === holder(pair)) continue;
      const later = moved(pair, target);
      fixes.push({ title: 'Record the event after the work that it should cover', edits: later });
      for (const use of spotsOf(path, second, 'before'))
        if (use.activation === wait.activation && holder(use) !== holder(wait))
          fixes.push({
            title: 'Move the record and the wait behind the work that they should cover',
            edits: [...later, ...moved(wait, use)],
          });
    }
  return fixes;
}

/** A wait that covers too little because its record comes too early: the record moves behind the work. */
export function laterRecord(path: LoweredPath, need: Need, nearest: readonly StepIndex[]): Candidate[] {
  const fixes: Candidate[] = [];
  for (const waitStep of nearest) {
    const recordStep = recordOf(path.program.steps, waitStep);
    if (recordStep === undefined || need.first > waitStep) continue;
    const record = innermost(path, recordStep, 'before');
    const waiting = innermost(path, waitStep, 'before');
    if (!record || !isMovable(holder(record)) || (waiting && holder(waiting) === holder(record))) continue;
    for (const target of spotsOf(path, need.first, 'after'))
      if (target.activation === record.activation && holder(target) !== holder(record))
        fixes.push({
          title: 'Record the event after the work that it should cover',
          edits: moved(record, target),
        });
  }
  return fixes;
}

/** The missing record after the work that the wait is for, or the wait moved behind a record that comes later. */
export function unrecordedFixes(path: LoweredPath, hazard: UnrecordedWait, all: readonly Hazard[]): Candidate[] {
  const fixes: Candidate[] = [];
  const waitStep = path.program.steps[hazard.wait];
  const waiting = waitStep?.kind === 'wait' ? waitStep.stream : undefined;
  const wait = innermost(path, hazard.wait, 'before');
  const later = path.program.steps.findIndex(
    (step, i) => i > hazard.wait && step.kind === 'record' && step.event === hazard.event,
  );
  const record = later < 0 ? undefined : innermost(path, later, 'after');
  if (wait && record && record.activation === wait.activation && callOf(holder(wait)))
    for (const spot of outwards(record))
      fixes.push({
        title: 'Move the wait behind the record',
        edits: moved(wait, spot),
      });
  for (const other of all) {
    const need = other.kind === 'host' && waiting === undefined ? hostNeed(other) : needOf({ hazard: other });
    if (!need || need.first > hazard.wait || need.second < hazard.wait) continue;
    if (waiting !== undefined && need.consumer !== waiting) continue;
    for (const spot of spotsOf(path, need.first, 'after')) {
      const event = expressionsAt(spot, { kind: 'event', event: hazard.event })[0];
      if (!event) continue;
      const producer = streamAt(spot, need.producer) ?? currentStream(spot);
      fixes.push({
        title: `Record \`${event}\` on ${spoken(producer)} before the wait`,
        edits: withImports(spot, [put(spot, [`${event}.record(${producer})`])]),
      });
    }
  }
  return fixes;
}

/** The host takes the consumer's place. */
function hostNeed({ first, firstStream, second }: HostHazard): Need {
  return { first, producer: firstStream, second, consumer: firstStream };
}

function innermost(path: LoweredPath, at: StepIndex, side: Spot['side']): Spot | undefined {
  const depth = originOf(path.program, at)?.frames.length ?? 0;
  return depth ? spotOf(path, at, depth - 1, side) : undefined;
}

/** The statement of the step in each frame, innermost first, and around the `with` blocks that hold it. */
function* spotsOf(path: LoweredPath, at: StepIndex, side: Spot['side']): Generator<Spot> {
  const depth = originOf(path.program, at)?.frames.length ?? 0;
  for (let frame = depth - 1; frame >= 0; frame--) {
    const inner = spotOf(path, at, frame, side);
    if (inner) yield* side === 'before' ? waitSpots(inner) : outwards(inner);
  }
}

/** The call that is all of the statement. */
function callOf(statement: Statement): Call | undefined {
  return statement.kind === 'ExpressionStatement' && statement.value.kind === 'Call' ? statement.value : undefined;
}

/** The call of `stream.record_event()`, with or without a name for the event. */
function recordingCall(statement: Statement): Call | undefined {
  return statement.kind === 'Assign' && statement.value.kind === 'Call' ? statement.value : callOf(statement);
}

/** Also `ready = stream.record_event()`. */
function isMovable(statement: Statement): boolean {
  if (statement.kind === 'Assign') return statement.value.kind === 'Call' && statement.targets.length === 1;
  return callOf(statement) !== undefined;
}
