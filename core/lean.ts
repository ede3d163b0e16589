/**
 * Which waits, synchronizations and record_stream calls of a program can go without a race, each with the order that
 * remains. A call is taken out of every path that executes it, and the engine looks for a race in what is left, with
 * everything unknown taken for the worst (worstCase.ts). All that are listed can go together: each is judged without the
 * ones before it.
 *
 * Silence is never a proof. Where an entry was not executed to its end, where code runs in between that nobody sees, in a
 * graph capture, with several host threads, or next to a clock, nothing is listed.
 */
import { LineMap, type Range } from './base/text.ts';
import type { SourceFile } from './checkSource.ts';
import { examine } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import { lower } from './lower/lower.ts';
import type { LoweredEntry, LoweredPath } from './lower/lowered.ts';
import { Clocks } from './order/clocks.ts';
import type { BlockId, EventId, SourceFrame, Step, StepIndex, StreamId, StreamProgram } from './program/program.ts';
import type { Module } from './python/ast.ts';
import { lazyModule } from './python/lazy.ts';
import type { PythonParser } from './python/parse.ts';
import type { Problem } from './rules/finding.ts';
import { blocksAround, statementOf } from './rules/fixes/blocks.ts';
import { compareText } from './rules/report.ts';
import { recordOf } from './rules/rule.ts';
import { frameNames } from './rules/source-names.ts';
import { nothing, worstCase } from './worstCase.ts';

export interface SpareCall {
  readonly file: string;
  readonly range: Range;
  readonly kind: 'wait' | 'synchronize' | 'record_stream';
  /** The call as it is written. */
  readonly call: string;
  /** Why it can go, as one line that stands alone. */
  readonly proof: string;
  /** The calls that make the order that remains. */
  readonly remains: readonly { readonly file: string; readonly range: Range; readonly call: string }[];
}

export interface LeanResult {
  /** By file and place. */
  readonly calls: readonly SpareCall[];
  readonly problems: readonly Problem[];
}

export function spareCalls(parser: PythonParser, files: readonly SourceFile[]): LeanResult {
  const modules = files.map(({ file, text }) => lazyModule(parser, file, text));
  const problems: Problem[] = [];
  let entries: readonly LoweredEntry[] = [];
  try {
    entries = lower(modules);
  } catch (error) {
    const message = `could not be analysed: ${error instanceof Error ? error.message : String(error)}`;
    for (const { file } of files) problems.push({ file, message });
  }
  for (const { file, name, fault } of entries)
    if (fault !== undefined) problems.push({ file, message: `${name} could not be analysed completely: ${fault}` });
  return { calls: new Search(modules, entries).run(), problems };
}

/** One statement that may go, with its executions. */
interface Candidate extends SourceFrame {
  readonly kind: SpareCall['kind'];
  readonly uses: Map<Subject, StepIndex[]>;
  /** An entry that runs through it was not executed to its end. */
  unsure: boolean;
}

/** One path, and its program with what has been taken out so far. */
interface Subject {
  readonly path: LoweredPath;
  readonly steps: Step[];
  readonly program: StreamProgram;
  /** The steps of the path itself; what follows them stands for whoever comes later. */
  readonly own: number;
  readonly decides: boolean;
  found: Found;
}

/** The races of a program, by what they are about, and per step whether something relied on that wait. */
interface Found {
  readonly races: ReadonlyMap<string, Hazard>;
  readonly relied: Uint8Array;
}

interface Proof {
  readonly text: string;
  readonly by: readonly StepIndex[];
}

class Search {
  readonly #modules: ReadonlyMap<string, Module>;
  readonly #lines = new Map<string, LineMap>();
  readonly #candidates = new Map<string, Candidate>();

  constructor(modules: readonly Module[], entries: readonly LoweredEntry[]) {
    this.#modules = new Map(modules.map((module) => [module.file, module]));
    for (const entry of entries) for (const path of entry.paths) this.#collect(entry, path);
  }

