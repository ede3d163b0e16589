import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { folder, raceline, racy } from './raceline.ts';

const lines = `${[
  { raceline: 1, producer: 'test', mode: 'cuda', unix: '0', level: 'full' },
  { k: 'str', id: 0, v: 'fill_' },
  { k: 'str', id: 1, v: 'mul' },
  { k: 'str', id: 2, v: 'train.py' },
  { k: 'site', id: 0, file: 2, line: 4 },
  { k: 'site', id: 1, file: 2, line: 6 },
  { k: 'stream', id: 0, device: 0, handle: '0x10', num: 13 },
  { k: 'stream', id: 1, device: 0, handle: '0x20', num: 17 },
  { k: 'alloc', n: 0, t: 0, b: 0, addr: '0x1000', size: 512, st: 0, s: 0 },
  { k: 'op', n: 1, t: 10, st: 0, name: 0, s: 0, acc: [[0, 0, 512, 'w']] },
  { k: 'op', n: 2, t: 20, st: 1, name: 1, s: 1, acc: [[0, 256, 512, 'r']] },
  { k: 'end', t: 100, status: 'ok' },
]
  .map((line) => JSON.stringify(line))
  .join('\n')}\n`;

describe('raceline trace', () => {
  it('prints the JSON that other tools read, and exits with 1 for a hazard', () => {
    const { code, stdout } = raceline(folder({ 'run.raceline': lines }), 'trace', '--format', 'json', 'run.raceline');
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      version: 1,
      counts: { kernels: 0, copies: 0, records: 0, waits: 0, allocations: 1, releases: 0 },
    });
    expect(report.hazards).toHaveLength(1);
    expect(report.hazards[0]).toMatchObject({
      code: 'missing-wait',
      status: 'latent',
      at: { file: 'train.py', line: 6 },
    });
    expect(report.hazards[0].related[0]).toMatchObject({ file: 'train.py', line: 4 });
    expect(report.limits).toBeInstanceOf(Array);
    expect(report.answers).toMatchObject({ concurrency: { pairs: [] }, memory: { retries: [] }, defaultStream: [] });
  });

  it('reads packed and cut files, and says where a cut one ends', () => {
    const whole = Buffer.from(lines);
    const at = folder({ 'packed.raceline.gz': gzipSync(whole), 'cut.raceline': whole.subarray(0, whole.length - 30) });
    expect(raceline(at, 'trace', 'packed.raceline.gz').code).toBe(1);
    const cut = raceline(at, 'trace', 'cut.raceline');
    expect(cut.code).toBe(1);
    expect(cut.stdout).toMatch(/problem at byte \d+/);
  });

  it('reads files of one run as one too', () => {
    const at = folder({ 'a.raceline': lines, 'b.raceline': lines });
    const text = raceline(at, 'trace', 'a.raceline', 'b.raceline').stdout;
    expect(text).toMatch(/^together, as one run: /m);
    const report = JSON.parse(raceline(at, 'trace', '--format', 'json', 'a.raceline', 'b.raceline').stdout);
    expect(report.traces).toHaveLength(2);
    expect(report.merged.counts.allocations).toBe(2);
  });

  it('one bad file never stops the rest', () => {
    const at = folder({ 'run.raceline': lines, 'noise.json': '{"what": 1}', 'new.raceline': '{"raceline":99}\n' });
    const { code, stdout, stderr } = raceline(
      at,
      'trace',
      'nowhere',
      'noise.json',
      'new.raceline',
      '.',
      'run.raceline',
    );
    expect(code).toBe(2);
    expect(stdout).toMatch(/missing-wait/);
    expect(stderr).toMatch(/nowhere: cannot be read/);
    expect(stderr).toMatch(/noise\.json: /);
    expect(stderr).toMatch(/new\.raceline: .*99/);
  });
});

describe('raceline preview', () => {
  it('runs a function without PyTorch and writes a trace with the same hazard', () => {
    const at = folder({ 'racy.py': racy });
    const ran = raceline(at, 'preview', 'racy.py', '-o', 'out.raceline');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/racy\.py:10: error missing-wait/);
    expect(raceline(at, 'trace', 'out.raceline').code).toBe(1);
  });

  it('says what there is where the name is unknown', () => {
    const { code, stderr } = raceline(folder({ 'racy.py': racy }), 'preview', 'racy.py', '--entry', 'train');
    expect(code).toBe(2);
    expect(stderr).toMatch(/“train”/);
  });
});
