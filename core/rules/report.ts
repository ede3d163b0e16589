/**
 * From the hazards of many paths to one report per fault and place: which frame of the call chain carries it, what
 * stands in for what, and whether it holds always or on some paths only. Offsets only; lines are made of them later.
 */
import type { Hazard, OrderHazard, RedundantRecordStream } from '../hazards/hazard.ts';
import type { BranchDecision, HandOver, LoweredEntry, LoweredPath } from '../lower/lowered.ts';
import type {
  Certainty,
  EventId,
  SourceFrame,
  SourceOrigin,
  StepIndex,
  StreamId,
  StreamProgram,
} from '../program/program.ts';
import { backwardMissingSync } from './backward-missing-sync.ts';
import type { Severity } from './finding.ts';
import { type WordedHazard, wordHazard } from './index.ts';
import { causeOf, causeRelated, causeWords } from './causes.ts';
import { usesEvent } from './eventUses.ts';
import { capitalized, isBefore } from './rule.ts';
import { frameNames, namesOf } from './source-names.ts';
import { unjoinedOutput, unjoinedWords } from './unjoined-output.ts';

/** A place in a file, as offsets. */
export interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** One hazard of one path, with the frames that fixes start from. */
export interface Instance {
  readonly path: LoweredPath;
  readonly hazard: Hazard;
  readonly words: WordedHazard;
  /** Where it is reported. */
  readonly place: SourceFrame;
  /** The frames from which a fix may start, the best first. */
  readonly frames: readonly SourceFrame[];
}

export interface Report extends Place {
  readonly code: string;
  readonly severity: Severity;
  readonly certainty: Certainty;
  readonly message: string;
  readonly related: readonly (Place & { readonly message: string })[];
  /** The same fault as the paths show it; the first one words the report. */
  readonly instances: readonly Instance[];
}

export interface ExaminedEntry {
  readonly entry: LoweredEntry;
  /** Hazards of each path, in the order of `entry.paths`. */
  readonly hazards: readonly (readonly Hazard[])[];
}

export function report(entries: readonly ExaminedEntry[]): Report[] {
  const reports = reportAll(entries);
  const kept = reports.filter((r) => isKept(r, entries));
  // What is not told of a wait cannot stand for the missing order that it would explain.
  const untold = new Set(
    reports.flatMap((r) => (r.code === 'reversed-wait' && !kept.includes(r) ? r.instances : [])).map((i) => i.hazard),
  );
  const told = untold.size
    ? reportAll(
        entries.map(({ entry, hazards }) => ({
          entry,
          hazards: hazards.map((own) => own.filter((hazard) => !untold.has(hazard))),
        })),
      ).filter((r) => isKept(r, entries))
    : kept;
  return withoutSecondViews(told).sort(compareReports);
}

function reportAll(entries: readonly ExaminedEntry[]): Report[] {
  const merged = new Map<string, Report>();
  for (const examined of entries)
    for (const found of reportEntry(examined)) {
      const key = keyOf(found);
      const known = merged.get(key);
      if (!known) merged.set(key, found);
      else {
        const better = known.certainty === 'some-paths' && found.certainty === 'always' ? found : known;
        merged.set(key, { ...better, instances: [...known.instances, ...found.instances] });
      }
    }
  return [...merged.values()];
}

function isKept(found: Report, entries: readonly ExaminedEntry[]): boolean {
  if (advice.has(found.code)) return holdsAlways(found, entries);
  // The same wait has its effect elsewhere: here is nothing that it would have to wait for.
  return found.code !== 'event-never-recorded' || holdsWhereSeen(found, entries);
}

/** To call something useless it must be so on every execution, whoever called; what was not executed says otherwise. */
const advice: ReadonlySet<string> = new Set([
  'redundant-record-stream',
  'redundant-sync',
  'reversed-wait',
  'serialized-streams',
  'unused-event',
]);

function holdsAlways(found: Report, entries: readonly ExaminedEntry[]): boolean {
  return (
    holdsWhereSeen(found, entries) &&
    entries.every(({ entry }) => !entry.truncated || !entry.paths.some((path) => reaches(path, found)))
  );
}

/** Whether it is so on each path that comes to the place. */
function holdsWhereSeen(found: Report, entries: readonly ExaminedEntry[]): boolean {
  const holding = new Set(found.instances.map(({ path }) => path));
  return entries.every(({ entry }) => entry.paths.every((path) => holding.has(path) || !reaches(path, found)));
}

