import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import { gzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openTrace, openTraceFrom, TraceError } from '../../../core/trace/index.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';
import { bytesOf, dump, expectWhole } from './dump.ts';

const header = '{"raceline":1,"producer":"by hand 1","mode":"cuda","level":"full"}';

function open(...lines: string[]) {
  const trace = openTrace(bytesOf([header, ...lines, ''].join('\n')), 'by-hand.raceline');
  expectWhole(trace);
  return trace;
}

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/trace/${name}`, import.meta.url));

describe('a run with an upload, a wait and a held-back block', () => {
  const trace = openTrace(fixture('upload.raceline'), 'upload.raceline');

  it('is read whole', () => {
    expectWhole(trace);
    expect(trace.problems).toEqual([]);
    expect(dump(trace)).toMatchSnapshot();
  });

  it('is the same plain and packed, whole and in pieces', () => {
    expect(dump(openTrace(gzipSync(fixture('upload.raceline')), 'x'))).toBe(dump(trace));
  });

  it('works out when a wait ends and for how long it blocked', () => {
    const { marks } = trace;
    const wait = [...marks.kind].indexOf(1);
    const record = marks.other[wait]!;
    // The upload is done at 5200; the waiting stream was idle since the host issued the wait at 1500.
    expect(marks.deviceTime[record]).toBe(5200);
    expect(marks.deviceTime[wait]).toBe(5200);
    expect(marks.blocked[wait]).toBe(3700);
  });

  it('has the four times of a block', () => {
    const { blocks } = trace;
    expect([blocks.allocated[0], blocks.releaseRequested[0], blocks.lastUse[0], blocks.reusable[0]]).toEqual([
      100, 2500, 6100, 6500,
    ]);
  });
});

describe('JSON Schema', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../docs/trace-format.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  const check = (text: string) => {
    for (const line of text.trimEnd().split('\n'))
      if (!validate(JSON.parse(line))) expect.fail(`${line}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
  };

  it('holds for the fixture', () => check(fixture('upload.raceline').toString()));

  it('holds for the examples of the page', () => {
    const page = readFileSync(new URL('../../../docs/trace-format.md', import.meta.url), 'utf8');
    const examples = [...page.matchAll(/`(\{"k":"[^`]*\})`/g)]
      .map((match) => match[1]!)
      .filter((line) => !line.includes('…'));
    expect(examples.length).toBeGreaterThan(20);
    check(examples.join('\n'));
  });

  it('holds for all that the writer writes, and the reader knows every key of it', () => {
    const text = everyLine();
    check(text);
    const trace = openTrace(bytesOf(text), 'x');
    expectWhole(trace);
    expect(trace.problems).toEqual([]);
    expect(dump(trace)).toMatchSnapshot();
  });

  it('refuses a line with a wrong type, a missing key, an unknown kind', () => {
    for (const line of [
      '{"k":"free","n":1}',
      '{"k":"str","id":"0","v":"x"}',
      '{"k":"nothing"}',
      '{"k":"sync","n":1,"on":"event"}',
    ])
      expect(validate(JSON.parse(line)), line).toBe(false);
  });
});

describe('order of records and waits', () => {
  const two = ['{"k":"stream","id":0,"default":true}', '{"k":"stream","id":1}'];

  it('binds a wait to the latest record of its event', () => {
    const trace = open(
      ...two,
      '{"k":"record","n":0,"t":1,"e":0,"st":0}',
      '{"k":"record","n":1,"t":2,"e":0,"st":0}',
      '{"k":"wait","n":2,"t":3,"e":0,"st":1}',
    );
    expect([...trace.marks.other]).toEqual([-1, -1, 1]);
    expect(trace.program.events.length).toBe(1);
  });

  it('gives each record an event of its own where a wait is bound to an earlier one', () => {
    const trace = open(
      ...two,
      '{"k":"record","n":0,"t":1,"e":0,"st":0}',
      '{"k":"record","n":1,"t":2,"e":0,"st":0}',
      '{"k":"wait","n":2,"t":3,"e":0,"st":1,"rec":0}',
      '{"k":"wait","n":3,"t":4,"e":0,"st":1}',
      '{"k":"sync","n":4,"t":5,"on":"event","e":0,"rec":0}',
    );
    const event = (i: number) => {
      const step = trace.program.steps[i]!;
      return 'event' in step ? step.event : step.kind === 'hostWait' && step.on.kind === 'event' ? step.on.event : -1;
    };
    expect(event(2)).toBe(event(0));
    expect(event(3)).toBe(event(1));
    expect(event(4)).toBe(event(0));
    expect(event(0)).not.toBe(event(1));
    expect([...trace.marks.other]).toEqual([-1, -1, 0, 1, 0]);
  });

  it('leaves a wait without a record unbound', () => {
    const trace = open(...two, '{"k":"wait","n":0,"t":3,"e":0,"st":1}', '{"k":"record","n":1,"t":4,"e":0,"st":0}');
    expect(trace.marks.other[0]).toBe(-1);
    expect(trace.marks.blocked[0]).toBe(0);
    expect(trace.counts.waitsWithRecord).toBe(0);
  });

  it('gives captured steps no device time', () => {
    const trace = open(
      ...two,
      '{"k":"capture","n":0,"t":1,"g":0,"st":0}',
      '{"k":"record","n":1,"t":2,"e":0,"st":0}',
      '{"k":"wait","n":2,"t":3,"e":0,"st":1}',
      '{"k":"captureEnd","n":3,"t":4,"g":0}',
      '{"k":"replay","n":4,"t":5,"g":0,"st":0}',
      '{"k":"gpu","op":4,"t":10,"d":20}',
    );
    expect([...trace.marks.deviceTime]).toEqual([-1, -1]);
    expect(trace.program.origins[trace.program.steps[4]!.origin]).toMatchObject({ slice: 0 });
  });
});

describe('a file that was cut', () => {
  const whole = fixture('upload.raceline').toString();

  it('opens up to its last whole line and says where it ends', () => {
    const cut = whole.slice(0, whole.lastIndexOf('"k":"gpu"') + 5);
    const trace = openTrace(bytesOf(cut), 'x');
    expectWhole(trace);
    expect(trace.problems.map((problem) => problem.message)).toEqual([
      expect.stringContaining(`at byte ${cut.length}: it was cut while it was written`),
      expect.stringContaining('no end line'),
    ]);
    expect(trace.counts.kernels + trace.counts.copies).toBe(1);
  });

  it('opens when the gzip stream breaks off', () => {
    const packed = gzipSync(bytesOf(everyLine().repeat(1) + '{"k":"limit","v":"a"}\n'.repeat(5000)));
    const trace = openTrace(packed.subarray(0, packed.length - 30), 'x', {
      gunzip: () => {
        throw new Error('unexpected end of file');
      },
    });
    expectWhole(trace);
    expect(trace.problems.map((problem) => problem.message).join()).toContain('gzip stream breaks off');
    expect(trace.counts.records).toBe(1);
  });

  it('opens when its source breaks off', async () => {
    const bytes = bytesOf(whole);
    const source = async function* () {
      yield bytes.subarray(0, 1000);
      yield bytes.subarray(1000, 1500);
      throw new Error('the connection is gone');
    };
    const trace = await openTraceFrom(source(), 'x');
    expectWhole(trace);
    expect(trace.problems.map((problem) => problem.message).join('\n')).toContain(
      'The file breaks off after 1500 bytes: the connection is gone.',
    );
    expect(trace.counts.records).toBe(1);
  });

  it('takes a last line without a line end when it is whole', () => {
    const trace = openTrace(bytesOf(whole.trimEnd()), 'x');
    expect(trace.problems).toEqual([]);
  });
});

describe('what is refused', () => {
  const message = (text: string) => {
    try {
      openTrace(bytesOf(text), 'file');
    } catch (error) {
      expect(error).toBeInstanceOf(TraceError);
      return (error as Error).message;
    }
    return expect.fail('it opened');
  };

  it('names a newer version and says what to do', () => {
    expect(message('{"raceline":2,"producer":"x"}\n')).toBe(
      'The trace has .raceline version 2; this Raceline reads versions up to 1. Update Raceline to open it, or record the run again with the executor of this version.',
    );
  });

  it('names a version that is none, a header that is cut', () => {
    expect(message('{"raceline":"one"}\n')).toContain('is not a whole number');
    expect(message('{"raceline":1,"produ')).toContain('ends inside its first line');
  });
});

describe('hostile input', () => {
  it.each([
    ['a line that is not JSON', '{"k":"op",'],
    ['a line that is no object', '[1,2]'],
    ['a number of a wrong type', '{"k":"free","n":"one","b":0}'],
    ['an id that is not declared', '{"k":"op","n":1,"t":1,"st":99,"name":77,"s":55,"acc":[[44,0,4,"r"]]}'],
    ['a negative time', '{"k":"record","n":1,"t":-5,"e":0,"st":0}'],
    ['a time past all clocks', '{"k":"record","n":1,"t":1e300,"e":0,"st":0}'],
    ['an id past all whole numbers', '{"k":"record","n":1,"t":1,"e":1e300,"st":0}'],
    ['an access that is none', '{"k":"op","n":1,"t":1,"st":0,"name":0,"acc":[[0,9,3,"r"],"x",[0,1],null]}'],
    ['a release of what is not there', '{"k":"free","n":1,"t":1,"b":9}'],
    ['a handle that is none', '{"k":"stream","id":0,"handle":"javascript:alert(1)"}'],
    ['device work of a step that is not there', '{"k":"gpu","op":9,"st":0,"t":1,"d":1}'],
    ['an edge of a step that is not there', '{"k":"edge","wait":9,"t":1}'],
    ['a record that is not above', '{"k":"wait","n":1,"t":1,"e":0,"st":0,"rec":5}'],
  ])('%s becomes a problem with its row', (_, line) => {
    const trace = open(
      '{"k":"stream","id":0}',
      '{"k":"str","id":0,"v":"name"}',
      line,
      '{"k":"end","t":9,"status":"ok"}',
    );
    expect(trace.problems.length).toBeGreaterThan(0);
    expect(trace.problems[0]!.row).toBe(3);
    expect(trace.problems[0]!.offset).toBe(
      header.length + 1 + '{"k":"stream","id":0}\n{"k":"str","id":0,"v":"name"}\n'.length,
    );
  });

  it('tells an unknown kind and an unknown key once each', () => {
    const trace = open(
      ...Array.from({ length: 20 }, () => '{"k":"future","x":1}'),
      ...Array.from({ length: 20 }, (_, id) => `{"k":"str","id":${id},"v":"x","colour":1}`),
      '{"k":"end","t":9,"status":"ok"}',
    );
    expect(trace.problems.map((problem) => problem.message)).toEqual([
      'Lines “future” are not known to this Raceline; they are left out.',
      'The key “colour” of “str” lines is not known to this Raceline; it is passed over.',
    ]);
  });

  it('keeps the first of two declarations, and both lives of a block id', () => {
    const trace = open(
      '{"k":"str","id":0,"v":"one"}',
      '{"k":"str","id":0,"v":"two"}',
      '{"k":"stream","id":0}',
      '{"k":"alloc","n":0,"t":1,"b":0,"addr":"0x100","size":8,"st":0,"name":0}',
      '{"k":"alloc","n":1,"t":2,"b":0,"addr":"0x200","size":8,"st":0,"name":0}',
      '{"k":"free","n":2,"t":3,"b":0}',
      '{"k":"free","n":3,"t":4,"b":0}',
    );
    expect(trace.blocks.length).toBe(2);
    expect([...trace.blocks.releaseRequested]).toEqual([-1, 3]);
    expect(trace.problems.map((problem) => problem.message)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('string 0 is declared twice'),
        expect.stringContaining('block 0 is allocated twice'),
        expect.stringContaining('block 0 is released twice'),
      ]),
    );
  });

  it('shows names without control characters, and not a megabyte of them; markup stays as it is', () => {
    const trace = open(
      `{"k":"str","id":0,"v":${JSON.stringify(`a\u0000b\u202ec`)}}`,
      `{"k":"str","id":1,"v":"${'n'.repeat(1 << 20)}"}`,
      '{"k":"str","id":2,"v":"<img src=x onerror=alert(1)>"}',
      '{"k":"end","t":9,"status":"ok"}',
    );
    expect(trace.strings[0]).toBe('a\ufffdb\ufffdc');
    expect(trace.strings[1]!.length).toBe(8193);
    expect(trace.strings[2]).toBe('<img src=x onerror=alert(1)>');
    expect(trace.problems.map((problem) => problem.message).join()).toContain('2 names');
  });

  it('lists a few of a million faults', () => {
    const trace = open(...Array.from({ length: 10_000 }, () => '{"k":"free","n":'));
    expect(trace.problems.length).toBeLessThan(10);
    expect(trace.problems.map((problem) => problem.message).join()).toContain('9995 more problems');
  });
});

/** One line of every kind, with every key. */
function everyLine(): string {
  const writer = new RacelineWriter({
    producer: 'a test 1',
    mode: 'cuda',
    unix: '1700000000000000000',
    level: 'full',
    torch: '2.13.0',
    device: 'a device',
    argv: ['a.py'],
    cwd: '/home/me',
  });
  const s = writer.site('a.py', 3, 'step', writer.site('a.py', 9, 'main'));
  writer.thread({ id: 0, tid: 11, pid: 10, name: 'main' });
  writer.thread({ id: 1, tid: 12, pid: 10 });
  writer.stream({ id: 0, device: 0, handle: '0x0', num: 7, default: true, priority: 0 });
  writer.stream({ id: 1, device: 0 });
  writer.stream({ id: 1, handle: '0x55e0', num: 13, name: 'copy' });
  writer.block({ b: 0, addr: '0x7f0000000000', size: 64, st: 0, name: 'weight', mem: 'device' });
  writer.alloc({
    n: 0,
    t: 10,
    d: 1,
    th: 0,
    s,
    b: 1,
    addr: '0x7f0000001000',
    size: 512,
    st: 1,
    name: 'x',
    mem: 'device',
  });
  writer.alloc({ n: 1, t: 12, s, b: 2, addr: '0x6f0000000000', size: 512, st: 1, name: 'staging', mem: 'pinned' });
  writer.host({ n: 2, t: 14, d: 2, s, b: 2, acc: 'w', lo: 0, hi: 512, name: 'fill' });
  writer.op({
    n: 3,
    t: 20,
    d: 5,
    s,
    st: 1,
    name: 'aten::copy_',
    acc: [
      [1, 0, 512, 'w'],
      [2, 0, 512, 'r'],
    ],
    copy: 'h2d',
  });
  writer.record({ n: 4, t: 30, s, e: 0, st: 1, implicit: false });
  writer.wait({ n: 5, t: 40, s, e: 0, st: 0, rec: 4, implicit: true });
  writer.op({ n: 6, t: 50, d: 5, s, st: 0, name: 'custom', acc: [[1, 0, 256, 'rw']], blind: true });
  writer.recordStream({ n: 7, t: 55, s, b: 1, st: 0, implicit: true });
  writer.free({ n: 8, t: 60, s, b: 1, how: 'statement' });
  writer.poll({ n: 9, t: 61, on: 'event', e: 0, rec: 4 });
  writer.poll({ n: 10, t: 62, on: 'stream', st: 1 });
  writer.sync({ n: 11, t: 70, d: 30, s, on: 'event', e: 0, rec: 4, api: 'Event.synchronize' });
  writer.sync({ n: 12, t: 110, d: 1, s, on: 'stream', st: 0, implicit: true });
  writer.sync({ n: 13, t: 120, d: 1, s, on: 'device', device: 0 });
  writer.fork({ n: 14, t: 130, child: 1 });
  writer.join({ n: 15, t: 140, child: 1 });
  writer.capture({ n: 16, t: 150, g: 0, st: 0 });
  writer.op({ n: 17, t: 151, st: 0, name: 'captured', acc: [[0, 0, 64, 'rw']] });
  writer.captureEnd({ n: 18, t: 152, g: 0 });
  writer.replay({ n: 19, t: 153, d: 3, s, g: 0, st: 0 });
  writer.gpu({ op: 3, st: 1, t: 25, d: 60, name: 'Memcpy HtoD', kind: 'copy', bytes: 512, corr: 5 });
  writer.gpu({ op: 6, t: 90, d: 10, kind: 'kernel' });
  writer.gpu({ op: 19, t: 160, d: 10, name: 'graph' });
  writer.edge(5, 86, 46);
  writer.reusable(1, 101);
  writer.counter({ t: 10, device: 0, allocated: 576, reserved: 2097152, held: 0 });
  writer.limit('A limit.');
  writer.output('a line that the program printed', 180);
  writer.end(200, 'ok');
  return writer.take();
}
