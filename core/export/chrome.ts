/**
 * A trace as Chrome JSON in the words of the PyTorch profiler, so that Perfetto, chrome://tracing and tools that read
 * profiles open it: kernels on a row a stream, overlaps on rows of their own, event edges as flow arrows, findings as
 * marks over all rows, bytes as counters.
 *
 *     host      ─ cudaEventRecord ─── cudaStreamWaitEvent ─
 *     stream 13 ██ kernel ██
 *     13 (sync)            ▏record ────flow───▶ ▏wait▕ stream 17 (sync)
 *
 * It comes in pieces: a large trace is never one string. Deliberately unknown here: files, and who opens them.
 */
import { packOverlaps } from '../timeline/pack.ts';
import {
  deviceSliceKinds,
  type HostSliceKind,
  hostSliceKinds,
  markKinds,
  type Trace,
  type TraceHazard,
} from '../trace/trace.ts';

/** Rows of records and waits are told from those of kernels by this much, as the profiler's own writer does it. */
const syncRow = 1_000_000;
/** Kernels that overlap others of their stream go to rows from here on. */
const overlapRow = 2_000_000;
/** Numbers of streams and calls that the trace has none for. */
const madeStream = 1_000;
const madeCorrelation = 1_000_000_000;

const hostCategories: Readonly<Record<HostSliceKind, string>> = {
  operator: 'cpu_op',
  runtime: 'cuda_runtime',
  annotation: 'user_annotation',
  python: 'python_function',
  sync: 'cuda_runtime',
};
const deviceCategories = { kernel: 'kernel', copy: 'gpu_memcpy', set: 'gpu_memset' } as const;

type Arguments = Readonly<Record<string, unknown>>;

