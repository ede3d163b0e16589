/**
 * Invented runs. `prefetchScene` is a small training loop in the project's own format: a copy stream feeds a compute
 * stream, one batch is dropped before compute has read it, and once `mul` does not wait for a `fill_` on the default
 * stream. `largeTrace` makes columns of any size without a file.
 */
import type { StreamProgram } from '../../core/program/program.ts';
import { RacelineWriter } from '../../core/trace/raceline-write.ts';
import type { Trace } from '../../core/trace/trace.ts';

const microsecond = 1000;
const mebibyte = 1 << 20;
const file = 'train_prefetch.py';

/** Streams of the scene, by id. */
export const scene = { default: 0, copy: 1, compute: 2, file, faultLine: 23, missingWaitLine: 35 } as const;

interface Call {
  readonly at: number;
  readonly write: (n: number) => void;
}

/** The whole file as text. All times below are microseconds. */
export function prefetchScene(): string {
  const writer = new RacelineWriter({
    producer: 'synthetic 1',
    mode: 'cuda',
    unix: '1764441974123456789',
    level: 'full',
  });
  const streams = ['default', 'copy', 'compute'];
  streams.forEach((name, id) => {
    writer.stream({
      id,
      device: 0,
      num: [7, 13, 17][id],
      handle: `0x${(0x55e0 + id).toString(16)}`,
      name,
      default: id === 0,
    });
  });
  writer.thread({ id: 0, tid: 4711, pid: 4700, name: 'MainThread' });
  const calls: Call[] = [];
  const slices: (() => void)[] = [];
  const ends: (() => void)[] = [];
  const steps = new Map<string, number>();
  const site = (line: number, fn = 'train'): number => writer.site(file, line, fn, writer.site(file, 41, '<module>'));
  const call = (at: number, write: (n: number) => void): void => {
    calls.push({ at, write });
  };
  const op = (
    key: string,
    at: number,
    took: number,
    st: number,
    name: string,
    line: number,
    acc: readonly (readonly [number, number, 'r' | 'w'])[],
    kernels: readonly (readonly [from: number, to: number, name: string])[],
    copy?: 'h2d',
  ): void => {
    call(at, (n) => {
      steps.set(key, n);
      writer.op({
        n,
        t: at * microsecond,
        d: took * microsecond,
        st,
        name,
        s: site(line),
        copy,
        acc: acc.map(([b, size, mode]) => [b, 0, size * mebibyte, mode]),
      });
    });
    for (const [from, to, kernel] of kernels)
      slices.push(() =>
        writer.gpu({
          op: steps.get(key),
          st,
          t: from * microsecond,
          d: (to - from) * microsecond,
          name: kernel,
          kind: copy ? 'copy' : 'kernel',
          bytes: copy ? 16 * mebibyte : undefined,
        }),
      );
  };
  const alloc = (b: number, at: number, st: number, name: string, size: number, address: number, line: number): void =>
    call(at, (n) =>
      writer.alloc({
        n,
        t: at * microsecond,
        b,
        st,
        name,
        size: size * mebibyte,
        addr: `0x${address.toString(16)}`,
        s: site(line),
      }),
    );
  const free = (b: number, at: number, reusable: number, line: number): void => {
    call(at, (n) => writer.free({ n, t: at * microsecond, b, s: site(line) }));
    ends.push(() => writer.reusable(b, reusable * microsecond));
  };
  const record = (key: string, at: number, e: number, st: number, line: number): void =>
    call(at, (n) => {
      steps.set(key, n);
      writer.record({ n, t: at * microsecond, e, st, s: site(line) });
    });
  const wait = (at: number, e: number, st: number, line: number, ended: number, blocked: number): void =>
    call(at, (n) => {
      writer.wait({ n, t: at * microsecond, e, st, s: site(line) });
      ends.push(() => writer.edge(n, ended * microsecond, blocked * microsecond));
    });

  const base = 0x7f3a40000000;
  const [weights, scale] = [0, 1];
  alloc(weights, 2, scene.default, 'w', 32, base + 0x10000000, 5);
  alloc(scale, 4, scene.default, 'scale', 32, base + 0x14000000, 6);
  op(
    'normal',
    8,
    10,
    scene.default,
    'normal_',
    7,
    [
      [weights, 32, 'w'],
      [scale, 32, 'w'],
    ],
    [[18, 150, 'normal_']],
  );
  record('initialised', 20, 0, scene.default, 8);
  wait(22, 0, scene.compute, 9, 152, 130);

  const host = [30, 303, 693, 1095];
  const copies = [52, 390, 728, 1122];
  const gemms = [390, 803, 1216, 1629];
  const released = [138, 412, 806, 1215];
  const reusable = [138, 1275, 2092, 2092];
  // Step 1 gets the block of step 0; later ones find it still held back.
  const places = [0, 0, 1, 2];
  host.forEach((t, i) => {
    const [x, y, z] = [2 + 3 * i, 3 + 3 * i, 4 + 3 * i];
    alloc(x, t + 2, scene.copy, 'x', 16, base + places[i]! * 0x1000000, 28);
    op(
      `copy ${i}`,
      t + 3,
      25,
      scene.copy,
      'to',
      14,
      [[x, 16, 'w']],
      [[copies[i]!, copies[i]! + 335, 'Memcpy HtoD']],
      'h2d',
    );
    record(`ready ${i}`, t + 32, 1 + 2 * i, scene.copy, 15);
    wait(t + 40, 1 + 2 * i, scene.compute, 17, gemms[i]! - 1, i === 0 ? 237 : 0);
    alloc(y, t + 44, scene.compute, 'y', 32, base + 0x20000000, 18);
    op(
      `mm ${i}`,
      t + 46,
      20,
      scene.compute,
      'mm',
      18,
      [
        [x, 16, 'r'],
        [weights, 32, 'r'],
        [y, 32, 'w'],
      ],
      [
        [gemms[i]!, gemms[i]! + 378, 'gemm'],
        [gemms[i]! + 364, gemms[i]! + 386, 'reduce_splitK'],
      ],
    );
    if (i > 0)
      call(t + 67, (n) => writer.recordStream({ n, t: (t + 67) * microsecond, b: x, st: scene.compute, s: site(22) }));
    alloc(z, t + 68, scene.compute, 'z', 32, base + 0x22000000 + i * 0x2000000, 35);
    op(
      `mul ${i}`,
      t + 70,
      16,
      scene.compute,
      'mul',
      35,
      [
        [y, 32, 'r'],
        [scale, 32, 'r'],
        [z, 32, 'w'],
      ],
      [[gemms[i]! + 392, gemms[i]! + 410, 'mul']],
    );
    record(`done ${i}`, t + 87, 2 + 2 * i, scene.compute, 36);
    wait(t + 88, 2 + 2 * i, scene.default, 37, gemms[i]! + 411, i === 0 ? 649 : i === 1 ? 386 : i === 2 ? 313 : 386);
    op(`sum ${i}`, t + 90, 14, scene.default, 'sum', 38, [[z, 32, 'r']], [[gemms[i]! + 412, gemms[i]! + 436, 'sum']]);
    free(x, released[i]!, reusable[i]!, i === 0 ? scene.faultLine : 24);
    free(y, t + 120, t + 120, 39);
    call(t + 121, (n) => writer.recordStream({ n, t: (t + 121) * microsecond, b: z, st: scene.default, s: site(39) }));
    free(z, t + 122, gemms[i]! + 460, 39);
  });
  // The third mul reads scale, and nothing orders it after this.
  op('fill', 720, 16, scene.default, 'fill_', 31, [[scale, 32, 'w']], [[1242, 1312, 'fill_']]);
  call(1247, (n) =>
    writer.sync({
      n,
      t: 1247 * microsecond,
      d: 827 * microsecond,
      on: 'stream',
      st: scene.default,
      api: 'sum.item() waits for the default stream',
      s: site(40),
      implicit: true,
    }),
  );
  calls.sort((a, b) => a.at - b.at);
  for (const [n, entry] of calls.entries()) entry.write(n);
  for (const write of [...slices, ...ends]) write();
  writer.end(2140 * microsecond, 'ok');
  return writer.take();
}

