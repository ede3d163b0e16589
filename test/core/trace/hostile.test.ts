/** Files that are wrong on purpose: all that is made of a trace goes on, and ends. */
import { describe, expect, it } from 'vitest';
import { answersOf } from '../../../core/answers/answers.ts';
import { chromeTrace } from '../../../core/export/chrome.ts';
import { takePicture } from '../../../core/export/picture.ts';
import { svg } from '../../../core/export/svg.ts';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { mergeTraces } from '../../../core/trace/merge.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { bytesOf, expectWhole } from './dump.ts';
import { type KinetoEvent, kernel, kinetoText, memory, runtime, sync } from './kineto-text.ts';

/** Opens it, and makes of it all that can be made. */
function use(bytes: Uint8Array, name = 'trace.json'): Trace {
  const trace = openTrace(bytes, name);
  expectWhole(trace);
  const hazards = judgeTrace(trace);
  answersOf(trace);
  JSON.parse([...chromeTrace(trace, hazards)].join(''));
  const picture = svg(takePicture(trace, hazards, name));
  expect(picture).not.toMatch(/NaN|Infinity|undefined/);
  expectWhole(
    mergeTraces([
      { name, trace },
      { name: 'again', trace },
    ]),
  );
  return trace;
}
const profile = (...events: KinetoEvent[]) => use(bytesOf(kinetoText(events)));
const run = (...lines: object[]) =>
  use(
    bytesOf(
      [{ raceline: 1, producer: 'x', mode: 'cuda', level: 'full' }, ...lines]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    ),
    'run.raceline',
  );

describe('times', () => {
  it('negative and huge ones in a profile', () => {
    const trace = profile(
      runtime('cudaLaunchKernel', '-5.000', '2.000', 1),
      kernel('a', 20, '-1.000', '10.000', 1),
      kernel('b', 20, '9007199254740993.000', '1.000', 2),
      kernel('c', 20, '4.000', '99999999999999999999.000', 3),
      kernel('d', 20, '1e300', '-7.000', 4),
    );
    expect(trace.counts.kernels).toBeGreaterThan(0);
  });

  it('negative and huge ones in a run', () => {
    const trace = run(
      { k: 'stream', id: 0, device: 0, num: 7 },
      { k: 'op', n: 0, t: -5, st: 0 },
      { k: 'gpu', op: 0, st: 0, t: 1e300, d: 5 },
      { k: 'gpu', op: 0, st: 0, t: Number.MAX_SAFE_INTEGER, d: Number.MAX_SAFE_INTEGER },
      { k: 'gpu', op: 0, st: 0, t: 5, d: -5 },
    );
    expect(trace.problems.length).toBeGreaterThan(0);
  });
});

describe('numbers that stand for several things', () => {
  it('one correlation for two calls, two records, and their waits', () => {
    const trace = profile(
      runtime('cudaLaunchKernel', '1.000', '1.000', 1),
      runtime('cudaLaunchKernel', '3.000', '1.000', 1),
      kernel('a', 20, '5.000', '1.000', 1),
      kernel('b', 24, '5.000', '1.000', 1),
      runtime('cudaEventRecord', '6.000', '1.000', 2),
      runtime('cudaEventRecord', '8.000', '1.000', 2),
      runtime('cudaStreamWaitEvent', '9.000', '1.000', 2),
      sync('Stream Wait Event', 24, '9.000', '1.000', 2, { stream: 20, record: 2 }),
    );
    expect(trace.counts.kernels).toBe(2);
  });

  it('a block that is allocated twice, and released more often than that', () => {
    const trace = profile(
      memory('1.000', 512, 0x1000, 512),
      memory('2.000', 1024, 0x1000, 1024),
      memory('3.000', -512, 0x1000, 0),
      memory('4.000', -512, 0x1000, 0),
      kernel('a', 20, '5.000', '1.000', 1),
    );
    expect(trace.blocks.length).toBe(3);
  });
});

