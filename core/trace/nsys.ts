/**
 * Reads what `nsys export --type sqlite` writes. Tables are there only when they have rows, and their columns differ by
 * version, so each is asked for what it has; what is missing is told, and the others are shown. Rows become those of a
 * profile, and are joined as those are (kineto-join.ts).
 *
 * A wait finds its record by the event's sync id. Files older than that have the event's handle only, which is used again
 * and again: there the newest earlier record is taken, and the edge is marked as inferred.
 */
import { annotationSlice, copySlice, kernelSlice, runtimeSlice, setSlice, syncSlice } from './draft.ts';
import { TraceError } from './error.ts';
import { joinKineto } from './kineto-join.ts';
import { KinetoRows } from './kineto.ts';
import { nsysSentences } from './limit-sentences.ts';
import { numberOf, processOf, textOf, threadOf } from './nsys-values.ts';
import type { FormatReader } from './reader.ts';
import { SqliteFile, type SqlTable, type SqlValue } from './sqlite.ts';
import type { Trace } from './trace.ts';
import { WholeFile } from './whole-file.ts';

/** A file past this does not fit into one buffer of a browser, nor, with its rows, into the memory of most machines. */
const largestFile = 2 ** 31 - 1;
/** Correlation numbers are given out per process: those of the next one begin here. */
const perProcess = 2 ** 33;
const copyNames: readonly string[] = [
  '?',
  'HtoD',
  'DtoH',
  'HtoA',
  'AtoH',
  'AtoA',
  'AtoD',
  'DtoA',
  'DtoD',
  'HtoH',
  'PtoP',
];
const memoryNames: readonly string[] = [
  'Unknown',
  'Pageable',
  'Pinned',
  'Device',
  'Array',
  'Managed',
  'Device',
  'Managed',
];
/** CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE, in the words of the profiler. */
const syncNames: readonly string[] = ['Unknown Sync', 'Event Sync', 'Stream Wait Event', 'Stream Sync', 'Context Sync'];
const none = 0xffffffff;

type Row = Readonly<Record<string, SqlValue>>;

interface Needs {
  readonly table: string;
  readonly needs: readonly string[];
  readonly may?: readonly string[];
}