export function originOf(program: StreamProgram, at: StepIndex): SourceOrigin | undefined {
  const step = program.steps[at];
  const origin = step && program.origins[step.origin];
  return origin?.kind === 'source' && origin.frames.length ? origin : undefined;
}

/** The deepest frame that both call chains share; 0 where the earlier step came before the entry. */
export function commonFrame(a: SourceOrigin, b: SourceOrigin | undefined): number {
  if (!b) return 0;
  let common = 0;
  const depth = Math.min(a.frames.length, b.frames.length);
  for (let i = 0; i < depth && a.frames[i]!.activation === b.frames[i]!.activation; i++) common = i;
  return common;
}

function reportEntry({ entry, hazards }: ExaminedEntry): Report[] {
  const found = new Map<string, { place: Place; instances: Instance[]; paths: Set<LoweredPath> }>();
  entry.paths.forEach((path, i) => {
    const own = hazards[i] ?? [];
    for (const hazard of own) {
      if (stoodInFor(hazard, own, path.program) || startsLate(hazard, own, path)) continue;
      if (isHandedOn(path, hazard)) continue;
      const instance = locate(path, hazard);
      if (!instance) continue;
      const { place } = instance;
      if (hazard.kind === 'unused-event' && hasUse(path, place, hazard.event)) continue;
      const key = keyOf({ ...place, code: instance.words.rule.code });
      const known = found.get(key);
      if (known) {
        known.instances.push(instance);
        known.paths.add(path);
      } else found.set(key, { place, instances: [instance], paths: new Set([path]) });
    }
  });
  const usual = entry.paths[0];
  const kept = [...found.values()].filter(
    ({ instances, paths }) =>
      (usual && paths.has(usual)) ||
      !instances.every(({ path, hazard }) => isReusedOutside(hazard, path.program) || isAsked(path, entry)),
  );
  return kept.map(({ place, instances, paths }): Report => {
    const without = entry.paths.filter((path) => !paths.has(path) && reaches(path, place));
    const first = instances[0]!;
    const { words } = first;
    return {
      ...place,
      code: words.rule.code,
      severity: words.rule.severity,
      certainty: without.length ? 'some-paths' : 'always',
      message: without.length ? words.message + condition(first.path, without) : words.message,
      related: words.related.flatMap((related) => {
        if (isBefore(first.path.program, related.at)) return [];
        const origin = originOf(first.path.program, related.at);
        const frame = origin?.frames.at(-1);
        return frame ? [{ file: frame.file, start: frame.start, end: frame.end, message: related.message }] : [];
      }),
      instances,
    };
  });
}

/**
 * The memory is handed out again by code that is not seen. That it allocates at all is likely, not known: enough for what
 * happens on the usual path, too little for what takes a particular one.
 */
function isReusedOutside(hazard: Hazard, program: StreamProgram): boolean {
  return hazard.kind === 'lifetime' && program.steps[hazard.reuse]?.kind === 'outside';
}

/**
 * A caller has to ask for it by a parameter that is off, or on, for the others: whether one does so, and what it does with
 * what it gets then, shows where the callers that are known run.
 */
function isAsked({ decisions }: LoweredPath, { turned }: LoweredEntry): boolean {
  return decisions.some(({ flag }) => flag !== undefined && turned?.has(flag));
}

/** The wait that the tensors themselves need protects the memory as well. */
function missesJoin(hazard: Hazard, producer: StreamId, consumer: StreamId): boolean {
  if (hazard.kind === 'order') return hazard.firstStream === producer && hazard.secondStream === consumer;
  return hazard.kind === 'unjoined' && hazard.writeStream === producer && hazard.escapeStream === consumer;
}

/** Where the join that is missing would have to stand at the latest. */
function laterStep(hazard: Hazard): StepIndex {
  return hazard.kind === 'order' ? hazard.second : hazard.kind === 'unjoined' ? hazard.escape : -1;
}

