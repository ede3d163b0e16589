/**
 * Reads traces of the PyTorch profiler (Kineto's Chrome JSON). The scanner finds the events; here they become rows, and
 * at the end (kineto-join.ts) launches, records and waits find each other.
 *
 * What such a file does not hold is told in `limits`: which memory an operator reads or writes (never), and which event a
 * wait waits for (seldom).
 */
import { ArgumentFields } from './argument-fields.ts';
import { float64, int32, uint8 } from './columns.ts';
import {
  annotationSlice,
  copySlice,
  kernelSlice,
  operatorSlice,
  pythonSlice,
  runtimeSlice,
  setSlice,
  syncSlice,
  TraceDraft,
} from './draft.ts';
import { TraceError } from './error.ts';
import { joinKineto } from './kineto-join.ts';
import { rehearsalPiece, rehearsalProfile } from './kineto-rehearsal.ts';
import { type KinetoSink, KinetoScanner, type ScannedEvent } from './kineto-scan.ts';
import { type LimitSentences, profilerSentences } from './limit-sentences.ts';
import type { FormatReader } from './reader.ts';
import type { Trace } from './trace.ts';

/** What an event's category makes of it. */
const roles = {
  cpu_op: 'operator',
  user_annotation: 'annotation',
  python_function: 'python',
  cuda_runtime: 'runtime',
  cuda_driver: 'runtime',
  kernel: 'kernel',
  gpu_memcpy: 'copy',
  gpu_memset: 'set',
  cuda_sync: 'sync',
  cuda_event: 'event',
  cpu_instant_event: 'instant',
  // Other vendors: what runs on the device, and calls on the host.
  mtia_ccp_events: 'kernel',
  hpu_op: 'runtime',
  glow_runtime: 'runtime',
  mtia_insight: 'none',
  mtia_counters: 'none',
  mtia_workloadd: 'none',
  cuda_profiler_range: 'none',
  // Names of before 2021.
  Operator: 'operator',
  Runtime: 'runtime',
  Kernel: 'kernel',
  Memcpy: 'copy',
  Memset: 'set',
  // Known, and of no use here: what they show follows from the other rows.
  overhead: 'none',
  gpu_user_annotation: 'none',
  Trace: 'none',
  ac2g: 'none',
  async_cpu_to_gpu: 'none',
  fwdbwd: 'none',
  critical_path: 'path',
  external_correlation: 'none',
  collective_comm: 'none',
  hardware_counters: 'none',
  graph_event_node: 'none',
  graph_host_node: 'none',
  // What our own export adds.
  event_edge: 'none',
  raceline_finding: 'none',
  allocator: 'none',
} as const satisfies Record<string, string>;
/** `unseen`: a category that was not looked up yet, or is not known. */
type Role = (typeof roles)[keyof typeof roles] | 'unseen';

const deviceKinds = { kernel: kernelSlice, copy: copySlice, set: setSlice } as const;

const kernelFields = new ArgumentFields(['device', 'stream', 'correlation']);
const copyFields = new ArgumentFields(['device', 'stream', 'correlation', 'bytes']);
const callFields = new ArgumentFields(['correlation']);
const syncFields = new ArgumentFields([
  'cuda_sync_kind',
  'stream',
  'correlation',
  'device',
  'wait_on_stream',
  'wait_on_cuda_event_record_corr_id',
  'wait_on_cuda_event_id',
]);
const eventFields = new ArgumentFields(['stream', 'correlation', 'device', 'event_id']);
const memoryFields = new ArgumentFields([
  'Device Type',
  'Device Id',
  'Addr',
  'Bytes',
  'Total Allocated',
  'Total Reserved',
]);
const nameFields = new ArgumentFields(['name']);
const pathFields = new ArgumentFields(['type', 'weight']);

/** Rows of the file that are not slices; times are nanoseconds from `origin` of the reader. */
export class SyncRows {
  readonly time = float64();
  readonly duration = float64();
  /** Id of the text of `cuda_sync_kind`. */
  readonly kind = int32();
  readonly device = int32();
  /** Numbers of streams, -1: none or not known. */
  readonly stream = float64();
  readonly waitsOn = float64();
  readonly correlation = float64();
  /** Correlation of the record call, -1: not known. */
  readonly record = float64();
  /** The event waited for, -1: not known. Ids are used again. */
  readonly event = float64();
  /** 1: which record it is follows from positions, and is not said. */
  readonly inferred = uint8();
  readonly row = int32();
}

