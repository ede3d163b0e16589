/**
 * Why an order is missing although somebody wrote one: a wait is there, but for another stream than it looks like. What
 * `current_stream()` and `default_stream()` give depends on where and when they are asked, and that is easily misread.
 */
import type { Hazard } from '../hazards/hazard.ts';
import type { LoweredPath } from '../lower/lowered.ts';
import { walk } from '../lower/names.ts';
import type { SourceFrame, StepIndex, StreamId } from '../program/program.ts';
import type { Call, Expression, FunctionDef, Module, Node, Statement } from '../python/ast.ts';
import { blocksAround, statementOf } from './fixes/blocks.ts';
import { originOf } from './report.ts';
import { type Names, programNames, recordOf, type RelatedStep } from './rule.ts';

export type Cause = AskedInside | OtherStream;

/** A stream that waits for itself: the current one was asked for where that is the waiting stream already. */
export interface AskedInside {
  readonly kind: 'asked-inside';
  readonly wait: StepIndex;
  readonly stream: StreamId;
  /** The step or statement that asks: the wait, its record, or the assignment that names the stream. */
  readonly asked: Node;
  readonly asks: 'wait' | 'record' | 'name';
  /** Whether it is the current stream that waits, and not the one that is waited for. */
  readonly waits: boolean;
  /** The frame of the wait. */
  readonly frame: SourceFrame;
  /** The `with` in which it is asked. */
  readonly region: Node;
}

/** A wait with one right and one wrong stream, where the wrong one is the default stream or a stored current stream. */
export interface OtherStream {
  readonly kind: 'default-stream' | 'stored-stream';
  readonly wait: StepIndex;
  /** `awaited`: the wait is for the wrong stream; `waiting`: the wrong stream waits. */
  readonly side: 'awaited' | 'waiting';
  readonly wrong: StreamId;
  readonly right: StreamId;
  /** The expression that names the wrong stream, in the frame of the wait. */
  readonly operand: Node;
  readonly frame: SourceFrame;
  /** Where the stream was stored. */
  readonly stored?: { readonly file: string; readonly place: Node };
}

export function causeOf(path: LoweredPath, hazard: Hazard): Cause | undefined {
  if (hazard.kind === 'redundant-sync')
    return hazard.why === 'same-stream' ? askedInside(path, hazard.wait) : undefined;
  const need =
    hazard.kind === 'order'
      ? { first: hazard.first, from: hazard.firstStream, second: hazard.second, to: hazard.secondStream }
      : hazard.kind === 'unjoined'
        ? { first: hazard.write, from: hazard.writeStream, second: hazard.escape, to: hazard.escapeStream }
        : undefined;
  if (!need) return undefined;
  const { steps, streams } = path.program;
  // The wait next to the later access is the one that was meant for it.
  for (let wait = need.second - 1; wait > need.first; wait--) {
    const step = steps[wait]!;
    if (step.kind !== 'wait' || step.implicit) continue;
    const record = recordOf(steps, wait);
    const recorded = record === undefined ? undefined : steps[record];
    if (record === undefined || recorded?.kind !== 'record' || record < need.first) continue;
    if (step.stream === recorded.stream) {
      if (step.stream !== need.from && step.stream !== need.to) continue;
      const inside = askedInside(path, wait);
      if (inside) return inside;
      continue;
    }
    if (step.stream === need.to && recorded.stream !== need.from && streams[need.from])
      return otherStream(path, wait, 'awaited', recorded.stream, need.from);
    if (recorded.stream === need.from && step.stream !== need.to)
      return otherStream(path, wait, 'waiting', step.stream, need.to);
  }
  return undefined;
}

/** What the cause adds to the sentence that tells the finding. */
export function causeWords(cause: Cause, path: LoweredPath, names: Names): string {
  if (cause.kind === 'asked-inside') {
    // Not the name of the frame: that may be the one that misleads.
    const stream = programNames(path.program).stream(cause.stream);
    if (cause.asks === 'record')
      return `the wait that is there is for an event recorded inside the \`with\`, where the current stream is ${stream} itself`;
    return cause.asks === 'wait'
      ? `the wait that is there asks for \`current_stream()\` inside the \`with\`, where that is ${stream} itself`
      : `the wait that is there names what \`current_stream()\` gave inside the \`with\`: ${stream} itself`;
  }
  const wrong = names.stream(cause.wrong);
  const right = names.stream(cause.right);
  const stored = cause.kind === 'stored-stream' ? ', the current stream of the time when it was stored' : '';
  return cause.side === 'awaited'
    ? `the wait that is there is for ${wrong}${stored}, and the work is on ${right}`
    : `the wait that is there makes ${wrong}${stored && `${stored},`} wait, and the use is on ${right}`;
}

export function causeRelated(cause: Cause): RelatedStep {
  return {
    at: cause.wait,
    message: cause.kind === 'asked-inside' ? 'this wait is for the same stream' : 'this wait is for another stream',
  };
}

/** The call of a wait, and the source around it. */
interface WaitCall {
  readonly frame: SourceFrame;
  readonly module: Module;
  readonly definition: FunctionDef | undefined;
  readonly call: Call;
}