function locate(path: LoweredPath, hazard: Hazard): Instance | undefined {
  const draft = wordHazard(hazard, path.program);
  const origin =
    draft && (draft.origin === undefined ? originOf(path.program, draft.at) : path.program.origins[draft.origin]);
  if (!draft || origin?.kind !== 'source' || !origin.frames.length) return undefined;
  const handed = hazard.kind === 'order' ? handedOver(path, hazard) : undefined;
  if (handed) return handed;
  const innermost = origin.frames.length - 1;
  const earlier = draft.earlier === undefined || isBefore(path.program, draft.earlier) ? undefined : draft.earlier;
  const common = earlier === undefined ? 0 : commonFrame(origin, originOf(path.program, earlier));
  const frame =
    draft.frame === 'statement'
      ? innermost
      : draft.frame === 'names-streams'
        ? namingFrame(path, origin, draft.at)
        : Math.min(innermost, Math.max(common, origin.streamFrame));
  const place = origin.frames[frame]!;
  const words = wordHazard(hazard, path.program, frameNames(path, place.activation, draft.at)) ?? draft;
  const leaves = words.rule === unjoinedOutput && inBackward(path, [place]);
  if (leaves || (words.rule.code === 'missing-wait' && inBackward(path, origin.frames)))
    return { path, hazard, words: { ...words, rule: backwardMissingSync }, place, frames: [place] };
  const told = withCause(path, hazard, words, place.activation);
  const order = [frame, common, ...origin.frames.keys()].filter((f, i, all) => all.indexOf(f) === i);
  return { path, hazard, words: told, place, frames: order.map((f) => origin.frames[f]!) };
}

/** Whether the function that records the event has a use for it that no path came to. */
function hasUse(path: LoweredPath, place: SourceFrame, event: EventId): boolean {
  const activation = path.activations[place.activation];
  if (!activation) return false;
  const names = activation.bindings.filter(({ target }) => target.kind === 'event' && target.event === event);
  return usesEvent(
    activation.function ?? activation.module,
    place,
    names.map(({ expression }) => expression),
  );
}

/** With what misleads about a wait that is there, if that is why the order is missing. */
function withCause(path: LoweredPath, hazard: Hazard, words: WordedHazard, activation: number): WordedHazard {
  const cause = causeOf(path, hazard);
  if (!cause) return words;
  const added = causeWords(cause, path, frameNames(path, activation, words.at));
  if (hazard.kind === 'redundant-sync')
    return { ...words, message: `${words.message}; ${added.replace('the wait that is there', 'it')}` };
  const related = words.related.filter(({ at }) => at !== cause.wait);
  return { ...words, message: `${words.message}; ${added}`, related: [...related, causeRelated(cause)] };
}

/** Whether the call chain goes through a custom autograd Function's `backward`. */
function inBackward(path: LoweredPath, frames: readonly SourceFrame[]): boolean {
  return frames.some(({ activation }) => {
    const definition = path.activations[activation]?.function;
    return (
      definition?.name === 'backward' &&
      definition.decorators.some((decorator) => decorator.kind === 'Name' && decorator.id === 'staticmethod')
    );
  });
}

/** From the innermost frame outwards past those that were handed the stream or event as an argument. */
function namingFrame(path: LoweredPath, origin: SourceOrigin, at: StepIndex): number {
  const step = path.program.steps[at];
  let frame = origin.frames.length - 1;
  if (step?.kind !== 'wait') return frame;
  for (; frame > 0; frame--) {
    const activation = path.activations[origin.frames[frame]!.activation];
    const given = new Set(activation?.function?.parameters.map((p) => p.name));
    const names = [
      ...namesOf(activation, { kind: 'stream', stream: step.stream }, at),
      ...namesOf(activation, { kind: 'event', event: step.event }, at),
    ];
    if (!names.some((name) => given.has(name))) break;
  }
  return frame;
}

/**
 * A missing order that shows at a known caller's use belongs to the function that handed the tensor over, if that chose
 * the stream itself: the return is wrong for every caller.
 */