export class EventRows {
  readonly time = float64();
  readonly device = int32();
  readonly stream = float64();
  readonly correlation = float64();
  readonly event = float64();
}

export class MemoryRows {
  readonly time = float64();
  readonly thread = int32();
  readonly device = int32();
  readonly address = float64();
  /** Negative: released. */
  readonly bytes = float64();
  readonly allocated = float64();
  readonly reserved = float64();
}

/** Arrows of a critical path that another tool has laid over the file; rows by process and thread as the file has them. */
export class PathRows {
  readonly fromTime = float64();
  readonly fromPid = float64();
  readonly fromTid = float64();
  readonly toTime = float64();
  readonly toPid = float64();
  readonly toTid = float64();
  /** Id of the text of its type. */
  readonly kind = int32();
}

/** Rows of the file as they came, before anything is joined. */
export class KinetoRows {
  readonly draft = new TraceDraft();
  readonly syncs = new SyncRows();
  readonly events = new EventRows();
  readonly memory = new MemoryRows();
  readonly path = new PathRows();
  /** Beside the host rows of the draft: the correlation of a call (-1), and the row of the file. */
  readonly callCorrelation = float64();
  readonly hostRow = int32();
  /** Beside the device rows. */
  readonly deviceRow = int32();
  readonly streamIds = new Map<string, number>();
  readonly sentences: LimitSentences;

  constructor(sentences: LimitSentences) {
    this.sentences = sentences;
  }

  /** Index of a stream; a number below 0 is no stream. */
  stream(device: number, number: number): number {
    // CUPTI's "none" is -1, written as such or as an unsigned number.
    if (!(number >= 0) || number === 0xffffffff) return -1;
    const key = `${device} ${number}`;
    const known = this.streamIds.get(key);
    if (known !== undefined) return known;
    const { streams, programStreams } = this.draft;
    const at = streams.length;
    // CUPTI numbers the default stream of the first context 7; ROCm numbers it 0.
    const isDefault = number === 7 || number === 0;
    const name = isDefault ? 'default' : `stream ${number}`;
    streams.push({ name, device, isDefault, number, handle: '', programStream: at });
    programStreams.push({ name, device, isDefault });
    this.streamIds.set(key, at);
    return at;
  }
}

export class KinetoReader implements FormatReader, KinetoSink {
  readonly #rows = new KinetoRows(profilerSentences);
  readonly #scanner: KinetoScanner;
  /** Roles of categories by string id. */
  readonly #roles: Role[] = [];
  readonly #metadata = new Map<string, string>();
  readonly #threads = new Map<string, number>();
  readonly #threadNames = new Map<string, string>();
  readonly #unknown = new Map<string, number>();
  #lastPid = Number.NaN;
  #lastTid = Number.NaN;
  #lastThread = -1;
  /** Whole microseconds of the first time seen; all others count from there and so stay exact. */
  #origin = Number.NaN;
  #earliest = Number.POSITIVE_INFINITY;
  #memoryName = -1;
  #profilerRows = 0;
  #memoryEvents = 0;

  constructor() {
    this.#scanner = new KinetoScanner(this.#rows.draft.strings, this);
  }

  push(bytes: Uint8Array): void {
    if (!rehearsed && bytes.length >= worthRehearsal) rehearse();
    this.#scanner.push(bytes);
  }

