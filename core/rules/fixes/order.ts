/**
 * Fixes that make a missing order: an event recorded after the producer's last work and waited for by the consumer, or
 * the consumer's `wait_stream`. The wait comes before the consumer's statement, inside the loop for loops; where it is
 * the stream context that must wait, before the `with`.
 */
import type { LoweredPath } from '../../lower/lowered.ts';
import type { BlockId, EventId, SourceFrame, StepIndex, StreamId } from '../../program/program.ts';
import type { Statement } from '../../python/ast.ts';
import { type Instance, originOf } from '../report.ts';
import { isBefore } from '../rule.ts';
import { bindsAnywhere, loopVariables } from './blocks.ts';
import { indentUnit, type OffsetEdit } from './edits.ts';
import { leaves } from './lifetime.ts';
import { guarded, mayBeNone } from './none.ts';
import {
  type Candidate,
  currentStream,
  eventNameFor,
  expressionsAt,
  freshName,
  isNamedAt,
  placesOf,
  put,
  putBefore,
  rootName,
  type Spot,
  spoken,
  spotAt,
  streamAt,
  waitSpots,
  withImports,
} from './spot.ts';

/** `second` on `consumer` must come after `first` on `producer`. */
export interface Need {
  readonly first: StepIndex;
  readonly producer: StreamId;
  readonly second: StepIndex;
  readonly consumer: StreamId;
  /** What both touch, where it is one tensor. */
  readonly block?: BlockId;
}

export function needOf({ hazard }: Pick<Instance, 'hazard'>): Need | undefined {
  if (hazard.kind === 'order')
    return {
      first: hazard.first,
      producer: hazard.firstStream,
      second: hazard.second,
      consumer: hazard.secondStream,
      block: hazard.block,
    };
  if (hazard.kind === 'unjoined')
    return {
      first: hazard.write,
      producer: hazard.writeStream,
      second: hazard.escape,
      consumer: hazard.escapeStream,
      block: hazard.block,
    };
  return undefined;
}

/** All needs that one report stands for on its first path: several tensors, several producers. */
export function needsOf(instances: readonly Instance[]): Need[] {
  const path = instances[0]?.path;
  const latest = new Map<StreamId, Need>();
  for (const instance of instances) {
    const need = instance.path === path ? needOf(instance) : undefined;
    const known = need && latest.get(need.producer);
    if (need && (!known || need.first > known.first)) latest.set(need.producer, need);
  }
  return [...latest.values()];
}

interface EventCandidate extends Candidate {
  readonly carried: boolean;
}

/** `places` are the frames in which the consumer can be made to wait, the best first. */
export function orderFixes(path: LoweredPath, needs: readonly Need[], places: readonly SourceFrame[]): Candidate[] {
  const [need] = needs;
  if (!need) return [];
  const byEvent: EventCandidate[] = [];
  const byStream: Candidate[] = [];
  const byRecorded: Candidate[] = [];
  for (const place of places) {
    const inner = spotAt(path, place, need.second, 'before');
    for (const spot of inner ? waitSpots(inner) : []) {
      const isOutside = spot !== inner;
      byRecorded.push(...recordedEvent(path, needs, spot, isOutside));
      byEvent.push(...eventPair(path, needs, spot, isOutside));
      byStream.push(...waitStream(needs, spot, isOutside), ...waitForAll(needs, spot, isOutside));
    }
  }
  // Without a name for the producer the idiom is `side.wait_stream(torch.cuda.current_stream())`.
  const fork = byStream[0]?.title.includes('for the current stream');
  // An event that is carried to the next turn takes three lines in three places.
  const made = fork || byEvent[0]?.carried ? [...byStream, ...byEvent] : [...byEvent, ...byStream];
  return [...byRecorded, ...made, ...(byStream.length === 0 ? joinBehind(path, needs) : [])];
}

/** Right behind the producer's work, where its stream has its name still: a branch that makes it ends before the consumer. */
function joinBehind(path: LoweredPath, needs: readonly Need[]): Candidate[] {
  const [need, more] = needs;
  if (!need || more || isBefore(path.program, need.first)) return [];
  return placesOf(path, need.first, 'after').flatMap((spot) => {
    const producer = streamAt(spot, need.producer);
    const consumer = streamAt(spot, need.consumer) ?? currentStream(spot);
    if (!producer || producer === consumer || leaves(spot)) return [];
    return [
      {
        title: `Make ${spoken(consumer)} wait for ${spoken(producer)} behind its work (wait_stream)`,
        edits: withImports(spot, [put(spot, guarded(spot, consumer, [`${consumer}.wait_stream(${producer})`]))]),
      },
    ];
  });
}

