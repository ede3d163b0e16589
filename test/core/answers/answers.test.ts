/** Questions about small runs whose answers can be worked out by hand. Times in nanoseconds. */
import { describe, expect, it } from 'vitest';
import { type Answers, answersOf } from '../../../core/answers/answers.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';
import type { Trace } from '../../../core/trace/trace.ts';

type Write = (w: RacelineWriter, s: (line: number) => number) => void;

/** Streams 0 main (the default one), 1 side, 2 other. */
function run(write: Write): { trace: Trace; answers: Answers } {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full' });
  for (const [id, name] of ['main', 'side', 'other'].entries())
    w.stream({ id, device: 0, num: [7, 13, 17][id]!, name, default: id === 0 });
  write(w, (line) => w.site('run.py', line, 'run'));
  w.end(100_000, 'ok');
  const trace = openTrace(new TextEncoder().encode(w.take()), 'run.raceline');
  expect(trace.problems).toEqual([]);
  return { trace, answers: answersOf(trace) };
}

const gpu = (w: RacelineWriter, op: number, st: number, t: number, d: number, name = `k${op}`) =>
  w.gpu({ ...(op < 0 ? {} : { op }), st, t, d, name, kind: 'kernel' });

describe('what ran at once', () => {
  it('is the common time of two streams; overlaps on one stream count once', () => {
    const { answers } = run((w) => {
      gpu(w, -1, 1, 0, 100);
      gpu(w, -1, 1, 50, 100);
      gpu(w, -1, 2, 120, 80);
      gpu(w, -1, 0, 500, 10);
    });
    expect(answers.concurrency.streams).toEqual([
      { stream: 1, busy: 150 },
      { stream: 2, busy: 80 },
      { stream: 0, busy: 10 },
    ]);
    expect(answers.concurrency.pairs[0]).toEqual({ first: 1, second: 2, both: 30, share: 30 / 80 });
    expect(answers.concurrency.pairs.filter((pair) => pair.both > 0)).toHaveLength(1);
  });

  it('is nothing across devices', () => {
    const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full' });
    w.stream({ id: 0, device: 0, num: 7, name: 'a', default: true });
    w.stream({ id: 1, device: 1, num: 7, name: 'b', default: true });
    gpu(w, -1, 0, 0, 10);
    gpu(w, -1, 1, 0, 10);
    const { pairs } = answersOf(openTrace(new TextEncoder().encode(w.take()), 'x')).concurrency;
    expect(pairs).toEqual([]);
  });
});

/** side works from 100 to 400 µs; main waits for it from 200 on and works from 400 to 450; twice. */
const pipeline: Write = (w, s) => {
  for (let turn = 0; turn < 2; turn++) {
    const n = turn * 10;
    const t = turn * 1_000_000;
    w.op({ n, t: t + 10, st: 1, name: 'fill', acc: [], s: s(1) });
    w.record({ n: n + 1, t: t + 20, e: turn, st: 1, s: s(2) });
    w.op({ n: n + 2, t: t + 30, st: 0, name: 'other', acc: [], s: s(3) });
    w.wait({ n: n + 3, t: t + 40, e: turn, st: 0, rec: n + 1, s: s(4) });
    w.op({ n: n + 4, t: t + 50, st: 0, name: 'mul', acc: [], s: s(5) });
    gpu(w, n, 1, t + 100_000, 300_000, 'fill');
    gpu(w, n + 2, 0, t + 150_000, 50_000, 'other');
    gpu(w, n + 4, 0, t + 400_000, 50_000, 'mul');
  }
};

describe('what waited', () => {
  it('is told by place, with how long it held its stream', () => {
    const { answers } = run(pipeline);
    expect(answers.waiting).toEqual([
      expect.objectContaining({ kind: 'wait', stream: 0, on: 1, count: 2, blocked: 400_000, longest: 200_000 }),
    ]);
    expect(answers.waiting[0]!.at).toEqual({ file: 'run.py', line: 4 });
  });
});