function handedOver(path: LoweredPath, hazard: OrderHazard): Instance | undefined {
  if (hazard.conflict === 'write-after-read') return undefined;
  const { block, first, second, firstStream, secondStream } = hazard;
  const makers = new Set(originOf(path.program, first)?.frames.map((frame) => frame.activation));
  const keeps = ({ activation, step }: HandOver) =>
    namesOf(path.activations[activation], { kind: 'tensor', block }, step).some((name) => name.startsWith('self.'));
  // Who only passes on what it was given is not to blame: the write is below the function that hands over, or its object
  // has kept what another method wrote.
  const handing = (path.handOvers ?? [])
    .filter((h) => h.block === block && h.stream === secondStream && h.step > first && h.step <= second)
    .filter((h) => makers.has(h.activation) || keeps(h))
    .at(-1);
  if (!handing) return undefined;
  const { activation, how, file, node } = handing;
  const given = path.activations[activation]?.function?.parameters.map((p) => p.name) ?? [];
  const names = namesOf(path.activations[activation], { kind: 'stream', stream: firstStream }, handing.step);
  if (names.some((name) => given.includes(name))) return undefined;
  const words = unjoinedWords(
    { block, write: first, writeStream: firstStream, receiver: secondStream, how, at: second },
    path.program,
    frameNames(path, activation, handing.step - 1),
  );
  const place = { activation, file, start: node.start, end: node.end };
  const rule = inBackward(path, [place]) ? backwardMissingSync : unjoinedOutput;
  return {
    path,
    hazard,
    words: withCause(path, hazard, { rule, ...words, message: capitalized(words.message) }, activation),
    place,
    frames: [place],
  };
}

/** A record_stream on what the function hands to its caller: what that does with it is not this function's to know. */
function isHandedOn(path: LoweredPath, hazard: Hazard): boolean {
  if (hazard.kind !== 'redundant-record-stream') return false;
  if (hazard.why === 'allocating-stream') return isCallersStream(path, hazard);
  const origin = originOf(path.program, hazard.call);
  const activation = origin?.frames.at(-1)?.activation;
  return (
    (path.handOvers ?? []).some((h) => h.block === hazard.block && h.activation === activation) ||
    path.program.steps.some((step) => step.kind === 'escape' && step.block === hazard.block) ||
    // Autograd is the caller of a backward.
    inBackward(path, origin?.frames.slice(-1) ?? []) ||
    isDroppedElsewhere(path, hazard, activation)
  );
}

/**
 * Whether the function that records was given the stream by its caller, and found the block already there: another
 * caller may give another stream.
 */
function isCallersStream(path: LoweredPath, { call, block }: RedundantRecordStream): boolean {
  const step = path.program.steps[call];
  const activation = originOf(path.program, call)?.frames.at(-1)?.activation;
  if (step?.kind !== 'recordStream' || activation === undefined) return false;
  const recording = path.activations[activation];
  const given = new Set(recording?.function?.parameters.map((parameter) => parameter.name));
  if (!namesOf(recording, { kind: 'stream', stream: step.stream }, call).some((name) => given.has(name))) return false;
  const allocation = path.program.steps.findIndex((other) => other.kind === 'allocate' && other.block === block);
  return !originOf(path.program, allocation)?.frames.some((frame) => frame.activation === activation);
}

/**
 * Whether the block is dropped in another function than the one that records and joins. That one keeps to its own duty
 * whoever drops the tensor, and when. A host wait covers the drop wherever it lies.
 */
function isDroppedElsewhere(path: LoweredPath, hazard: RedundantRecordStream, activation: number | undefined): boolean {
  if (hazard.join === undefined || path.program.steps[hazard.join]?.kind !== 'wait') return false;
  const release = path.program.steps.findIndex(
    (step, at) => at > hazard.join! && step.kind === 'release' && step.block === hazard.block,
  );
  const dropping = release < 0 ? undefined : originOf(path.program, release)?.frames.at(-1)?.activation;
  return dropping !== activation;
}

const reachedPlaces = new WeakMap<LoweredPath, ReadonlySet<string>>();

/** Whether the path executed what stands at this place. */
function reaches(path: LoweredPath, place: Place): boolean {
  let places = reachedPlaces.get(path);
  if (!places) {
    const found = new Set<string>();
    for (const origin of path.program.origins)
      if (origin.kind === 'source')
        for (const { file, start, end } of origin.frames) found.add(`${start}:${end}:${file}`);
    places = found;
    reachedPlaces.set(path, places);
  }
  return places.has(`${place.start}:${place.end}:${place.file}`);
}

