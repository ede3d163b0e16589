import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openTrace, TraceError } from '../../../core/trace/index.ts';
import { SqliteFile, type SqlValue } from '../../../core/trace/sqlite.ts';
import { summarizeWaits } from '../../../core/trace/summary.ts';
import { dump, expectWhole } from './dump.ts';

const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/trace/${name}`, import.meta.url)));
const open = (name: string) => openTrace(fixture(name), name);

describe('an export of Nsight Systems', () => {
  const trace = open('nsys.sqlite');

  it('is read whole', () => {
    expectWhole(trace);
    expect(trace.problems).toEqual([]);
    expect(dump(trace)).toMatchSnapshot();
  });

  it('binds a wait by the sync id of its event: the handle is recorded again elsewhere', () => {
    expect(summarizeWaits(trace)).toMatchObject([{ stream: 17, record: { stream: 13 }, inferred: false }]);
  });

  it('of an older version is bound by handle to the newest record before, and says that it is a guess', () => {
    const old = open('nsys-old.sqlite');
    expectWhole(old);
    expect(old.problems).toEqual([]);
    expect(summarizeWaits(old)).toMatchObject([{ stream: 17, record: { stream: 13 }, inferred: true }]);
    // Its texts are of two bytes a letter.
    expect(old.strings).toContain('step µ');
  });

  it('without a column is read without that table, and says what to do', () => {
    const wrong = open('nsys-wrong.sqlite');
    expectWhole(wrong);
    expect(wrong.counts).toMatchObject({ kernels: 0, copies: 1 });
    expect(wrong.problems.map((problem) => problem.message)).toEqual([
      expect.stringMatching(/CUPTI_ACTIVITY_KIND_KERNEL has no column streamId.*nsys export/),
    ]);
  });

  it('tells which processes and threads called, from numbers past what a double holds', () => {
    expect(trace.threads).toEqual([{ name: 'thread 4322', pid: 4321, tid: 4322 }]);
  });

  it('any other database is named by its tables', () => {
    const bytes = fixture('nsys.sqlite');
    const text = Buffer.from(bytes).toString('latin1');
    // The same file with every table of another name.
    const renamed = text
      .replaceAll('CUPTI_ACTIVITY', 'ABCDE_ACTIVITY')
      .replaceAll('StringIds', 'AtringIds')
      .replaceAll('META_DATA', 'XETA_DATA')
      .replaceAll('NVTX_EVENTS', 'XVTX_EVENTS')
      .replaceAll('CUDA_GPU_MEMORY', 'XUDA_GPU_MEMORY');
    expect(() => openTrace(new Uint8Array(Buffer.from(renamed, 'latin1')), 'x')).toThrow(
      /SQLite database with the tables/,
    );
  });
});

describe('the tables of a database', () => {
  const file = new SqliteFile(fixture('nsys.sqlite'), (message) => expect.fail(message));

  it('are known with their columns, whatever stands in their definitions', () => {
    expect(file.table('cupti_activity_kind_kernel')!.columns).toEqual([
      'start',
      'end',
      'deviceid',
      'contextid',
      'streamid',
      'correlationid',
      'globalpid',
      'demangledname',
      'shortname',
      'gridx',
      'graphnodeid',
    ]);
  });

  it('give every row once, ids of rows and long texts too', () => {
    const rows: SqlValue[][] = [];
    file.rows(file.table('StringIds')!, ['id', 'value', 'nothing'], (values) => rows.push([...values]));
    expect(rows.map(([id, , nothing]) => [id, nothing])).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((id) => [id, null]));
    expect(rows[7]![1]).toBe(`void long_name<${'at::native::functor, '.repeat(60)}int>(int)`);
  });
});

describe('a damaged database', () => {
  const whole = fixture('nsys.sqlite');

  it('cut anywhere opens as far as it goes, or says why not', () => {
    for (let length = 0; length < whole.length; length += 97) {
      try {
        const trace = openTrace(whole.slice(0, length), 'cut.sqlite');
        expectWhole(trace);
        expect(trace.problems.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(TraceError);
      }
    }
  });

  it('with bytes changed at random never throws anything else', () => {
    let state = 1;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let round = 0; round < 300; round++) {
      const bytes = whole.slice();
      for (let i = 0; i < 8; i++) bytes[random(bytes.length)] = random(256);
      try {
        expectWhole(openTrace(bytes, 'x.sqlite'));
      } catch (error) {
        if (!(error instanceof TraceError)) throw error;
      }
    }
  });

  it('whose pages point at each other ends', () => {
    const bytes = whole.slice();
    const page = new DataView(bytes.buffer).getUint16(16);
    // Page 2 becomes an interior page whose children are itself.
    bytes[page] = 5;
    new DataView(bytes.buffer).setUint32(page + 8, 2);
    expect(() => openTrace(bytes, 'x.sqlite')).not.toThrow(RangeError);
  });
});
