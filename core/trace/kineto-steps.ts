/**
 * The stream program of a profile: one step for each call that the host made, in the order of the calls, and the marks of
 * records and waits. A wait is bound to its record where the file tells it; GPU times order nothing.
 */
import type { Access, HostWaitStep } from '../program/program.ts';
import { hostWaitMark, recordMark, waitMark } from './draft.ts';
import { CallNames, hostWaitCall, KinetoCalls, launchCall, recordCall, waitCall } from './kineto-calls.ts';
import type { KinetoRows } from './kineto.ts';
import { tellLimits } from './kineto-limits.ts';
import { NumberMap } from './number-map.ts';

/** Which memory a kernel touches is not in the file. */
const noAccesses: readonly Access[] = [];

export function makeSteps(file: KinetoRows): void {
  const names = new CallNames(file.draft.strings.list);
  const calls = new KinetoCalls(file, names);
  bindByEvent(file);
  const steps = new Steps(file, calls, names);
  const order = calls.rows.order();
  for (let i = 0; i < order.length; i++) steps.add(order[i]!);
  const { unlaunched, dropped } = calls;
  tellLimits(file, { ...steps.found, unlaunched, dropped });
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
    const before = lastBelow(byEvent.get(syncs.event.get(row)) ?? [], syncs.correlation.get(row));
    if (before === undefined) continue;
    syncs.record.set(row, before);
    syncs.inferred.set(row, 1);
  }
}

/** The last of the sorted values that is below; undefined: none is. */
function lastBelow(sorted: readonly number[], bound: number): number | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** What a step and its mark have in common. */
interface At {
  readonly time: number;
  /** Sync row, -1: none. */
  readonly row: number;
  /** Host row, -1: not in the file. */
  readonly call: number;
  readonly thread: number;
  readonly site: number;
  /** Row of the file. */
  readonly fileRow: number;
}

class Steps {
  readonly #file: KinetoRows;
  readonly #calls: KinetoCalls;
  readonly #names: CallNames;
  // By the correlation of the record call.
  readonly #markOf = new NumberMap();
  readonly #eventOf = new NumberMap();
  readonly #streamOf = new NumberMap();
  readonly #reachedAt = new Map<number, number>();
  readonly found = { waits: 0, bound: 0, guessed: 0, silent: 0 };

  constructor(file: KinetoRows, calls: KinetoCalls, names: CallNames) {
    this.#file = file;
    this.#calls = calls;
    this.#names = names;
    this.#findRecordStreams();
  }

  add(index: number): void {
    const { syncs, hostRow, draft } = this.#file;
    const { rows } = this.#calls;
    const kind = rows.kind.get(index);
    const call = rows.call.get(index);
    const row = rows.row.get(index);
    const fileRow = call >= 0 ? hostRow.get(call) : row >= 0 && kind !== launchCall ? syncs.row.get(row) : -1;
    const thread = call >= 0 ? draft.host.thread.get(call) : 0;
    const site = call >= 0 ? draft.host.site.get(call) : -1;
    const at: At = { time: rows.time.get(index), row, call, thread, site, fileRow };
    if (kind === launchCall) this.#launch(at);
    else if (kind === recordCall) this.#record(at);
    else if (kind === waitCall) this.#wait(at);
    else if (kind === hostWaitCall) this.#hostWait(at);
  }

  /** Which stream a record is on: its own row says it, or the wait that is bound to it. */
  #findRecordStreams(): void {
    const { events, syncs } = this.#file;
    for (let row = 0; row < events.time.length; row++) {
      const stream = this.#file.stream(events.device.get(row), events.stream.get(row));
      if (stream >= 0) this.#streamOf.set(events.correlation.get(row), stream);
      this.#reachedAt.set(events.correlation.get(row), events.time.get(row));
    }
    for (let row = 0; row < syncs.time.length; row++) {
      const record = syncs.record.get(row);
      if (record < 0 || this.#streamOf.has(record)) continue;
      const stream = this.#file.stream(syncs.device.get(row), syncs.waitsOn.get(row));
      if (stream >= 0) this.#streamOf.set(record, stream);
    }
  }