export function* chromeTrace(trace: Trace, hazards: readonly TraceHazard[]): Generator<string, void> {
  const writer = new ChromeWriter(trace, hazards);
  let first = true;
  let piece = `${writer.head()}\n  "traceEvents": [\n`;
  for (const event of writer.events()) {
    piece += first ? event : `,\n${event}`;
    first = false;
    if (piece.length > pieceLength) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}\n  ],\n  "traceName": "raceline"\n}\n`;
}

const pieceLength = 1 << 16;

class ChromeWriter {
  readonly #trace: Trace;
  readonly #hazards: readonly TraceHazard[];
  readonly #numbers: readonly number[];
  readonly #texts: (string | undefined)[] = [];
  /** Correlations of device slices, of marks, and of the host slices that launched or called them. */
  readonly #ofSlice: Float64Array;
  readonly #ofMark: Float64Array;
  readonly #ofHost = new Map<number, number>();
  /** Marks whose call is a host slice of the trace. */
  readonly #called = new Set<number>();
  #made = madeCorrelation;

  constructor(trace: Trace, hazards: readonly TraceHazard[]) {
    this.#trace = trace;
    this.#hazards = hazards;
    this.#numbers = streamNumbers(trace);
    this.#ofSlice = this.#correlateSlices();
    this.#ofMark = this.#correlateMarks();
  }

  head(): string {
    const { unixStart, producer, limits } = this.#trace;
    const base = unixStart !== undefined && /^\d{1,19}$/.test(unixStart) ? unixStart : '0';
    return [
      '{',
      '  "schemaVersion": 1,',
      `  "baseTimeNanoseconds": ${base},`,
      '  "displayTimeUnit": "ns",',
      `  "producer": ${JSON.stringify(producer)},`,
      `  "limits": ${JSON.stringify(limits)},`,
    ].join('\n');
  }

  *events(): Generator<string, void> {
    yield* this.#names();
    yield* this.#hostSlices();
    yield* this.#deviceSlices();
    yield* this.#marks();
    yield* this.#memory();
    yield* this.#counters();
    yield* this.#findings();
  }

  *#names(): Generator<string, void> {
    const { streams, threads } = this.#trace;
    for (const device of new Set(streams.map((stream) => stream.device))) {
      const pid = Math.max(0, device);
      yield `  {"ph": "M", "name": "process_name", "pid": ${pid}, "tid": 0, "ts": 0, "args": {"name": "GPU ${pid}"}}`;
      yield `  {"ph": "M", "name": "process_labels", "pid": ${pid}, "tid": 0, "ts": 0, "args": {"labels": "GPU ${pid}"}}`;
    }
    for (const [i, stream] of streams.entries()) {
      const number = this.#numbers[i]!;
      const said = stream.name || `stream ${number}`;
      yield threadName(Math.max(0, stream.device), number, said);
      yield threadName(Math.max(0, stream.device), syncRow + number, `${said} (sync)`);
    }
    for (const [i, thread] of threads.entries())
      yield threadName(hostPid(thread.pid), hostTid(thread.tid, i), thread.name || `thread ${i}`);
  }

  *#hostSlices(): Generator<string, void> {
    const { hostSlices: h, threads } = this.#trace;
    for (let i = 0; i < h.length; i++) {
      const thread = threads[h.thread[i]!]!;
      const correlation = this.#ofHost.get(i);
      yield this.#complete(
        hostCategories[hostSliceKinds[h.kind[i]!]!],
        h.name[i]!,
        hostPid(thread.pid),
        hostTid(thread.tid, h.thread[i]!),
        h.start[i]!,
        h.duration[i]!,
        { ...(correlation === undefined ? {} : { correlation }), ...this.#place(h.site[i]!) },
      );
    }
  }

  *#deviceSlices(): Generator<string, void> {
    const { deviceSlices: d, streams } = this.#trace;
    for (let from = 0; from < d.length; ) {
      const stream = d.stream[from]!;
      let to = from;
      while (to < d.length && d.stream[to] === stream) to++;
      const items = Int32Array.from({ length: to - from }, (_, i) => from + i);
      const { rows, count } = packOverlaps(items, d);
      const number = this.#numbers[stream]!;
      const device = Math.max(0, streams[stream]!.device);
      const tidOf = (row: number) => (row === 0 ? number : overlapRow + number * 100 + row);
      for (let row = 1; row < count; row++)
        yield threadName(device, tidOf(row), `${streams[stream]!.name} (overlap ${row})`);
      for (const [at, i] of items.entries()) {
        const correlation = this.#ofSlice[i]!;
        yield this.#complete(
          deviceCategories[deviceSliceKinds[d.kind[i]!]!],
          d.name[i]!,
          device,
          tidOf(rows[at]!),
          d.start[i]!,
          d.duration[i]!,
          {
            device,
            stream: number,
            correlation,
            ...(d.bytes[i]! >= 0 ? { bytes: d.bytes[i]! } : {}),
            ...this.#place(d.site[i]!),
          },
        );
        yield* this.#launchArrow(i, device, tidOf(rows[at]!));
      }
      from = to;
    }
  }

  /** From the call on the host to what it launched. */
  *#launchArrow(slice: number, pid: number, tid: number): Generator<string, void> {
    const { deviceSlices: d, hostSlices: h, threads } = this.#trace;
    const launcher = d.launcher[slice]!;
    if (launcher < 0) return;
    const from = h.start[launcher]!;
    const thread = threads[h.thread[launcher]!]!;
    const id = this.#ofSlice[slice]!;
    // An arrow cannot go back in time; two clocks can.
    if (d.start[slice]! < from) return;
    yield `  {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": ${id}, "pid": ${hostPid(thread.pid)}, "tid": ${hostTid(thread.tid, h.thread[launcher]!)}, "ts": ${microseconds(from)}}`;
    yield `  {"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": ${id}, "pid": ${pid}, "tid": ${tid}, "ts": ${microseconds(d.start[slice]!)}}`;
  }

  /** Records, waits and host waits, with the calls that made them where the trace has no slice for these. */
  *#marks(): Generator<string, void> {
    const { marks: m, streams, threads } = this.#trace;
    const reached = (mark: number) => (m.deviceTime[mark]! >= 0 ? m.deviceTime[mark]! : Math.max(0, m.hostTime[mark]!));
    for (let i = 0; i < m.length; i++) {
      const kind = markKinds[m.kind[i]!]!;
      const correlation = this.#ofMark[i]!;
      const thread = Math.max(0, m.thread[i]!);
      const { pid, tid } = threads[thread] ?? { pid: -1, tid: -1 };
      const number = m.stream[i]! >= 0 ? this.#numbers[m.stream[i]!]! : -1;
      const device = Math.max(0, streams[m.stream[i]!]?.device ?? 0);
      if (!this.#called.has(i))
        yield this.#complete(
          'cuda_runtime',
          callNames[kind],
          hostPid(pid),
          hostTid(tid, thread),
          Math.max(0, m.hostTime[i]!),
          kind === 'hostWait' ? Math.max(0, m.blocked[i]!) : 0,
          { correlation, ...this.#place(m.site[i]!) },
        );
      const lane = number >= 0 ? syncRow + number : syncRow;
      if (kind === 'record') {
        if (number < 0) continue;
        yield this.#complete('cuda_event', 'cudaEvent', device, lane, reached(i), 1, {
          event_id: i,
          stream: number,
          correlation,
          device,
        });
        continue;
      }
      const record = m.other[i]!;
      const end = reached(i);
      const start = Math.max(0, end - Math.max(0, m.blocked[i]!));
      const on = record >= 0 && m.stream[record]! >= 0 ? this.#numbers[m.stream[record]!]! : -1;
      const sync =
        kind === 'wait'
          ? 'Stream Wait Event'
          : record >= 0
            ? 'Event Sync'
            : number >= 0
              ? 'Stream Sync'
              : 'Context Sync';
      yield this.#complete('cuda_sync', sync, device, lane, start, end - start, {
        cuda_sync_kind: sync,
        stream: number,
        correlation,
        device,
        ...(kind === 'wait' || record >= 0
          ? {
              wait_on_stream: m.inferred[i] ? -1 : on,
              // What is only inferred is drawn as an arrow, and not told as a fact to whoever reads the file.
              wait_on_cuda_event_record_corr_id: record >= 0 && !m.inferred[i] ? this.#ofMark[record]! : -1,
              wait_on_cuda_event_id: m.inferred[i] ? -1 : record,
            }
          : {}),
        ...(m.inferred[i] ? { inferred: true } : {}),
        ...this.#place(m.site[i]!),
      });
      if (record < 0 || on < 0 || number < 0) continue;
      const from = Math.min(reached(record), end);
      const source = Math.max(0, streams[m.stream[record]!]!.device);
      const arrow = m.inferred[i] ? 'waits for, inferred' : 'waits for';
      yield `  {"ph": "s", "cat": "event_edge", "name": "${arrow}", "id": ${madeCorrelation + i}, "pid": ${source}, "tid": ${syncRow + on}, "ts": ${microseconds(from)}}`;
      yield `  {"ph": "f", "bp": "e", "cat": "event_edge", "name": "${arrow}", "id": ${madeCorrelation + i}, "pid": ${device}, "tid": ${lane}, "ts": ${microseconds(end)}}`;
    }
  }

  *#memory(): Generator<string, void> {
    const { blocks: b, streams, threads } = this.#trace;
    const pid = hostPid(threads[0]?.pid ?? -1);
    const tid = hostTid(threads[0]?.tid ?? -1, 0);
    for (let i = 0; i < b.length; i++) {
      const device = Math.max(0, streams[b.stream[i]!]?.device ?? 0);
      const instant = (time: number, bytes: number, site: number) =>
        `  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": ${pid}, "tid": ${tid}, "ts": ${microseconds(time)}, "args": ${JSON.stringify({ 'Device Type': 1, 'Device Id': device, Addr: b.address[i]!, Bytes: bytes, ...this.#place(site) })}}`;
      if (b.allocated[i]! >= 0) yield instant(b.allocated[i]!, b.size[i]!, b.allocationSite[i]!);
      if (b.releaseRequested[i]! >= 0) yield instant(b.releaseRequested[i]!, -b.size[i]!, b.releaseSite[i]!);
    }
  }

  *#counters(): Generator<string, void> {
    const { counters: c } = this.#trace;
    for (let i = 0; i < c.length; i++) {
      const values = { allocated: c.allocated[i]!, 'held back': c.heldBack[i]!, reserved: c.reserved[i]! };
      const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value >= 0));
      yield `  {"ph": "C", "cat": "allocator", "name": "bytes", "pid": ${Math.max(0, c.device?.[i] ?? 0)}, "tid": 0, "ts": ${microseconds(c.time[i]!)}, "args": ${JSON.stringify(known)}}`;
    }
  }

  *#findings(): Generator<string, void> {
    const { deviceSlices: d, streams } = this.#trace;
    for (const hazard of this.#hazards) {
      const stream = hazard.secondSlice >= 0 ? d.stream[hazard.secondSlice]! : -1;
      const { code, status, severity, message, count, at, related } = hazard;
      yield `  {"ph": "i", "s": "g", "cat": "raceline_finding", "name": ${JSON.stringify(`${code} (${status})`)}, "pid": ${Math.max(0, streams[stream]?.device ?? 0)}, "tid": ${stream >= 0 ? this.#numbers[stream]! : 0}, "ts": ${microseconds(Math.max(0, hazard.start))}, "args": ${JSON.stringify({ severity, message, count, at: placeText(at), related: related.map((place) => `${placeText(place)}: ${place.message}`) })}}`;
    }
  }

  #complete(
    category: string,
    name: number | string,
    pid: number,
    tid: number,
    start: number,
    duration: number,
    args: Arguments,
  ): string {
    const text = typeof name === 'string' ? JSON.stringify(name) : this.#text(name);
    return `  {"ph": "X", "cat": "${category}", "name": ${text}, "pid": ${pid}, "tid": ${tid}, "ts": ${microseconds(start)}, "dur": ${microseconds(duration)}, "args": ${JSON.stringify(args)}}`;
  }

  #text(id: number): string {
    let text = this.#texts[id];
    if (text === undefined) {
      text = JSON.stringify(this.#trace.strings[id] ?? '');
      if (id >= 0) this.#texts[id] = text;
    }
    return text;
  }

  #place(site: number): Arguments {
    const { sites, strings } = this.#trace;
    if (site < 0) return {};
    return { source: `${strings[sites.file[site]!] ?? ''}:${sites.line[site]!}` };
  }

  #correlateSlices(): Float64Array {
    const { deviceSlices: d } = this.#trace;
    const result = new Float64Array(d.length);
    for (let i = 0; i < d.length; i++) {
      const launcher = d.launcher[i]!;
      const shared = launcher >= 0 ? this.#ofHost.get(launcher) : undefined;
      result[i] = shared ?? (d.correlation[i]! >= 0 ? d.correlation[i]! : this.#made++);
      if (launcher >= 0 && shared === undefined) this.#ofHost.set(launcher, result[i]!);
    }
    return result;
  }

  #correlateMarks(): Float64Array {
    const { marks: m, hostSlices: h } = this.#trace;
    const calls = new Map<string, number>();
    for (let i = 0; i < h.length; i++) {
      const kind = hostSliceKinds[h.kind[i]!];
      if (kind === 'runtime' || kind === 'sync') calls.set(`${h.thread[i]} ${h.start[i]}`, i);
    }
    const result = new Float64Array(m.length);
    for (let i = 0; i < m.length; i++) {
      result[i] = this.#made++;
      const call = calls.get(`${m.thread[i]} ${m.hostTime[i]}`);
      if (call === undefined || this.#ofHost.has(call)) continue;
      this.#ofHost.set(call, result[i]!);
      this.#called.add(i);
    }
    return result;
  }
}