describe('what the end waited for', () => {
  it('goes through events to the other stream, and not through what was done long before', () => {
    const { trace, answers } = run(pipeline);
    const names = answers.criticalPath.pieces.map((piece) =>
      piece.kind === 'device' ? trace.strings[trace.deviceSlices.name[piece.slice]!] : piece.kind,
    );
    expect(names.slice(-2)).toEqual(['fill', 'mul']);
    expect(answers.criticalPath.pieces.at(-2)).toMatchObject({ edge: 'event', stream: 1 });
    expect(names).not.toContain('other');
  });

  it('names the host where it launches too late, back to what held the host', () => {
    const { trace, answers } = run((w, s) => {
      w.op({ n: 0, t: 10, st: 1, name: 'a', acc: [], s: s(1) });
      w.sync({ n: 1, t: 1000, d: 9000, on: 'stream', st: 1, s: s(2) });
      w.op({ n: 2, t: 30_000, st: 0, name: 'b', acc: [], s: s(3) });
      gpu(w, 0, 1, 100, 9890, 'a');
      gpu(w, 2, 0, 30_100, 5000, 'b');
    });
    expect(answers.criticalPath.pieces.map(({ kind, start, end }) => [kind, start, end])).toEqual([
      ['host', 0, 100],
      ['device', 100, 9990],
      ['idle', 9990, 10_000],
      ['host', 10_000, 30_100],
      ['device', 30_100, 35_100],
    ]);
    expect(answers.criticalPath).toMatchObject({ device: 14_890, host: 20_200, idle: 10 });
    expect(trace.strings[trace.deviceSlices.name[answers.criticalPath.pieces[1]!.slice]!]).toBe('a');
  });

  it('ends, whatever the clocks say, and covers no time twice', () => {
    const { answers } = run((w, s) => {
      for (let n = 0; n < 50; n++) {
        w.op({ n, t: 1000 + n, st: n % 3, name: 'k', acc: [], s: s(n) });
        gpu(w, n, n % 3, (n * 7919) % 5000, 1 + ((n * 104729) % 900));
      }
    });
    const { pieces } = answers.criticalPath;
    expect(pieces.length).toBeGreaterThan(1);
    for (let i = 1; i < pieces.length; i++) expect(pieces[i]!.start).toBeGreaterThanOrEqual(pieces[i - 1]!.end - 2000);
  });
});