const work = ['start', 'end', 'deviceId', 'streamId', 'correlationId'] as const;
const kernels: Needs = {
  table: 'CUPTI_ACTIVITY_KIND_KERNEL',
  needs: work,
  may: ['globalPid', 'demangledName', 'shortName', 'graphNodeId'],
};
const copies: Needs = {
  table: 'CUPTI_ACTIVITY_KIND_MEMCPY',
  needs: [...work, 'bytes', 'copyKind'],
  may: ['globalPid', 'srcKind', 'dstKind'],
};
const sets: Needs = { table: 'CUPTI_ACTIVITY_KIND_MEMSET', needs: [...work, 'bytes'], may: ['globalPid', 'memKind'] };
const graphs: Needs = { table: 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE', needs: work, may: ['globalPid', 'graphId'] };
const calls: Needs = {
  table: 'CUPTI_ACTIVITY_KIND_RUNTIME',
  needs: ['start', 'end', 'globalTid', 'correlationId', 'nameId'],
};
const syncs: Needs = {
  table: 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION',
  needs: ['start', 'end', 'streamId', 'correlationId', 'syncType', 'eventId'],
  may: ['globalPid', 'deviceId', 'contextId', 'eventSyncId'],
};
const records: Needs = {
  table: 'CUPTI_ACTIVITY_KIND_CUDA_EVENT',
  needs: ['streamId', 'correlationId', 'eventId'],
  may: ['globalPid', 'deviceId', 'contextId', 'eventSyncId', 'timestamp'],
};
const ranges: Needs = {
  table: 'NVTX_EVENTS',
  needs: ['start', 'end', 'globalTid'],
  may: ['text', 'textId', 'eventType'],
};
const memory: Needs = {
  table: 'CUDA_GPU_MEMORY_USAGE_EVENTS',
  needs: ['start', 'bytes', 'memoryOperationType'],
  may: ['deviceId', 'memKind'],
};

export class NsysReader implements FormatReader {
  readonly #file = new WholeFile(
    largestFile,
    'The SQLite file has more than 2 GB. Export a part of the run (nsys export --type sqlite --times START,END), or record a shorter one.',
  );

  hold(bytes: Uint8Array): void {
    this.#file.hold(bytes);
  }

  push(bytes: Uint8Array): void {
    this.#file.push(bytes);
  }

  finish(cut?: string): Trace {
    return new NsysImport(this.#file.take(), cut).trace();
  }
}

class NsysImport {
  readonly #rows = new KinetoRows(nsysSentences);
  readonly #file: SqliteFile;
  /** Ids of the draft's strings by those of the file. */
  readonly #strings = new Map<number, number>();
  readonly #threads = new Map<string, number>();
  readonly #processes = new Map<number, number>();
  readonly #nullStreams = new Map<string, number>();
  #earliest = Number.POSITIVE_INFINITY;
  #used = 0;

  constructor(bytes: Uint8Array, cut: string | undefined) {
    const { problems } = this.#rows.draft;
    if (cut) problems.add('cut', cut, bytes.length, -1);
    this.#file = new SqliteFile(bytes, (message, offset) => problems.add('damaged', message, offset, -1));
  }

  trace(): Trace {
    const rows = this.#rows;
    const { draft } = rows;
    this.#readStrings();
    this.#readContexts();
    this.#readCalls();
    this.#readWork(
      kernels,
      kernelSlice,
      ({ demangledName, shortName }) => this.#string(demangledName) ?? this.#string(shortName) ?? 'kernel',
    );
    this.#readWork(copies, copySlice, copyName);
    this.#readWork(sets, setSlice, ({ memKind }) => `Memset (${memoryNames[numberOf(memKind)] ?? 'Device'})`);
    this.#readWork(graphs, kernelSlice, ({ graphId }) => `CUDA graph ${numberOf(graphId)}`);
    this.#readSyncs();
    this.#readRanges();
    if (this.#used === 0) this.#refuse();
    const earliest = Number.isFinite(this.#earliest) ? this.#earliest : 0;
    this.#readMemory(earliest);
    this.#readDiagnostics();
    joinKineto(rows, earliest);
    if (this.#file.table(graphs.table))
      draft.limits.push(
        'CUDA graphs were recorded whole: their kernels are not in the file. Record with --cuda-graph-trace=node to see them.',
      );
    return draft.finish({
      format: 'nsys',
      producer: this.#producer(),
      clock: 'gpu',
      unixStart: this.#unixStart(earliest),
    });
  }

  /** Visits the rows of a table, by the names of the columns that it needs and may have (null where it has not). */
  #read({ table, needs, may = [] }: Needs, visit: (row: Row) => void): void {
    const found = this.#file.table(table);
    if (!found) return;
    const missing = needs.filter((column) => !found.columns.includes(column.toLowerCase()));
    if (missing.length > 0) {
      this.#rows.draft.problems.add(
        'columns',
        `The table ${table} has no column ${missing.join(', ')}: it is left out. Export the recording again with a current nsys (nsys export --type sqlite FILE.nsys-rep).`,
        -1,
        -1,
      );
      return;
    }
    this.#used++;
    const columns = [...needs, ...may];
    // One object serves all rows: there are millions.
    const row: Record<string, SqlValue> = {};
    this.#file.rows(found, columns, (values) => {
      for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]!;
      visit(row);
    });
  }

  #readStrings(): void {
    const { strings } = this.#rows.draft;
    const table = this.#file.table('StringIds');
    if (table)
      this.#file.rows(table, ['id', 'value'], ([id, value]) => {
        if (typeof id === 'number') this.#strings.set(id, strings.add(textOf(value)));
      });
  }

  /** Which stream is the default one differs by context. */
  #readContexts(): void {
    const table = this.#file.table('TARGET_INFO_CUDA_CONTEXT_INFO');
    if (table)
      this.#file.rows(table, ['deviceId', 'nullStreamId'], ([device, stream]) => {
        if (typeof stream === 'number') this.#nullStreams.set(`${numberOf(device)} ${stream}`, stream);
      });
  }

  #readCalls(): void {
    const { draft, callCorrelation, hostRow } = this.#rows;
    const names = new Map<number, { readonly id: number; readonly kind: number }>();
    this.#read(calls, ({ start, end, globalTid, correlationId, nameId }) => {
      const from = this.#see(start);
      if (from < 0) return;
      let name = names.get(numberOf(nameId));
      if (!name) {
        // cudaLaunchKernel_v7000: the version says nothing to a reader.
        const text = (this.#string(nameId) ?? 'call').replace(/_v\d+(_ptsz|_ptds)?$/, '');
        name = { id: draft.strings.add(text), kind: /Synchronize/.test(text) ? syncSlice : runtimeSlice };
        names.set(numberOf(nameId), name);
      }
      hostRow.push(
        draft.pushHost(this.#thread(globalTid), from, Math.max(0, numberOf(end) - from), name.id, name.kind, -1),
      );
      callCorrelation.push(this.#correlation(correlationId, globalTid));
    });
  }

  #readWork(needs: Needs, kind: number, nameOf: (row: Row) => string): void {
    const { draft, deviceRow } = this.#rows;
    const ids = new Map<string, number>();
    this.#read(needs, (row) => {
      const from = this.#see(row.start);
      if (from < 0) return;
      const name = nameOf(row);
      let id = ids.get(name);
      if (id === undefined) {
        id = draft.strings.add(name);
        ids.set(name, id);
      }
      deviceRow.push(
        draft.pushDevice({
          stream: this.#stream(row.deviceId, row.streamId),
          start: from,
          duration: Math.max(0, numberOf(row.end) - from),
          name: id,
          kind,
          bytes: numberOf(row.bytes),
          correlation: this.#correlation(row.correlationId, row.globalPid),
          step: -1,
          site: -1,
          launcher: -1,
        }),
      );
    });
  }

  #readSyncs(): void {
    const rows = this.#rows;
    /** Correlations of records by the sync id of their event. */
    const bySync = new Map<string, number>();
    const events = new Map<string, number>();
    const eventOf = ({ globalPid, contextId, eventId }: Row) => {
      const key = `${globalPid} ${contextId} ${eventId}`;
      const event = events.get(key) ?? events.size;
      events.set(key, event);
      return event;
    };
    const syncOf = ({ globalPid, contextId, eventSyncId }: Row) =>
      numberOf(eventSyncId) > 0 ? `${globalPid} ${contextId} ${eventSyncId}` : '';
    this.#read(records, (row) => {
      const correlation = this.#correlation(row.correlationId, row.globalPid);
      rows.events.time.push(-1);
      rows.events.device.push(Math.max(0, numberOf(row.deviceId)));
      rows.events.stream.push(numberOf(row.streamId));
      rows.events.correlation.push(correlation);
      rows.events.event.push(eventOf(row));
      if (syncOf(row)) bySync.set(syncOf(row), correlation);
    });
    this.#read(syncs, (row) => {
      const from = this.#see(row.start);
      if (from < 0) return;
      rows.syncs.time.push(from);
      rows.syncs.duration.push(Math.max(0, numberOf(row.end) - from));
      rows.syncs.kind.push(rows.draft.strings.add(syncNames[numberOf(row.syncType)] ?? syncNames[0]!));
      rows.syncs.stream.push(numberOf(row.streamId) === none ? -1 : numberOf(row.streamId));
      rows.syncs.correlation.push(this.#correlation(row.correlationId, row.globalPid));
      rows.syncs.device.push(Math.max(0, numberOf(row.deviceId)));
      rows.syncs.waitsOn.push(-1);
      rows.syncs.record.push(bySync.get(syncOf(row)) ?? -1);
      rows.syncs.event.push(eventOf(row));
      rows.syncs.inferred.push(0);
      rows.syncs.row.push(-1);
    });
  }

  #readRanges(): void {
    const { draft, callCorrelation, hostRow } = this.#rows;
    this.#read(ranges, ({ start, end, globalTid, text, textId, eventType }) => {
      // 34 is a mark, 59 and 60 are ranges; others are names of threads and domains.
      if (end === null || (eventType !== null && numberOf(eventType) !== 59 && numberOf(eventType) !== 60)) return;
      const from = this.#see(start);
      const name = textOf(text) || this.#string(textId) || 'range';
      if (from < 0) return;
      hostRow.push(
        draft.pushHost(
          this.#thread(globalTid),
          from,
          Math.max(0, numberOf(end) - from),
          draft.strings.add(name),
          annotationSlice,
          -1,
        ),
      );
      callCorrelation.push(-1);
    });
  }

  /** What the driver gave out: not PyTorch's blocks, but what they are cut from. */
  #readMemory(earliest: number): void {
    const changes: { time: number; device: number; bytes: number }[] = [];
    this.#read(memory, ({ start, bytes, memoryOperationType, deviceId, memKind }) => {
      if (memKind !== null && numberOf(memKind) !== 2) return;
      const sign = [1, -1][numberOf(memoryOperationType)] ?? 0;
      const time = Math.max(0, numberOf(start) - earliest);
      changes.push({ time, device: Math.max(0, numberOf(deviceId)), bytes: sign * numberOf(bytes) });
    });
    changes.sort((a, b) => a.time - b.time);
    const totals = new Map<number, number>();
    for (const { time, device, bytes } of changes) {
      const total = Math.max(0, (totals.get(device) ?? 0) + bytes);
      totals.set(device, total);
      this.#rows.draft.counters.add(time, device, -1, total, -1);
    }
    if (changes.length > 0)
      this.#rows.draft.limits.push(
        'Memory is what the driver gave out (cudaMalloc), not the blocks of PyTorch’s allocator. A snapshot (torch.cuda.memory._dump_snapshot) has these.',
      );
  }

  #readDiagnostics(): void {
    const table = this.#file.table('DIAGNOSTIC_EVENT');
    if (!table) return;
    const said = new Set<string>();
    this.#file.rows(table, ['text'], ([text]) => {
      const line = textOf(text);
      if (/\b(dropped|lost|missing|overflow|not all)\b/i.test(line) && said.size < 20) said.add(line.slice(0, 300));
    });
    for (const line of said) this.#rows.draft.limits.push(`Nsight Systems says: ${line}`);
  }

  /** A time of the file, -1 where it is none; the earliest is where the trace begins. */
  #see(value: SqlValue | undefined): number {
    const time = numberOf(value);
    if (!(time >= 0 && time < Number.MAX_SAFE_INTEGER)) {
      this.#rows.draft.problems.add('time', 'A row has no time; it is left out.', -1, -1);
      return -1;
    }
    if (time < this.#earliest) this.#earliest = time;
    return time;
  }

  #string(id: SqlValue | undefined): string | undefined {
    if (typeof id !== 'number') return undefined;
    const at = this.#strings.get(id);
    return at === undefined ? undefined : this.#rows.draft.strings.list[at];
  }

  #thread(globalTid: SqlValue | undefined): number {
    const key = String(globalTid);
    const known = this.#threads.get(key);
    if (known !== undefined) return known;
    const { threads, programThreads } = this.#rows.draft;
    const [pid, tid] = threadOf(globalTid);
    const name = `thread ${tid}`;
    const at = threads.push({ name, pid, tid }) - 1;
    programThreads.push({ name });
    this.#threads.set(key, at);
    return at;
  }

  #correlation(correlation: SqlValue | undefined, global: SqlValue | undefined): number {
    const number = numberOf(correlation);
    if (number < 0 || number === none) return -1;
    const pid = processOf(global);
    let process = this.#processes.get(pid);
    if (process === undefined) {
      process = this.#processes.size;
      this.#processes.set(pid, process);
    }
    return process * perProcess + number;
  }

  #stream(device: SqlValue | undefined, stream: SqlValue | undefined): number {
    const on = Math.max(0, numberOf(device));
    const number = Math.max(0, numberOf(stream));
    const at = this.#rows.stream(on, number);
    if (this.#nullStreams.size > 0 && at >= 0) {
      const entry = this.#rows.draft.streams[at]!;
      entry.isDefault = this.#nullStreams.has(`${on} ${number}`);
      entry.name = entry.isDefault ? 'default' : `stream ${number}`;
      Object.assign(this.#rows.draft.programStreams[entry.programStream]!, {
        name: entry.name,
        isDefault: entry.isDefault,
      });
    }
    return at;
  }

  #producer(): string {
    let version = '';
    const table = this.#file.table('META_DATA_EXPORT');
    if (table)
      this.#file.rows(table, ['name', 'value'], ([name, value]) => {
        if (name === 'EXPORT_PRODUCT_VERSION') version = ` ${textOf(value).slice(0, 40)}`;
      });
    return `Nsight Systems${version}`;
  }

  #unixStart(earliest: number): string | undefined {
    let epoch: bigint | undefined;
    const table = this.#file.table('TARGET_INFO_SESSION_START_TIME');
    if (table)
      this.#file.rows(table, ['utcEpochNs'], ([value]) => {
        if (typeof value === 'bigint' || typeof value === 'number') epoch = BigInt(value);
      });
    return epoch === undefined || epoch <= 0n ? undefined : String(epoch + BigInt(Math.round(earliest)));
  }

  #refuse(): never {
    const tables: SqlTable[] = [...this.#file.tables.values()];
    const problem = this.#rows.draft.problems.finish()[0]?.message;
    const isNsys = this.#file.table('StringIds') || this.#file.table('META_DATA_EXPORT');
    throw new TraceError(
      isNsys
        ? `The file is an export of Nsight Systems without CUDA activity that can be read. Record with nsys profile --trace=cuda,nvtx and export again.${problem ? ` ${problem}` : ''}`
        : `The file is an SQLite database with the tables ${tables
            .slice(0, 5)
            .map(({ name }) => `“${name.slice(0, 40)}”`)
            .join(', ')}, but no export of Nsight Systems (nsys export --type sqlite).`,
      0,
    );
  }
}

/** In the profiler's words: “Memcpy HtoD (Pinned -> Device)”. */
function copyName({ copyKind, srcKind, dstKind }: Row): string {
  const direction = copyNames[numberOf(copyKind)] ?? '?';
  const ends = [srcKind, dstKind].map((end) => memoryNames[numberOf(end)]);
  return ends[0] && ends[1] ? `Memcpy ${direction} (${ends[0]} -> ${ends[1]})` : `Memcpy ${direction}`;
}