  run(): SpareCall[] {
    const found: SpareCall[] = [];
    for (const candidate of inOrder([...this.#candidates.values()])) {
      const spare = candidate.unsure ? undefined : this.#try(candidate);
      if (spare) found.push(spare);
    }
    return found.sort(
      (a, b) =>
        compareText(a.file, b.file) ||
        a.range.start.line - b.range.start.line ||
        a.range.start.character - b.range.start.character,
    );
  }

  #collect(entry: LoweredEntry, path: LoweredPath): void {
    let subject: Subject | undefined;
    path.program.steps.forEach((step, at) => {
      const kind = kindOf(step);
      const frame = kind && frameOf(path.program, at);
      if (!kind || !frame) return;
      subject ??= subjectOf(entry, path);
      const key = `${frame.start}:${frame.end}:${frame.file}`;
      let candidate = this.#candidates.get(key);
      if (!candidate) {
        candidate = { ...frame, kind, uses: new Map(), unsure: false };
        this.#candidates.set(key, candidate);
      }
      const uses = candidate.uses.get(subject);
      if (uses) uses.push(at);
      else candidate.uses.set(subject, [at]);
      if (!subject.decides || entry.truncated || entry.fault !== undefined || candidate.kind !== kind)
        candidate.unsure = true;
    });
  }

  #try(candidate: Candidate): SpareCall | undefined {
    const module = this.#modules.get(candidate.file);
    const [subject] = candidate.uses.keys();
    if (!module || !subject || !isWholeStatement(module, subject, candidate)) return undefined;
    const tried: { subject: Subject; left: Found; gone: readonly StepIndex[] }[] = [];
    let proof: Proof | undefined;
    let proved: Subject | undefined;
    for (const [subject, gone] of candidate.uses) {
      if (candidate.kind === 'synchronize' && timesSomething(subject.path, gone)) return undefined;
      if (isEntangled(subject, gone)) return undefined;
      const program = without(subject, gone);
      const left = racesIn(program);
      if ([...left.races.keys()].some((key) => !subject.found.races.has(key))) return undefined;
      const proofs = gone.map((at) =>
        candidate.kind === 'record_stream' ? unrecorded(subject, at) : unwaited(subject, program, left, gone, at),
      );
      if (proofs.some((one) => !one)) return undefined;
      if (!proof) {
        proof = proofs[0];
        proved = subject;
      }
      tried.push({ subject, left, gone });
    }
    if (!proof || !proved) return undefined;
    for (const { subject, left, gone } of tried) {
      for (const at of gone) subject.steps[at] = nothing(subject.steps[at]!);
      subject.found = left;
    }
    const remains = proof.by.flatMap((at) => {
      const place = frameOf(proved!.path.program, at);
      const holder = place && this.#modules.get(place.file);
      if (!place || !holder) return [];
      return [
        {
          file: place.file,
          range: this.#range(holder, place),
          call: oneLine(holder.text.slice(place.start, place.end)),
        },
      ];
    });
    const where = remains.map(({ call, range, file }) => {
      const other = file === candidate.file ? '' : ` of ${file.split('/').at(-1)}`;
      return `\`${call}\` at line ${range.start.line + 1}${other}`;
    });
    return {
      file: candidate.file,
      range: this.#range(module, candidate),
      kind: candidate.kind,
      call: oneLine(module.text.slice(candidate.start, candidate.end)),
      proof: proof.text.replace('%', [...new Set(where)].join(' and ')),
      remains,
    };
  }

  #range(module: Module, { start, end }: { start: number; end: number }): Range {
    let lines = this.#lines.get(module.file);
    if (!lines) {
      lines = new LineMap(module.text);
      this.#lines.set(module.file, lines);
    }
    return { start: lines.position(start), end: lines.position(end) };
  }
}

/**
 * What costs the host comes first, what costs the allocator next; within a kind the later call first, so that the order
 * that remains is an earlier one.
 */
function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const rank = { synchronize: 0, record_stream: 1, wait: 2 };
  return [...candidates].sort(
    (a, b) => rank[a.kind] - rank[b.kind] || compareText(a.file, b.file) || b.start - a.start,
  );
}

function kindOf(step: Step): SpareCall['kind'] | undefined {
  if (step.kind === 'wait') return step.implicit ? undefined : 'wait';
  if (step.kind === 'hostWait') return step.implicit ? undefined : 'synchronize';
  return step.kind === 'recordStream' ? 'record_stream' : undefined;
}

