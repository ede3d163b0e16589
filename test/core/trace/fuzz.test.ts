import { readFileSync } from 'node:fs';
import { gzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openTrace, TraceError } from '../../../core/trace/index.ts';
import { expectWhole } from './dump.ts';
import { kernel, kinetoText, memory, python, runtime, sync } from './kineto-text.ts';

const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/trace/${name}`, import.meta.url)));

const kineto = new TextEncoder().encode(
  kinetoText([
    python('train.py(4): step', '1.000', '90.000'),
    runtime('cudaLaunchKernel', '2.000', '1.000', 1),
    runtime('cudaEventRecord', '4.000', '1.000', 2),
    runtime('cudaStreamWaitEvent', '6.000', '1.000', 3),
    memory('7.000', 512, 4096, 512),
    memory('8.000', -512, 4096, 0),
    kernel('k"\\', 13, '9.000', '3.000', 1),
    sync('Stream Wait Event', 7, '6.000', '1.000', 3, { stream: 13, record: 2 }),
  ]),
);

const samples: readonly (readonly [string, Uint8Array])[] = [
  ['.raceline', fixture('upload.raceline')],
  ['profiler trace', kineto],
  ['snapshot', fixture('snapshot-protocol-4.pickle')],
  ['packed .raceline', gzipSync(fixture('upload.raceline'))],
];

/** A file either opens, with all its columns right, or is refused by name; nothing else is thrown. */
function tryOpen(bytes: Uint8Array): boolean {
  let trace: ReturnType<typeof openTrace>;
  try {
    trace = openTrace(bytes, 'fuzz');
  } catch (error) {
    if (error instanceof TraceError) return false;
    throw error;
  }
  expectWhole(trace);
  return true;
}

/** A small generator of its own, so that a failure comes again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe.each(samples)('%s', (name, bytes) => {
  it('opens', () => expect(tryOpen(bytes)).toBe(true));

  it('cut at any byte', () => {
    let opened = 0;
    for (let length = 0; length < bytes.length; length++) if (tryOpen(bytes.subarray(0, length))) opened++;
    // A snapshot says what it holds at its end; the others open up to where they were cut.
    if (name === 'snapshot') expect(opened).toBe(0);
    else expect(opened).toBeGreaterThan(bytes.length / 4);
  });

  it('with bytes changed at random', () => {
    const next = random(7);
    for (let round = 0; round < 400; round++) {
      const changed = bytes.slice();
      for (let n = 1 + Math.floor(next() * 8); n > 0; n--)
        changed[Math.floor(next() * changed.length)] = Math.floor(next() * 256);
      tryOpen(changed);
    }
  });

  it('with digits and marks changed at random', () => {
    const next = random(11);
    const marks = new TextEncoder().encode('0123456789-.eE"{}[],:\\n ');
    for (let round = 0; round < 400; round++) {
      const changed = bytes.slice();
      for (let n = 1 + Math.floor(next() * 4); n > 0; n--)
        changed[Math.floor(next() * changed.length)] = marks[Math.floor(next() * marks.length)]!;
      tryOpen(changed);
    }
  });
});
