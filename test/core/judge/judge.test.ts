// Hazards of recorded runs: grouped, worded, and compared with the times that were measured.
import { expect, test } from 'vitest';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';
import type { TraceHazard } from '../../../core/trace/trace.ts';

const size = 4096;
const at = { addr: '0x7f0000000000', size };

/** Three streams (0 main, 1 side, 2 other), and steps that are numbered by hand. Line 10 * n + 1 is where step n is. */
function judge(write: (w: RacelineWriter, s: (line: number) => number) => void): readonly TraceHazard[] {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full' });
  for (const [id, name] of ['main', 'side', 'other'].entries())
    w.stream({ id, device: 0, num: [7, 13, 17][id]!, name, default: id === 0 });
  write(w, (line) => w.site('run.py', line, 'run'));
  w.end(1e6, 'ok');
  const trace = openTrace(new TextEncoder().encode(w.take()), 'run.raceline');
  expect(trace.problems).toEqual([]);
  return judgeTrace(trace);
}

const brief = (hazards: readonly TraceHazard[]) =>
  hazards.map(({ code, status, severity, at, count }) => `${code} ${status} ${severity} line ${at.line} x${count}`);

/** Written on side, read on main, `when` the read starts; the write ends at 200. */
function race(when: number | undefined) {
  return judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, ...at, st: 1, s: s(1) });
    w.op({ n: 1, t: 10, st: 1, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
    w.op({ n: 2, t: 20, st: 0, name: 'mul', acc: [[0, 0, size, 'r']], s: s(3) });
    if (when === undefined) return;
    w.gpu({ op: 1, st: 1, t: 100, d: 100, name: 'fill', kind: 'kernel' });
    w.gpu({ op: 2, st: 0, t: when, d: 50, name: 'mul', kind: 'kernel' });
  });
}

test('a race is confirmed when the two overlapped or ran in the wrong order', () => {
  expect(brief(race(150))).toEqual(['missing-wait confirmed error line 3 x1']);
  expect(brief(race(20))).toEqual(['missing-wait confirmed error line 3 x1']);
  expect(brief(race(200))).toEqual(['missing-wait latent error line 3 x1']);
  expect(brief(race(undefined))).toEqual(['missing-wait latent error line 3 x1']);
});

test('a hazard points into the timeline', () => {
  const [hazard] = race(150);
  expect(hazard).toMatchObject({ block: 0, start: 100, end: 200, at: { file: 'run.py', line: 3 } });
  expect(hazard!.firstSlice).not.toBe(hazard!.secondSlice);
  expect(hazard!.message).toContain('`mul`');
  expect(hazard!.related[0]).toMatchObject({ file: 'run.py', line: 2 });
});

test('repeats of one pair of places are one hazard, shown where it went wrong', () => {
  const hazards = judge((w, s) => {
    let n = 0;
    for (let turn = 0; turn < 5; turn++) {
      const t = 1000 * turn;
      w.alloc({ n: n++, t, b: turn, addr: `0x7f000000${turn}000`, size, st: 1, s: s(1) });
      const first = n++;
      w.op({ n: first, t, st: 1, name: 'fill', acc: [[turn, 0, size, 'w']], s: s(2) });
      w.op({ n: n++, t, st: 0, name: 'mul', acc: [[turn, 0, size, 'r']], s: s(3) });
      w.gpu({ op: first, st: 1, t: t + 100, d: 100, kind: 'kernel' });
      w.gpu({ op: first + 1, st: 0, t: t + (turn === 3 ? 150 : 300), d: 50, kind: 'kernel' });
    }
  });
  expect(brief(hazards)).toEqual(['missing-wait confirmed error line 3 x5']);
  expect(hazards[0]).toMatchObject({ start: 3100, end: 3200 });
});

test('the codes of the conflicts', () => {
  const conflict = (first: 'r' | 'w', second: 'r' | 'w') =>
    brief(
      judge((w, s) => {
        w.alloc({ n: 0, t: 0, b: 0, ...at, st: 1, s: s(1) });
        w.op({ n: 1, t: 10, st: 1, name: 'a', acc: [[0, 0, size, first]], s: s(2) });
        w.op({ n: 2, t: 20, st: 0, name: 'b', acc: [[0, 0, size, second]], s: s(3) });
      }),
    ).map((text) => text.split(' ')[0]);
  expect(conflict('w', 'r')).toEqual(['missing-wait']);
  expect(conflict('w', 'w')).toEqual(['missing-wait']);
  expect(conflict('r', 'w')).toEqual(['write-after-read']);
  expect(conflict('r', 'r')).toEqual([]);
});