function frameOf({ steps, origins }: StreamProgram, at: StepIndex): SourceFrame | undefined {
  const origin = origins[steps[at]!.origin];
  return origin?.kind === 'source' ? origin.frames.at(-1) : undefined;
}

/** Whether both steps lie in one call of the entry: what its object went through before may go another way. */
function sameRun({ steps, origins }: StreamProgram, a: StepIndex, b: StepIndex): boolean {
  const [first, second] = [a, b].map((at) => origins[steps[at]!.origin]);
  if (first?.kind !== 'source' || second?.kind !== 'source') return false;
  return first.frames.length > 0 && first.frames[0]!.activation === second.frames[0]?.activation;
}

/** Whether the call is all of its statement: what else uses its value needs it. */
function isWholeStatement(module: Module, { path }: Subject, call: SourceFrame): boolean {
  const root = path.activations[call.activation]?.function ?? module;
  const link = blocksAround(root, call).at(-1);
  const statement = link && statementOf(link);
  return statement?.kind === 'ExpressionStatement' && statement.start === call.start && statement.end === call.end;
}

function subjectOf(entry: LoweredEntry, path: LoweredPath): Subject {
  const { program } = path;
  const unknownEvents = new Set(program.events.flatMap(({ unknown }, event) => (unknown ? [event] : [])));
  const own = program.steps.length;
  const worst = worstCase(program);
  // What nobody wrote is no order to lean on: it may go with the next edit of the code that has it as a side effect.
  const steps = worst.steps.map((step): Step => {
    const event = step.kind === 'wait' ? step.event : undefined;
    const leaned =
      (step.kind === 'wait' && (step.implicit || unknownEvents.has(event!))) ||
      (step.kind === 'hostWait' && step.implicit) ||
      step.kind === 'poll';
    return leaned ? nothing(step) : step;
  });
  // The end of the program needs nothing.
  if (entry.name !== '<module>') steps.push(...laterUse(worst, steps));
  const numbered = steps.map((step, origin): Step => ({ ...step, origin }));
  const subject: Subject = {
    path,
    steps: numbered,
    own,
    // Each step is an execution of its own: none stands for another.
    program: {
      ...worst,
      steps: numbered,
      origins: numbered.map((_, row) => ({ kind: 'trace', row })),
    },
    decides:
      program.threads.length <= 1 &&
      !program.steps.some(({ kind }) => kind === 'captureBegin' || kind === 'replay' || kind === 'poll'),
    found: { races: new Map(), relied: new Uint8Array() },
  };
  subject.found = racesIn(subject.program);
  return subject;
}

/** Whatever still lives can be read, written and dropped later, on every stream; pinned memory on the host. */
function laterUse(program: StreamProgram, steps: readonly Step[]): Step[] {
  const live = new Set<BlockId>();
  const isOnGpu = (block: BlockId) => program.blocks[block]!.evidence && program.blocks[block]!.memory === 'device';
  for (const step of steps) {
    if (step.kind === 'launch') for (const { block } of step.accesses) live.add(block);
    if (step.kind === 'hostAccess') live.add(step.access.block);
    if (step.kind === 'release') live.delete(step.block);
  }
  const uses: Step[] = [];
  const base = { thread: 0, origin: 0 };
  for (const block of live) {
    if (program.blocks[block]!.memory === 'pinned')
      uses.push({ ...base, kind: 'hostAccess', name: 'later work', access: { block, write: true } });
    else if (isOnGpu(block))
      for (let stream = 0; stream < program.streams.length; stream++)
        // Reads: what one later reader does to the next is not this entry's.
        uses.push({ ...base, kind: 'launch', stream, name: 'later work', accesses: [{ block, write: false }] });
  }
  for (const block of live)
    if (isOnGpu(block))
      for (let stream = 0; stream < program.streams.length; stream++)
        uses.push({ ...base, kind: 'launch', stream, name: 'later work', accesses: [{ block, write: true }] });
  for (let stream = 0; stream < program.streams.length; stream++) uses.push({ ...base, kind: 'outside', stream });
  return uses;
}

function without(subject: Subject, gone: readonly StepIndex[]): StreamProgram {
  const steps = [...subject.steps];
  for (const at of gone) steps[at] = nothing(steps[at]!);
  return { ...subject.program, steps };
}

