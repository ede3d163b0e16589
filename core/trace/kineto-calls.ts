/**
 * What the host asked for, by the rows of a profiler: launches (found from the work on the device, by correlation),
 * records and waits, in the order of their calls. Knows nothing of the steps that are made of them.
 */
import { float64, groupedOrder, int32, uint8 } from './columns.ts';
import type { DeviceRows, HostRows } from './draft.ts';
import type { KinetoRows } from './kineto.ts';
import { NumberMap } from './number-map.ts';

export const launchCall = 0;
export const recordCall = 1;
export const waitCall = 2;
export const hostWaitCall = 3;

export class CallRows {
  readonly time = float64();
  readonly kind = uint8();
  /** Launch, host row, or sync row, by kind; a wait without a sync row has -1. */
  readonly row = int32();
  /** Host row of the call, -1 if it is not in the file. */
  readonly call = int32();

  get length(): number {
    return this.time.length;
  }

  add(time: number, kind: number, row: number, call: number): void {
    this.time.push(time);
    this.kind.push(kind);
    this.row.push(row);
    this.call.push(call);
  }

  order(): Int32Array {
    return groupedOrder(this.length, undefined, this.time.cells);
  }
}

/** One call launches on a few streams; where a file has more, some kernels become launches of their own. */
const mostTried = 256;

/** The kernels of one call on one stream are one launch; a graph launch has many. */
export class Launches {
  /** The device rows of a launch: the first, and after each the next; -1: no more. */
  readonly first = int32();
  readonly next: Int32Array;
  readonly #last = int32();
  /** The first launch of a call by its host row, and after each launch the next of the same call on another stream. */
  readonly #ofCall: Int32Array;
  readonly #alike = int32();
  readonly #streams: Int32Array;

  constructor(device: DeviceRows, host: HostRows) {
    this.#streams = device.stream.cells;
    this.next = new Int32Array(device.length).fill(-1);
    this.#ofCall = new Int32Array(host.length).fill(-1);
  }

  get length(): number {
    return this.first.length;
  }

  /** Whether the device row, which `call` launched, begins a launch of its own, which is then the last one. */
  add(row: number, call: number): boolean {
    const streams = this.#streams;
    const first = this.#ofCall[call]!;
    let launch = first;
    for (let tried = 0; launch >= 0 && streams[this.first.get(launch)] !== streams[row]; tried++)
      launch = tried < mostTried ? this.#alike.get(launch) : -1;
    if (launch >= 0) {
      this.next[this.#last.get(launch)] = row;
      this.#last.set(launch, row);
      return false;
    }
    this.#ofCall[call] = this.length;
    this.#alike.push(first);
    this.first.push(row);
    this.#last.push(row);
    return true;
  }
}

/** All calls of a file, and how many there are that cannot be told. */
export class KinetoCalls {
  readonly rows = new CallRows();
  readonly launches: Launches;
  /** Host row of a call by its correlation. */
  readonly ofCorrelation: NumberMap;
  /** Device rows whose call is not in the file. */
  unlaunched = 0;
  /** Waits that are called and have no row of their own. */
  dropped = 0;
  readonly #file: KinetoRows;
  readonly #names: CallNames;

  constructor(file: KinetoRows, names: CallNames) {
    this.#file = file;
    this.#names = names;
    const calls = rowsOfCalls(file);
    this.ofCorrelation = callsByCorrelation(file, calls);
    this.launches = new Launches(file.draft.device, file.draft.host);
    this.#addLaunches();
    this.#addCalls(calls, this.#addSyncs());
  }

  #addLaunches(): void {
    const { length } = this.#file.draft.device;
    for (let row = 0; row < length; row++) this.#addLaunch(row);
  }

  /** Correlations of the calls that have a row of their own. */
  #addSyncs(): NumberMap {
    const synced = new NumberMap();
    const { length } = this.#file.syncs.time;
    for (let row = 0; row < length; row++) this.#addSync(row, synced);
    return synced;
  }

  #addCalls(calls: Int32Array, synced: NumberMap): void {
    const correlations = this.#file.callCorrelation.cells;
    for (let i = 0; i < calls.length; i++) this.#addCall(calls[i]!, synced.has(correlations[calls[i]!]!));
  }

  #addLaunch(row: number): void {
    const { device, host } = this.#file.draft;
    const correlation = device.correlation.get(row);
    const call = correlation >= 0 ? this.ofCorrelation.get(correlation) : -1;
    if (call < 0) {
      this.unlaunched++;
      return;
    }
    device.launcher.set(row, call);
    device.site.set(row, host.site.get(call));
    if (this.launches.add(row, call)) this.rows.add(host.start.get(call), launchCall, this.launches.length - 1, call);
  }

  #addSync(row: number, synced: NumberMap): void {
    const { draft, syncs } = this.#file;
    const correlation = syncs.correlation.get(row);
    if (correlation >= 0) synced.set(correlation, 1);
    const kind = draft.strings.list[syncs.kind.get(row)];
    if (kind === undefined || kind === 'Unknown Sync') return;
    const call = this.ofCorrelation.get(correlation);
    const time = call >= 0 ? draft.host.start.get(call) : syncs.time.get(row);
    this.rows.add(time, kind === 'Stream Wait Event' ? waitCall : hostWaitCall, row, call);
  }

  #addCall(row: number, synced: boolean): void {
    const { draft, syncs } = this.#file;
    const kind = this.#names.kind(draft.host.name.get(row));
    const time = draft.host.start.get(row);
    if (kind === 'record') this.rows.add(time, recordCall, row, row);
    else if (kind === 'hostWait' && !synced) this.rows.add(time, hostWaitCall, -1, row);
    else if (kind === 'wait' && !synced) {
      // Where waits are recorded, one without its row is on a stream without GPU work in the window, or captured.
      if (syncs.time.length > 0) this.dropped++;
      else this.rows.add(time, waitCall, -1, row);
    }
  }

  /** Whether the call just before a wait on the same thread is a record, which is what `wait_stream` does; -1 if not. */
  recordBefore(call: number): number {
    const { draft, callCorrelation } = this.#file;
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

/** Host rows with a correlation: of a large file a small part of all. */
function rowsOfCalls({ draft, callCorrelation }: KinetoRows): Int32Array {
  const { length } = draft.host;
  const correlations = callCorrelation.cells;
  const rows = new Int32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) if (correlations[row]! >= 0) rows[count++] = row;
  return rows.slice(0, count);
}

/** The first row of each call, by its correlation. */
function callsByCorrelation({ callCorrelation }: KinetoRows, calls: Int32Array): NumberMap {
  const first = new NumberMap(calls.length);
  const correlations = callCorrelation.cells;
  // From the end, so that the first of several stays.
  for (let i = calls.length - 1; i >= 0; i--) first.set(correlations[calls[i]!]!, calls[i]!);
  return first;
}

export type CallKind = 'record' | 'wait' | 'hostWait' | 'query' | 'passive' | 'other';

/** What runtime and driver calls do, by their names (CUDA and HIP). */
export class CallNames {
  readonly #strings: readonly string[];
  readonly #kinds: (CallKind | undefined)[] = [];

  constructor(strings: readonly string[]) {
    this.#strings = strings;
  }

  kind(name: number): CallKind {
    return this.#kinds[name] ?? this.#look(name);
  }

  waitsFor(name: number): string | undefined {
    const text = this.#strings[name] ?? '';
    return /(Device|Ctx)Synchronize/.test(text) ? 'Context Sync' : undefined;
  }

  #look(name: number): CallKind {
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
}