describe('waits in a circle', () => {
  it('each for a record behind the other’s wait', () => {
    const trace = profile(
      runtime('cudaLaunchKernel', '1.000', '0.500', 1),
      kernel('a', 20, '2.000', '3.000', 1),
      runtime('cudaLaunchKernel', '1.500', '0.500', 11),
      kernel('b', 24, '2.000', '3.000', 11),
      runtime('cudaStreamWaitEvent', '3.000', '0.500', 2),
      sync('Stream Wait Event', 20, '3.000', '0.500', 2, { stream: 24, record: 5 }),
      runtime('cudaStreamWaitEvent', '4.000', '0.500', 3),
      sync('Stream Wait Event', 24, '4.000', '0.500', 3, { stream: 20, record: 4 }),
      runtime('cudaEventRecord', '5.000', '0.500', 4),
      runtime('cudaEventRecord', '6.000', '0.500', 5),
      runtime('cudaLaunchKernel', '7.000', '0.500', 6),
      kernel('c', 20, '8.000', '3.000', 6),
      runtime('cudaLaunchKernel', '7.500', '0.500', 7),
      kernel('d', 24, '8.000', '3.000', 7),
    );
    expect(trace.counts.waits).toBe(2);
  });

  it('a wait for itself, and for a record that comes later', () => {
    const trace = run(
      { k: 'stream', id: 0, device: 0, num: 7 },
      { k: 'stream', id: 1, device: 0, num: 13 },
      { k: 'wait', n: 0, t: 1, e: 0, st: 0, rec: 0 },
      { k: 'wait', n: 1, t: 2, e: 0, st: 0, rec: 3 },
      { k: 'op', n: 2, t: 3, st: 1 },
      { k: 'record', n: 3, t: 4, e: 0, st: 1 },
      { k: 'wait', n: 4, t: 5, e: 0, st: 1, rec: 3 },
      { k: 'gpu', op: 2, st: 1, t: 9, d: 5 },
    );
    expect(trace.counts.waits).toBe(3);
  });
});

describe('names', () => {
  const markup = '</title></script><img src=x onerror=alert(1)>\u0000\u202e]]>&amp;';
  it('of markup, control characters and a megabyte stay text everywhere', () => {
    const trace = profile(
      kernel(markup, 20, '1.000', '900.000', 1),
      kernel('x'.repeat(1 << 20), 24, '1.000', '900.000', 2),
      { cat: 'user_annotation', name: '__proto__', ts: '1.000', dur: '5.000', args: { __proto__: { a: 1 } } },
      { ph: 'M', name: 'thread_name', pid: 1, tid: 1, ts: '0.000', args: { name: markup } },
    );
    expect(Math.max(...trace.strings.map((text) => text.length))).toBeLessThan(10_000);
    expect(svg(takePicture(trace, [], markup))).not.toMatch(/<img|<script/);
  });

  it('of brackets a hundred thousand deep are passed over', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = kinetoText([kernel('a', 20, '1.000', '9.000', 1), kernel('b', 20, '20.000', '9.000', 2)]).replace(
      '"queued": 0',
      `"queued": ${deep}`,
    );
    expect(use(bytesOf(text)).counts.kernels).toBe(2);
  });
});

it('a file of more than can be held is read as far as it goes, and says so', () => {
  const events = Array.from({ length: 500 }, (_, i) => kernel(`k${i}`, 20, `${i * 10}.000`, '5.000', i));
  const bytes = bytesOf(kinetoText(events));
  const trace = openTrace(bytes, 'trace.json', { mostBytes: bytes.length / 2 });
  expectWhole(trace);
  expect(trace.counts.kernels).toBeGreaterThan(100);
  expect(trace.counts.kernels).toBeLessThan(400);
  expect(trace.problems.map((problem) => problem.message).join()).toMatch(/as much as can be shown at once/);
});