  finish(cut?: string): Trace {
    this.#scanner.finish();
    const rows = this.#rows;
    const { draft } = rows;
    if (cut) draft.problems.add('cut', cut, this.#scanner.length, this.#scanner.row);
    this.#refuseOthers();
    if (!this.#scanner.closed)
      draft.problems.once(
        'cut',
        'The file ends before its last bracket: it was cut while it was written.',
        this.#scanner.length,
        this.#scanner.row,
      );
    for (const [category, count] of this.#unknown)
      draft.problems.add(
        'category',
        `${count} events of the category “${category}” are not known to this Raceline; they are left out.`,
        -1,
        -1,
      );
    this.#nameThreads();
    joinKineto(rows, Number.isFinite(this.#earliest) ? this.#earliest : 0);
    const cuda = Number(this.#metadata.get('cuda_runtime_version'));
    return draft.finish({
      format: 'kineto',
      producer:
        cuda > 0
          ? `PyTorch profiler (CUDA ${Math.floor(cuda / 1000)}.${Math.floor((cuda % 1000) / 10)})`
          : 'PyTorch profiler',
      clock: 'gpu',
      unixStart: this.#unixStart(),
      rank: this.#rank(),
      hostRow: rows.hostRow,
      counts: {
        memoryEvents: this.#memoryEvents,
        rows: this.#scanner.row + 1,
        syncs: rows.syncs.time.length,
      },
    });
  }

  // What the scanner calls.

  metadata(key: string, text: string): void {
    const known = key in otherTools ? otherTools[key as keyof typeof otherTools] : undefined;
    if (known && !this.#scanner.sawEvents) throw new TraceError(known, 0);
    if (text !== '' && this.#metadata.size < 1000) this.#metadata.set(key, text);
    else if (!this.#metadata.has(key)) this.#metadata.set(key, '');
  }

  problem(kind: string, message: string, offset: number, row: number): void {
    this.#rows.draft.problems.add(kind, message, offset, row);
  }

  event(event: ScannedEvent): void {
    if (event.category < 0) {
      if (event.phase === phaseMetadata) this.#threadName(event);
      return;
    }
    const role = this.#role(event.category);
    if (role === 'none' || role === 'unseen') return;
    if (!event.hasTime) {
      this.problem('time', `The event at byte ${event.offset} has no time; it is left out.`, event.offset, event.row);
      return;
    }
    // By far the most events, apart from all others.
    const kind =
      role === 'operator'
        ? operatorSlice
        : role === 'python'
          ? pythonSlice
          : role === 'annotation'
            ? annotationSlice
            : -1;
    if (kind < 0 || event.phase !== phaseComplete) this.#other(event, role);
    else {
      this.#profilerRows++;
      this.#host(event, kind, -1);
    }
  }

  #other(event: ScannedEvent, role: Role): void {
    if (role === 'instant') {
      if (this.#memoryName < 0 && this.#text(event.name) === '[memory]') this.#memoryName = event.name;
      if (event.name === this.#memoryName) this.#memory(event);
      return;
    }
    if (role === 'path') {
      this.#path(event);
      return;
    }
    // Flow arrows of some writers carry the category of what they join.
    if (event.phase !== phaseComplete) return;
    this.#profilerRows++;
    switch (role) {
      case 'runtime':
        event.readArguments(callFields);
        this.#host(event, this.#isSync(event.name) ? syncSlice : runtimeSlice, number(callFields, 0));
        break;
      case 'kernel':
      case 'copy':
      case 'set':
        this.#device(event, deviceKinds[role]);
        break;
      case 'sync':
        this.#sync(event);
        break;
      case 'event': {
        event.readArguments(eventFields);
        const { events } = this.#rows;
        events.time.push(this.#time(event));
        events.device.push(Math.max(0, number(eventFields, 2)));
        events.stream.push(number(eventFields, 0));
        events.correlation.push(number(eventFields, 1));
        events.event.push(number(eventFields, 3));
        break;
      }
    }
  }

  // Rows.

  #host(event: ScannedEvent, kind: number, correlation: number): void {
    const time = this.#time(event);
    if (time < this.#earliest) this.#earliest = time;
    this.#rows.draft.pushHost(this.#thread(event), time, Math.max(0, event.duration), event.name, kind, -1);
    this.#rows.callCorrelation.push(correlation);
    this.#rows.hostRow.push(event.row);
  }

  #device(event: ScannedEvent, kind: number): void {
    const fields = kind === kernelSlice ? kernelFields : copyFields;
    event.readArguments(fields);
    const rows = this.#rows;
    const device = Math.max(
      0,
      Number.isNaN(fields.values[0]!) ? numeric(event.pid, event.pidIsText) : number(fields, 0),
    );
    let stream = number(fields, 1);
    if (Number.isNaN(fields.values[1]!)) stream = numeric(event.tid, event.tidIsText);
    const time = this.#time(event);
    if (time < this.#earliest) this.#earliest = time;
    rows.draft.pushDevice({
      stream: rows.stream(device, Math.max(0, stream)),
      start: time,
      duration: Math.max(0, event.duration),
      name: event.name,
      kind,
      bytes: fields === copyFields ? number(fields, 3) : -1,
      correlation: number(fields, 2),
      step: -1,
      site: -1,
      launcher: -1,
    });
    rows.deviceRow.push(event.row);
  }

  #sync(event: ScannedEvent): void {
    event.readArguments(syncFields);
    const { syncs } = this.#rows;
    syncs.time.push(this.#time(event));
    syncs.duration.push(Math.max(0, event.duration));
    syncs.kind.push(syncFields.texts[0]! >= 0 ? syncFields.texts[0]! : event.name);
    syncs.stream.push(number(syncFields, 1));
    syncs.correlation.push(number(syncFields, 2));
    syncs.device.push(Math.max(0, number(syncFields, 3)));
    syncs.waitsOn.push(number(syncFields, 4));
    syncs.record.push(number(syncFields, 5));
    syncs.event.push(number(syncFields, 6));
    syncs.inferred.push(0);
    syncs.row.push(event.row);
  }

  #memory(event: ScannedEvent): void {
    event.readArguments(memoryFields);
    this.#profilerRows++;
    this.#memoryEvents++;
    const bytes = memoryFields.values[3]!;
    if (memoryFields.values[0] !== 1 || !(Math.abs(bytes) > 0)) return;
    const { memory } = this.#rows;
    const time = this.#time(event);
    if (time < this.#earliest) this.#earliest = time;
    memory.time.push(time);
    memory.thread.push(this.#thread(event));
    memory.device.push(Math.max(0, number(memoryFields, 1)));
    memory.address.push(number(memoryFields, 2));
    memory.bytes.push(bytes);
    memory.allocated.push(number(memoryFields, 4));
    memory.reserved.push(number(memoryFields, 5));
  }

  /** HTA writes the two ends of an arrow one behind the other. */
  #path(event: ScannedEvent): void {
    const { path } = this.#rows;
    const open = path.fromTime.length > path.toTime.length;
    if (event.phase === phaseFlowStart && !open) {
      event.readArguments(pathFields);
      path.fromTime.push(this.#time(event));
      path.fromPid.push(numeric(event.pid, event.pidIsText));
      path.fromTid.push(numeric(event.tid, event.tidIsText));
      path.kind.push(pathFields.texts[0]!);
    } else if (event.phase === phaseFlowEnd && open) {
      path.toTime.push(this.#time(event));
      path.toPid.push(numeric(event.pid, event.pidIsText));
      path.toTid.push(numeric(event.tid, event.tidIsText));
    } else
      this.problem(
        'flow',
        `The arrow at byte ${event.offset} has one end only; it is left out.`,
        event.offset,
        event.row,
      );
  }

  #threadName(event: ScannedEvent): void {
    if (this.#text(event.name) !== 'thread_name' || event.tidIsText || event.pidIsText) return;
    event.readArguments(nameFields);
    if (this.#threadNames.size < 100_000)
      this.#threadNames.set(`${event.pid} ${event.tid}`, this.#text(nameFields.texts[0]!));
  }

  /** Nanoseconds from the first time that was seen. */
  #time(event: ScannedEvent): number {
    if (Number.isNaN(this.#origin)) this.#origin = event.microseconds;
    return (event.microseconds - this.#origin) * 1000 + event.nanoseconds;
  }

  #thread(event: ScannedEvent): number {
    if (event.pid === this.#lastPid && event.tid === this.#lastTid) return this.#lastThread;
    const key = `${event.pid} ${event.tid}`;
    let at = this.#threads.get(key);
    if (at === undefined) {
      const { threads, programThreads } = this.#rows.draft;
      at =
        threads.push({
          name: '',
          pid: numeric(event.pid, event.pidIsText),
          tid: numeric(event.tid, event.tidIsText),
        }) - 1;
      programThreads.push({ name: '' });
      this.#threads.set(key, at);
    }
    this.#lastPid = event.pid;
    this.#lastTid = event.tid;
    this.#lastThread = at;
    return at;
  }

  #nameThreads(): void {
    const { threads, programThreads } = this.#rows.draft;
    for (const [at, thread] of threads.entries()) {
      thread.name = this.#threadNames.get(`${thread.pid} ${thread.tid}`) || `thread ${thread.tid}`;
      programThreads[at] = { name: thread.name };
    }
  }

  #role(category: number): Role {
    const known = category < this.#roles.length ? this.#roles[category]! : 'unseen';
    return known === 'unseen' ? this.#findRole(category) : known;
  }

  #findRole(category: number): Role {
    while (this.#roles.length <= category) this.#roles.push('unseen');
    const text = this.#text(category);
    let role: Role = Object.hasOwn(roles, text) ? roles[text as keyof typeof roles] : 'unseen';
    // Other vendors name their calls xpu_runtime, mtia_runtime, privateuse1_driver.
    if (role === 'unseen' && /_(runtime|driver)$/.test(text)) role = 'runtime';
    if (role === 'unseen' && this.#unknown.size < 100) this.#unknown.set(text, (this.#unknown.get(text) ?? 0) + 1);
    this.#roles[category] = role;
    return role;
  }

  readonly #syncNames = new Map<number, boolean>();

  #isSync(name: number): boolean {
    let is = this.#syncNames.get(name);
    if (is === undefined) {
      is = /Synchronize/.test(this.#text(name));
      this.#syncNames.set(name, is);
    }
    return is;
  }

  #text(id: number): string {
    return this.#rows.draft.strings.list[id] ?? '';
  }

  /** Time 0 of the trace in Unix time; not known where the file has relative times and no base. */
  #unixStart(): string | undefined {
    if (!Number.isFinite(this.#earliest)) return undefined;
    const base = this.#metadata.get('baseTimeNanoseconds')?.trim() ?? '';
    const start = BigInt(this.#origin) * 1000n + BigInt(Math.round(this.#earliest));
    if (/^\d{1,19}$/.test(base)) return String(BigInt(base) + start);
    // Absolute microseconds of this century; a monotonic clock gives far less.
    return this.#origin > 9e14 ? String(start) : undefined;
  }

  #rank(): number | undefined {
    const found = /"rank"\s*:\s*(\d{1,6})\b/.exec(this.#metadata.get('distributedInfo') ?? '')?.[1];
    return found === undefined ? undefined : Number(found);
  }

  #refuseOthers(): void {
    if (!this.#scanner.sawEvents) {
      if (this.#metadata.has('traceEvents'))
        throw new TraceError(
          'The “traceEvents” of the file are no list of events. Export the profile once more with prof.export_chrome_trace("trace.json.gz").',
          0,
        );
      const keys = [...this.#metadata.keys()].slice(0, 5).map((key) => `“${key.slice(0, 40)}”`);
      throw new TraceError(
        `The file is JSON${keys.length ? ` with the keys ${keys.join(', ')}` : ''}, but it has no “traceEvents”: it is not a trace of the PyTorch profiler. Export one with prof.export_chrome_trace("trace.json.gz").`,
        0,
      );
    }
    if (this.#profilerRows === 0)
      throw new TraceError(
        this.#scanner.row >= 0
          ? 'The file is a Chrome trace, but none of its events is of a GPU or of the PyTorch profiler. Export a profile with prof.export_chrome_trace("trace.json.gz").'
          : 'The file is a Chrome trace without events. If the profiler was stopped before any work was done, profile a step and export again.',
        0,
      );
  }
}

/** Pieces of a small file are smaller. */
const worthRehearsal = 1 << 17;
let rehearsed = false;

function rehearse(): void {
  rehearsed = true;
  const reader = new KinetoReader();
  const bytes = rehearsalProfile();
  for (let at = 0; at < bytes.length; at += rehearsalPiece) reader.push(bytes.subarray(at, at + rehearsalPiece));
  reader.finish();
}

const phaseComplete = 'X'.charCodeAt(0);
const phaseMetadata = 'M'.charCodeAt(0);
const phaseFlowStart = 's'.charCodeAt(0);
const phaseFlowEnd = 'f'.charCodeAt(0);

/** Outer keys that tell another tool's file. */
const otherTools = {
  'rocprofiler-sdk-tool':
    'The file is a rocprofiler-sdk result, not a PyTorch profiler trace. Profile with torch.profiler (it works on ROCm) and export with prof.export_chrome_trace("trace.json.gz").',
  'rocprofiler-sdk-json-tool':
    'The file is a rocprofiler-sdk result, not a PyTorch profiler trace. Profile with torch.profiler (it works on ROCm) and export with prof.export_chrome_trace("trace.json.gz").',
  nodes:
    'The file looks like a PyTorch execution trace (ExecutionTraceObserver), which has no GPU times. Export a profile with prof.export_chrome_trace("trace.json.gz").',
} as const;

function number(fields: ArgumentFields, slot: number): number {
  const value = fields.values[slot]!;
  return Number.isNaN(value) ? -1 : value;
}

function numeric(value: number, isText: boolean): number {
  return isText ? -1 : value;
}