  #origin({ fileRow, site }: At): number {
    const { draft } = this.#file;
    return draft.origin(fileRow, draft.sites.userSite(site));
  }

  #launch(at: At): void {
    const { draft } = this.#file;
    const { device, host, strings } = draft;
    const { launches } = this.#calls;
    const first = launches.first.get(at.row);
    const alone = launches.next[first]! < 0;
    const name = strings.list[alone ? device.name.get(first) : host.name.get(at.call)]!;
    const stream = device.stream.get(first);
    const origin = this.#origin(at);
    const step = draft.pushStep(
      { kind: 'launch', thread: at.thread, origin, stream, name, accesses: noAccesses },
      at.time,
    );
    for (let slice = first; slice >= 0; slice = launches.next[slice]!) device.step.set(slice, step);
  }

  #record(at: At): void {
    const { draft, callCorrelation } = this.#file;
    const { time, call, thread, site } = at;
    const correlation = callCorrelation.get(call);
    const stream = this.#streamOf.get(correlation);
    let step = -1;
    if (stream >= 0) {
      const event = draft.events.push({ name: `event (record ${correlation})` }) - 1;
      this.#eventOf.set(correlation, event);
      step = draft.pushStep({ kind: 'record', thread, origin: this.#origin(at), event, stream }, time);
    }
    // The device's own time of the record; where device timestamps are off it is 0 or the host's.
    const reached = this.#reachedAt.get(correlation) ?? -1;
    const deviceTime = reached >= time + draft.host.duration.get(call) ? reached : -1;
    const mark = draft.pushMark({ kind: recordMark, stream, thread, hostTime: time, deviceTime, step, site });
    this.#markOf.set(correlation, mark);
  }

  #wait(at: At): void {
    const { draft, syncs } = this.#file;
    const { time, row, call, thread, site } = at;
    const stream = row >= 0 ? this.#file.stream(syncs.device.get(row), syncs.stream.get(row)) : -1;
    const record = row >= 0 ? syncs.record.get(row) : -1;
    const known = record >= 0 ? this.#markOf.get(record) : -1;
    const guess = known < 0 && call >= 0 ? this.#markOf.get(this.#calls.recordBefore(call)) : -1;
    this.found.waits++;
    if (stream < 0) this.found.silent++;
    if (known >= 0) this.found.bound++;
    else if (guess >= 0) this.found.guessed++;
    let step = -1;
    if (stream >= 0) {
      const bound = this.#eventOf.get(record);
      const event = bound >= 0 ? bound : draft.events.push(eventNotInFile) - 1;
      step = draft.pushStep({ kind: 'wait', thread, origin: this.#origin(at), event, stream }, time);
    }
    draft.pushMark({
      kind: waitMark,
      stream,
      thread,
      hostTime: time,
      other: known >= 0 ? known : guess,
      inferred: known >= 0 ? syncs.inferred.get(row) === 1 : guess >= 0,
      step,
      site,
    });
  }

  #hostWait(at: At): void {
    const { draft, syncs } = this.#file;
    const { host, strings } = draft;
    const { time, row, call, thread, site } = at;
    const name = call >= 0 ? this.#names.kind(host.name.get(call)) : undefined;
    const syncKind = row >= 0 ? strings.list[syncs.kind.get(row)] : undefined;
    const record = row >= 0 ? syncs.record.get(row) : -1;
    const stream = this.#waitedStream(row, record, syncKind);
    const on = waitedFor(
      syncKind ?? this.#names.waitsFor(host.name.get(call)),
      row >= 0 ? syncs.device.get(row) : 0,
      stream,
      this.#eventOf.get(record),
    );
    // A query that answered “done” shows as an Event Sync too: it orders like one, but nobody waited.
    const kind = name === 'query' ? 'poll' : 'hostWait';
    const step = on ? draft.pushStep({ kind, thread, origin: this.#origin(at), on }, time) : -1;
    if (kind === 'poll') return;
    const blocked = call >= 0 ? host.duration.get(call) : syncs.duration.get(row);
    draft.pushMark({
      kind: hostWaitMark,
      stream,
      thread,
      hostTime: time,
      deviceTime: time + blocked,
      blocked,
      other: this.#markOf.get(record),
      step,
      site,
    });
  }

  #waitedStream(row: number, record: number, syncKind: string | undefined): number {
    if (row < 0) return -1;
    const { syncs } = this.#file;
    const device = syncs.device.get(row);
    if (syncKind !== 'Event Sync') return this.#file.stream(device, syncs.stream.get(row));
    const stream = this.#streamOf.get(record);
    return stream >= 0 ? stream : this.#file.stream(device, syncs.waitsOn.get(row));
  }
}

const eventNotInFile = { name: 'event (its record is not in the file)', unknown: true } as const;

function waitedFor(
  what: string | undefined,
  device: number,
  stream: number,
  event: number,
): HostWaitStep['on'] | undefined {
  if (what === 'Context Sync') return { kind: 'device', device };
  if (what === 'Event Sync') return event < 0 ? undefined : { kind: 'event', event };
  if (what === 'Stream Sync') return stream < 0 ? undefined : { kind: 'stream', stream };
  return undefined;
}
