/**
 * Joins the rows of a profiler trace: the call that launched a kernel (by correlation), the Python site of a call (by
 * nesting on its thread), the record that a wait is bound to, the two ends of a block's life. Steps are put in the order
 * of their host calls; GPU times order nothing.
 *
 *     host     ─ cudaLaunchKernel ── cudaEventRecord ── cudaStreamWaitEvent ─
 *                     │ correlation        ▲ wait_on_cuda_event_record_corr_id │
 *     stream        ██ kernel ██           └──────────── cuda_sync row ────────┘
 */
import type { Access, HostWaitStep } from '../program/program.ts';
import { groupedOrder } from './columns.ts';
import { hostWaitMark, operatorSlice, pythonSlice, recordMark, waitMark } from './draft.ts';
import type { KinetoRows } from './kineto.ts';
import { workOutMarkTimes } from './mark-times.ts';
import { type PythonFrame, parsePythonFrame } from './python-frames.ts';

/** What the host asked for, to be put in order. */
interface Call {
  readonly time: number;
  readonly kind: 'launch' | 'record' | 'wait' | 'hostWait';
  /** Device row, host row, or sync row, by kind; a hostWait without a sync row has its host row in `call`. */
  readonly row: number;
  /** Host row of the call, -1 if it is not in the file. */
  readonly call: number;
}

export function joinKineto(rows: KinetoRows, earliest: number): void {
  const { draft } = rows;
  for (const column of [
    draft.host.start,
    draft.device.start,
    rows.syncs.time,
    rows.events.time,
    rows.memory.time,
    rows.path.fromTime,
    rows.path.toTime,
  ])
    column.add(-earliest);

  const order = draft.host.order();
  draft.host.reorder(order);
  rows.callCorrelation.reorder(order);
  rows.hostRow.reorder(order);

  const memoryOrder = sortedMemory(rows);
  const sites = new Sites(rows);
  const memory = sites.sweep(memoryOrder);

  const callOf = new Map<number, number>();
  const correlations = rows.callCorrelation.cells;
  for (let row = 0; row < draft.host.length; row++) {
    const correlation = correlations[row]!;
    if (correlation >= 0 && !callOf.has(correlation)) callOf.set(correlation, row);
  }

  if (draft.threads.length === 0) {
    draft.threads.push({ name: 'host', pid: -1, tid: -1 });
    draft.programThreads.push({ name: 'host' });
  }
  makeBlocks(rows, memoryOrder, memory);
  makeSteps(rows, callOf);
  makeArrows(rows);
  workOutMarkTimes(draft);
}

// Python sites.

class Sites {
  readonly #rows: KinetoRows;
  readonly #frames = new Map<number, PythonFrame | undefined>();
  readonly #siteOf = new Map<number, number>();

  constructor(rows: KinetoRows) {
    this.#rows = rows;
  }

  /** Gives every host row its site, and tells site and operator of each memory row. */
  sweep(memoryOrder: Int32Array): { site: Int32Array; operator: Int32Array } {
    const { draft, memory } = this.#rows;
    const { host } = draft;
    const site = new Int32Array(memoryOrder.length).fill(-1);
    const operator = new Int32Array(memoryOrder.length).fill(-1);
    const ofThread = new Map<number, number[]>();
    for (const row of memoryOrder) {
      const thread = memory.thread.get(row);
      const list = ofThread.get(thread);
      if (list) list.push(row);
      else ofThread.set(thread, [row]);
    }

    const open: number[] = [];
    let thread = -2;
    let waiting: number[] = [];
    let next = 0;
    /** Memory rows up to `time` happen inside what is open now. */
    const settleMemory = (time: number) => {
      while (next < waiting.length) {
        const row = waiting[next]!;
        const at = memory.time.get(row);
        if (at >= time) return;
        next++;
        let foundSite = false;
        for (let i = open.length - 1; i >= 0 && !(foundSite && operator[row]! >= 0); i--) {
          const slice = open[i]!;
          if (host.start.get(slice) + host.duration.get(slice) < at) continue;
          if (!foundSite) {
            site[row] = host.site.get(slice);
            foundSite = true;
          }
          if (host.kind.get(slice) === operatorSlice && operator[row]! < 0) operator[row] = host.name.get(slice);
        }
      }
    };
    const threads = host.thread.cells;
    const starts = host.start.cells;
    const durations = host.duration.cells;
    const kinds = host.kind.cells;
    const names = host.name.cells;
    const hostSites = host.site.cells;
    for (let row = 0; row < host.length; row++) {
      const start = starts[row]!;
      if (threads[row] !== thread) {
        settleMemory(Number.POSITIVE_INFINITY);
        open.length = 0;
        thread = threads[row]!;
        waiting = ofThread.get(thread) ?? [];
        next = 0;
      }
      if (next < waiting.length) settleMemory(start);
      const lasts = durations[row]! > 0;
      while (open.length > 0) {
        const top = open[open.length - 1]!;
        const end = starts[top]! + durations[top]!;
        // In traces of whole microseconds an empty call at the end of another is inside it.
        if (end < start || (end === start && lasts)) open.pop();
        else break;
      }
      const outer = open.length > 0 ? hostSites[open[open.length - 1]!]! : -1;
      hostSites[row] = kinds[row] === pythonSlice ? this.#site(names[row]!, outer) : outer;
      open.push(row);
    }
    settleMemory(Number.POSITIVE_INFINITY);
    return { site, operator };
  }

