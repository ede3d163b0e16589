/**
 * Several files of one run as one trace: profiles of several ranks, a profile with the allocator snapshot beside it. They are
 * laid on the Unix clock. What two files both tell is told once:
 *
 *     profile    stream 13 ██ ██     blocks without a stream      time 0 ─┐
 *     snapshot   stream 0x55e0       blocks with their pools      time 0 ─┴─ Unix clock
 *     merged     stream 13 (0x55e0) ██ ██, blocks with their pools
 *
 * A snapshot knows streams by handle and a profile by number: the default stream is the same in both, for the others the
 * launches that follow an allocation tell, which is a guess and said so.
 */
import type { Access, Step } from '../program/program.ts';
import { type DraftOrigin, TraceDraft } from './draft.ts';
import { TraceError } from './error.ts';
import { poolsNotRecorded } from './kineto-limits.ts';
import { allocatorAlone } from './snapshot.ts';
import { nameStreams } from './stream-names.ts';
import type { Trace } from './trace.ts';

export interface NamedTrace {
  readonly name: string;
  readonly trace: Trace;
}

/** Whether the files can be of one run: their times overlap on the Unix clock. */
export function areOneRun(traces: readonly Trace[]): boolean {
  const spans = traces.map(spanOf);
  if (traces.length < 2 || spans.some((span) => span === undefined)) return false;
  return spans.every((a) => spans.every((b) => a!.start <= b!.end));
}

function spanOf({ unixStart, duration }: Trace): { start: bigint; end: bigint } | undefined {
  if (unixStart === undefined) return undefined;
  const start = BigInt(unixStart);
  return { start, end: start + BigInt(Math.ceil(duration)) };
}

/** As `mergeTraces`, for files of which it is not known whether they belong together. */
export function mergeOneRun(files: readonly NamedTrace[]): Trace {
  const [one] = files;
  if (one && files.length === 1) return one.trace;
  if (!areOneRun(files.map(({ trace }) => trace)))
    throw new TraceError(
      'These files are of different runs: their times do not overlap, or do not say when they were recorded. Open them one by one, or compare them.',
    );
  return mergeTraces(files);
}

export function mergeTraces(files: readonly NamedTrace[]): Trace {
  if (files.length === 0) throw new TraceError('There is nothing to merge.');
  const draft = new TraceDraft();
  const starts = files.map(({ trace }) => (trace.unixStart === undefined ? undefined : BigInt(trace.unixStart)));
  const first = starts.reduce(
    (least, start) => (start !== undefined && (least === undefined || start < least) ? start : least),
    undefined,
  );
  const shifts = starts.map((start) => (start === undefined || first === undefined ? 0 : Number(start - first)));
  const processes = processesOf(files);
  const beside = (file: number, format: Trace['format']) =>
    files.some((other, i) => i !== file && processes[i] === processes[file] && other.trace.format === format);
  /** What one file cannot tell and the one beside it does. */
  const settled = (limit: string, file: number) =>
    (limit === poolsNotRecorded && beside(file, 'snapshot')) || (limit === allocatorAlone && beside(file, 'kineto'));
  const names = nameStreams(files, processes, shifts);
  for (const limit of names.limits) draft.limits.push(limit);
  for (const [at, entry] of names.streams.entries()) {
    const { name, device, isDefault, handle } = entry;
    const told = files.flatMap(({ trace }, i) =>
      trace.streams.flatMap((stream, id) =>
        names.places[i]![id] === at ? (trace.program.streams[stream.programStream] ?? []) : [],
      ),
    );
    draft.streams.push({ ...entry, programStream: at });
    draft.programStreams.push({
      name,
      device,
      isDefault,
      ...(handle ? { handle } : {}),
      // What one of the files says keeps the stream from being accused together with the others too.
      ...(told.some((known) => known.unknown) ? { unknown: true } : {}),
      ...(told.some((known) => known.collective) ? { collective: true } : {}),
    });
  }
  const parts = files.map(({ name, trace }, i) => {
    const part = new Part(draft, trace, shifts[i]!, names.places[i]!);
    part.append({ prefix: names.prefixes[i]!, blocks: trace.format !== 'kineto' || !beside(i, 'snapshot') });
    if (starts[i] === undefined && files.length > 1)
      draft.limits.push(`“${name}” does not say when it was recorded: it is drawn from the beginning.`);
    return part;
  });
  appendSteps(draft, parts);
  for (const part of parts) part.pointAtSteps();
  for (const limit of new Set(files.flatMap(({ trace }, i) => trace.limits.filter((limit) => !settled(limit, i)))))
    draft.limits.push(limit);
  const counts: { memoryEvents?: number; rows?: number; syncs?: number } = {};
  for (const key of ['memoryEvents', 'rows', 'syncs'] as const)
    for (const { trace } of files)
      if (trace.counts[key] !== undefined) counts[key] = (counts[key] ?? 0) + trace.counts[key];
  const merged = draft.finish({
    format: files[0]!.trace.format,
    producer: [...new Set(files.map(({ trace }) => trace.producer))].join(', '),
    clock: files.some(({ trace }) => trace.clock === 'gpu') ? 'gpu' : 'model',
    unixStart: first === undefined ? undefined : String(first),
    counts,
  });
  return { ...merged, problems: [...merged.problems, ...files.flatMap(({ trace }) => trace.problems)] };
}

