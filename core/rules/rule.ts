/**
 * What a rule is, and the words that rules share. A rule turns a hazard into one line of text and a few related places,
 * from names alone: where a step stands in a file, and whether that file is source or a trace, is its reader's business.
 */
import type { Hazard } from '../hazards/hazard.ts';
import type {
  BlockId,
  EventId,
  LaunchStep,
  OriginId,
  Step,
  StepIndex,
  StreamId,
  StreamProgram,
} from '../program/program.ts';
import type { Severity } from './finding.ts';

export interface Rule {
  /** The wrong pattern, readable after "ignore": `missing-wait`. */
  readonly code: string;
  /** One line for lists. */
  readonly title: string;
  readonly severity: Severity;
  /** Undefined where the hazard belongs to another rule. */
  word(hazard: Hazard, program: StreamProgram, names: Names): Words | undefined;
}

/** How the speaker calls things, ready to stand in a sentence: `` `copy` ``, `the current stream`. */
export interface Names {
  stream(stream: StreamId): string;
  event(event: EventId): string;
  block(block: BlockId): string;
}

export interface Words {
  /** One line that stands alone. */
  readonly message: string;
  /** The step that is reported. */
  readonly at: StepIndex;
  /** Where it is reported, if that is no step. */
  readonly origin?: OriginId;
  /**
   * Which frame of the step's call chain carries it. `selects-stream`: the innermost that selects the step's stream,
   * or, if that lies above the lowest frame common with `earlier`, that common frame. `names-streams`: the innermost
   * that names the streams itself and not by its own parameters. `statement`: the step itself.
   */
  readonly frame: 'selects-stream' | 'names-streams' | 'statement';
  readonly earlier?: StepIndex;
  /** The earlier access first. */
  readonly related: readonly RelatedStep[];
}

export interface RelatedStep {
  readonly at: StepIndex;
  readonly message: string;
}

/** The names of the program's own tables. */
export function programNames(program: StreamProgram): Names {
  return {
    stream: (stream) => quoted(program.streams[stream]?.name, 'a stream'),
    event: (event) => quoted(program.events[event]?.name, 'an event'),
    block: (block) => quoted(program.blocks[block]?.name, 'a tensor'),
  };
}

/** Code goes into backticks; a description (`the current stream`, `stream 7`) stands as it is. */
export function quoted(name: string | undefined, otherwise: string): string {
  if (!name) return otherwise;
  return /\s/.test(name) && !/[([.]/.test(name) ? name : `\`${name}\``;
}

/** `mul` in backticks, for a sentence about what a step does. */
export function operation(program: StreamProgram, at: StepIndex): string {
  const step = program.steps[at];
  if (isBefore(program, at)) return "the caller's earlier work";
  switch (step?.kind) {
    case 'launch':
    case 'hostAccess':
      return quoted(step.name, 'an operation');
    case 'replay':
      return 'the replay of a graph';
    default:
      return 'an operation';
  }
}

/** `the mul`, or what else the step is, as the subject of a subordinate clause. */
export function theOperation(program: StreamProgram, at: StepIndex): string {
  const words = operation(program, at);
  return words.startsWith('`') ? `the ${words}` : words.replace(/^an? /, 'the ');
}

/** Whether the step stands for what happened before the entry: it has no place of its own. */
export function isBefore(program: StreamProgram, at: StepIndex): boolean {
  const step = program.steps[at];
  return step?.kind === 'launch' && step.before === true;
}

/** Whether a step writes the block. */
export function writes(program: StreamProgram, at: StepIndex, block: BlockId): boolean {
  const step = program.steps[at];
  if (step?.kind === 'hostAccess') return step.access.block === block && step.access.write;
  return step?.kind === 'launch' && (step as LaunchStep).accesses.some((a) => a.block === block && a.write);
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What somebody wrote to make the order, and what covers too little. A host wait before the work was for other work. */
export function nearestWaits(program: StreamProgram, nearest: readonly StepIndex[], first: StepIndex): RelatedStep[] {
  return nearest.slice(0, 2).flatMap((at): RelatedStep[] => {
    const step = program.steps[at];
    if ((step?.kind !== 'wait' && step?.kind !== 'hostWait') || step.implicit) return [];
    if (step.kind === 'hostWait' && at < first) return [];
    const what = `this ${step.kind === 'wait' ? 'wait' : 'host wait'}`;
    const work = theOperation(program, first);
    if (at < first) return [{ at, message: `${what} comes before ${work}, and does not cover it` }];
    const record = recordOf(program.steps, at);
    if (record === undefined || record > first) return [{ at, message: `${what} does not cover it` }];
    const message = `${what} takes a record that was made before ${work}, and does not cover it`;
    const isOwn = program.steps[record]!.origin === step.origin;
    return [{ at, message }, ...(isOwn ? [] : [{ at: record, message: `the event is recorded here, before ${work}` }])];
  });
}

/** The record that a wait for an event, of a stream or of the host, is bound to. */
export function recordOf(steps: readonly Step[], wait: StepIndex): StepIndex | undefined {
  const step = steps[wait];
  if (step?.kind === 'wait') return latestRecord(steps, step.event, wait);
  return step?.kind === 'hostWait' && step.on.kind === 'event' ? latestRecord(steps, step.on.event, wait) : undefined;
}

function latestRecord(steps: readonly Step[], event: EventId, before: StepIndex): StepIndex | undefined {
  for (let i = before - 1; i >= 0; i--) {
    const step = steps[i]!;
    if (step.kind === 'record' && step.event === event) return i;
  }
  return undefined;
}