const callNames = {
  record: 'cudaEventRecord',
  wait: 'cudaStreamWaitEvent',
  hostWait: 'cudaStreamSynchronize',
} as const;

/** The profiler's numbers; where the trace has none, one that nobody else of the device has. */
function streamNumbers(trace: Trace): number[] {
  const taken = new Set(trace.streams.map((stream) => `${stream.device} ${stream.number}`));
  return trace.streams.map((stream, i) => {
    if (stream.number >= 0) return stream.number;
    const wanted = stream.isDefault ? 7 : madeStream + i;
    const number = taken.has(`${stream.device} ${wanted}`) ? madeStream + i : wanted;
    taken.add(`${stream.device} ${number}`);
    return number;
  });
}

const threadName = (pid: number, tid: number, name: string): string =>
  `  {"ph": "M", "name": "thread_name", "pid": ${pid}, "tid": ${tid}, "ts": 0, "args": {"name": ${JSON.stringify(name)}}}`;

/** Process ids of hosts must not be those of devices. */
const hostPid = (pid: number): number => (pid > 100 ? pid : 1_000_000 + Math.max(0, pid));
const hostTid = (tid: number, thread: number): number => (tid >= 0 ? tid : 1 + thread);

const microseconds = (nanoseconds: number): string => (nanoseconds / 1000).toFixed(3);
const placeText = ({ file, line }: { readonly file: string; readonly line: number }): string =>
  file ? `${file}:${line}` : '';