/** Used on side after main, released, and the next block at `addr`; times as given. */
function reuse(given: {
  readonly addr: string;
  readonly second?: number;
  readonly keep?: boolean;
  readonly reusable?: number;
}) {
  return judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, ...at, st: 0, s: s(1) });
    w.op({ n: 1, t: 10, st: 0, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
    w.record({ n: 2, t: 11, e: 0, st: 0, s: s(3) });
    w.wait({ n: 3, t: 12, e: 0, st: 1, rec: 2, s: s(3) });
    w.op({ n: 4, t: 13, st: 1, name: 'mul', acc: [[0, 0, size, 'r']], s: s(4) });
    if (given.keep) w.recordStream({ n: 5, t: 14, b: 0, st: 1, s: s(5) });
    w.free({ n: 6, t: 15, b: 0, s: s(6) });
    if (given.reusable !== undefined) w.reusable(0, given.reusable);
    w.alloc({ n: 7, t: 16_000, b: 1, addr: given.addr, size, st: 0, s: s(7) });
    w.op({ n: 8, t: 16_010, st: 0, name: 'zero', acc: [[1, 0, size, 'w']], s: s(8) });
    w.gpu({ op: 1, st: 0, t: 20, d: 10, kind: 'kernel' });
    w.gpu({ op: 4, st: 1, t: 30, d: 20_000, kind: 'kernel' });
    if (given.second !== undefined) w.gpu({ op: 8, st: 0, t: given.second, d: 10, kind: 'kernel' });
  });
}

test('a block that was reused before its last use ended is confirmed', () => {
  expect(brief(reuse({ addr: at.addr, second: 17_000 }))).toEqual(['missing-record-stream confirmed error line 4 x1']);
  expect(brief(reuse({ addr: at.addr, second: 30_000 }))).toEqual(['missing-record-stream latent warning line 4 x1']);
  expect(brief(reuse({ addr: at.addr }))).toEqual(['missing-record-stream latent warning line 4 x1']);
});

test('part of the block is enough', () => {
  expect(brief(reuse({ addr: '0x7f0000000800', second: 17_000 }))).toEqual([
    'missing-record-stream confirmed error line 4 x1',
  ]);
});

test('a reuse that was only possible is latent', () => {
  expect(brief(reuse({ addr: '0x7f0000100000', second: 17_000 }))).toEqual([
    'missing-record-stream latent warning line 4 x1',
  ]);
});

test('record_stream covers it', () => {
  expect(brief(reuse({ addr: '0x7f0000100000', second: 17_000, keep: true }))).toEqual([]);
});

test('a block that the allocator kept for a stream nobody saw recorded is covered, unless times prove otherwise', () => {
  expect(brief(reuse({ addr: '0x7f0000100000', reusable: 25_000 }))).toEqual([]);
  expect(brief(reuse({ addr: at.addr, second: 30_000, reusable: 25_000 }))).toEqual([]);
  expect(brief(reuse({ addr: at.addr, second: 17_000, reusable: 16_000 }))).toEqual([
    'missing-record-stream confirmed error line 4 x1',
  ]);
});

function download(sync: boolean, copyEnds: number, changed: 'r' | 'w' = 'r') {
  return judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, ...at, st: 0, s: s(1) });
    w.alloc({ n: 1, t: 1, b: 1, addr: '0x7e0000000000', size, st: 0, mem: 'pinned', s: s(2) });
    w.op({ n: 2, t: 2, st: 0, name: 'fill', acc: [[0, 0, size, 'w']], s: s(3) });
    const acc =
      changed === 'r'
        ? ([
            [0, 0, size, 'r'],
            [1, 0, size, 'w'],
          ] as const)
        : ([
            [0, 0, size, 'w'],
            [1, 0, size, 'r'],
          ] as const);
    w.op({ n: 3, t: 3, st: 0, name: 'copy_', acc, copy: changed === 'r' ? 'd2h' : 'h2d', s: s(4) });
    if (sync) w.sync({ n: 4, t: 4, d: 500, on: 'stream', st: 0, s: s(5) });
    w.host({ n: 5, t: 600, b: 1, acc: changed, lo: 0, hi: size, name: 'numpy', s: s(6) });
    w.gpu({ op: 3, st: 0, t: 10, d: copyEnds - 10, kind: 'copy', bytes: size });
  });
}

