// Order and hazards in steps a second, on made programs of two lengths: what 10 times the steps cost is the figure that
// holds on a noisy machine.
import { findHazards } from '../../core/hazards/find.ts';
import type { Access, BlockEntry, Origin, Step, StreamProgram } from '../../core/program/program.ts';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note: string;
}

export async function bench(): Promise<Row[]> {
  const small = pipeline(7_000);
  const large = pipeline(70_000);
  findHazards(small);
  const short = best(() => findHazards(small), 5);
  const long = best(() => findHazards(large), 3);
  const slices = views(100_000);
  const sliced = best(() => findHazards(slices), 3);
  const found = findHazards(large).length;
  return [
    {
      name: 'order and hazards',
      value: round(large.steps.length / long / 1000),
      unit: 'M steps/s',
      note: `${large.steps.length} steps, ${large.streams.length} streams, ${large.blocks.length} blocks, ${found} hazards; bound 2`,
    },
    {
      name: 'order and hazards, 10 times the steps',
      value: round(long / short),
      unit: 'times the time',
      note: `${small.steps.length} steps in ${short.toFixed(1)} ms, ${large.steps.length} in ${long.toFixed(1)} ms; bound 12`,
    },
    {
      name: 'order and hazards, byte ranges',
      value: round(slices.steps.length / sliced / 1000),
      unit: 'M steps/s',
      note: `${slices.steps.length} steps on slices of 8 blocks`,
    },
  ];
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

function best(work: () => void, times: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** A prefetching pipeline with four streams, an event per batch, and a race in every thousandth turn. */
export function pipeline(turns: number): StreamProgram {
  const steps: Step[] = [];
  const blocks: BlockEntry[] = [];
  const origins: Origin[] = [];
  const events = [];
  const [main, copy, reduce, offload] = [0, 1, 2, 3];
  const size = 1 << 20;
  // Literals, as the readers write them: spread objects are slow to read in V8.
  const row = () => origins.push({ kind: 'trace', row: origins.length }) - 1;
  const allocate = (stream: number) => {
    const block = blocks.length;
    blocks.push({ name: '', memory: 'device', evidence: true, size, address: (block % 64) * size, stream });
    steps.push({ kind: 'allocate', thread: 0, origin: row(), block, stream });
    return block;
  };
  const launch = (stream: number, ...accesses: Access[]) =>
    steps.push({ kind: 'launch', thread: 0, origin: row(), stream, name: 'kernel', accesses });
  const r = (block: number): Access => ({ block, write: false });
  const w = (block: number): Access => ({ block, write: true });
  const weights = allocate(main);
  launch(main, w(weights));
  let previous = -1;
  for (let turn = 0; turn < turns; turn++) {
    const event = events.length;
    events.push({ name: '' }, { name: '' });
    const batch = allocate(copy);
    launch(copy, w(batch));
    steps.push({ kind: 'record', thread: 0, origin: row(), event, stream: copy });
    if (turn % 1000 !== 999) steps.push({ kind: 'wait', thread: 0, origin: row(), event, stream: main });
    const out = allocate(main);
    launch(main, r(batch), r(weights), w(out));
    launch(main, r(out), r(weights), w(weights));
    steps.push({ kind: 'recordStream', thread: 0, origin: row(), block: batch, stream: main });
    steps.push({ kind: 'release', thread: 0, origin: row(), block: batch });
    steps.push({ kind: 'record', thread: 0, origin: row(), event: event + 1, stream: main });
    const other = turn % 2 ? reduce : offload;
    steps.push({ kind: 'wait', thread: 0, origin: row(), event: event + 1, stream: other });
    launch(other, r(out));
    steps.push({ kind: 'recordStream', thread: 0, origin: row(), block: out, stream: other });
    if (previous >= 0) steps.push({ kind: 'release', thread: 0, origin: row(), block: previous });
    previous = out;
  }
  return {
    streams: ['main', 'copy', 'reduce', 'offload'].map((name) => ({ name, device: 0, isDefault: name === 'main' })),
    events,
    blocks,
    threads: [{ name: 'main' }],
    origins,
    steps,
  };
}

/** Two streams that read and write many slices of few blocks. */
function views(launches: number): StreamProgram {
  const steps: Step[] = [];
  const size = 1 << 20;
  const blocks: BlockEntry[] = Array.from({ length: 8 }, (_, b) => ({
    name: `b${b}`,
    memory: 'device',
    evidence: true,
    size,
    stream: 0,
  }));
  for (let block = 0; block < 8; block++) steps.push({ thread: 0, origin: 0, kind: 'allocate', block, stream: 0 });
  for (let i = 0; i < launches; i++) {
    const stream = i & 1;
    const start = ((i * 7919) % 1024) * 1024;
    const access: Access = { block: i % 8, write: i % 3 === 0, start, end: start + 1024 };
    steps.push({ thread: 0, origin: 0, kind: 'launch', stream, name: 'k', accesses: [access] });
    if (i % 4 === 0) {
      steps.push({ thread: 0, origin: 0, kind: 'record', event: stream, stream });
      steps.push({ thread: 0, origin: 0, kind: 'wait', event: stream, stream: 1 - stream });
    }
  }
  return {
    streams: [0, 1].map((s) => ({ name: `s${s}`, device: 0, isDefault: s === 0 })),
    events: [{ name: 'e' }, { name: 'f' }],
    blocks,
    threads: [{ name: 'main' }],
    origins: [{ kind: 'trace', row: -1 }],
    steps,
  };
}
