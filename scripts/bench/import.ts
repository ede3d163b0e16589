// Import of a large profiler trace, next to what a viewer does that unpacks it and calls JSON.parse. Each run is a process
// of its own, in turns, so that both start cold and their peaks of memory can be told apart. The file is a large
// recording where there is one, else one that is made here.
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGunzip, gunzipSync, gzipSync } from 'node:zlib';
import { openTraceFrom } from '../../core/trace/index.ts';

interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note: string;
}

interface Run {
  readonly milliseconds: number;
  /** Peak of the process over what it had before, in bytes. */
  readonly memory: number;
  readonly kernels: number;
}

type Way = 'import' | 'parse';
const ways: readonly Way[] = ['import', 'parse'];
const rounds = 3;

/** `shared`: a folder of recordings, where there is one. */
export async function bench({ shared }: { readonly shared?: string } = {}): Promise<Row[]> {
  const large = shared === undefined ? undefined : path.join(shared, 'traces', 'large', 'kineto.json.gz');
  const recorded = large !== undefined && existsSync(large) ? large : undefined;
  const folder = recorded ? undefined : mkdtempSync(path.join(tmpdir(), 'raceline-bench-'));
  try {
    const file = recorded ?? path.join(folder!, 'made.json.gz');
    if (!recorded) writeFileSync(file, gzipSync(madeTrace(120_000, 7)));
    const best = new Map<Way, Run>();
    for (let round = 0; round < rounds; round++)
      for (const way of ways) {
        const run = inProcess(way, file);
        const known = best.get(way);
        if (!known || run.milliseconds < known.milliseconds) best.set(way, run);
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
        name: 'memory of the import against gunzip and JSON.parse',
        value: round(imported.memory / parsed.memory),
        unit: 'of it',
        note: `${megabytes(imported.memory)} MB against ${megabytes(parsed.memory)} MB at the peak; bound 0.33`,
      },
    ];
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
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
  const before = process.memoryUsage().rss;
  const start = performance.now();
  let kernels = 0;
  if (way === 'parse') {
    const parsed = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as { traceEvents: { cat?: string }[] };
    kernels = parsed.traceEvents.filter((event) => event.cat === 'kernel').length;
  } else {
    const pieces = createReadStream(file, { highWaterMark: 1 << 18 }).pipe(createGunzip({ chunkSize: 1 << 20 }));
    const trace = await openTraceFrom(pieces, file);
    kernels = trace.counts.kernels;
  }
  const milliseconds = performance.now() - start;
  return { milliseconds, memory: process.resourceUsage().maxRSS * 1024 - before, kernels };
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

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

// As a process of its own: one way over one file.
const [, script, way, file] = process.argv;
if (script === fileURLToPath(import.meta.url) && (way === 'import' || way === 'parse') && file)
  process.stdout.write(JSON.stringify(await once(way, file)));
