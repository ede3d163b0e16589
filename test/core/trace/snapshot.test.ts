import { readFileSync } from 'node:fs';
import { gzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openTrace, TraceError } from '../../../core/trace/index.ts';
import { bytesOf, dump, expectWhole } from './dump.ts';

const fixture = (protocol: number) =>
  readFileSync(new URL(`../../fixtures/trace/snapshot-protocol-${protocol}.pickle`, import.meta.url));

describe('an allocator snapshot', () => {
  const trace = openTrace(fixture(4), 'snapshot.pickle');

  it('is read whole', () => {
    expectWhole(trace);
    expect(dump(trace)).toMatchSnapshot();
  });

  it.each([2, 3, 5])('is the same in protocol %i', (protocol) => {
    const other = openTrace(fixture(protocol), 'snapshot.pickle');
    expectWhole(other);
    // The older entries have no labels.
    const unlabelled = (text: string) => text.replace('block 2 batch', 'block 2 ?');
    expect(unlabelled(dump(other))).toBe(unlabelled(dump(trace)));
  });

  it('opens packed', () => {
    expect(dump(openTrace(gzipSync(fixture(4)), 'x'))).toBe(dump(trace));
  });

  it('tells a block that record_stream holds back: released at 20, reusable at 90', () => {
    const { blocks } = trace;
    const held = [...blocks.address].indexOf(0x7f0000010000);
    expect([blocks.allocated[held], blocks.releaseRequested[held], blocks.reusable[held]]).toEqual([
      10_000, 20_000, 90_000,
    ]);
    const { counters } = trace;
    expect(Math.max(...counters.heldBack)).toBe(65536);
    expect(counters.heldBack[counters.length - 1]).toBe(0);
  });

  it('knows blocks that are older than the recording, released and not', () => {
    const older = [...trace.blocks.allocated.keys()].filter((row) => trace.blocks.allocated[row]! < 0);
    expect(older.map((row) => trace.blocks.address[row])).toEqual([0x7f0000030000, 0x7f0000020000]);
    expect(trace.limits.join('\n')).toContain('2 blocks were allocated before the recording');
  });

  it('leaves torch’s own frames out of the sites', () => {
    expect(trace.strings.filter((text) => text.endsWith('.py'))).toEqual(['train.py']);
  });

  it('a cut file is refused with its offset', () => {
    const cut = fixture(4).subarray(0, 900);
    expect(() => openTrace(cut, 'x')).toThrow(TraceError);
    expect(() => openTrace(cut, 'x')).toThrow('ends early');
  });

  it('a pickle of something else is named', () => {
    expect(() => openTrace(Uint8Array.from([0x80, 4, 0x7d, 0x2e]), 'x')).toThrow('no allocator snapshot');
  });
});

describe('what single releases of PyTorch write', () => {
  const bytes = readFileSync(new URL('../../fixtures/trace/snapshot-releases.pickle', import.meta.url));
  const trace = openTrace(bytes, 'snapshot.pickle');

  it('is read whole', () => {
    expectWhole(trace);
    expect(trace.problems).toEqual([]);
    expect(trace.counts).toMatchObject({ rows: 13, allocations: 2, releases: 1 });
  });

  it('mapped pages of expandable segments count as reserved', () => {
    const { counters } = trace;
    // What the segments say at the end, less what the entries did.
    expect(counters.reserved[counters.length - 1]).toBe(4 << 20);
    expect(Math.min(...counters.reserved)).toBeGreaterThanOrEqual(0);
  });

  it('a request for which one call gave cached memory back is a retry; empty_cache() is none', () => {
    expect(trace.allocatorEvents).toMatchObject([
      { kind: 'retry', time: 12_000, bytes: 1 << 22, free: (3 << 20) + (1 << 20) },
    ]);
  });

  it('annotations are slices, as entries or apart, and last to the end where nothing ends them', () => {
    const { hostSlices, strings } = trace;
    const slices = Array.from(hostSlices.name, (name, i) => [
      strings[name],
      hostSlices.start[i],
      hostSlices.duration[i],
    ]);
    expect(slices).toEqual([
      ['warm-up', 0, 5000],
      ['open at the end', 35_000, 5000],
    ]);
  });

  it('pinned memory is told from that of the device', () => {
    expect(trace.program.blocks.map((block) => block.memory)).toEqual(['device', 'pinned']);
  });
});

describe('detection by content', () => {
  const message = (bytes: Uint8Array) => {
    try {
      openTrace(bytes, 'a name.json');
    } catch (error) {
      expect(error).toBeInstanceOf(TraceError);
      return (error as Error).message;
    }
    return expect.fail('it opened');
  };

  it.each([
    ['nothing', bytesOf(''), 'is empty'],
    ['an SQLite database', bytesOf('SQLite format 3\0...'), 'SQLite file ends inside its header'],
    ['a zip archive', bytesOf('PK\x03\x04....'), 'zip archive'],
    ['a Perfetto protobuf', Uint8Array.from([0x0a, 0x10, 0x52, 0x02]), 'Perfetto'],
    ['a web page', bytesOf('<!doctype html>'), 'HTML'],
    ['text', bytesOf('Dear reader'), 'no trace that Raceline knows'],
    ['text of PowerShell', Uint8Array.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 'UTF-16'],
    ['events that are no list', bytesOf('{"traceEvents": {"0": {"ph": "X"}}}'), 'are no list of events'],
    ['a newer pickle', Uint8Array.from([0x80, 9, 0x2e]), 'protocol 9'],
    ['gzip in gzip', gzipSync(gzipSync(bytesOf('{}'))), 'packed twice'],
    ['gzip of nothing', Uint8Array.from([0x1f, 0x8b, 0x08]), 'nothing can be unpacked'],
    [
      'gzip that is none',
      Uint8Array.from([0x1f, 0x8b, 0x09, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]),
      'nothing can be unpacked',
    ],
  ])('%s is named', (_, bytes, words) => {
    expect(message(bytes)).toContain(words);
  });
});
