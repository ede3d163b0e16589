/**
 * Reads the own format (docs/trace-format.md): JSON Lines in host order. It is written as a program runs, so a file may
 * end anywhere, and by programs that are not ours, so nothing in a line is believed before it is looked at. Past the
 * header nothing throws: what cannot be read becomes a problem with its row and byte offset, and the rest is read on.
 */
import { strFromU8 } from 'fflate';
import type { Access, EventId, HostWaitStep, LaunchStep, MemoryKind, Step } from '../program/program.ts';
import { int32 } from './columns.ts';
import {
  copySlice,
  hostWaitMark,
  kernelSlice,
  type Mutable,
  operatorSlice,
  recordMark,
  runtimeSlice,
  setSlice,
  syncSlice,
  TraceDraft,
  waitMark,
} from './draft.ts';
import { TraceError } from './error.ts';
import { LineSplitter } from './lines.ts';
import { countersFromLives, workOutLastUses } from './lives.ts';
import { workOutMarkTimes } from './mark-times.ts';
import type { FormatReader } from './reader.ts';
import { fitText } from './strings.ts';
import type { Trace } from './trace.ts';

/** The newest version that this reader knows. */
export const racelineVersion = 1;

type Row = Readonly<Record<string, unknown>>;

/** The keys of each kind of line; others are skipped and told once per kind. */
const keysOfKind: Readonly<Record<string, readonly string[]>> = {
  str: ['id', 'v'],
  site: ['id', 'file', 'line', 'fn', 'up'],
  stream: ['id', 'device', 'handle', 'num', 'name', 'alias', 'default', 'priority', 'unknown', 'collective'],
  thread: ['id', 'tid', 'pid', 'name'],
  block: ['b', 'addr', 'size', 'st', 'name', 'mem'],
  alloc: ['n', 't', 'd', 'th', 's', 'b', 'addr', 'size', 'st', 'name', 'mem'],
  free: ['n', 't', 'd', 'th', 's', 'b', 'how'],
  reusable: ['b', 't'],
  recordStream: ['n', 't', 'd', 'th', 's', 'b', 'st', 'implicit'],
  op: ['n', 't', 'd', 'th', 's', 'st', 'name', 'acc', 'blind', 'copy', 'in'],
  record: ['n', 't', 'd', 'th', 's', 'e', 'st', 'implicit'],
  wait: ['n', 't', 'd', 'th', 's', 'e', 'st', 'rec', 'implicit'],
  sync: ['n', 't', 'd', 'th', 's', 'on', 'e', 'st', 'device', 'api', 'implicit', 'rec'],
  poll: ['n', 't', 'd', 'th', 's', 'on', 'e', 'st', 'device', 'api', 'rec'],
  host: ['n', 't', 'd', 'th', 's', 'b', 'acc', 'lo', 'hi', 'name'],
  capture: ['n', 't', 'd', 'th', 's', 'g', 'st'],
  captureEnd: ['n', 't', 'd', 'th', 's', 'g'],
  replay: ['n', 't', 'd', 'th', 's', 'g', 'st'],
  fork: ['n', 't', 'd', 'th', 's', 'child'],
  join: ['n', 't', 'd', 'th', 's', 'child'],
  gpu: ['op', 'st', 't', 'd', 'name', 'kind', 'bytes', 'corr', 'node'],
  edge: ['wait', 't', 'blocked'],
  counter: ['t', 'device', 'allocated', 'reserved', 'held'],
  limit: ['v'],
  output: ['v', 't'],
  end: ['t', 'status', 'message'],
};
const knownKeys = new Map(Object.entries(keysOfKind).map(([kind, keys]) => [kind, new Set(['k', ...keys])]));

const deviceKinds: Readonly<Record<string, number>> = { kernel: kernelSlice, copy: copySlice, set: setSlice };
const syncKinds: readonly unknown[] = ['event', 'stream', 'device'];

interface Header {
  readonly producer: string;
  readonly mode: string;
  readonly level: string;
  readonly unix?: string;
}

interface RecordRef {
  readonly n: number;
  readonly event: EventId;
  readonly step: number;
  readonly mark: number;
}

export class RacelineReader implements FormatReader {
  readonly #lines = new LineSplitter();
  readonly #draft = new TraceDraft();
  #header: Header | undefined;
  #row = -1;
  #offset = 0;
  #end: { status: string; message: string } | undefined;
  #blind = 0;
  #limits: string[] = [];

  // Ids of the file → places in the tables. Maps, not arrays: an id may be any number.
  readonly #strings = new Map<number, number>();
  readonly #sites = new Map<number, number>();
  readonly #streams = new Map<number, number>();
  /** Streams that the file has given a name. */
  readonly #named = new Set<number>();
  readonly #threads = new Map<number, number>();
  readonly #events = new Map<number, number>();
  readonly #blocks = new Map<number, number>();
  readonly #graphs = new Map<number, number>();
  readonly #steps = new Map<number, number>();
  #lastNumber = -1;