  #site(name: number, parent: number): number {
    const key = (parent + 1) * 2 ** 26 + name;
    const known = this.#siteOf.get(key);
    if (known !== undefined) return known;
    const { strings, sites } = this.#rows.draft;
    let frame = this.#frames.get(name);
    if (!frame && !this.#frames.has(name)) {
      frame = parsePythonFrame(strings.list[name]!);
      this.#frames.set(name, frame);
    }
    let site = parent;
    if (frame && frame.owner !== 'hidden') {
      site = sites.add(strings.add(frame.file), frame.line, strings.add(frame.function), parent);
      if (frame.owner === 'user') sites.markUser(site);
    }
    this.#siteOf.set(key, site);
    return site;
  }
}

// Blocks.

function sortedMemory(rows: KinetoRows): Int32Array {
  const { time } = rows.memory;
  return groupedOrder(time.length, undefined, time.cells);
}

function makeBlocks(
  rows: KinetoRows,
  memoryOrder: Int32Array,
  found: { site: Int32Array; operator: Int32Array },
): void {
  const { draft, memory } = rows;
  const { blocks } = draft;
  const live = new Map<number, Map<number, number>>();
  for (const row of memoryOrder) {
    const device = memory.device.get(row);
    const address = memory.address.get(row);
    const time = memory.time.get(row);
    const bytes = memory.bytes.get(row);
    let ofDevice = live.get(device);
    if (!ofDevice) {
      ofDevice = new Map();
      live.set(device, ofDevice);
    }
    const known = ofDevice.get(address);
    if (bytes > 0 || known === undefined) {
      const block = draft.pushBlock({
        address,
        size: Math.abs(bytes),
        stream: -1,
        // A release without an allocation: the block is older than the recording.
        allocated: bytes > 0 ? time : -1,
        releaseRequested: bytes > 0 ? -1 : time,
        name: bytes > 0 ? found.operator[row]! : -1,
        allocationSite: bytes > 0 ? found.site[row]! : -1,
        programBlock: -1,
      });
      if (bytes > 0) ofDevice.set(address, block);
      else blocks.releaseSite.set(block, found.site[row]!);
    } else {
      blocks.releaseRequested.set(known, time);
      blocks.releaseSite.set(known, found.site[row]!);
      ofDevice.delete(address);
    }
    draft.counters.add(time, device, memory.allocated.get(row), memory.reserved.get(row), -1);
  }
}

// Arrows of another tool's critical path.

function makeArrows({ draft, path }: KinetoRows): void {
  const threads = new Map(draft.threads.map(({ pid, tid }, i) => [`${pid} ${tid}`, i]));
  const streams = new Map(draft.streams.map(({ device, number }, i) => [`${device} ${number}`, i]));
  for (let row = 0; row < path.toTime.length; row++) {
    const from = `${path.fromPid.get(row)} ${path.fromTid.get(row)}`;
    const to = `${path.toPid.get(row)} ${path.toTid.get(row)}`;
    draft.arrows.push({
      fromTime: path.fromTime.get(row),
      fromStream: streams.get(from) ?? -1,
      fromThread: threads.get(from) ?? -1,
      toTime: path.toTime.get(row),
      toStream: streams.get(to) ?? -1,
      toThread: threads.get(to) ?? -1,
      kind: path.kind.get(row),
    });
  }
}

// Steps.

/** Which memory a kernel touches is not in the file. */
const noAccesses: readonly Access[] = [];

