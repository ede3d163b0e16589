/**
 * A trace while a file is read: tables to which importers append in file order, and `finish`, which sorts them, points
 * every index at its new place, counts, and lays down the columns. Knows no format.
 */
import type { EventEntry, BlockEntry, Step, StreamEntry, StreamProgram, ThreadEntry } from '../program/program.ts';
import { type Column, float64, groupedOrder, int32, inverse, uint8 } from './columns.ts';
import { Problems } from './problems.ts';
import { StringTable } from './strings.ts';
import type { AllocatorEvent, Arrow, Trace, TraceCounts, TraceStream, TraceThread } from './trace.ts';
import { deviceSliceKinds, hostSliceKinds, markKinds } from './trace.ts';

export interface DraftOrigin {
  readonly kind: 'trace';
  row: number;
  file?: string;
  line?: number;
  slice?: number;
  site?: number;
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const kernelSlice = deviceSliceKinds.indexOf('kernel');
export const copySlice = deviceSliceKinds.indexOf('copy');
export const setSlice = deviceSliceKinds.indexOf('set');
export const operatorSlice = hostSliceKinds.indexOf('operator');
export const runtimeSlice = hostSliceKinds.indexOf('runtime');
export const annotationSlice = hostSliceKinds.indexOf('annotation');
export const pythonSlice = hostSliceKinds.indexOf('python');
export const syncSlice = hostSliceKinds.indexOf('sync');
export const recordMark = markKinds.indexOf('record');
export const waitMark = markKinds.indexOf('wait');
export const hostWaitMark = markKinds.indexOf('hostWait');

export class DeviceRows {
  readonly stream = int32();
  readonly start = float64();
  readonly duration = float64();
  readonly name = int32();
  readonly kind = uint8();
  readonly bytes = float64();
  readonly correlation = float64();
  readonly step = int32();
  readonly site = int32();
  /** Row of the host table, before it is sorted. */
  readonly launcher = int32();

  get length(): number {
    return this.start.length;
  }
}

export class HostRows {
  readonly thread = int32();
  readonly start = float64();
  readonly duration = float64();
  readonly name = int32();
  readonly kind = uint8();
  readonly site = int32();

  get length(): number {
    return this.start.length;
  }

  #sortedLength = 0;

  /** Whether all rows are in their order. */
  get sorted(): boolean {
    return this.#sortedLength === this.length;
  }

  /** Grouped by thread, then by start, the longer first. */
  order(): Int32Array {
    return groupedOrder(this.length, this.thread.cells, this.start.cells, this.duration.cells);
  }

  /** Sorts the rows now; an importer that does it points its own indices at the new places itself. */
  reorder(order: Int32Array): void {
    this.#sortedLength = this.length;
    for (const column of [this.thread, this.start, this.duration, this.name, this.kind, this.site])
      column.reorder(order);
  }
}

export class MarkRows {
  readonly kind = uint8();
  readonly stream = int32();
  readonly thread = int32();
  readonly hostTime = float64();
  readonly deviceTime = float64();
  readonly blocked = float64();
  readonly other = int32();
  readonly inferred = uint8();
  readonly implicit = uint8();
  readonly step = int32();
  readonly site = int32();

  get length(): number {
    return this.kind.length;
  }
}

export class BlockRows {
  readonly address = float64();
  readonly size = float64();
  readonly stream = int32();
  readonly allocated = float64();
  readonly releaseRequested = float64();
  readonly lastUse = float64();
  readonly reusable = float64();
  readonly name = int32();
  readonly allocationSite = int32();
  readonly releaseSite = int32();
  readonly programBlock = int32();

  get length(): number {
    return this.address.length;
  }
}

export class SiteRows {
  readonly file = int32();
  readonly line = int32();
  readonly function = int32();
  readonly parent = int32();
  readonly #ids = new Map<string, number>();
  readonly #user = new Set<number>();
  /** The innermost site of the user's own code from a site outwards, where that was asked; -1: there is none. */
  readonly #nearest = new Map<number, number>();

  get length(): number {
    return this.file.length;
  }

  /** Says that the site is the user's own code, not a package's. */
  markUser(site: number): void {
    this.#user.add(site);
  }