test('host memory: read too early, overwritten in flight', () => {
  expect(brief(download(false, 1000))).toEqual(['host-read-before-sync confirmed error line 6 x1']);
  expect(brief(download(false, 300))).toEqual(['host-read-before-sync latent error line 6 x1']);
  expect(brief(download(true, 300))).toEqual([]);
  expect(brief(download(false, 1000, 'w'))).toEqual(['pinned-overwritten-in-flight confirmed error line 6 x1']);
  expect(brief(download(true, 300, 'w'))).toEqual([]);
});

test('waits without a record, or the wrong way round', () => {
  const hazards = judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, ...at, st: 0, s: s(1) });
    w.op({ n: 1, t: 1, st: 0, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
    w.wait({ n: 2, t: 2, e: 7, st: 1, s: s(3) });
    w.record({ n: 3, t: 3, e: 1, st: 1, s: s(4) });
    w.wait({ n: 4, t: 4, e: 1, st: 0, rec: 3, s: s(4) });
    w.op({ n: 5, t: 5, st: 1, name: 'mul', acc: [[0, 0, size, 'r']], s: s(5) });
  });
  expect(hazards.map(({ code, at }) => `${code} ${at.line}`)).toEqual([
    'event-never-recorded 3',
    'reversed-wait 4',
    'missing-wait 5',
  ]);
});

test('a wait that does nothing on the first turn only is no finding', () => {
  const hazards = judge((w, s) => {
    for (let turn = 0; turn < 3; turn++) {
      w.wait({ n: 10 * turn, t: 10 * turn, e: 0, st: 0, s: s(1) });
      w.record({ n: 10 * turn + 1, t: 10 * turn + 1, e: 0, st: 0, s: s(2) });
    }
    w.alloc({ n: 40, t: 40, b: 0, ...at, st: 0, s: s(3) });
    w.op({ n: 41, t: 41, st: 0, name: 'fill', acc: [[0, 0, size, 'w']], s: s(4) });
  });
  expect(hazards).toEqual([]);
});

test('a run gives no advice: one execution cannot tell that record_stream changes nothing on all', () => {
  const hazards = judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, ...at, st: 0, s: s(1) });
    w.op({ n: 1, t: 1, st: 0, name: 'fill', acc: [[0, 0, size, 'w']], s: s(2) });
    w.recordStream({ n: 2, t: 2, b: 0, st: 0, s: s(3) });
    w.free({ n: 3, t: 3, b: 0, s: s(4) });
  });
  expect(hazards).toEqual([]);
});

test('without accesses there is nothing to judge', () => {
  const hazards = judge((w) => {
    w.op({ n: 1, t: 1, st: 0, name: 'fill' });
    w.wait({ n: 2, t: 2, e: 7, st: 1 });
    w.op({ n: 5, t: 5, st: 1, name: 'mul' });
  });
  expect(hazards).toEqual([]);
});

test('work without a place in the source is grouped by what it is', () => {
  const hazards = judge((w) => {
    for (let turn = 0; turn < 3; turn++) {
      w.alloc({ n: 3 * turn, t: turn, b: turn, addr: `0x7f000000${turn}000`, size, st: 1 });
      w.op({ n: 3 * turn + 1, t: turn, st: 1, name: 'fill', acc: [[turn, 0, size, 'w']] });
      w.op({ n: 3 * turn + 2, t: turn, st: 0, name: 'mul', acc: [[turn, 0, size, 'r']] });
    }
  });
  expect(brief(hazards)).toEqual(['missing-wait latent error line 0 x3']);
});