/** Files of one process have one number; a file that names no process belongs to the only one there is. */
function processesOf(files: readonly NamedTrace[]): number[] {
  const numbers = new Map<number, number>();
  const own = files.map(({ trace }) => {
    const pids = trace.threads.map((thread) => thread.pid).filter((pid) => pid >= 0);
    if (pids.length === 0) return undefined;
    const known = pids.map((pid) => numbers.get(pid)).find((number) => number !== undefined);
    const number = known ?? numbers.size;
    for (const pid of pids) numbers.set(pid, number);
    return number;
  });
  const known = new Set(own.filter((number) => number !== undefined));
  let alone = numbers.size;
  return own.map((number) => number ?? (known.size <= 1 ? ([...known][0] ?? 0) : ++alone));
}

/** One file's rows on their way into the draft. */
class Part {
  readonly draft: TraceDraft;
  readonly trace: Trace;
  readonly shift: number;
  /** Place of each stream of the file among those of the draft. */
  readonly streams: readonly number[];
  /** New index of each step; filled by `appendSteps`. */
  readonly steps: Int32Array;
  #device = 0;
  #marks = 0;
  #threads = 0;
  #blocks = 0;
  #events = 0;
  #origins = 0;
  #sites: Int32Array = new Int32Array(0);
  /** Graph ids of files must not meet. */
  graphs = 0;

  constructor(draft: TraceDraft, trace: Trace, shift: number, streams: readonly number[]) {
    this.draft = draft;
    this.trace = trace;
    this.shift = shift;
    this.streams = streams;
    this.steps = new Int32Array(trace.program.steps.length).fill(-1);
  }