/** The consumer at a place: its name, or, next to its own work, the current stream. */
function consumerAt(spot: Spot, consumer: StreamId, isOutside: boolean): string | undefined {
  return streamAt(spot, consumer) ?? (isOutside ? undefined : currentStream(spot));
}

function waitStream(needs: readonly Need[], spot: Spot, isOutside: boolean): Candidate[] {
  const consumer = consumerAt(spot, needs[0]!.consumer, isOutside);
  if (!consumer) return [];
  const producers = needs.map((need) => streamAt(spot, need.producer) ?? currentStream(spot));
  // Of a producer that is None the work is on the current stream, which has no name here.
  if (producers.includes(consumer) || producers.some((producer) => mayBeNone(spot, producer))) return [];
  const lines = guarded(
    spot,
    consumer,
    producers.map((producer) => `${consumer}.wait_stream(${producer})`),
  );
  const edits = putBefore(spot, needs[0]!.first, lines);
  if (!edits.length) return [];
  return [
    {
      title: `Make ${spoken(consumer)} wait for ${producers.map(spoken).join(' and ')} (wait_stream)`,
      edits: withImports(spot, edits),
    },
  ];
}

/** An event that was recorded behind the work already, and that nobody waits for where it matters. */
function recordedEvent(path: LoweredPath, needs: readonly Need[], spot: Spot, isOutside: boolean): Candidate[] {
  const [need, more] = needs;
  const consumer = need && consumerAt(spot, need.consumer, isOutside);
  if (!need || more || !consumer) return [];
  const { steps } = path.program;
  const latest = new Set<EventId>();
  for (let i = need.second - 1; i > need.first; i--) {
    const step = steps[i]!;
    // A wait is bound to the latest record.
    if (step.kind !== 'record' || latest.has(step.event)) continue;
    latest.add(step.event);
    const [event] = step.stream === need.producer ? expressionsAt(spot, { kind: 'event', event: step.event }) : [];
    const edits = event
      ? putBefore(spot, need.first, guarded(spot, consumer, [`${consumer}.wait_event(${event})`]))
      : [];
    if (edits.length)
      return [
        { title: `Make ${spoken(consumer)} wait for \`${event}\` (wait_event)`, edits: withImports(spot, edits) },
      ];
  }
  return [];
}

/** Streams that a loop takes from a container: the consumer waits for each of them. */
function waitForAll(needs: readonly Need[], spot: Spot, isOutside: boolean): Candidate[] {
  const consumer = consumerAt(spot, needs[0]!.consumer, isOutside);
  if (!consumer) return [];
  const called = new Set(
    needs.flatMap(({ producer }) =>
      spot.path.activations.flatMap((activation) =>
        activation.bindings
          .filter(({ target }) => target.kind === 'stream' && target.stream === producer)
          .map(({ expression }) => expression),
      ),
    ),
  );
  const { text } = spot.module;
  const unit = indentUnit(text);
  return loopVariables(spot.root, text)
    .filter(({ name, container }) => called.has(name) && consumer !== name && isNamedAt(spot, container))
    .slice(0, 2)
    .map(({ name, container }) => ({
      title: `Make ${spoken(consumer)} wait for every stream of \`${container}\` (wait_stream)`,
      edits: withImports(spot, [
        put(spot, [`for ${name} in ${container}:`, `${unit}${consumer}.wait_stream(${name})`]),
      ]),
    }))
    .filter(({ edits }) => edits.every(({ newText }) => !newText.includes('; ')));
}

