import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { folder, raceline } from './raceline.ts';

const lines =
  '{"raceline":1,"producer":"test","mode":"cuda","unix":"0"}\n{"k":"str","id":0,"v":"k"}\n{"k":"stream","id":0,"device":0,"num":7}\n{"k":"gpu","st":0,"t":5,"d":9,"name":0,"kind":"kernel"}\n{"k":"end","t":20,"status":"ok"}\n';

describe('raceline export', () => {
  it('writes what the name of the output says', () => {
    const at = folder({ 'run.raceline': lines });
    const read = (name: string) => readFileSync(path.join(at, name));
    for (const name of ['out.svg', 'out.png', 'out.json', 'out.json.gz', 'out.html'])
      expect(raceline(at, 'export', 'run.raceline', '-o', name)).toMatchObject({ code: 0, stdout: `wrote ${name}\n` });
    expect(read('out.svg').toString()).toContain('<svg');
    expect(read('out.png').subarray(1, 4).toString()).toBe('PNG');
    expect(JSON.parse(read('out.json').toString()).traceEvents.length).toBeGreaterThan(1);
    expect(gunzipSync(read('out.json.gz')).equals(read('out.json'))).toBe(true);
    expect(read('out.html').toString()).toMatch(/default-src 'none'/);
    expect(raceline(at, 'trace', 'out.json').stdout).toContain('1 kernels');
  });

  it('merges files of one run, and refuses others', () => {
    const later = lines.replace('"unix":"0"', '"unix":"10"');
    const other = lines.replace('"unix":"0"', '"unix":"1000000"');
    const at = folder({ 'a.raceline': lines, 'b.raceline': later, 'c.raceline': other });
    expect(raceline(at, 'export', 'a.raceline', 'b.raceline', '-o', 'out.json').code).toBe(0);
    expect(raceline(at, 'trace', 'out.json').stdout).toContain('2 kernels');
    const refused = raceline(at, 'export', 'a.raceline', 'c.raceline', '-o', 'no.svg');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/different runs/)]);
  });

  it('says what it needs, and never writes over the trace', () => {
    const at = folder({ 'run.json': lines });
    for (const [args, said] of [
      [['export'], /needs a file/],
      [['export', 'run.json'], /needs -o/],
      [['export', 'run.json', '-o', 'out.pdf'], /must end in/],
      [['export', 'run.json', '-o', './run.json'], /is the trace itself/],
      [['export', 'nowhere', '-o', 'out.svg'], /cannot be read/],
    ] as const) {
      const { code, stderr } = raceline(at, ...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    }
    expect(existsSync(path.join(at, 'out.svg'))).toBe(false);
  });
});