function racesIn(program: StreamProgram): Found {
  const races = new Map<string, Hazard>();
  const { hazards, relied } = examine(program);
  for (const hazard of hazards) {
    const key = keyOf(hazard);
    if (key) races.set(key, hazard);
  }
  return { races, relied };
}

function keyOf(hazard: Hazard): string | undefined {
  switch (hazard.kind) {
    case 'order':
    case 'host':
      return `${hazard.kind} ${hazard.block} ${hazard.first} ${hazard.second}`;
    case 'unjoined':
      return `unjoined ${hazard.block} ${hazard.write} ${hazard.escape}`;
    case 'lifetime':
      return `lifetime ${hazard.block} ${hazard.use} ${hazard.release}`;
    default:
      return undefined;
  }
}

/** Where an order is missing already, nobody can tell what else it would have needed. */
function isEntangled(subject: Subject, gone: readonly StepIndex[]): boolean {
  const { own, steps, found } = subject;
  const touched = new Set<StreamId>();
  let everything = false;
  for (const at of gone) {
    const step = steps[at]!;
    if (step.kind === 'wait') {
      touched.add(step.stream);
      const awaited = awaitedBy(steps, at);
      if (awaited !== undefined) touched.add(awaited);
    } else everything = true;
  }
  for (const hazard of found.races.values()) {
    const [second, streams] = sidesOf(hazard);
    if (second >= own) continue;
    if (everything || streams.some((stream) => touched.has(stream))) return true;
  }
  return false;
}

function sidesOf(hazard: Hazard): [second: StepIndex, streams: readonly StreamId[]] {
  switch (hazard.kind) {
    case 'order':
      return [hazard.second, [hazard.firstStream, hazard.secondStream]];
    case 'host':
      return [hazard.second, [hazard.firstStream]];
    case 'unjoined':
      return [hazard.escape, [hazard.writeStream, hazard.escapeStream]];
    case 'lifetime':
      return [hazard.reuse, [hazard.useStream, hazard.allocatedOn]];
    default:
      return [Number.POSITIVE_INFINITY, []];
  }
}

/** The stream that a wait is for; undefined for a device. */
function awaitedBy(steps: readonly Step[], at: StepIndex): StreamId | undefined {
  const step = steps[at]!;
  if (step.kind === 'hostWait' && step.on.kind === 'stream') return step.on.stream;
  const taken = recordOf(steps, at);
  const record = taken === undefined ? undefined : steps[taken];
  return record?.kind === 'record' ? record.stream : undefined;
}

/** Why the wait at `at` can go: what covers it before or after, or that nothing relies on it. */
function unwaited(
  subject: Subject,
  program: StreamProgram,
  left: Found,
  gone: readonly StepIndex[],
  at: StepIndex,
): Proof | undefined {
  const removed = subject.steps[at]!;
  if (removed.kind !== 'wait' && removed.kind !== 'hostWait') return undefined;
  const names = namesAt(subject, at);
  const waiter = removed.kind === 'wait' ? names.stream(removed.stream) : 'the host';
  const cover = coverOf(subject, program, at);
  if (cover === 'no-work') return undefined;
  if (cover === 'same-stream' && removed.kind === 'wait') {
    // Whose the default stream is depends on the caller.
    if (subject.path.program.streams[removed.stream]!.isDefault) return undefined;
    return { text: `${waiter} waits for itself: one stream's work is in order as it is`, by: [] };
  }
  if (cover !== 'never' && cover !== 'same-stream') {
    const by = cover.waits.filter((wait) => wait < subject.own && !gone.includes(wait));
    if (!by.length || !by.every((wait) => sameRun(subject.path.program, at, wait))) return undefined;
    if (isBlind(subject, Math.min(at, ...by), Math.max(at, ...by))) return undefined;
    return cover.before
      ? { text: `${waiter} is after the same work already: %`, by }
      : { text: `nothing relies on it before the same order is made by %`, by };
  }
  if (isBlind(subject, 0, subject.own)) return undefined;
  if (removed.kind === 'hostWait') {
    // What the host waits for can be meant for more than this program shows, unless streams wait for the same.
    if (removed.on.kind === 'device') return undefined;
    const awaited = awaitedBy(subject.steps, at);
    const by = subject.steps.flatMap((step, wait) => {
      if (wait < at || wait >= subject.own || !left.relied[wait]) return [];
      return awaitedBy(subject.steps, wait) === awaited && step.kind === 'wait' ? [wait] : [];
    });
    if (!by.length || !by.every((wait) => sameRun(subject.path.program, at, wait))) return undefined;
    return { text: `the host touches nothing that it waits for here, and streams are ordered by %`, by };
  }
  if (leavesOpen(subject, removed.stream)) return undefined;
  return { text: `nothing that ${waiter} does after it uses what it waits for, or reuses its memory`, by: [] };
}