  append({ prefix, blocks }: { readonly prefix: string; readonly blocks: boolean }): void {
    const { draft, trace, shift } = this;
    const strings = trace.strings.map((text) => draft.strings.add(text));
    const string = (id: number) => (id < 0 ? -1 : (strings[id] ?? -1));
    const time = (value: number) => (value < 0 ? value : value + shift);
    const stream = (id: number) => (id < 0 ? -1 : (this.streams[id] ?? -1));
    this.#threads = draft.threads.length;
    this.#blocks = draft.programBlocks.length;
    this.#events = draft.events.length;
    this.#origins = draft.origins.length;
    this.#device = draft.device.length;
    this.#marks = draft.marks.length;
    for (const thread of trace.threads) draft.threads.push({ ...thread, name: prefix + thread.name });
    trace.program.threads.forEach((thread, i) => {
      draft.programThreads.push({ name: prefix + thread.name });
      // Every thread of the program is one of the trace.
      if (i >= trace.threads.length) draft.threads.push({ name: prefix + thread.name, pid: -1, tid: -1 });
    });
    while (draft.programThreads.length < draft.threads.length) draft.programThreads.push({ name: '' });
    for (const event of trace.program.events) draft.events.push(event);
    for (const block of trace.program.blocks)
      draft.programBlocks.push({
        ...block,
        ...(block.stream === undefined ? {} : { stream: this.programStream(block.stream) }),
      });
    const { sites } = trace;
    this.#sites = new Int32Array(sites.length);
    for (let i = 0; i < sites.length; i++) {
      const parent = sites.parent[i]!;
      this.#sites[i] = draft.sites.add(
        string(sites.file[i]!),
        sites.line[i]!,
        string(sites.function[i]!),
        parent < 0 ? -1 : this.#sites[parent]!,
      );
    }
    for (const origin of trace.program.origins) {
      const { slice: _, ...rest } = { ...origin } as DraftOrigin;
      if (rest.site !== undefined) rest.site = this.#site(rest.site);
      draft.origins.push(rest);
    }
    const hosts = draft.host.length;
    const { hostSlices: h, deviceSlices: d, marks: m, blocks: b, counters: c } = trace;
    for (let i = 0; i < h.length; i++)
      draft.pushHost(
        this.#threads + h.thread[i]!,
        time(h.start[i]!),
        h.duration[i]!,
        string(h.name[i]!),
        h.kind[i]!,
        this.#site(h.site[i]!),
      );
    for (let i = 0; i < d.length; i++)
      draft.pushDevice({
        stream: stream(d.stream[i]!),
        start: time(d.start[i]!),
        duration: d.duration[i]!,
        name: string(d.name[i]!),
        kind: d.kind[i]!,
        bytes: d.bytes[i]!,
        correlation: d.correlation[i]!,
        step: -1,
        site: this.#site(d.site[i]!),
        launcher: d.launcher[i]! < 0 ? -1 : hosts + d.launcher[i]!,
      });
    for (let i = 0; i < m.length; i++)
      draft.pushMark({
        kind: m.kind[i]!,
        stream: stream(m.stream[i]!),
        thread: m.thread[i]! < 0 ? -1 : this.#threads + m.thread[i]!,
        hostTime: time(m.hostTime[i]!),
        deviceTime: time(m.deviceTime[i]!),
        blocked: m.blocked[i]!,
        other: m.other[i]! < 0 ? -1 : this.#marks + m.other[i]!,
        inferred: m.inferred[i] === 1,
        implicit: m.implicit[i] === 1,
        step: -1,
        site: this.#site(m.site[i]!),
      });
    for (const event of trace.allocatorEvents ?? [])
      draft.allocatorEvents.push({
        ...event,
        time: time(event.time),
        device: this.#device0(event.device),
        site: this.#site(event.site),
      });
    for (const arrow of trace.arrows ?? [])
      draft.arrows.push({
        fromTime: time(arrow.fromTime),
        toTime: time(arrow.toTime),
        fromStream: stream(arrow.fromStream),
        toStream: stream(arrow.toStream),
        fromThread: arrow.fromThread < 0 ? -1 : this.#threads + arrow.fromThread,
        toThread: arrow.toThread < 0 ? -1 : this.#threads + arrow.toThread,
        kind: string(arrow.kind),
      });
    if (!blocks) return;
    for (let i = 0; i < b.length; i++) {
      const row = draft.pushBlock({
        address: b.address[i]!,
        size: b.size[i]!,
        stream: stream(b.stream[i]!),
        allocated: time(b.allocated[i]!),
        releaseRequested: time(b.releaseRequested[i]!),
        reusable: time(b.reusable[i]!),
        name: string(b.name[i]!),
        allocationSite: this.#site(b.allocationSite[i]!),
        programBlock: b.programBlock[i]! < 0 ? -1 : this.#blocks + b.programBlock[i]!,
      });
      draft.blocks.lastUse.set(row, time(b.lastUse[i]!));
      draft.blocks.releaseSite.set(row, this.#site(b.releaseSite[i]!));
    }
    // Devices of several processes bear the same numbers: a stream of this file tells which one is meant.
    for (let i = 0; i < c.length; i++) {
      const device = c.device?.[i] ?? 0;
      draft.counters.add(time(c.time[i]!), this.#device0(device), c.allocated[i]!, c.reserved[i]!, c.heldBack[i]!);
    }
  }

  /** The device in the merged trace, by any stream of the file that is on it. */
  #device0(device: number): number {
    const at = this.trace.streams.findIndex((stream) => stream.device === device);
    return at < 0 ? device : this.draft.streams[this.streams[at]!]!.device;
  }