function waitCall(path: LoweredPath, at: StepIndex): WaitCall | undefined {
  const frame = originOf(path.program, at)?.frames.at(-1);
  const activation = frame && path.activations[frame.activation];
  if (!frame || !activation || activation.module.file !== frame.file) return undefined;
  const { module, function: definition } = activation;
  const link = blocksAround(definition ?? module, frame).at(-1);
  const statement = link && statementOf(link);
  if (statement?.kind !== 'ExpressionStatement' || statement.value.kind !== 'Call') return undefined;
  return { frame, module, definition, call: statement.value };
}

const asksCurrent = /\bcurrent_stream\(/;

function askedInside(path: LoweredPath, wait: StepIndex): AskedInside | undefined {
  const found = waitCall(path, wait);
  const step = path.program.steps[wait];
  if (!found || step?.kind !== 'wait') return undefined;
  const { frame, module, definition, call } = found;
  const { text } = module;
  const root = definition ?? module;
  const { callee } = call;
  const waits = callee.kind === 'Attribute' && asksCurrent.test(text.slice(callee.value.start, callee.value.end));
  const make = (asked: Node, asks: AskedInside['asks']): AskedInside | undefined => {
    const region = regionAround(root, asked);
    return region && { kind: 'asked-inside', wait, stream: step.stream, asked, asks, waits, frame, region };
  };
  if (asksCurrent.test(text.slice(call.start, call.end))) return make(frame, 'wait');
  for (const node of operandsOf(call)) {
    const assigned = node.kind === 'Name' ? assignmentOf(root.body, node.id, call.start) : undefined;
    if (assigned && asksCurrent.test(text.slice(assigned.value.start, assigned.value.end)))
      return make(assigned, 'name');
  }
  // An event that is recorded on whatever stream is current.
  const record = recordOf(path.program.steps, wait);
  const recorded = record === undefined ? undefined : waitCall(path, record);
  if (!recorded || recorded.frame.activation !== frame.activation) return undefined;
  const onCurrent =
    recorded.call.callee.kind === 'Attribute' &&
    ((recorded.call.callee.name === 'record' && recorded.call.args.length === 0) ||
      asksCurrent.test(text.slice(recorded.call.start, recorded.call.end)));
  return onCurrent && recorded.call !== call ? make(recorded.frame, 'record') : undefined;
}

function otherStream(
  path: LoweredPath,
  wait: StepIndex,
  side: OtherStream['side'],
  wrong: StreamId,
  right: StreamId,
): OtherStream | undefined {
  const found = waitCall(path, wait);
  if (!found) return undefined;
  const { frame, module, call } = found;
  const { callee } = call;
  // `a.wait_stream(b)`: only there both streams stand in one place.
  if (callee.kind !== 'Attribute' || callee.name !== 'wait_stream') return undefined;
  const operand = side === 'waiting' ? callee.value : call.args[0];
  if (!operand) return undefined;
  const source = module.text.slice(operand.start, operand.end);
  if (/\bdefault_stream\(/.test(source)) return { kind: 'default-stream', wait, side, wrong, right, operand, frame };
  const stored = storedCurrent(path, operand, frame);
  return stored && { kind: 'stored-stream', wait, side, wrong, right, operand, frame, stored };
}

/** The assignment, in another function, that put the current stream of its own time into an attribute or a global. */
function storedCurrent(
  path: LoweredPath,
  operand: Expression,
  frame: SourceFrame,
): { file: string; place: Node } | undefined {
  const name = operand.kind === 'Attribute' ? operand.name : operand.kind === 'Name' ? operand.id : undefined;
  const here = path.activations[frame.activation]?.function;
  if (name === undefined) return undefined;
  for (const module of new Set(path.activations.map((activation) => activation.module))) {
    let found: Node | undefined;
    const look = (node: Node & { readonly kind?: string }): boolean => {
      if ((node as unknown) === here) return false;
      if (node.kind !== 'Assign') return true;
      const { targets, value } = node as unknown as Extract<Statement, { kind: 'Assign' }>;
      const names = targets.some((target) =>
        operand.kind === 'Attribute'
          ? target.kind === 'Attribute' && target.name === name
          : target.kind === 'Name' && target.id === name,
      );
      if (names && /\b(?:current|default)_stream\(/.test(module.text.slice(value.start, value.end))) found = node;
      return true;
    };
    for (const statement of module.body) walk(statement, look);
    if (found) return { file: module.file, place: found };
  }
  return undefined;
}

function operandsOf(call: Call): readonly Expression[] {
  return [...(call.callee.kind === 'Attribute' ? [call.callee.value] : []), ...call.args];
}

/** The last plain assignment to the name before a place, wherever in the blocks it stands. */
function assignmentOf(
  block: readonly Statement[],
  name: string,
  before: number,
): Extract<Statement, { kind: 'Assign' }> | undefined {
  let found: Extract<Statement, { kind: 'Assign' }> | undefined;
  for (const statement of block)
    walk(statement, (node) => {
      if (node.kind === 'FunctionDef' || node.kind === 'ClassDef' || node.start >= before) return false;
      const assign = node as unknown as Extract<Statement, { kind: 'Assign' }>;
      if (node.kind === 'Assign' && assign.targets.length === 1) {
        const [target] = assign.targets;
        if (target?.kind === 'Name' && target.id === name) found = assign;
      }
      return true;
    });
  return found;
}

function regionAround(root: Module | FunctionDef, place: Node): Node | undefined {
  return blocksAround(root, place)
    .map(({ parent }) => parent)
    .filter((parent) => parent?.kind === 'With')
    .at(-1);
}