/** Whether the path ends while tensors live: whoever has them may queue more on this stream. */
function leavesOpen(subject: Subject, stream: StreamId): boolean {
  const { isDefault } = subject.path.program.streams[stream]!;
  return isDefault && subject.steps.length > subject.own;
}

type Cover = 'no-work' | 'same-stream' | 'never' | { readonly before: boolean; readonly waits: readonly StepIndex[] };

/** What makes the order of the wait at `removed` in a program that lacks it. */
function coverOf(subject: Subject, left: StreamProgram, removed: StepIndex): Cover {
  const step = subject.steps[removed]!;
  if (step.kind !== 'wait' && step.kind !== 'hostWait') return 'never';
  const n = left.streams.length;
  // The probe's events are kept to the end, so that they can be asked.
  const probe = left.events.length;
  const clocks = new Clocks({
    streams: n,
    threads: left.threads.length,
    events: probe + n,
    lastWait: new Int32Array(probe + n).fill(left.steps.length),
  });
  const work = new Int32Array(n).fill(-1);
  let probes: readonly { readonly event: EventId; readonly stream: StreamId }[] | undefined;
  let done: Int32Array | undefined;
  const covering = (): StepIndex[] | undefined => {
    const waits: StepIndex[] = [];
    for (const { event, stream } of probes!) {
      const last = (of: StreamId): StepIndex => done![of]!;
      if (step.kind === 'wait' && clocks.streamCovers(step.stream, event, last))
        waits.push(...clocks.waitsOfStream(step.stream, stream));
      else if (clocks.hostCovers(step.thread, event, last)) waits.push(...clocks.waitsOfHost(step.thread, stream));
      else return undefined;
    }
    return [...new Set(waits)];
  };
  /** Per event the last work of each stream at its record. */
  const doneAt = new Map<EventId, Int32Array>();
  for (let i = 0; i < left.steps.length; i++) {
    if (i === removed) {
      const on = step.kind === 'wait' ? ({ kind: 'event', event: step.event } as const) : step.on;
      if (on.kind === 'event') {
        const stream = clocks.recordOf(on.event) < 0 ? -1 : clocks.recordStreamOf(on.event);
        done = doneAt.get(on.event);
        if (stream < 0 || !done || done[stream]! < 0) return 'no-work';
        if (step.kind === 'wait' && stream === step.stream) return 'same-stream';
        probes = [{ event: on.event, stream }];
      } else {
        const own = left.streams.flatMap(({ device }, stream) =>
          (on.kind === 'stream' ? stream === on.stream : device < 0 || on.device < 0 || device === on.device) &&
          work[stream]! >= 0
            ? [stream]
            : [],
        );
        if (!own.length) return 'no-work';
        done = work.slice();
        probes = own.map((stream) => {
          clocks.record(probe + stream, stream, step.thread, i);
          return { event: probe + stream, stream };
        });
      }
      const waits = covering();
      if (waits) return { before: true, waits };
      continue;
    }
    const now = left.steps[i]!;
    switch (now.kind) {
      case 'launch':
        clocks.issue(now.stream, now.thread, i);
        if (!now.before) work[now.stream] = i;
        break;
      case 'allocate':
        work[now.stream] = i;
        break;
      case 'record':
        // A wait is bound to the record that it saw: what follows says nothing about it.
        if (probes?.some(({ event }) => event === now.event)) return 'never';
        clocks.record(now.event, now.stream, now.thread, i);
        doneAt.set(now.event, work.slice());
        break;
      case 'wait':
        clocks.wait(now.stream, now.event, now.thread, i);
        break;
      case 'hostWait':
        if (now.on.kind === 'event') clocks.hostWaitEvent(now.thread, now.on.event, i);
        else
          for (let stream = 0; stream < n; stream++) {
            const { device } = left.streams[stream]!;
            const { on } = now;
            if (on.kind === 'stream' ? stream !== on.stream : on.device >= 0 && device >= 0 && device !== on.device)
              continue;
            clocks.hostWaitStream(now.thread, stream, i);
          }
        break;
      default:
    }
    if (probes && i < subject.own && (now.kind === 'wait' || now.kind === 'hostWait')) {
      const waits = covering();
      if (waits) return { before: false, waits };
    }
  }
  return 'never';
}