function eventPair(path: LoweredPath, needs: readonly Need[], spot: Spot, isOutside: boolean): EventCandidate[] {
  const consumer = consumerAt(spot, needs[0]!.consumer, isOutside);
  if (!consumer) return [];
  const edits: OffsetEdit[] = [];
  const waits: string[] = [];
  const producers: string[] = [];
  let carried = false;
  for (const need of needs) {
    const record = recordSpot(path, need, spot);
    if (!record) return [];
    const name = streamAt(record.spot, need.producer);
    // Inside of its block it is the current one, whether it is None or not.
    const named = name && record.inside && mayBeNone(record.spot, name) ? undefined : name;
    const producer = named ?? currentStream(record.spot);
    if (!named && !record.inside) return [];
    const event = freshName(spot.module.text, `${eventNameFor(named)}${waits.length ? `_${waits.length + 1}` : ''}`);
    if (record.before) edits.push(put(record.before, [`${event} = ${torchOf(spot)}.cuda.Event()`]));
    edits.push(
      put(record.spot, [record.before ? `${event}.record(${producer})` : `${event} = ${producer}.record_event()`]),
    );
    waits.push(`${consumer}.wait_event(${event})`);
    const isCallers = path.program.streams[need.producer]?.isDefault;
    producers.push(named ?? (isCallers ? 'the current stream' : 'the other stream'));
    if (record.before) carried = true;
  }
  const waiting = putBefore(spot, needs[0]!.first, guarded(spot, consumer, waits));
  if (!waiting.length) return [];
  edits.push(...waiting);
  const waited = producers.map((producer) => (producer.includes(' ') ? producer : spoken(producer))).join(' and ');
  return [
    {
      title: `Make ${spoken(consumer)} wait for ${waited} with an event (record + wait_event)`,
      edits: withImports(spot, edits),
      carried,
    },
  ];
}

function torchOf(spot: Spot): string {
  return spot.activation.torchName ?? 'torch';
}

/**
 * The last statement that gives a value to one of the tensor's names; -1: none. `x = x.reshape(…)` launches a kernel or it
 * does not, and an event before it would not cover that.
 */
function latestBinding(block: readonly Statement[], names: readonly string[]): number {
  return block.findLastIndex((statement) => names.some((name) => bindsAnywhere([statement], name)));
}

/** Behind another statement of one of the blocks around a place. */
function movedTo(spot: Spot, depth: number, index: number): Spot {
  return { ...spot, links: [...spot.links.slice(0, depth), { ...spot.links[depth]!, index }] };
}

/** What the consumer calls the tensor. */
function namesOfBlock(spot: Spot, block: BlockId | undefined): readonly string[] {
  if (block === undefined) return [];
  return [
    ...new Set(expressionsAt(spot, { kind: 'tensor', block }).flatMap((expression) => rootName(expression) ?? [])),
  ];
}

interface RecordSpot {
  readonly spot: Spot;
  /** Whether it lies in the `with` blocks of the producer's own statement. */
  readonly inside: boolean;
  /** Where the event must be made first: before the loop that carries it to the next turn. */
  readonly before?: Spot;
}

/** After the producer's statement, in a block that surely ran before the wait does. */
function recordSpot(path: LoweredPath, need: Need, wait: Spot): RecordSpot | undefined {
  if (isBefore(path.program, need.first)) return undefined;
  const place = originOf(path.program, need.first)?.frames.find(
    (frame) => path.activations[frame.activation] === wait.activation,
  );
  const made = place && spotAt(path, place, need.first, 'after');
  if (!made) return undefined;
  let shared = 0;
  while (
    shared < made.links.length &&
    shared < wait.links.length &&
    made.links[shared]!.block === wait.links[shared]!.block &&
    made.links[shared]!.index === wait.links[shared]!.index
  )
    shared++;
  const own = made.links[shared];
  const other = wait.links[shared];
  if (!own || !other || own.block !== other.block) return undefined;
  let depth = shared;
  while (made.links[depth + 1]?.parent?.kind === 'With') depth++;
  const spot: Spot = { ...made, links: made.links.slice(0, depth + 1) };
  const inside = depth === made.links.length - 1;
  if (own.index < other.index) {
    const names = namesOfBlock(wait, need.block);
    const behind = latestBinding(own.block.slice(0, other.index), names);
    if (behind > own.index) return { spot: movedTo(made, shared, behind), inside: shared === made.links.length - 1 };
    const { block, index } = spot.links[depth]!;
    const within = depth > shared ? latestBinding(block, names) : -1;
    return { spot: within > index ? movedTo(made, depth, within) : spot, inside };
  }
  // The producer comes later in the loop's body: its record serves the next turn.
  const loop = own.parent;
  if (loop?.kind !== 'For' && loop?.kind !== 'While') return undefined;
  return { spot, inside, before: { ...wait, links: wait.links.slice(0, shared) } };
}