/** Whether another hazard of the path is the cause of this one and is reported instead. */
function stoodInFor(hazard: Hazard, all: readonly Hazard[], program: StreamProgram): boolean {
  if (hazard.kind === 'lifetime') {
    const outside = isReusedOutside(hazard, program);
    return all.some(
      (cause) =>
        missesJoin(cause, hazard.useStream, hazard.allocatedOn) &&
        (outside || (hazard.use < laterStep(cause) && laterStep(cause) <= hazard.reuse)),
    );
  }
  if (hazard.kind !== 'order' && hazard.kind !== 'unjoined') return false;
  const first = hazard.kind === 'order' ? hazard.first : hazard.write;
  const second = hazard.kind === 'order' ? hazard.second : hazard.escape;
  const firstStream = hazard.kind === 'order' ? hazard.firstStream : hazard.writeStream;
  const secondStream = hazard.kind === 'order' ? hazard.secondStream : hazard.escapeStream;
  return all.some((cause) => {
    if (cause.kind === 'reversed' || cause.kind === 'rerecorded')
      return cause.settles.some(([a, b]) => a === first && b === second);
    if (cause.kind !== 'unrecorded' || cause.wait > second) return false;
    const wait = program.steps[cause.wait];
    if (wait?.kind !== 'wait' || wait.stream !== secondStream) return false;
    // The wait stands where it should, or its record comes too late on the stream that it is meant for.
    return (
      cause.wait > first ||
      program.steps.some((step) => step.kind === 'record' && step.event === cause.event && step.stream === firstStream)
    );
  });
}

/**
 * A wait that finds no record on its first turn, where a later one makes the record, is how pipelines start; it is a
 * fault only where an order is missing that it should have made.
 */
function startsLate(hazard: Hazard, all: readonly Hazard[], { program, cut }: LoweredPath): boolean {
  if (hazard.kind !== 'unrecorded') return false;
  const { made } = program.events[hazard.event]!;
  // Another slot of the same ring was recorded: this one's turn comes later.
  const isOfRing = (event: EventId) =>
    event === hazard.event || (made !== undefined && program.events[event]!.made === made);
  const recorded = cut || program.steps.some((step) => step.kind === 'record' && isOfRing(step.event));
  return recorded && !all.some((other) => stoodInFor(other, [hazard], program));
}

/**
 * A tensor that leaves unjoined shows at the return and again at the use of a known caller. The return is the better
 * place: it is right for every caller.
 */
function withoutSecondViews(reports: readonly Report[]): Report[] {
  const handovers = reports.filter((r) => r.code === 'unjoined-output');
  if (!handovers.length) return [...reports];
  return reports.filter((r) => {
    if (r.code !== 'missing-wait') return true;
    return !handovers.some((handover) => samePlace(handover.related[0], r.related[0]) && !sameFunction(handover, r));
  });
}

function samePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a !== undefined && b !== undefined && a.file === b.file && a.start === b.start && a.end === b.end;
}

function sameFunction(a: Report, b: Report): boolean {
  const functionOf = (r: Report) => {
    const instance = r.instances[0]!;
    return instance.path.activations[instance.place.activation]?.function?.start;
  };
  return a.file === b.file && functionOf(a) === functionOf(b);
}

/** What the paths with the finding decided otherwise than those without it, if that is one test. */
function condition(path: LoweredPath, without: readonly LoweredPath[]): string {
  const own = path.decisions.find(
    (decision) => !without.some((other) => other.decisions.some((d) => same(d, decision))),
  );
  if (own) return `; on the path where ${words(own, own.taken)}`;
  const other = without[0]?.decisions.find((decision) => !path.decisions.some((d) => same(d, decision)));
  if (other) return `; on the path where ${words(other, !other.taken)}`;
  return '; on some paths';

  function same(a: BranchDecision, b: BranchDecision): boolean {
    return a.file === b.file && a.test.start === b.test.start && a.test.end === b.test.end;
  }
  function words({ file, test }: BranchDecision, value: boolean): string {
    const module = path.activations.find((activation) => activation.module.file === file)?.module;
    const source = module?.text.slice(test.start, test.end).replace(/\s+/g, ' ') ?? '';
    if (!source || source.length > 60) return `a test is ${value ? 'true' : 'false'}`;
    return `\`${source}\` is ${value ? 'true' : 'false'}`;
  }
}

export function keyOf({ file, start, end, code }: Place & { readonly code: string }): string {
  return `${code}:${start}:${end}:${file}`;
}

function compareReports(a: Report, b: Report): number {
  return compareText(a.file, b.file) || a.start - b.start || a.end - b.end || compareText(a.code, b.code);
}

/** By code units, so that no locale changes the order. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