  /** Per event: its records in order; per wait, sync and poll step: which record it is bound to. */
  readonly #records = new Map<number, RecordRef[]>();
  readonly #recordNumbered = new Map<number, RecordRef>();
  readonly #bound = new Map<number, RecordRef | undefined>();
  /** Events some wait of which is bound to another record than the latest. */
  readonly #split = new Set<number>();
  readonly #markOfStep = new Map<number, number>();
  readonly #released = new Set<number>();
  readonly #recordedStreams = new Map<number, Set<number>>();
  readonly #reusable = new Set<number>();

  push(bytes: Uint8Array): void {
    this.#lines.push(bytes, (line, offset) => this.#line(line, offset));
  }

  finish(cut?: string): Trace {
    const { line, offset } = this.#lines.rest();
    if (line.length > 0) this.#lastLine(line, offset);
    else if (!this.#header)
      throw notRaceline(this.#lines.length === 0 ? 'The file is empty' : 'There is no header line');
    if (cut) this.#draft.problems.add('cut', cut, this.#lines.length, this.#row);
    return this.#finish();
  }

  #line(line: Uint8Array, offset: number): void {
    this.#row++;
    this.#offset = offset;
    const text = strFromU8(line).trim();
    if (text === '') return;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      if (!this.#header) throw notRaceline('Its first line is not JSON');
      this.#problem('broken line', `Row ${this.#row} is not JSON; it is left out.`);
      return;
    }
    this.#take(parsed);
  }

  /** A last line without a line end is whole if it can be read; else the file was cut inside it. */
  #lastLine(line: Uint8Array, offset: number): void {
    this.#row++;
    this.#offset = offset;
    let parsed: unknown;
    try {
      parsed = JSON.parse(strFromU8(line));
    } catch {
      if (!this.#header) throw notRaceline('The file ends inside its first line');
      this.#problem(
        'cut',
        `The file ends inside row ${this.#row}, at byte ${this.#lines.length}: it was cut while it was written. Everything up to there is shown.`,
      );
      this.#row--;
      return;
    }
    this.#take(parsed);
  }

  #take(parsed: unknown): void {
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      if (!this.#header) throw notRaceline('Its first line is not an object');
      this.#problem('not an object', `Row ${this.#row} is not an object; it is left out.`);
      return;
    }
    const row = parsed as Row;
    if (!this.#header) this.#header = this.#readHeader(row);
    else this.#readLine(row);
  }