describe('waits that could go', () => {
  const size = 512;
  it('are those whose order other waits make, and those that nothing needs', () => {
    const { answers } = run((w, s) => {
      w.alloc({ n: 0, t: 0, b: 0, addr: '0x1000', size, st: 1, s: s(1) });
      w.op({ n: 1, t: 10, st: 1, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
      w.record({ n: 2, t: 20, e: 0, st: 1, s: s(3) });
      w.wait({ n: 3, t: 30, e: 0, st: 0, rec: 2, s: s(4) });
      // The same order once more: implied.
      w.wait({ n: 4, t: 40, e: 0, st: 0, rec: 2, s: s(5) });
      w.op({ n: 5, t: 50, st: 0, name: 'mul', acc: [[0, 0, size, 'r']], s: s(6) });
      // Nobody on `other` touches anything: unused.
      w.record({ n: 6, t: 60, e: 1, st: 0, s: s(7) });
      w.wait({ n: 7, t: 70, e: 1, st: 2, rec: 6, s: s(8) });
    });
    expect(answers.spareWaits.map(({ why, at }) => [why, at.line])).toEqual([
      ['implied', 5],
      ['unused', 8],
    ]);
  });

  it('leave a line alone one of whose waits is needed', () => {
    const { answers } = run((w, s) => {
      w.alloc({ n: 0, t: 0, b: 0, addr: '0x1000', size, st: 1, s: s(1) });
      for (let n = 1; n < 40; n += 4) {
        // Every other turn there is something new to wait for.
        if (n % 8 === 1) w.op({ n, t: n * 10, st: 1, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
        w.record({ n: n + 1, t: n * 10 + 1, e: n, st: 1, s: s(3) });
        w.wait({ n: n + 2, t: n * 10 + 2, e: n, st: 0, rec: n + 1, s: s(4) });
        w.op({ n: n + 3, t: n * 10 + 3, st: 0, name: 'mul', acc: [[0, 0, size, 'r']], s: s(5) });
      }
    });
    expect(answers.spareWaits).toEqual([]);
  });

  it('never name the host’s own: what it does with what is ready is not recorded', () => {
    const { answers } = run((w, s) => {
      w.op({ n: 0, t: 0, st: 0, name: 'k', acc: [], s: s(1) });
      w.sync({ n: 1, t: 10, d: 5, on: 'device', device: 0, s: s(2) });
    });
    expect(answers.spareWaits).toEqual([]);
  });
});

describe('memory', () => {
  it('that record_stream held back is told by where it was allocated', () => {
    const { answers } = run((w, s) => {
      for (let b = 0; b < 3; b++) {
        const n = b * 10;
        const t = b * 10_000;
        w.alloc({ n, t, b, addr: `0x${b + 1}000`, size: 1000, st: 1, s: s(1) });
        w.recordStream({ n: n + 1, t: t + 10, b, st: 2, s: s(2) });
        w.free({ n: n + 2, t: t + 20, b, s: s(3) });
        w.reusable(b, t + 20 + (b + 1) * 2500);
      }
    });
    expect(answers.memory.heldBack).toEqual([
      expect.objectContaining({
        at: { file: 'run.py', line: 1 },
        count: 3,
        bytes: 3000,
        longest: 7500,
        byteTime: 15e6,
      }),
    ]);
    expect(answers.memory.heldBackPeak).toBe(1000);
  });
});

describe('a device without work', () => {
  it('tells its gaps, and what the host did in the longest', () => {
    const { answers } = run((w, s) => {
      w.op({ n: 0, t: 0, d: 10, st: 0, name: 'a', acc: [], s: s(1) });
      w.op({ n: 1, t: 150, d: 700, st: 0, name: 'slow', acc: [], s: s(2) });
      gpu(w, 0, 0, 100, 50);
      gpu(w, 1, 1, 800, 100);
      gpu(w, -1, 0, 950, 50);
    });
    expect(answers.idle).toMatchObject([{ device: 0, span: 900, idle: 700 }]);
    expect(answers.idle[0]!.gaps.map(({ start, end, name }) => [start, end, name])).toEqual([
      [150, 800, 'slow'],
      [900, 950, ''],
    ]);
  });
});

describe('work on the default stream', () => {
  it('is told where a kernel ran there although its operator did not', () => {
    const { answers } = run((w, s) => {
      w.op({ n: 0, t: 0, st: 1, name: 'custom', acc: [], s: s(1) });
      gpu(w, 0, 0, 10, 5, 'kernel');
    });
    expect(answers.defaultStream).toEqual([
      { why: 'launched-elsewhere', name: 'kernel', around: 1, at: { file: 'run.py', line: 1 }, count: 1, slice: 0 },
    ]);
  });

  it('and where an operator stands between two of a side stream, but not after the block in a loop', () => {
    const inside = run((w, s) => {
      w.op({ n: 0, t: 0, st: 1, name: 'a', acc: [], s: s(10) });
      w.op({ n: 1, t: 1, st: 0, name: 'b', acc: [], s: s(11) });
      w.op({ n: 2, t: 2, st: 1, name: 'c', acc: [], s: s(12) });
    });
    expect(inside.answers.defaultStream).toMatchObject([{ why: 'between', name: 'b', around: 1, at: { line: 11 } }]);
    const loop = run((w, s) => {
      for (let turn = 0; turn < 3; turn++)
        for (const [i, st] of [1, 0].entries())
          w.op({ n: turn * 2 + i, t: turn * 2 + i, st, name: 'k', acc: [], s: s(10 + 5 * i) });
    });
    expect(loop.answers.defaultStream).toEqual([]);
  });
});

it('an empty run has empty answers', () => {
  const { answers } = run(() => {});
  expect(answers).toMatchObject({ waiting: [], spareWaits: [], idle: [], defaultStream: [] });
  expect(answers.criticalPath.pieces).toEqual([]);
});