/** Why the record_stream at `at` can go. */
function unrecorded(subject: Subject, at: StepIndex): Proof | undefined {
  const { steps, path, own } = subject;
  const call = steps[at]!;
  if (call.kind !== 'recordStream') return undefined;
  const { block, stream } = call;
  const names = namesAt(subject, at);
  const allocation = steps.findLastIndex((step, i) => i < at && step.kind === 'allocate' && step.block === block);
  const allocated = steps[allocation];
  if (allocated?.kind !== 'allocate') return undefined;
  if (allocated.stream === stream) {
    if (path.program.streams[stream]!.isDefault) return undefined;
    return {
      text: `${names.block(block)} was allocated on ${names.stream(stream)}: its memory goes back to that stream's pool, in order`,
      by: [],
    };
  }
  const release = steps.findIndex((step, i) => i > at && step.kind === 'release' && step.block === block);
  // What outlives the entry is its caller's, and whoever drops it may not wait.
  if (release < 0 || release >= own) return undefined;
  if (steps.some((step) => step.kind === 'escape' && step.block === block)) return undefined;
  if (isBlind(subject, allocation, release)) return undefined;
  const use = steps.findLastIndex(
    (step, i) =>
      i < release && step.kind === 'launch' && step.stream === stream && step.accesses.some((a) => a.block === block),
  );
  if (use < 0) return undefined;
  for (let i = use + 1; i < release; i++) {
    const step = steps[i]!;
    const joins =
      (step.kind === 'wait' && step.stream === allocated.stream && awaitedBy(steps, i) === stream) ||
      (step.kind === 'hostWait' &&
        (step.on.kind === 'device' || (step.on.kind === 'stream' && step.on.stream === stream)));
    if (!joins || !frameOf(path.program, i)) continue;
    const who = step.kind === 'wait' ? names.stream(allocated.stream) : 'the host';
    return {
      text: `${who} waits for ${names.stream(stream)} before ${names.block(block)} is dropped: %`,
      by: [i],
    };
  }
  return undefined;
}

function namesAt(subject: Subject, at: StepIndex): ReturnType<typeof frameNames> {
  const frame = frameOf(subject.path.program, at);
  return frameNames(subject.path, frame?.activation ?? 0, at);
}

/** Whether code that nobody sees runs between two steps; what comes after all work of the entry is its caller's. */
function isBlind({ path, steps, own }: Subject, from: StepIndex, to: StepIndex): boolean {
  const last = steps.findLastIndex((step, at) => at < own && step.kind === 'launch');
  const isUnseen = (step: Step, at: StepIndex) => step.kind === 'outside' && at > from && at < Math.min(to, last);
  return (path.program.blind ?? []).some((at) => at > from && at <= to) || steps.some(isUnseen);
}

const clock =
  /\b(time|perf_counter\w*|monotonic\w*|process_time\w*|timeit|elapsed_time|[Tt]imer|profiler?|benchmark\w*)\b/;

/** Whether one of the functions that lead to the call reads a clock: what it measures is what the call is for. */
function timesSomething(path: LoweredPath, gone: readonly StepIndex[]): boolean {
  return gone.some((at) => {
    const origin = path.program.origins[path.program.steps[at]!.origin];
    return (
      origin?.kind === 'source' &&
      origin.frames.some(({ activation }) => {
        const { module, function: definition } = path.activations[activation]!;
        const { start, end } = definition ?? module;
        return clock.test(module.text.slice(start, end));
      })
    );
  });
}

function oneLine(source: string): string {
  return source.replace(/\s*\n\s*/g, ' ');
}