export interface LargeOptions {
  readonly deviceSlices: number;
  readonly edges: number;
  readonly blocks: number;
  readonly streams?: number;
}

/** A steady load on several streams, with bursts: the same for the same options. */
export function largeTrace({ deviceSlices, edges, blocks, streams = 8 }: LargeOptions): Trace {
  let seed = 12345;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const names = ['gemm', 'layer_norm', 'softmax', 'add_', 'copy_', 'elementwise_kernel', 'reduce', 'dropout'];
  const strings = [...names, 'MainThread', 'block', 'model.py', 'forward'];
  const perStream = Math.ceil(deviceSlices / streams);
  const slices = deviceColumns(deviceSlices);
  let row = 0;
  let duration = 0;
  for (let stream = 0; stream < streams; stream++) {
    let time = random() * 1e4;
    for (let i = 0; i < perStream && row < deviceSlices; i++, row++) {
      const length = 1000 + Math.floor(random() * random() * 40_000);
      slices.stream[row] = stream;
      slices.start[row] = time;
      slices.duration[row] = length;
      slices.name[row] = Math.floor(random() * names.length);
      time += length + (random() < 0.002 ? 2e6 * random() : random() * 4000);
    }
    duration = Math.max(duration, time);
  }
  const marks = markColumns(edges * 2);
  for (let i = 0; i < edges; i++) {
    const at = (i / edges) * duration;
    const from = Math.floor(random() * streams);
    const to = (from + 1 + Math.floor(random() * (streams - 1))) % streams;
    const wait = 2 * i + 1;
    for (const [mark, kind, stream, time] of [
      [2 * i, 0, from, at],
      [wait, 1, to, at + 20_000 * random()],
    ] as const) {
      marks.kind[mark] = kind;
      marks.stream[mark] = stream;
      marks.hostTime[mark] = Math.max(0, at - 50_000);
      marks.deviceTime[mark] = time;
    }
    marks.blocked[wait] = 10_000 * random();
    marks.other[wait] = 2 * i;
    marks.other[2 * i] = wait;
  }
  const table = blockColumns(blocks);
  const places = 16;
  for (let i = 0; i < blocks; i++) {
    const stream = i % streams;
    const place = Math.floor(i / streams) % places;
    const turn = Math.floor(i / (streams * places));
    const each = duration / Math.ceil(blocks / (streams * places));
    const start = turn * each;
    table.address[i] = stream * 2 ** 32 + place * 2 ** 24;
    table.size[i] = 2 ** 24;
    table.stream[i] = stream;
    table.allocated[i] = start;
    table.releaseRequested[i] = start + each * 0.4;
    table.reusable[i] = start + each * (0.5 + 0.45 * random());
    table.lastUse[i] = start + each * 0.45;
    table.name[i] = names.length + 1;
  }
  const program: StreamProgram = { streams: [], events: [], blocks: [], threads: [], origins: [], steps: [] };
  return {
    format: 'raceline',
    producer: 'synthetic 1',
    clock: 'gpu',
    duration,
    strings,
    streams: Array.from({ length: streams }, (_, id) => ({
      name: id === 0 ? 'default' : `side ${id}`,
      device: 0,
      isDefault: id === 0,
      number: 7 + 4 * id,
      handle: '',
      programStream: -1,
    })),
    threads: [{ name: 'MainThread', pid: 1, tid: 1 }],
    sites: {
      length: 0,
      file: new Int32Array(0),
      line: new Int32Array(0),
      function: new Int32Array(0),
      parent: new Int32Array(0),
    },
    deviceSlices: slices,
    hostSlices: {
      length: 0,
      thread: new Int32Array(0),
      start: new Float64Array(0),
      duration: new Float64Array(0),
      name: new Int32Array(0),
      kind: new Uint8Array(0),
      site: new Int32Array(0),
    },
    marks,
    blocks: table,
    counters: {
      length: 0,
      time: new Float64Array(0),
      allocated: new Float64Array(0),
      reserved: new Float64Array(0),
      heldBack: new Float64Array(0),
    },
    counts: {
      kernels: deviceSlices,
      copies: 0,
      memsets: 0,
      records: edges,
      waits: edges,
      waitsWithRecord: edges,
      hostWaits: 0,
      allocations: blocks,
      releases: blocks,
    },
    limits: [],
    problems: [],
    program,
    stepTime: new Float64Array(0),
  };
}