  /** The innermost site of the user's own code from this one outwards; where there is none, the site itself. */
  userSite(site: number): number {
    const known = this.#nearest;
    let at = site;
    while (at >= 0 && !known.has(at) && !this.#user.has(at)) at = this.parent.get(at);
    const found = at < 0 ? -1 : (known.get(at) ?? at);
    // Stacks may be long and share their tails: none is gone through twice.
    for (let passed = site; passed !== at; passed = this.parent.get(passed)) known.set(passed, found);
    return found < 0 ? site : found;
  }

  /** The site of this frame called from `parent`; the same frame from the same caller is one site. */
  add(file: number, line: number, fn: number, parent: number): number {
    const key = `${parent} ${file} ${line} ${fn}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.file.length;
    this.#ids.set(key, id);
    this.file.push(file);
    this.line.push(line);
    this.function.push(fn);
    this.parent.push(parent);
    return id;
  }
}

export class CounterRows {
  readonly time = float64();
  readonly allocated = float64();
  readonly reserved = float64();
  readonly heldBack = float64();
  readonly device = int32();

  get length(): number {
    return this.time.length;
  }

  add(time: number, device: number, allocated: number, reserved: number, heldBack: number): void {
    this.time.push(time);
    this.device.push(device);
    this.allocated.push(allocated);
    this.reserved.push(reserved);
    this.heldBack.push(heldBack);
  }
}

export class TraceDraft {
  readonly strings = new StringTable();
  readonly problems = new Problems();
  readonly limits: string[] = [];
  readonly streams: Mutable<TraceStream>[] = [];
  readonly threads: Mutable<TraceThread>[] = [];
  readonly sites = new SiteRows();
  readonly device = new DeviceRows();
  readonly host = new HostRows();
  readonly marks = new MarkRows();
  readonly blocks = new BlockRows();
  readonly counters = new CounterRows();
  readonly allocatorEvents: AllocatorEvent[] = [];
  readonly arrows: Arrow[] = [];

  readonly programStreams: Mutable<StreamEntry>[] = [];
  readonly events: EventEntry[] = [];
  readonly programBlocks: Mutable<BlockEntry>[] = [];
  readonly programThreads: ThreadEntry[] = [];
  readonly origins: DraftOrigin[] = [];
  readonly steps: Step[] = [];
  /** Host time of each step, -1 where not known. */
  readonly stepTime = float64();

  /** Time of the last thing that is known to have happened. */
  latest = 0;

  pushStep(step: Step, time: number): number {
    this.stepTime.push(time);
    return this.steps.push(step) - 1;
  }

  /** An origin for a step of this row at this site (-1: none). */
  origin(row: number, site: number): number {
    const file = site >= 0 ? this.strings.list[this.sites.file.get(site)] : undefined;
    // Each whole from the start: one that grows by single properties is another object behind it, hundreds of thousands of times.
    const origin: DraftOrigin = file
      ? { kind: 'trace', row, site, file, line: this.sites.line.get(site) }
      : site >= 0
        ? { kind: 'trace', row, site }
        : { kind: 'trace', row };
    return this.origins.push(origin) - 1;
  }

  pushDevice(row: {
    stream: number;
    start: number;
    duration: number;
    name: number;
    kind: number;
    bytes: number;
    correlation: number;
    step: number;
    site: number;
    launcher: number;
  }): number {
    const t = this.device;
    t.stream.push(row.stream);
    t.start.push(row.start);
    t.duration.push(row.duration);
    t.name.push(row.name);
    t.kind.push(row.kind);
    t.bytes.push(row.bytes);
    t.correlation.push(row.correlation);
    t.step.push(row.step);
    t.site.push(row.site);
    t.launcher.push(row.launcher);
    return t.length - 1;
  }

  pushHost(thread: number, start: number, duration: number, name: number, kind: number, site: number): number {
    const t = this.host;
    t.thread.push(thread);
    t.start.push(start);
    t.duration.push(duration);
    t.name.push(name);
    t.kind.push(kind);
    t.site.push(site);
    return t.length - 1;
  }

  pushMark(row: {
    kind: number;
    stream: number;
    thread: number;
    hostTime: number;
    deviceTime?: number;
    blocked?: number;
    other?: number;
    inferred?: boolean;
    implicit?: boolean;
    step: number;
    site: number;
  }): number {
    const t = this.marks;
    t.kind.push(row.kind);
    t.stream.push(row.stream);
    t.thread.push(row.thread);
    t.hostTime.push(row.hostTime);
    t.deviceTime.push(row.deviceTime ?? -1);
    t.blocked.push(row.blocked ?? -1);
    t.other.push(row.other ?? -1);
    t.inferred.push(row.inferred ? 1 : 0);
    t.implicit.push(row.implicit ? 1 : 0);
    t.step.push(row.step);
    t.site.push(row.site);
    return t.length - 1;
  }

  pushBlock(row: {
    address: number;
    size: number;
    stream: number;
    allocated: number;
    releaseRequested?: number;
    reusable?: number;
    name: number;
    allocationSite: number;
    programBlock: number;
  }): number {
    const t = this.blocks;
    t.address.push(row.address);
    t.size.push(row.size);
    t.stream.push(row.stream);
    t.allocated.push(row.allocated);
    t.releaseRequested.push(row.releaseRequested ?? -1);
    t.lastUse.push(-1);
    t.reusable.push(row.reusable ?? -1);
    t.name.push(row.name);
    t.allocationSite.push(row.allocationSite);
    t.releaseSite.push(-1);
    t.programBlock.push(row.programBlock);
    return t.length - 1;
  }

  finish(about: {
    format: Trace['format'];
    producer: string;
    clock: Trace['clock'];
    unixStart?: string;
    rank?: number;
    counts?: Partial<TraceCounts>;
    /** Beside the host rows: the rows of the file. */
    hostRow?: Column<Int32Array>;
    /** In place of the steps that were pushed: one without accesses, which is made when somebody asks for it. */
    program?: StreamProgram;
    /** Beside the blocks. */
    pinned?: Uint8Array;
  }): Trace {
    if (this.strings.mended > 0)
      this.problems.add(
        'names',
        `${this.strings.mended} names held control characters or were too long; they are shown mended.`,
        -1,
        -1,
      );
    const { device, host, marks, blocks, counters, sites } = this;

    const hostOrder = host.sorted ? undefined : host.order();
    if (hostOrder) {
      const hostPlace = inverse(hostOrder);
      for (let row = 0; row < device.length; row++) {
        const launcher = device.launcher.get(row);
        if (launcher >= 0) device.launcher.set(row, hostPlace[launcher]!);
      }
    }
    const deviceOrder = groupedOrder(device.length, device.stream.cells, device.start.cells);
    this.#pointOriginsAtSlices(deviceOrder);
    const counterOrder = groupedOrder(counters.length, undefined, counters.time.cells);

    const program: StreamProgram = about.program ?? {
      streams: this.programStreams,
      events: this.events,
      blocks: this.programBlocks,
      threads: this.programThreads,
      origins: this.origins,
      steps: this.steps,
    };
    return {
      format: about.format,
      producer: about.producer,
      clock: about.clock,
      unixStart: about.unixStart,
      ...(about.rank === undefined ? {} : { rank: about.rank }),
      duration: this.#duration(),
      strings: this.strings.list,
      streams: this.streams,
      threads: this.threads,
      sites: {
        length: sites.length,
        file: sites.file.finish(),
        line: sites.line.finish(),
        function: sites.function.finish(),
        parent: sites.parent.finish(),
      },
      deviceSlices: {
        length: device.length,
        stream: device.stream.finish(deviceOrder),
        start: device.start.finish(deviceOrder),
        duration: device.duration.finish(deviceOrder),
        name: device.name.finish(deviceOrder),
        kind: device.kind.finish(deviceOrder),
        bytes: device.bytes.finish(deviceOrder),
        correlation: device.correlation.finish(deviceOrder),
        step: device.step.finish(deviceOrder),
        site: device.site.finish(deviceOrder),
        launcher: device.launcher.finish(deviceOrder),
      },
      hostSlices: {
        length: host.length,
        thread: host.thread.finish(hostOrder),
        start: host.start.finish(hostOrder),
        duration: host.duration.finish(hostOrder),
        name: host.name.finish(hostOrder),
        kind: host.kind.finish(hostOrder),
        site: host.site.finish(hostOrder),
        ...(about.hostRow === undefined ? {} : { row: about.hostRow.finish(hostOrder) }),
      },
      marks: {
        length: marks.length,
        kind: marks.kind.finish(),
        stream: marks.stream.finish(),
        thread: marks.thread.finish(),
        hostTime: marks.hostTime.finish(),
        deviceTime: marks.deviceTime.finish(),
        blocked: marks.blocked.finish(),
        other: marks.other.finish(),
        inferred: marks.inferred.finish(),
        implicit: marks.implicit.finish(),
        step: marks.step.finish(),
        site: marks.site.finish(),
      },
      blocks: {
        length: blocks.length,
        address: blocks.address.finish(),
        size: blocks.size.finish(),
        stream: blocks.stream.finish(),
        allocated: blocks.allocated.finish(),
        releaseRequested: blocks.releaseRequested.finish(),
        lastUse: blocks.lastUse.finish(),
        reusable: blocks.reusable.finish(),
        name: blocks.name.finish(),
        allocationSite: blocks.allocationSite.finish(),
        releaseSite: blocks.releaseSite.finish(),
        programBlock: blocks.programBlock.finish(),
        ...(about.pinned === undefined ? {} : { pinned: about.pinned }),
      },
      counters: {
        length: counters.length,
        time: counters.time.finish(counterOrder),
        allocated: counters.allocated.finish(counterOrder),
        reserved: counters.reserved.finish(counterOrder),
        heldBack: counters.heldBack.finish(counterOrder),
        device: counters.device.finish(counterOrder),
      },
      ...(this.allocatorEvents.length > 0 ? { allocatorEvents: this.allocatorEvents } : {}),
      ...(this.arrows.length > 0 ? { arrows: this.arrows } : {}),
      stepTime: this.stepTime.finish(),
      counts: { ...this.#counts(), ...about.counts },
      limits: this.limits,
      problems: this.problems.finish(),
      ...(about.program === undefined ? {} : { accesses: false }),
      program,
    };
  }

  #pointOriginsAtSlices(order: Int32Array): void {
    const { device, steps, origins } = this;
    for (let place = 0; place < order.length; place++) {
      const row = order[place]!;
      const step = steps[device.step.get(row)];
      if (!step) continue;
      const origin = origins[step.origin]!;
      if (origin.slice === undefined || device.start.get(row) < device.start.get(order[origin.slice]!))
        origin.slice = place;
    }
  }

  #duration(): number {
    const { device, host, marks, counters } = this;
    let end = Math.max(this.latest, latestEnd(device.start, device.duration), latestEnd(host.start, host.duration));
    for (const column of [marks.hostTime, marks.deviceTime, counters.time, this.stepTime])
      end = Math.max(end, highest(column));
    return end;
  }

  #counts(): TraceCounts {
    const { device, marks, blocks } = this;
    const kernels = countOf(device.kind, kernelSlice);
    const copies = countOf(device.kind, copySlice);
    const memsets = device.length - kernels - copies;
    const records = countOf(marks.kind, recordMark);
    const hostWaits = countOf(marks.kind, hostWaitMark);
    const waits = marks.length - records - hostWaits;
    const waitsWithRecord = boundWaits(marks);
    const allocations = countKnown(blocks.allocated);
    const releases = countKnown(blocks.releaseRequested);
    return { kernels, copies, memsets, records, waits, waitsWithRecord, hostWaits, allocations, releases };
  }
}

function latestEnd(start: Column<Float64Array>, duration: Column<Float64Array>): number {
  const starts = start.cells;
  const durations = duration.cells;
  let end = 0;
  for (let row = 0; row < start.length; row++)
    if (starts[row]! + durations[row]! > end) end = starts[row]! + durations[row]!;
  return end;
}

function highest({ cells, length }: Column<Float64Array>): number {
  let most = 0;
  for (let row = 0; row < length; row++) if (cells[row]! > most) most = cells[row]!;
  return most;
}

function countOf({ cells, length }: Column<Uint8Array>, value: number): number {
  let count = 0;
  for (let row = 0; row < length; row++) if (cells[row] === value) count++;
  return count;
}

/** -1 is not known. */
function countKnown({ cells, length }: Column<Float64Array>): number {
  let count = 0;
  for (let row = 0; row < length; row++) if (cells[row]! >= 0) count++;
  return count;
}

function boundWaits({ kind, other, inferred, length }: MarkRows): number {
  let count = 0;
  for (let row = 0; row < length; row++)
    if (kind.get(row) === waitMark && other.get(row) >= 0 && inferred.get(row) === 0) count++;
  return count;
}