/** A graph on main reads block 0 (its static input) and writes block 1 (its output); replayed twice. */
function replayed(write: (w: RacelineWriter, s: (line: number) => number, when: 'between' | 'after') => void) {
  return judge((w, s) => {
    w.alloc({ n: 0, t: 0, b: 0, addr: '0x7f0000000000', size, st: 0, s: s(1) });
    w.alloc({ n: 1, t: 1, b: 1, addr: '0x7f0000010000', size, st: 0, s: s(2) });
    w.capture({ n: 2, t: 2, g: 0, st: 0, s: s(3) });
    w.op({
      n: 3,
      t: 3,
      st: 0,
      name: 'mul',
      acc: [
        [0, 0, size, 'r'],
        [1, 0, size, 'w'],
      ],
      s: s(4),
    });
    w.captureEnd({ n: 4, t: 4, g: 0, s: s(3) });
    w.sync({ n: 5, t: 5, d: 1, on: 'device', device: 0, s: s(5) });
    w.replay({ n: 10, t: 10, g: 0, st: 0, s: s(6) });
    w.gpu({ op: 10, st: 0, t: 100, d: 100, name: 'mul', kind: 'kernel' });
    write(w, s, 'between');
    w.replay({ n: 30, t: 30, g: 0, st: 0, s: s(6) });
    w.gpu({ op: 30, st: 0, t: 300, d: 100, name: 'mul', kind: 'kernel' });
    write(w, s, 'after');
  });
}

test('a static input written while a replay runs', () => {
  const hazards = replayed((w, s, when) => {
    if (when === 'after') return;
    w.op({ n: 20, t: 20, st: 1, name: 'copy_', acc: [[0, 0, size, 'w']], s: s(7) });
    w.gpu({ op: 20, st: 1, t: 150, d: 20, name: 'copy_', kind: 'copy', bytes: size });
  });
  // The first replay reads what is overwritten; the second does not wait for the write.
  expect(brief(hazards)).toEqual(['write-after-read confirmed error line 7 x1', 'missing-wait latent error line 6 x1']);
});

test('an output read on another stream and overwritten by the next replay', () => {
  const hazards = replayed((w, s, when) => {
    if (when === 'after') return;
    w.record({ n: 20, t: 20, e: 0, st: 0, s: s(7) });
    w.wait({ n: 21, t: 21, e: 0, st: 1, rec: 20, s: s(7) });
    w.op({ n: 22, t: 22, st: 1, name: 'sum', acc: [[1, 0, size, 'r']], s: s(8) });
    w.gpu({ op: 22, st: 1, t: 250, d: 100, name: 'sum', kind: 'kernel' });
  });
  expect(brief(hazards)).toEqual(['write-after-read confirmed error line 6 x1']);
});

test('a thousand repeats are one hazard', () => {
  const hazards = judge((w, s) => {
    for (let turn = 0; turn < 1000; turn++) {
      const n = turn * 3;
      w.alloc({ n, t: n, b: turn, addr: `0x7f${(turn * size + 0x1000000).toString(16)}`, size, st: 1, s: s(1) });
      w.op({ n: n + 1, t: n + 1, st: 1, name: 'fill', acc: [[turn, 0, size, 'w']], s: s(2) });
      w.op({ n: n + 2, t: n + 2, st: 0, name: 'mul', acc: [[turn, 0, size, 'r']], s: s(3) });
    }
  });
  expect(brief(hazards)).toEqual(['missing-wait latent error line 3 x1000']);
});

test('two names of one handle are one stream, whose work follows itself', () => {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full' });
  const head = w.take();
  const lines = [
    { k: 'str', id: 0, v: 'first' },
    { k: 'str', id: 1, v: 'thirty_third' },
    { k: 'stream', id: 0, device: 0, handle: '0x10', name: 0 },
    { k: 'stream', id: 1, device: 0, handle: '0x10', name: 1 },
    { k: 'alloc', n: 0, t: 0, b: 0, addr: '0x1000', size, st: 0 },
    { k: 'op', n: 1, t: 1, st: 0, name: 0, acc: [[0, 0, size, 'w']] },
    { k: 'op', n: 2, t: 2, st: 1, name: 1, acc: [[0, 0, size, 'r']] },
    { k: 'end', t: 9, status: 'ok' },
  ];
  const trace = openTrace(
    new TextEncoder().encode(`${head}${lines.map((line) => JSON.stringify(line)).join('\n')}\n`),
    'run.raceline',
  );
  expect(trace.problems).toEqual([]);
  expect(trace.streams.map(({ name, aliases }) => [name, aliases])).toEqual([['first', ['thirty_third']]]);
  expect(judgeTrace(trace)).toEqual([]);
});