const unknown = (length: number): Int32Array => new Int32Array(length).fill(-1);

function deviceColumns(length: number): Trace['deviceSlices'] {
  return {
    length,
    stream: new Int32Array(length),
    start: new Float64Array(length),
    duration: new Float64Array(length),
    name: new Int32Array(length),
    kind: new Uint8Array(length),
    bytes: new Float64Array(length).fill(-1),
    correlation: new Float64Array(length).fill(-1),
    step: unknown(length),
    site: unknown(length),
    launcher: unknown(length),
  };
}

function markColumns(length: number): Trace['marks'] {
  return {
    length,
    kind: new Uint8Array(length),
    stream: new Int32Array(length),
    thread: new Int32Array(length),
    hostTime: new Float64Array(length),
    deviceTime: new Float64Array(length),
    blocked: new Float64Array(length),
    other: unknown(length),
    inferred: new Uint8Array(length),
    implicit: new Uint8Array(length),
    step: unknown(length),
    site: unknown(length),
  };
}

function blockColumns(length: number): Trace['blocks'] {
  return {
    length,
    address: new Float64Array(length),
    size: new Float64Array(length),
    stream: new Int32Array(length),
    allocated: new Float64Array(length),
    releaseRequested: new Float64Array(length),
    lastUse: new Float64Array(length),
    reusable: new Float64Array(length),
    name: unknown(length),
    allocationSite: unknown(length),
    releaseSite: unknown(length),
    programBlock: unknown(length),
  };
}