it('a file for which there is no memory left is named', () => {
  const onProgress = () => {
    throw new RangeError('Array buffer allocation failed');
  };
  const bytes = bytesOf(kinetoText([kernel('a', 20, '1.000', '9.000', 1)]));
  expect(() => openTrace(bytes, 'large.json', { onProgress })).toThrow('“large.json” does not fit into the memory');
});

/** Sizes at which work that grows with the square would not end. */
describe('what a file names over and over is gone over once', () => {
  const many = 10_000;
  const word = (text: string) => String.fromCharCode(0x8c, text.length) + text;
  const entry = (more: string) => `}(${word('action')}${word('alloc')}${word('addr')}K\u0007${more}u`;
  const snapshot = (key: string, list: string) =>
    openTrace(bytesOfLatin(`\u0080\u0004}(${word(key)}](${list}eu.`), 'snapshot.pickle');
  const bytesOfLatin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

  it('a list of entries in many places', () => {
    const trace = snapshot('device_traces', `](${entry('').repeat(many)}eq\u0001${'h\u0001'.repeat(many)}`);
    expectWhole(trace);
    expect(trace.counts.rows).toBe(many);
  });

  it('a list of blocks in many segments', () => {
    const block = `}(${word('address')}K\u0003${word('state')}${word('active_allocated')}u`;
    const segment = `}(${word('blocks')}](${block.repeat(many)}euq\u0001`;
    const trace = snapshot('segments', segment + 'h\u0001'.repeat(many));
    expectWhole(trace);
    expect(trace.blocks.length).toBe(many);
  });

  it('a stack of many frames of packages under many entries', () => {
    const frame = `}(${word('filename')}${word('x/site-packages/a.py')}${word('line')}K\u0003u`;
    const first = entry(`${word('frames')}](${frame.repeat(many)}eq\u0005`);
    const others = entry(`${word('frames')}h\u0005`).repeat(many);
    const trace = snapshot('device_traces', `](${first}${others}e`);
    expectWhole(trace);
    expect(trace.sites.length).toBe(many);
  });

  it('functions within functions, and what is called and allocated within all of them', () => {
    const nested = Array.from({ length: many }, (_, i) => ({
      cat: 'python_function',
      name: `lib/site-packages/a.py(${i}): f`,
      ts: `${i}.000`,
      dur: `${4 * many - 2 * i}.000`,
    }));
    const calls = Array.from({ length: many }, (_, i) => [
      runtime('cudaLaunchKernel', `${many + 10 + i / 1000}`, '0.001', i),
      memory(`${many + 10 + i / 1000}`, 512, 4096 + i, 512),
      kernel('k', 20, `${many + i}.000`, '1.000', i),
    ]).flat();
    const trace = openTrace(bytesOf(kinetoText([...nested, ...calls])), 'trace.json');
    expectWhole(trace);
    expect([trace.sites.length, trace.blocks.length]).toEqual([many, many]);
  });

  it('one event recorded and waited for over and over, and one call with work on many streams', () => {
    const waits = Array.from({ length: many }, (_, i) => [
      { cat: 'cuda_event', name: 'e', ts: `${i}.000`, dur: '1.000', args: { correlation: 2 * i, event_id: 1, stream: 7, device: 0 } }, // biome-ignore format: one event
      { cat: 'cuda_sync', name: 'Stream Wait Event', ts: `${i}.500`, dur: '0.100', args: { cuda_sync_kind: 'Stream Wait Event', stream: 20, correlation: 2 * i + 1, device: 0, wait_on_cuda_event_id: 1 } }, // biome-ignore format: one event
      kernel('k', 100 + i, `${i}.000`, '1.000', 7),
    ]).flat();
    const trace = openTrace(
      bytesOf(kinetoText([runtime('cudaGraphLaunch', '0.000', '1.000', 7), ...waits])),
      'trace.json',
    );
    expectWhole(trace);
    expect([trace.counts.waits, trace.counts.kernels]).toEqual([many, many]);
  });
});