function makeSteps(rows: KinetoRows, callOf: ReadonlyMap<number, number>): void {
  const { draft, syncs, events } = rows;
  const { device, host, strings } = draft;
  const names = new CallNames(strings.list);
  const calls: Call[] = [];

  // Launches: the kernels of one call on one stream are one step; a graph launch has many.
  const launches: number[][] = [];
  /** The first launch of a call, and after each launch the next of the same call on another stream, -1: none. */
  const launchOf = new Map<number, number>();
  const alike: number[] = [];
  let unlaunched = 0;
  let dropped = 0;
  for (let row = 0; row < device.length; row++) {
    const correlation = device.correlation.get(row);
    const call = correlation >= 0 ? callOf.get(correlation) : undefined;
    if (call === undefined) {
      unlaunched++;
      continue;
    }
    device.launcher.set(row, call);
    device.site.set(row, host.site.get(call));
    const stream = device.stream.get(row);
    const first = launchOf.get(correlation) ?? -1;
    let launch = first;
    while (launch >= 0 && device.stream.get(launches[launch]![0]!) !== stream) launch = alike[launch]!;
    if (launch >= 0) launches[launch]!.push(row);
    else {
      launchOf.set(correlation, launches.length);
      alike.push(first);
      calls.push({ time: host.start.get(call), kind: 'launch', row: launches.length, call });
      launches.push([row]);
    }
  }

  bindByEvent(rows);
  // Which stream a record is on: its own row says it, or the wait that is bound to it.
  const recordStream = new Map<number, number>();
  const recordTime = new Map<number, number>();
  for (let row = 0; row < events.time.length; row++) {
    const stream = rows.stream(events.device.get(row), events.stream.get(row));
    if (stream >= 0) recordStream.set(events.correlation.get(row), stream);
    recordTime.set(events.correlation.get(row), events.time.get(row));
  }
  const synced = new Set<number>();
  for (let row = 0; row < syncs.time.length; row++) {
    const correlation = syncs.correlation.get(row);
    if (correlation >= 0) synced.add(correlation);
    const record = syncs.record.get(row);
    if (record >= 0 && !recordStream.has(record)) {
      const stream = rows.stream(syncs.device.get(row), syncs.waitsOn.get(row));
      if (stream >= 0) recordStream.set(record, stream);
    }
    const kind = strings.list[syncs.kind.get(row)];
    if (kind === undefined || kind === 'Unknown Sync') continue;
    const call = callOf.get(correlation) ?? -1;
    calls.push({
      time: call >= 0 ? host.start.get(call) : syncs.time.get(row),
      kind: kind === 'Stream Wait Event' ? 'wait' : 'hostWait',
      row,
      call,
    });
  }
  const correlations = rows.callCorrelation.cells;
  const hostNames = host.name.cells;
  for (let row = 0; row < host.length; row++) {
    if (correlations[row]! < 0) continue;
    const kind = names.kind(hostNames[row]!);
    if (kind === 'record') calls.push({ time: host.start.get(row), kind, row, call: row });
    else if ((kind === 'wait' || kind === 'hostWait') && !synced.has(rows.callCorrelation.get(row))) {
      // Where waits are recorded, one without its row is on a stream without GPU work in the window, or captured.
      if (kind === 'wait' && syncs.time.length > 0) dropped++;
      else calls.push({ time: host.start.get(row), kind, row: -1, call: row });
    }
  }
  calls.sort((a, b) => a.time - b.time);

  const markOfRecord = new Map<number, number>();
  const eventOfRecord = new Map<number, number>();
  const previous = new PreviousCalls(rows, names);
  let bound = 0;
  let guessed = 0;
  let waits = 0;
  let silent = 0;
  for (const { time, kind, row, call } of calls) {
    const thread = call >= 0 ? host.thread.get(call) : 0;
    const site = call >= 0 ? host.site.get(call) : -1;
    const fileRow = call >= 0 ? rows.hostRow.get(call) : row >= 0 && kind !== 'launch' ? syncs.row.get(row) : -1;
    const origin = () => draft.origin(fileRow, draft.sites.userSite(site));
    switch (kind) {
      case 'launch': {
        const slices = launches[row]!;
        const first = slices[0]!;
        const name =
          strings.list[(slices.length === 1 ? device.name : host.name).get(slices.length === 1 ? first : call)]!;
        const step = draft.pushStep(
          { kind: 'launch', thread, origin: origin(), stream: device.stream.get(first), name, accesses: noAccesses },
          time,
        );
        for (const slice of slices) device.step.set(slice, step);
        break;
      }
      case 'record': {
        const correlation = rows.callCorrelation.get(call);
        const stream = recordStream.get(correlation) ?? -1;
        let step = -1;
        if (stream >= 0) {
          const event = draft.events.push({ name: `event (record ${correlation})` }) - 1;
          eventOfRecord.set(correlation, event);
          step = draft.pushStep({ kind: 'record', thread, origin: origin(), event, stream }, time);
        }
        // The device's own time of the record; where device timestamps are off it is 0 or the host's.
        const reached = recordTime.get(correlation) ?? -1;
        const deviceTime = reached >= time + host.duration.get(call) ? reached : -1;
        markOfRecord.set(
          correlation,
          draft.pushMark({ kind: recordMark, stream, thread, hostTime: time, deviceTime, step, site }),
        );
        break;
      }
      case 'wait': {
        waits++;
        const stream = row >= 0 ? rows.stream(syncs.device.get(row), syncs.stream.get(row)) : -1;
        if (stream < 0) silent++;
        const record = row >= 0 ? syncs.record.get(row) : -1;
        const known = record >= 0 ? markOfRecord.get(record) : undefined;
        const guess = known === undefined && call >= 0 ? markOfRecord.get(previous.recordBefore(call)) : undefined;
        if (known !== undefined) bound++;
        else if (guess !== undefined) guessed++;
        let step = -1;
        if (stream >= 0) {
          const event =
            eventOfRecord.get(record) ??
            draft.events.push({ name: 'event (its record is not in the file)', unknown: true }) - 1;
          step = draft.pushStep({ kind: 'wait', thread, origin: origin(), event, stream }, time);
        }
        draft.pushMark({
          kind: waitMark,
          stream,
          thread,
          hostTime: time,
          other: known ?? guess ?? -1,
          inferred: known === undefined ? guess !== undefined : syncs.inferred.get(row) === 1,
          step,
          site,
        });
        break;
      }
      case 'hostWait': {
        const name = call >= 0 ? names.kind(host.name.get(call)) : undefined;
        const syncKind = row >= 0 ? strings.list[syncs.kind.get(row)] : undefined;
        const record = row >= 0 ? syncs.record.get(row) : -1;
        const stream =
          row < 0
            ? -1
            : syncKind === 'Event Sync'
              ? (recordStream.get(record) ?? rows.stream(syncs.device.get(row), syncs.waitsOn.get(row)))
              : rows.stream(syncs.device.get(row), syncs.stream.get(row));
        const on = waitedFor(
          syncKind ?? names.waitsFor(host.name.get(call)),
          row >= 0 ? syncs.device.get(row) : 0,
          stream,
          eventOfRecord.get(record),
        );
        // A query that answered “done” shows as an Event Sync too: it orders like one, but nobody waited.
        const kindOfStep = name === 'query' ? 'poll' : 'hostWait';
        const step = on ? draft.pushStep({ kind: kindOfStep, thread, origin: origin(), on }, time) : -1;
        if (kindOfStep === 'poll') break;
        const duration = call >= 0 ? host.duration.get(call) : syncs.duration.get(row);
        draft.pushMark({
          kind: hostWaitMark,
          stream,
          thread,
          hostTime: time,
          deviceTime: time + duration,
          blocked: duration,
          other: markOfRecord.get(record) ?? -1,
          step,
          site,
        });
        break;
      }
    }
  }
  tellLimits(rows, { waits, bound, guessed, silent, unlaunched, dropped });
}

