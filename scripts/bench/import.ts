// Import of a large profiler trace, next to what a viewer does that unpacks it and calls JSON.parse. Each run is a process
// of its own, in turns, so that both start cold and their peaks of memory can be told apart. The file is a large
// recording where there is one, else one that is made here.
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGunzip, gunzipSync, gzipSync } from 'node:zlib';
import { judgeTrace } from '../../core/judgeTrace.ts';
import { buildTimeline } from '../../core/timeline/timeline.ts';
import { openTrace, openTraceFrom } from '../../core/trace/index.ts';
import { madeSnapshot } from './made/snapshot.ts';

interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note: string;
}

interface Run {
  readonly milliseconds: number;
  /** Of all threads of the process: what other processes take does not show in it. */
  readonly cpu: number;
  /** Peak of the process over what it had before, in bytes. */
  readonly memory: number;
  readonly kernels: number;
}

type Way = 'import' | 'parse' | 'gigabyte' | 'snapshot';
const ways: readonly Way[] = ['import', 'parse'];
const rounds = 3;

/** `shared`: a folder of recordings, where there is one. */
export async function bench({ shared }: { readonly shared?: string } = {}): Promise<Row[]> {
  const recording = shared === undefined ? undefined : path.join(shared, 'traces', 'large', 'kineto.json.gz');
  const recorded = recording !== undefined && existsSync(recording) ? recording : undefined;
  const folder = recorded ? undefined : mkdtempSync(path.join(tmpdir(), 'raceline-bench-'));
  try {
    const file = recorded ?? path.join(folder!, 'made.json.gz');
    if (!recorded) writeFileSync(file, gzipSync(madeTrace(120_000, 7)));
    const best = new Map<Way, Run>();
    for (let round = 0; round < rounds; round++)
      for (const way of ways) {
        const run = inProcess(way, file);
        const known = best.get(way);
        if (!known || run.cpu < known.cpu) best.set(way, run);
      }
    const imported = best.get('import')!;
    const parsed = best.get('parse')!;
    const bytes = gunzipSync(readFileSync(file)).length;
    const what = `${megabytes(bytes)} MB of JSON in ${megabytes(statSync(file).size)} MB, ${imported.kernels} kernels${recorded ? '' : ', made'}`;
    return [
      {
        name: 'import of a profiler trace',
        value: round(bytes / 1e3 / imported.milliseconds),
        unit: 'MB/s',
        note: `${what}; ${imported.milliseconds.toFixed(0)} ms`,
      },
      {
        name: 'gunzip and JSON.parse of it',
        value: round(bytes / 1e3 / parsed.milliseconds),
        unit: 'MB/s',
        note: `${parsed.milliseconds.toFixed(0)} ms`,
      },
      {
        name: 'import against gunzip and JSON.parse',
        value: round(parsed.milliseconds / imported.milliseconds),
        unit: 'times faster',
        note: 'bound 3',
      },
      {
        name: 'CPU time of gunzip and JSON.parse against the import’s',
        value: round(parsed.cpu / imported.cpu),
        unit: 'times',
        note: `${parsed.cpu.toFixed(0)} ms against ${imported.cpu.toFixed(0)} ms of all threads`,
      },
      {
        name: 'memory of the import against gunzip and JSON.parse',
        value: round(imported.memory / parsed.memory),
        unit: 'of it',
        note: `${megabytes(imported.memory)} MB against ${megabytes(parsed.memory)} MB at the peak; bound 0.33`,
      },
      ...perfetto(file, imported),
      ...large(),
    ];
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

/** A made profile of a gigabyte, which never lies anywhere whole, and a snapshot of 250,000 entries up to its lanes. */
function large(): Row[] {
  const gigabyte = inProcess('gigabyte', '-');
  const snapshot = inProcess('snapshot', '-');
  return [
    {
      name: 'memory of the import of 1 GB of JSON',
      value: round(gigabyte.memory / 1e9),
      unit: 'GB',
      note: `${gigabyte.kernels} kernels, ${(gigabyte.cpu / 1000).toFixed(1)} s of CPU time with the making of it; bound 1`,
    },
    {
      name: 'snapshot of 250,000 entries, read, judged and laid out',
      value: round(snapshot.cpu / 1000),
      unit: 's CPU',
      note: `${snapshot.kernels} blocks, ${megabytes(snapshot.memory)} MB at the peak; bound 2`,
    },
  ];
}

/** Next to Perfetto's own engine, where TRACE_PROCESSOR names its program. */
function perfetto(file: string, imported: Run): Row[] {
  const program = process.env.TRACE_PROCESSOR;
  if (!program) return [];
  const began = performance.now();
  const { status } = spawnSync(program, ['--query-string', 'select count(*) from slice', file], { encoding: 'utf8' });
  if (status !== 0) return [];
  const took = performance.now() - began;
  return [
    {
      name: 'trace_processor loads it, against the import',
      value: round(took / imported.milliseconds),
      unit: 'times',
      note: `${took.toFixed(0)} ms`,
    },
  ];
}

function inProcess(way: Way, file: string): Run {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--max-old-space-size=8192', fileURLToPath(import.meta.url), way, file],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${way} of ${file} failed: ${stderr}`);
  return JSON.parse(stdout) as Run;
}

async function once(way: Way, file: string): Promise<Run> {
  const made = way === 'snapshot' ? madeSnapshot(250_000) : undefined;
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  let kernels = 0;
  if (way === 'parse') {
    const parsed = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as { traceEvents: { cat?: string }[] };
    kernels = parsed.traceEvents.filter((event) => event.cat === 'kernel').length;
  } else if (way === 'gigabyte') {
    kernels = (await openTraceFrom(madePieces(1e9), 'made.json')).counts.kernels;
  } else if (made) {
    const trace = openTrace(made, 'made.pickle');
    buildTimeline(trace, judgeTrace(trace));
    kernels = trace.blocks.length;
  } else {
    const pieces = createReadStream(file, { highWaterMark: 1 << 18 }).pipe(createGunzip({ chunkSize: 1 << 20 }));
    const trace = await openTraceFrom(pieces, file);
    kernels = trace.counts.kernels;
  }
  const milliseconds = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { milliseconds, cpu: (user + system) / 1000, memory: process.resourceUsage().maxRSS * 1024 - before, kernels };
}

/** A made trace in Kineto's layout: operators with shapes, Python functions, launches, kernels, allocator events. */
function madeTrace(operators: number, seed: number): string {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
  const events: string[] = [];
  const event = (head: string, ts: number, dur: number, args: string) =>
    events.push(
      `  {\n    ${head},\n    "ts": ${ts.toFixed(3)}, "dur": ${dur.toFixed(3)},\n    "args": {\n      ${args}\n    }\n  }`,
    );
  const names = ['aten::mm', 'aten::add_', 'aten::copy_', 'aten::native_layer_norm', 'aten::_softmax', 'aten::view'];
  let ts = 5_113_776_000_000;
  for (let i = 0; i < operators; i++) {
    const name = names[random(names.length)]!;
    const host = '"pid": 2224, "tid": 2224';
    event(
      `"ph": "X", "cat": "python_function", "name": "model.py(${random(400)}): forward", ${host}`,
      ts,
      60,
      `"Python parent id": ${i}, "Python id": ${i + 1}, "Ev Idx": ${i}`,
    );
    event(
      `"ph": "X", "cat": "cpu_op", "name": "${name}", ${host}`,
      ts + 2,
      50 + random(9),
      `"External id": ${i},"Record function id": 0, "Concrete Inputs": ["", ""], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[${random(4096)}, 1], [1, 768]], "Input Dims": [[2048, ${random(4096)}], [3072, 768]], "Ev Idx": ${i}`,
    );
    if (random(3) === 0) {
      event(
        `"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", ${host}`,
        ts + 10,
        5,
        `"External id": ${i}, "cbid": 211, "correlation": ${i}`,
      );
      const stream = [7, 13, 17][random(3)]!;
      event(
        `"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, ${name}>(int)", "pid": 0, "tid": ${stream}`,
        ts + 40,
        20 + random(50),
        `"External id": ${i},      "queued": 0, "device": 0, "context": 1,      "stream": ${stream}, "correlation": ${i},      "registers per thread": 18,      "grid": [8, 1, 1],      "block": [128, 1, 1]`,
      );
    }
    ts += 64;
  }
  return `{\n  "schemaVersion": 1,\n  "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n${events.join(',\n')}\n  ],\n  "traceName": "trace.json"\n}`;
}

/** The events of a made trace over and over, later each time, until there are so many bytes. */
async function* madePieces(bytes: number): AsyncGenerator<Uint8Array> {
  const text = madeTrace(20_000, 11);
  const start = text.indexOf('[') + 2;
  const events = text.slice(start, text.lastIndexOf('\n  ]'));
  yield Buffer.from(text.slice(0, start));
  for (let made = 0, turn = 0; made < bytes; turn++) {
    // Times and correlations move on, so that nothing is the same twice.
    const later = events
      .replaceAll('"ts": 5113', `"ts": ${5113 + turn}`)
      .replaceAll('"correlation": ', `"correlation": ${turn + 1}0`);
    const piece = Buffer.from(turn === 0 ? later : `,\n${later}`);
    made += piece.length;
    for (let at = 0; at < piece.length; at += 1 << 18) yield piece.subarray(at, at + (1 << 18));
  }
  yield Buffer.from('\n  ]\n}');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

// As a process of its own: one way over one file.
const [, script, way, file] = process.argv;
if (script === fileURLToPath(import.meta.url) && way && file)
  process.stdout.write(JSON.stringify(await once(way as Way, file)));