  #site(site: number): number {
    return site < 0 ? -1 : (this.#sites[site] ?? -1);
  }

  /** A stream of the file's program; the tables of programs and traces need not be the same. */
  programStream(stream: number): number {
    const at = this.trace.streams.findIndex((entry) => entry.programStream === stream);
    return at >= 0 ? this.streams[at]! : 0;
  }

  moved(step: Step): Step {
    const block = (id: number) => this.#blocks + id;
    const access = (entry: Access): Access => ({ ...entry, block: block(entry.block) });
    const base = { thread: this.#threads + step.thread, origin: this.#origins + step.origin };
    const event = (id: number) => this.#events + id;
    switch (step.kind) {
      case 'launch':
        return { ...step, ...base, stream: this.programStream(step.stream), accesses: step.accesses.map(access) };
      case 'record':
      case 'wait':
        return { ...step, ...base, stream: this.programStream(step.stream), event: event(step.event) };
      case 'hostWait':
      case 'poll': {
        const { on } = step;
        const moved =
          on.kind === 'event'
            ? { ...on, event: event(on.event) }
            : on.kind === 'stream'
              ? { ...on, stream: this.programStream(on.stream) }
              : { ...on, device: this.#device0(on.device) };
        return { ...step, ...base, on: moved };
      }
      case 'hostAccess':
        return { ...step, ...base, access: access(step.access) };
      case 'allocate':
      case 'recordStream':
      case 'escape':
        return { ...step, ...base, stream: this.programStream(step.stream), block: block(step.block) };
      case 'release':
        return { ...step, ...base, block: block(step.block) };
      case 'captureBegin':
      case 'replay':
        return { ...step, ...base, stream: this.programStream(step.stream), graph: this.graphs + step.graph };
      case 'captureEnd':
        return { ...step, ...base, graph: this.graphs + step.graph };
      case 'fork':
      case 'join':
        return { ...step, ...base, child: this.#threads + step.child };
      case 'outside':
        return { ...step, ...base, stream: this.programStream(step.stream) };
    }
  }

  pointAtSteps(): void {
    const { deviceSlices: d, marks: m } = this.trace;
    for (let i = 0; i < d.length; i++)
      if (d.step[i]! >= 0) this.draft.device.step.set(this.#device + i, this.steps[d.step[i]!]!);
    for (let i = 0; i < m.length; i++)
      if (m.step[i]! >= 0) this.draft.marks.step.set(this.#marks + i, this.steps[m.step[i]!]!);
  }
}

/** In the order of their times; within a file the order stays as it is. */
function appendSteps(draft: TraceDraft, parts: readonly Part[]): void {
  const next = parts.map(() => 0);
  const clock = parts.map(() => 0);
  let graphs = 0;
  for (const part of parts) {
    part.graphs = graphs;
    for (const step of part.trace.program.steps)
      if ('graph' in step) graphs = Math.max(graphs, part.graphs + step.graph + 1);
  }
  const timeOf = (part: number): number => {
    const time = parts[part]!.trace.stepTime?.[next[part]!] ?? -1;
    return time < 0 ? clock[part]! : Math.max(clock[part]!, time + parts[part]!.shift);
  };
  for (;;) {
    let best = -1;
    for (let part = 0; part < parts.length; part++) {
      if (next[part]! >= parts[part]!.trace.program.steps.length) continue;
      if (best < 0 || timeOf(part) < timeOf(best)) best = part;
    }
    if (best < 0) return;
    const part = parts[best]!;
    const index = next[best]!;
    clock[best] = timeOf(best);
    const known = part.trace.stepTime?.[index] ?? -1;
    part.steps[index] = draft.pushStep(
      part.moved(part.trace.program.steps[index]!),
      known < 0 ? -1 : known + part.shift,
    );
    next[best] = index + 1;
  }
}