/** A wait that names its event but not the record gets the newest record of that event before it: a guess, ids are used again. */
function bindByEvent({ syncs, events }: KinetoRows): void {
  const byEvent = new Map<number, number[]>();
  for (let row = 0; row < events.time.length; row++) {
    const event = events.event.get(row);
    if (event < 0) continue;
    const list = byEvent.get(event);
    if (list) list.push(events.correlation.get(row));
    else byEvent.set(event, [events.correlation.get(row)]);
  }
  for (const list of byEvent.values()) list.sort((a, b) => a - b);
  for (let row = 0; row < syncs.time.length; row++) {
    if (syncs.record.get(row) >= 0) continue;
    const before = byEvent
      .get(syncs.event.get(row))
      ?.findLast((correlation) => correlation < syncs.correlation.get(row));
    if (before === undefined) continue;
    syncs.record.set(row, before);
    syncs.inferred.set(row, 1);
  }
}

function waitedFor(
  what: string | undefined,
  device: number,
  stream: number,
  event: number | undefined,
): HostWaitStep['on'] | undefined {
  if (what === 'Context Sync') return { kind: 'device', device };
  if (what === 'Event Sync') return event === undefined ? undefined : { kind: 'event', event };
  if (what === 'Stream Sync') return stream < 0 ? undefined : { kind: 'stream', stream };
  return undefined;
}