  #readHeader(row: Row): Header {
    const version = row.raceline;
    if (version === undefined) throw notRaceline('Its first line has no key "raceline"');
    if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
      throw notRaceline('The version in its first line is not a whole number');
    if (version > racelineVersion)
      throw new TraceError(
        `The trace has .raceline version ${version}; this Raceline reads versions up to ${racelineVersion}. Update Raceline to open it, or record the run again with the executor of this version.`,
      );
    const text = (key: string) => (typeof row[key] === 'string' ? fitText(row[key]) : '');
    const unix = text('unix');
    return {
      producer: text('producer') || 'unknown producer',
      mode: text('mode'),
      level: text('level'),
      unix: /^\d{1,20}$/.test(unix) ? unix : undefined,
    };
  }

  #readLine(row: Row): void {
    const kind = row.k;
    const keys = typeof kind === 'string' ? knownKeys.get(kind) : undefined;
    if (!keys) {
      const name = typeof kind === 'string' ? `“${fitText(kind.slice(0, 40))}”` : 'without a kind';
      this.#draft.problems.once(
        `kind ${name}`,
        `Lines ${name} are not known to this Raceline; they are left out.`,
        this.#offset,
        this.#row,
      );
      return;
    }
    for (const key in row)
      if (!keys.has(key)) {
        const name = fitText(key.slice(0, 40));
        this.#draft.problems.once(
          `key ${kind}.${name}`,
          `The key “${name}” of “${kind}” lines is not known to this Raceline; it is passed over.`,
          this.#offset,
          this.#row,
        );
      }
    switch (kind as keyof typeof keysOfKind) {
      case 'str':
        this.#readString(row);
        break;
      case 'site':
        this.#readSite(row);
        break;
      case 'stream':
        this.#readStream(row);
        break;
      case 'thread':
        this.#readThread(row);
        break;
      case 'block':
        this.#readBlock(row);
        break;
      case 'reusable':
        this.#readReusable(row);
        break;
      case 'gpu':
        this.#readDeviceSlice(row);
        break;
      case 'edge':
        this.#readEdge(row);
        break;
      case 'counter':
        this.#readCounter(row);
        break;
      case 'limit':
        if (typeof row.v === 'string' && this.#limits.length < 1000) this.#limits.push(fitText(row.v));
        break;
      case 'output':
        break;
      case 'end':
        this.#readEnd(row);
        break;
      default:
        this.#readStep(kind as string, row);
        break;
    }
  }

  // Tables.

  #readString(row: Row): void {
    const id = this.#id(row, 'id');
    if (id === undefined) return;
    if (typeof row.v !== 'string') {
      this.#problem('wrong type', `Row ${this.#row}: the string ${id} has no text.`);
      return;
    }
    if (this.#strings.has(id)) {
      this.#duplicate('string', id);
      return;
    }
    this.#strings.set(id, this.#draft.strings.add(row.v));
  }

  #readSite(row: Row): void {
    const id = this.#id(row, 'id');
    if (id === undefined) return;
    if (this.#sites.has(id)) {
      this.#duplicate('site', id);
      return;
    }
    const { sites } = this.#draft;
    // The caller is declared before, so chains cannot go in a circle.
    const parent = row.up === undefined ? -1 : this.#siteOf(row, 'up');
    const line = this.#optionalInteger(row, 'line') ?? 0;
    sites.file.push(this.#string(row, 'file'));
    sites.line.push(Math.min(line, 0x7fffffff));
    sites.function.push(this.#string(row, 'fn'));
    sites.parent.push(parent);
    this.#sites.set(id, sites.length - 1);
  }

  #readStream(row: Row): void {
    const id = this.#id(row, 'id');
    if (id === undefined) return;
    const { streams, programStreams } = this.#draft;
    const at = this.#streams.get(id) ?? this.#sameStream(id, row) ?? this.#newStream(id);
    const stream = streams[at]!;
    const entry = programStreams[at]!;
    entry.unknown = row.unknown === true ? true : undefined;
    if (row.collective === true) entry.collective = true;
    const device = this.#optionalInteger(row, 'device');
    if (device !== undefined) stream.device = device;
    const number = this.#optionalInteger(row, 'num');
    if (number !== undefined) stream.number = number;
    if (typeof row.handle === 'string' && addressPattern.test(row.handle)) stream.handle = row.handle.toLowerCase();
    else if (row.handle !== undefined) this.#wrongType(row, 'handle', 'hexadecimal text');
    if (typeof row.default === 'boolean') stream.isDefault = row.default;
    const name = row.name === undefined ? '' : (this.#draft.strings.list[this.#string(row, 'name')] ?? '');
    const alias = row.alias === undefined ? '' : (this.#draft.strings.list[this.#string(row, 'alias')] ?? '');
    if (name && !this.#named.has(at)) {
      this.#named.add(at);
      stream.name = name;
    } else if (this.#named.has(at)) {
      // Another name for a named stream is another object of the program for it.
      for (const other of [name, alias])
        if (other && other !== stream.name && !stream.aliases?.includes(other))
          stream.aliases = [...(stream.aliases ?? []), other];
    } else if (stream.isDefault) stream.name = 'default';
    else if (stream.number >= 0) stream.name = `stream ${stream.number}`;
    else if (stream.handle) stream.name = `stream ${stream.handle}`;
    entry.name = stream.name;
    entry.device = stream.device;
    entry.isDefault = stream.isDefault;
    if (stream.handle) entry.handle = stream.handle;
  }

  /** Two ids of one handle are one stream: what is on them follows each other. */
  #sameStream(id: number, row: Row): number | undefined {
    if (typeof row.handle !== 'string' || !addressPattern.test(row.handle)) return undefined;
    const handle = row.handle.toLowerCase();
    const device = typeof row.device === 'number' ? row.device : 0;
    const at = this.#draft.streams.findIndex((stream) => stream.handle === handle && stream.device === device);
    if (at < 0) return undefined;
    this.#streams.set(id, at);
    return at;
  }

  #newStream(id: number): number {
    const { streams, programStreams } = this.#draft;
    const at = streams.length;
    const name = `stream ${id}`;
    streams.push({ name, device: 0, isDefault: false, number: -1, handle: '', programStream: at });
    programStreams.push({ name, device: 0, isDefault: false, unknown: true });
    this.#streams.set(id, at);
    return at;
  }

  #readThread(row: Row): void {
    const id = this.#id(row, 'id');
    if (id === undefined) return;
    const at = this.#threads.get(id) ?? this.#newThread(id);
    const name = row.name === undefined ? '' : (this.#draft.strings.list[this.#string(row, 'name')] ?? '');
    const tid = this.#optionalInteger(row, 'tid') ?? -1;
    const thread = { name: name || `thread ${tid >= 0 ? tid : id}`, pid: this.#optionalInteger(row, 'pid') ?? -1, tid };
    this.#draft.threads[at] = thread;
    this.#draft.programThreads[at] = { name: thread.name };
  }

  #newThread(id: number): number {
    const { threads, programThreads } = this.#draft;
    const at = threads.length;
    const name = id === 0 ? 'main thread' : `thread ${id}`;
    threads.push({ name, pid: -1, tid: -1 });
    programThreads.push({ name });
    this.#threads.set(id, at);
    return at;
  }

  /** A block that was there before the recording: it has no allocation. */
  #readBlock(row: Row): void {
    const id = this.#id(row, 'b');
    if (id === undefined) return;
    if (this.#blocks.has(id)) {
      this.#duplicate('block', id);
      return;
    }
    const stream = row.st === undefined ? -1 : (this.#stream(row, 'st') ?? -1);
    this.#newBlock(
      id,
      stream,
      this.#optionalInteger(row, 'size'),
      this.#address(row, 'addr'),
      row.mem === 'pinned' ? 'pinned' : 'device',
      row.name === undefined ? -1 : this.#string(row, 'name'),
    );
  }

  // Steps.

  #readStep(kind: string, row: Row): void {
    const draft = this.#draft;
    const n = this.#optionalInteger(row, 'n') ?? -1;
    if (n < 0) {
      this.#problem('number', `Row ${this.#row}: a “${kind}” line without its number; it is left out.`);
      return;
    }
    if (this.#steps.has(n)) {
      this.#problem('number', `Row ${this.#row}: step ${n} is there twice; the second is left out.`);
      return;
    }
    if (n < this.#lastNumber)
      this.#problem(
        'number',
        `Row ${this.#row}: step ${n} comes after step ${this.#lastNumber}; it is taken where it stands.`,
      );
    this.#lastNumber = Math.max(n, this.#lastNumber);
    const time = this.#time(row, 't');
    const took = this.#time(row, 'd');
    const thread = this.#threadOf(row);
    const site = row.s === undefined ? -1 : this.#siteOf(row, 's');
    const firstBlock = draft.blocks.length;
    const step = this.#makeStep(kind, row, thread, () => draft.origin(this.#row, site));
    if (!step) return;
    const at = draft.pushStep(step, time);
    this.#steps.set(n, at);

    switch (step.kind) {
      case 'allocate':
        if (draft.blocks.length > firstBlock) {
          draft.blocks.allocated.set(step.block, time);
          draft.blocks.allocationSite.set(step.block, site);
        }
        break;
      case 'release':
        draft.blocks.releaseRequested.set(step.block, time);
        draft.blocks.releaseSite.set(step.block, site);
        break;
      case 'launch':
        this.#host(thread, time, took, step.name, operatorSlice, site);
        break;
      case 'replay':
        this.#host(thread, time, took, 'graph replay', runtimeSlice, site);
        break;
      case 'hostAccess':
        this.#host(thread, time, took, step.name, operatorSlice, site);
        break;
      case 'poll':
        this.#host(thread, time, took, this.#apiName(row, `${step.on.kind} query`), syncSlice, site);
        this.#bind(at, step.on.kind === 'event' ? step.on.event : undefined, row);
        break;
      case 'record': {
        const mark = draft.pushMark({
          kind: recordMark,
          stream: step.stream,
          thread,
          hostTime: time,
          implicit: row.implicit === true,
          step: at,
          site,
        });
        this.#markOfStep.set(at, mark);
        const records = this.#records.get(step.event) ?? [];
        this.#records.set(step.event, records);
        const record = { n, event: step.event, step: at, mark };
        records.push(record);
        this.#recordNumbered.set(n, record);
        break;
      }
      case 'wait': {
        const record = this.#bind(at, step.event, row);
        const mark = draft.pushMark({
          kind: waitMark,
          stream: step.stream,
          thread,
          hostTime: time,
          // A wait for an event that was never recorded holds nothing.
          blocked: record ? -1 : 0,
          other: record?.mark ?? -1,
          implicit: row.implicit === true,
          step: at,
          site,
        });
        this.#markOfStep.set(at, mark);
        break;
      }
      case 'hostWait': {
        const record = this.#bind(at, step.on.kind === 'event' ? step.on.event : undefined, row);
        const mark = draft.pushMark({
          kind: hostWaitMark,
          stream: step.on.kind === 'stream' ? step.on.stream : record ? draft.marks.stream.get(record.mark) : -1,
          thread,
          hostTime: time,
          deviceTime: time >= 0 && took >= 0 ? time + took : -1,
          blocked: took,
          other: record?.mark ?? -1,
          implicit: row.implicit === true,
          step: at,
          site,
        });
        this.#markOfStep.set(at, mark);
        this.#host(thread, time, took, this.#apiName(row, `${step.on.kind} synchronize`), syncSlice, site);
        break;
      }
    }
  }

  /** The step of a line; undefined (and a problem) where the line does not make one. */
  #makeStep(kind: string, row: Row, thread: number, makeOrigin: () => number): Step | undefined {
    switch (kind) {
      case 'op': {
        const stream = this.#stream(row, 'st');
        if (stream === undefined) return undefined;
        if (row.blind === true) this.#blind++;
        const name = this.#draft.strings.list[this.#string(row, 'name')] ?? 'operator';
        const step: Mutable<LaunchStep> = {
          kind: 'launch',
          thread,
          origin: makeOrigin(),
          stream,
          name,
          accesses: this.#accesses(row),
        };
        if (row.copy === 'h2d' || row.copy === 'd2h' || row.copy === 'd2d') step.copy = row.copy;
        else if (row.copy !== undefined) this.#wrongType(row, 'copy', '"h2d", "d2h" or "d2d"');
        return step;
      }
      case 'alloc': {
        const stream = this.#stream(row, 'st');
        const id = this.#id(row, 'b');
        if (stream === undefined || id === undefined) return undefined;
        if (this.#blocks.has(id)) {
          this.#problem(
            'duplicate',
            `Row ${this.#row}: block ${id} is allocated twice; the second is taken for a block of its own.`,
          );
        }
        const size = this.#optionalInteger(row, 'size');
        const address = this.#address(row, 'addr');
        if (row.mem !== undefined && row.mem !== 'pinned' && row.mem !== 'device')
          this.#wrongType(row, 'mem', '"device" or "pinned"');
        const block = this.#newBlock(
          id,
          stream,
          size,
          address,
          row.mem === 'pinned' ? 'pinned' : 'device',
          this.#string(row, 'name'),
        );
        return { kind: 'allocate', thread, origin: makeOrigin(), block, stream };
      }
      case 'free': {
        const block = this.#block(row, 'b');
        if (block === undefined) return undefined;
        if (this.#released.has(block)) {
          this.#problem(
            'released twice',
            `Row ${this.#row}: block ${String(row.b)} is released twice; the second is left out.`,
          );
          return undefined;
        }
        this.#released.add(block);
        const how = row.how === 'statement' || row.how === 'scope' ? row.how : undefined;
        return { kind: 'release', thread, origin: makeOrigin(), block, how };
      }
      case 'recordStream': {
        const block = this.#block(row, 'b');
        const stream = this.#stream(row, 'st');
        if (block === undefined || stream === undefined) return undefined;
        const set = this.#recordedStreams.get(block) ?? new Set();
        this.#recordedStreams.set(block, set.add(stream));
        return { kind: 'recordStream', thread, origin: makeOrigin(), block, stream };
      }
      case 'record':
      case 'wait': {
        const event = this.#event(row);
        const stream = this.#stream(row, 'st');
        if (event === undefined || stream === undefined) return undefined;
        if (kind === 'record') return { kind, thread, origin: makeOrigin(), event, stream };
        return {
          kind: 'wait',
          thread,
          origin: makeOrigin(),
          event,
          stream,
          ...(row.implicit === true ? { implicit: true } : {}),
        };
      }
      case 'sync':
      case 'poll': {
        const on = this.#waitedFor(row);
        if (!on) return undefined;
        if (kind === 'poll') return { kind, thread, origin: makeOrigin(), on };
        return {
          kind: 'hostWait',
          thread,
          origin: makeOrigin(),
          on,
          ...(row.implicit === true ? { implicit: true } : {}),
        };
      }
      case 'host': {
        const block = this.#block(row, 'b');
        if (block === undefined) return undefined;
        const write = row.acc === 'w' || row.acc === 'rw';
        if (!write && row.acc !== 'r') this.#wrongType(row, 'acc', '"r", "w" or "rw"');
        const start = this.#optionalInteger(row, 'lo');
        const end = this.#optionalInteger(row, 'hi');
        const name = row.name === undefined ? '' : (this.#draft.strings.list[this.#string(row, 'name')] ?? '');
        const access: Access =
          start !== undefined && end !== undefined && end >= start ? { block, write, start, end } : { block, write };
        return {
          kind: 'hostAccess',
          thread,
          origin: makeOrigin(),
          name: name || (write ? 'host write' : 'host read'),
          access,
        };
      }
      case 'capture':
      case 'replay': {
        const graph = this.#graph(row);
        const stream = this.#stream(row, 'st');
        if (graph === undefined || stream === undefined) return undefined;
        return { kind: kind === 'capture' ? 'captureBegin' : 'replay', thread, origin: makeOrigin(), graph, stream };
      }
      case 'captureEnd': {
        const graph = this.#graph(row);
        return graph === undefined ? undefined : { kind, thread, origin: makeOrigin(), graph };
      }
      case 'fork':
      case 'join': {
        const id = this.#id(row, 'child');
        if (id === undefined) return undefined;
        return { kind, thread, origin: makeOrigin(), child: this.#threads.get(id) ?? this.#newThread(id) };
      }
      default:
        return undefined;
    }
  }

  #accesses(row: Row): Access[] {
    if (row.acc === undefined) return [];
    if (!Array.isArray(row.acc)) {
      this.#wrongType(row, 'acc', 'a list');
      return [];
    }
    const accesses: Access[] = [];
    for (const item of row.acc as unknown[]) {
      const [id, low, high, mode] = Array.isArray(item) ? (item as unknown[]) : [];
      if (
        !isId(id) ||
        !isCount(low) ||
        !isCount(high) ||
        high < low ||
        (mode !== 'r' && mode !== 'w' && mode !== 'rw')
      ) {
        this.#problem(
          'access',
          `Row ${this.#row}: an access that is not [block, first byte, end byte, "r", "w" or "rw"]; it is left out.`,
        );
        continue;
      }
      const block = this.#blocks.get(id) ?? this.#undeclaredBlock(id);
      // A read-and-write conflicts with all that a write conflicts with.
      accesses.push({ block, write: mode !== 'r', start: low, end: high });
    }
    return accesses;
  }

  #waitedFor(row: Row): HostWaitStep['on'] | undefined {
    if (row.on === 'event') {
      const event = this.#event(row);
      return event === undefined ? undefined : { kind: 'event', event };
    }
    if (row.on === 'stream') {
      const stream = this.#stream(row, 'st');
      return stream === undefined ? undefined : { kind: 'stream', stream };
    }
    if (!syncKinds.includes(row.on)) {
      this.#wrongType(row, 'on', '"event", "stream" or "device"');
      return undefined;
    }
    return { kind: 'device', device: this.#optionalInteger(row, 'device') ?? 0 };
  }

  /** Which record a wait is bound to: the one it names, else the latest of its event. */
  #bind(step: number, event: EventId | undefined, row: Row): RecordRef | undefined {
    if (event === undefined) return undefined;
    const records = this.#records.get(event) ?? [];
    let record = records.at(-1);
    if (row.rec !== undefined) {
      const n = row.rec;
      const named = this.#recordNumbered.get(n as number);
      if (!named || named.event !== event)
        this.#problem(
          'record',
          `Row ${this.#row}: record ${printed(n)} of the event is not above; the latest one is taken.`,
        );
      else if (named !== record) {
        this.#split.add(event);
        record = named;
      }
    }
    this.#bound.set(step, record);
    return record;
  }

  // Device times.

  #readDeviceSlice(row: Row): void {
    const start = this.#time(row, 't');
    if (start < 0) {
      this.#problem('time', `Row ${this.#row}: device work without its time; it is left out.`);
      return;
    }
    const duration = this.#time(row, 'd');
    const step = row.op === undefined ? -1 : this.#stepOf(row, 'op');
    const launch = this.#draft.steps[step];
    const onStep = launch && 'stream' in launch ? launch.stream : undefined;
    const stream = row.st === undefined && onStep !== undefined ? onStep : this.#stream(row, 'st');
    if (stream === undefined) return;
    const kind = row.kind === undefined ? kernelSlice : deviceKinds[String(row.kind)];
    if (kind === undefined) this.#wrongType(row, 'kind', '"kernel", "copy" or "set"');
    const name = this.#string(row, 'name');
    this.#draft.pushDevice({
      stream,
      start,
      duration: Math.max(0, duration),
      name: name >= 0 || launch?.kind !== 'launch' ? name : this.#draft.strings.add(launch.name),
      kind: kind ?? kernelSlice,
      bytes: this.#optionalInteger(row, 'bytes') ?? -1,
      correlation: this.#optionalInteger(row, 'corr') ?? -1,
      step,
      site: this.#siteOfStep.get(step) ?? -1,
      launcher: this.#hostOfStep.get(step) ?? -1,
    });
  }

  readonly #siteOfStep = new Map<number, number>();
  readonly #hostOfStep = new Map<number, number>();
  /** Beside the host rows of the draft: the row of the file. */
  readonly #hostRow = int32();

  /** A slice of the host's side for the step that comes next to be pushed or was just pushed. */
  #host(thread: number, time: number, took: number, name: string, kind: number, site: number): void {
    const step = this.#draft.steps.length - 1;
    if (site >= 0) this.#siteOfStep.set(step, site);
    if (time < 0) return;
    this.#hostOfStep.set(
      step,
      this.#draft.pushHost(thread, time, Math.max(0, took), this.#draft.strings.add(name), kind, site),
    );
    this.#hostRow.push(this.#row);
  }

  #readEdge(row: Row): void {
    const step = this.#stepOf(row, 'wait');
    const mark = this.#markOfStep.get(step);
    if (mark === undefined) return;
    const time = this.#time(row, 't');
    const blocked = this.#time(row, 'blocked');
    if (time >= 0) this.#draft.marks.deviceTime.set(mark, time);
    if (blocked >= 0) this.#draft.marks.blocked.set(mark, blocked);
  }

  #readReusable(row: Row): void {
    const block = this.#block(row, 'b');
    const time = this.#time(row, 't');
    if (block === undefined || time < 0) return;
    this.#draft.blocks.reusable.set(block, time);
    this.#reusable.add(block);
  }

  #readCounter(row: Row): void {
    const time = this.#time(row, 't');
    if (time < 0) {
      this.#problem('time', `Row ${this.#row}: a counter without its time; it is left out.`);
      return;
    }
    const value = (key: string) => this.#optionalInteger(row, key) ?? -1;
    this.#draft.counters.add(time, Math.max(0, value('device')), value('allocated'), value('reserved'), value('held'));
  }

  #readEnd(row: Row): void {
    const time = this.#time(row, 't');
    this.#draft.latest = Math.max(this.#draft.latest, time);
    this.#end = {
      status: typeof row.status === 'string' ? row.status : '',
      message: typeof row.message === 'string' ? fitText(row.message) : '',
    };
  }

  // The end.

  #finish(): Trace {
    const draft = this.#draft;
    const header = this.#header!;
    this.#splitEvents();
    this.#finishLives();
    workOutLastUses(draft);
    workOutMarkTimes(draft);
    if (draft.counters.length === 0)
      countersFromLives(draft, (row) =>
        draft.programBlocks[row]!.memory === 'device'
          ? Math.max(0, draft.streams[draft.blocks.stream.get(row)]?.device ?? 0)
          : -1,
      );
    if (header.level === 'timeline')
      draft.limits.push(
        'Accesses are not recorded (level “timeline”): races cannot be found in this run. Record it with level “full” for that.',
      );
    if (header.mode === 'meta')
      draft.limits.push('The run was made on the meta device: values are zeros, times are modelled, not measured.');
    else if (header.mode === 'builtin')
      draft.limits.push('The run was made by the built-in executor: times are modelled, not measured.');
    draft.limits.push(...this.#limits);
    if (this.#blind > 0)
      draft.limits.push(
        `The accesses of ${this.#blind} operator${this.#blind === 1 ? '' : 's'} are not known: races with them are not seen.`,
      );
    if (!this.#end)
      draft.problems.add(
        'no end',
        'The recording has no end line: the run was killed, or is still running. Everything up to there is shown.',
        this.#lines.length,
        this.#row,
      );
    else if (this.#end.status === 'error')
      draft.limits.push(
        `The program ended with an error: ${this.#end.message || 'no message'}. What it had not come to is not here.`,
      );
    else if (this.#end.status === 'stopped')
      draft.limits.push('The run was stopped. What it had not come to is not here.');
    return draft.finish({
      format: 'raceline',
      producer: header.producer,
      clock: header.mode === 'cuda' ? 'gpu' : 'model',
      unixStart: header.unix,
      hostRow: this.#hostRow,
    });
  }

  /**
   * The program binds a wait to the latest record of its event. Where the file says that a wait is bound to an earlier
   * one, each record of that event becomes an event of its own, so that the program says what the file says.
   */
  #splitEvents(): void {
    if (this.#split.size === 0) return;
    const { steps, events } = this.#draft;
    const own = new Map<RecordRef, EventId>();
    for (const event of this.#split)
      for (const record of this.#records.get(event) ?? []) {
        own.set(record, events.push({ name: `${events[event]!.name} (record ${record.n})` }) - 1);
        (steps[record.step] as { event: EventId }).event = own.get(record)!;
      }
    for (const [step, record] of this.#bound) {
      const event = record && own.get(record);
      if (event === undefined) continue;
      const bound = steps[step]!;
      if (bound.kind === 'wait') (bound as { event: EventId }).event = event;
      else if ((bound.kind === 'hostWait' || bound.kind === 'poll') && bound.on.kind === 'event')
        (bound.on as { event: EventId }).event = event;
    }
  }

  /** Without a measured time a block is reusable at its release, unless record_stream or pinned memory hold it longer. */
  #finishLives(): void {
    const { blocks, programBlocks } = this.#draft;
    for (let row = 0; row < blocks.length; row++) {
      if (this.#reusable.has(row)) continue;
      const allocating = blocks.stream.get(row);
      const held = [...(this.#recordedStreams.get(row) ?? [])].some((stream) => stream !== allocating);
      if (!held && programBlocks[row]!.memory === 'device') blocks.reusable.set(row, blocks.releaseRequested.get(row));
    }
  }

  // Fields.

  #newBlock(
    id: number,
    stream: number,
    size: number | undefined,
    address: number,
    memory: MemoryKind,
    name: number,
  ): number {
    const draft = this.#draft;
    const text = draft.strings.list[name] ?? (address >= 0 ? `block 0x${address.toString(16)}` : `block ${id}`);
    const block = draft.programBlocks.length;
    draft.programBlocks.push({
      name: text,
      memory,
      evidence: true,
      ...(size === undefined ? {} : { size }),
      ...(address < 0 ? {} : { address }),
      ...(stream < 0 ? {} : { stream }),
    });
    draft.pushBlock({
      address,
      size: size ?? -1,
      stream,
      allocated: -1,
      name,
      allocationSite: -1,
      programBlock: block,
    });
    this.#blocks.set(id, block);
    return block;
  }

  #undeclaredBlock(id: number): number {
    this.#problem(
      'block',
      `Row ${this.#row}: block ${id} has no “alloc” line above; it is taken as allocated before the recording.`,
    );
    return this.#newBlock(id, -1, undefined, -1, 'device', -1);
  }

  #block(row: Row, key: string): number | undefined {
    const id = this.#id(row, key);
    return id === undefined ? undefined : (this.#blocks.get(id) ?? this.#undeclaredBlock(id));
  }

  #stream(row: Row, key: string): number | undefined {
    const id = this.#id(row, key);
    if (id === undefined) return undefined;
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    this.#problem('stream', `Row ${this.#row}: stream ${id} is not declared above; nothing is known of it.`);
    return this.#newStream(id);
  }

  #event(row: Row): number | undefined {
    const id = this.#id(row, 'e');
    if (id === undefined) return undefined;
    const known = this.#events.get(id);
    if (known !== undefined) return known;
    const event = this.#draft.events.push({ name: `event ${id}` }) - 1;
    this.#events.set(id, event);
    return event;
  }

  #graph(row: Row): number | undefined {
    const id = this.#id(row, 'g');
    if (id === undefined) return undefined;
    const known = this.#graphs.get(id);
    if (known !== undefined) return known;
    this.#graphs.set(id, this.#graphs.size);
    return this.#graphs.size - 1;
  }

  #threadOf(row: Row): number {
    const id = row.th === undefined ? 0 : this.#id(row, 'th');
    if (id === undefined) return this.#threads.get(0) ?? this.#newThread(0);
    return this.#threads.get(id) ?? this.#newThread(id);
  }

  #siteOf(row: Row, key: string): number {
    const id = this.#id(row, key);
    if (id === undefined) return -1;
    const site = this.#sites.get(id);
    if (site !== undefined) return site;
    this.#problem('site', `Row ${this.#row}: site ${id} is not declared above.`);
    return -1;
  }

  #stepOf(row: Row, key: string): number {
    const id = this.#id(row, key);
    if (id === undefined) return -1;
    const step = this.#steps.get(id);
    if (step !== undefined) return step;
    this.#problem('step', `Row ${this.#row}: step ${id} is not above.`);
    return -1;
  }

  /** The interned string that a key names, -1 where it names none. */
  #string(row: Row, key: string): number {
    if (row[key] === undefined) return -1;
    const id = this.#id(row, key);
    if (id === undefined) return -1;
    const text = this.#strings.get(id);
    if (text !== undefined) return text;
    this.#problem('string', `Row ${this.#row}: string ${id} is not declared above.`);
    return -1;
  }

  #apiName(row: Row, otherwise: string): string {
    return this.#draft.strings.list[this.#string(row, 'api')] ?? otherwise;
  }

  #id(row: Row, key: string): number | undefined {
    const value = row[key];
    if (isId(value)) return value;
    this.#wrongType(row, key, 'a whole number from 0');
    return undefined;
  }

  #optionalInteger(row: Row, key: string): number | undefined {
    const value = row[key];
    if (value === undefined) return undefined;
    if (isCount(value)) return value;
    this.#wrongType(row, key, 'a whole number from 0');
    return undefined;
  }

  /** A time or a span in nanoseconds, -1 where it is left out or is not one. */
  #time(row: Row, key: string): number {
    const value = row[key];
    if (value === undefined) return -1;
    // A writer that has fractions is read to the nearest nanosecond.
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return Math.round(value);
    this.#problem(
      'time',
      `Row ${this.#row}: “${key}” is ${printed(value)}, not nanoseconds from 0; it is taken as not known.`,
    );
    return -1;
  }

  #address(row: Row, key: string): number {
    const value = row[key];
    if (value === undefined) return -1;
    if (typeof value === 'string' && addressPattern.test(value)) return Number(value);
    this.#wrongType(row, key, 'hexadecimal text');
    return -1;
  }

  #wrongType(row: Row, key: string, wanted: string): void {
    this.#problem('wrong type', `Row ${this.#row}: “${key}” is ${printed(row[key])}, not ${wanted}.`);
  }

  #duplicate(what: string, id: number): void {
    this.#problem('duplicate', `Row ${this.#row}: the ${what} ${id} is declared twice; the first stays.`);
  }

  #problem(kind: string, message: string): void {
    this.#draft.problems.add(kind, message, this.#offset, this.#row);
  }
}

const addressPattern = /^0x[0-9a-f]{1,16}$/i;

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

const isCount = isId;

function printed(value: unknown): string {
  if (value === undefined) return 'missing';
  const text =
    typeof value === 'object' && value !== null
      ? Array.isArray(value)
        ? 'a list'
        : 'an object'
      : JSON.stringify(value);
  return fitText(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function notRaceline(what: string): TraceError {
  return new TraceError(
    `${what}, so this is not a .raceline trace: one begins with a header line such as {"raceline":1,"producer":"…","mode":"cuda"}.`,
    0,
  );
}
