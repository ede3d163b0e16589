/** Profiler traces as text, laid out as Kineto's writer lays them out; tests name only what they are about. */

export interface KinetoEvent {
  readonly ph?: string;
  readonly cat?: string;
  readonly name?: string;
  readonly pid?: number | string;
  readonly tid?: number | string;
  /** As it is to stand in the file. */
  readonly ts?: string;
  readonly dur?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

export function kinetoText(events: readonly KinetoEvent[], outer: Readonly<Record<string, unknown>> = {}): string {
  const keys = Object.entries({ schemaVersion: 1, cuda_runtime_version: 13000, displayTimeUnit: 'ms', ...outer });
  return [
    '\n  {',
    ...keys.map(
      ([key, value]) => `  ${JSON.stringify(key)}: ${typeof value === 'bigint' ? value : JSON.stringify(value)},`,
    ),
    '  "traceEvents": [',
    events.map(eventText).join(',\n'),
    '  ],',
    '  "traceName": "trace.json"',
    '}',
  ].join('\n');
}

function eventText(event: KinetoEvent): string {
  const { ph = 'X', cat, name = '', pid = 1, tid = 1, ts = '0.000', dur, args } = event;
  const head = `"ph": "${ph}", ${cat === undefined ? '' : `"cat": "${cat}", `}"name": ${JSON.stringify(name)}, "pid": ${JSON.stringify(pid)}, "tid": ${JSON.stringify(tid)}`;
  const time = `"ts": ${ts}${dur === undefined ? '' : `, "dur": ${dur}`}`;
  const rest = args ? `,\n    "args": {\n      ${pairs(args)}\n    }` : '';
  return `  {\n    ${head},\n    ${time}${rest}\n  }`;
}

function pairs(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(', ');
}

export const runtime = (name: string, ts: string, dur: string, correlation: number, tid = 1): KinetoEvent => ({
  cat: 'cuda_runtime',
  name,
  tid,
  ts,
  dur,
  args: { cbid: 211, correlation },
});

export const kernel = (name: string, stream: number, ts: string, dur: string, correlation: number): KinetoEvent => ({
  cat: 'kernel',
  name,
  pid: 0,
  tid: stream,
  ts,
  dur,
  args: {
    'External id': 3,
    queued: 0,
    device: 0,
    context: 1,
    stream,
    correlation,
    grid: [1, 1, 1],
    block: [128, 1, 1],
  },
});

export const sync = (
  kind: string,
  stream: number,
  ts: string,
  dur: string,
  correlation: number,
  on?: { readonly stream: number; readonly record: number },
): KinetoEvent => ({
  cat: 'cuda_sync',
  name: kind,
  pid: 0,
  tid: Math.abs(stream),
  ts,
  dur,
  args: {
    cuda_sync_kind: kind,
    ...(on
      ? { wait_on_stream: on.stream, wait_on_cuda_event_record_corr_id: on.record, wait_on_cuda_event_id: 9 }
      : {}),
    stream,
    correlation,
    device: 0,
    context: 1,
  },
});

export const memory = (ts: string, bytes: number, address: number, allocated: number): KinetoEvent => ({
  ph: 'i',
  cat: 'cpu_instant_event',
  name: '[memory]',
  ts,
  args: {
    'Total Reserved': 2097152,
    'Total Allocated': allocated,
    Bytes: bytes,
    'Device Id': 0,
    'Device Type': 1,
    Addr: address,
  },
});

export const python = (name: string, ts: string, dur: string): KinetoEvent => ({
  cat: 'python_function',
  name,
  ts,
  dur,
  args: { 'Python parent id': null, 'Python id': 1, 'Ev Idx': 7 },
});