/** No longer so where a snapshot of the same process lies beside the profile. */
export const poolsNotRecorded =
  'Allocator events name no stream: to which pool a block belongs, and when it is reusable, is not known. A snapshot (torch.cuda.memory._dump_snapshot) has that.';

function tellLimits(
  rows: KinetoRows,
  found: { waits: number; bound: number; guessed: number; silent: number; unlaunched: number; dropped: number },
): void {
  const { draft, syncs } = rows;
  const { limits, device, host } = draft;
  limits.push(
    'Which memory an operator reads or writes is not recorded: the profiler does not know it, so races cannot be found in this file. Record the run with `python -m raceline` for that.',
  );
  const { noGpuWork, noWaits, unbound: why, noPlaces } = rows.sentences;
  if (device.length === 0) limits.push(noGpuWork);
  else if (syncs.time.length === 0) limits.push(noWaits);
  const unbound = found.waits - found.bound - found.silent;
  if (unbound > 0)
    limits.push(
      `${unbound} of ${found.waits} waits do not say which record they wait for: ${why}${
        found.guessed > 0 ? ` ${found.guessed} are joined to the record call just before them, which is a guess.` : ''
      }`,
    );
  if (found.silent > 0)
    limits.push(
      `For ${found.silent} of ${found.waits} calls of cudaStreamWaitEvent the waiting stream is not recorded.`,
    );
  if (found.dropped > 0)
    limits.push(
      `${found.dropped} calls of cudaStreamWaitEvent have no row of their own: the profiler leaves out waits of streams without GPU work in the window, and those that are captured into a graph.`,
    );
  if (rows.memory.time.length > 0) limits.push(poolsNotRecorded);
  if (found.unlaunched > 0)
    limits.push(
      `The calls that launched ${found.unlaunched} kernels or copies are not in the file: their place in the order is not known.`,
    );
  if (host.length > 0 && draft.sites.length === 0) limits.push(noPlaces);
  else if (draft.sites.length > 0)
    limits.push('Source lines are those of the function, not of the statement: the profiler records no more.');
}

type CallKind = 'record' | 'wait' | 'hostWait' | 'query' | 'passive' | 'other';

/** What runtime and driver calls do, by their names (CUDA and HIP). */
class CallNames {
  readonly #strings: readonly string[];
  readonly #kinds: (CallKind | undefined)[] = [];

  constructor(strings: readonly string[]) {
    this.#strings = strings;
  }

  kind(name: number): CallKind {
    const known = this.#kinds[name];
    if (known) return known;
    const text = this.#strings[name] ?? '';
    const kind: CallKind = /^(cuda|cu|hip)EventRecord/.test(text)
      ? 'record'
      : /^(cuda|cu|hip)StreamWaitEvent/.test(text)
        ? 'wait'
        : /^(cuda|cu|hip)(Event|Stream|Device|Ctx)Synchronize/.test(text)
          ? 'hostWait'
          : /^(cuda|cu|hip)(Event|Stream)Query/.test(text)
            ? 'query'
            : /^(cuda|cu|hip)(EventCreate|StreamIsCapturing|StreamGetCaptureInfo|GetDevice|SetDevice|GetLastError|PeekAtLastError)/.test(
                  text,
                )
              ? 'passive'
              : 'other';
    this.#kinds[name] = kind;
    return kind;
  }

  waitsFor(name: number): string | undefined {
    const text = this.#strings[name] ?? '';
    return /(Device|Ctx)Synchronize/.test(text) ? 'Context Sync' : undefined;
  }
}

/** Whether the call just before a wait on the same thread is a record: what `wait_stream` does. */
class PreviousCalls {
  readonly #rows: KinetoRows;
  readonly #names: CallNames;

  constructor(rows: KinetoRows, names: CallNames) {
    this.#rows = rows;
    this.#names = names;
  }

  /** Correlation of that record, -1 if another call stands between. */
  recordBefore(call: number): number {
    const { draft, callCorrelation } = this.#rows;
    const { host } = draft;
    const thread = host.thread.get(call);
    // Operators and Python functions lie between two calls of the runtime too; a record is never far.
    for (let row = call - 1; row >= Math.max(0, call - 64) && host.thread.get(row) === thread; row--) {
      if (callCorrelation.get(row) < 0) continue;
      const kind = this.#names.kind(host.name.get(row));
      if (kind === 'record') return callCorrelation.get(row);
      if (kind !== 'passive') return -1;
    }
    return -1;
  }
}
