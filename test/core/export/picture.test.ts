/** Still pictures of runs: what is on them, that they stay small, and that both formats are whole. */
import { crc32, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { glyphHeight, glyphOf } from '../../../core/export/glyphs.ts';
import { takePicture } from '../../../core/export/picture.ts';
import { png } from '../../../core/export/png.ts';
import { rasterize } from '../../../core/export/raster.ts';
import { type Picture, wrapped } from '../../../core/export/shapes.ts';
import { svg } from '../../../core/export/svg.ts';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { RacelineWriter } from '../../../core/trace/raceline-write.ts';

const hostile = 'x\u0000<script>"&\u202e\ud800</script>';

function run(write: (w: RacelineWriter) => void) {
  const w = new RacelineWriter({ producer: 'by hand', mode: 'cuda', level: 'full' });
  for (const [id, name] of ['main', 'side'].entries())
    w.stream({ id, device: 0, num: [7, 13][id]!, name, default: id === 0 });
  write(w);
  w.end(1000, 'ok');
  return openTrace(new TextEncoder().encode(w.take()), 'run.raceline');
}

const race = () =>
  run((w) => {
    const s = (line: number) => w.site('run.py', line, 'run');
    w.alloc({ n: 0, t: 0, b: 0, addr: '0x1000', size: 512, st: 1, s: s(1) });
    w.op({ n: 1, t: 10, st: 1, name: hostile, acc: [[0, 0, 512, 'w']], s: s(2) });
    w.record({ n: 2, t: 12, e: 0, st: 1, s: s(3) });
    w.wait({ n: 3, t: 14, e: 0, st: 0, rec: 2, s: s(4) });
    w.op({ n: 4, t: 20, st: 1, name: 'again', acc: [[0, 0, 512, 'w']], s: s(5) });
    w.op({ n: 5, t: 30, st: 0, name: 'mul', acc: [[0, 0, 512, 'r']], s: s(6) });
    w.gpu({ op: 1, st: 1, t: 100, d: 200, name: hostile, kind: 'kernel' });
    w.gpu({ op: 4, st: 1, t: 300, d: 200, name: 'again', kind: 'kernel' });
    w.gpu({ op: 5, st: 0, t: 400, d: 200, name: 'mul', kind: 'kernel' });
  });

const pictureOf = (trace = race()): Picture => takePicture(trace, judgeTrace(trace), 'run.raceline');
const texts = (picture: Picture) => picture.shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.text] : []));

it('shows lanes, the edge, and the finding with its words', () => {
  const picture = pictureOf();
  expect(picture.title).toContain('3 kernels');
  expect(texts(picture)).toEqual(expect.arrayContaining(['main', 'side', 'mul', 'again', 'Findings', 'Allocated']));
  expect(texts(picture).some((text) => text.includes('missing-wait, confirmed  run.py:6'))).toBe(true);
  expect(picture.shapes.filter((shape) => shape.kind === 'line' && shape.arrow)).toHaveLength(1);
  for (const shape of picture.shapes)
    if (shape.kind === 'rect') {
      expect(shape.x).toBeGreaterThanOrEqual(0);
      expect(shape.x + shape.width).toBeLessThanOrEqual(picture.width);
      expect(shape.y + shape.height).toBeLessThanOrEqual(picture.height);
    }
});

it('SVG holds names as text, whatever is in them', () => {
  const text = svg(pictureOf());
  expect(text).not.toContain('<script');
  expect(text).toContain('&lt;script&gt;');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  expect(Buffer.from(text).toString()).toBe(text);
  const opened: string[] = [];
  for (const [, close, name, self] of text.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (close) expect(opened.pop()).toBe(name);
    else if (!self) opened.push(name!);
  }
  expect(opened).toEqual([]);
});

it('PNG is whole: its chunks have their sums, its rows their length', () => {
  const pixels = rasterize(pictureOf());
  const file = Buffer.from(png(pixels));
  expect(file.subarray(1, 4).toString('latin1')).toBe('PNG');
  const kinds: string[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    expect(crc32(file.subarray(at + 4, at + 8 + length))).toBe(file.readUInt32BE(at + 8 + length));
    kinds.push(file.toString('latin1', at + 4, at + 8));
    if (kinds.at(-1) === 'IDAT')
      expect(inflateSync(file.subarray(at + 8, at + 8 + length))).toHaveLength(pixels.height * (pixels.width * 3 + 1));
    at += 12 + length;
  }
  expect(kinds).toEqual(['IHDR', 'IDAT', 'IEND']);
  const colors = new Set<number>();
  for (let i = 0; i < pixels.bytes.length; i += 3)
    colors.add((pixels.bytes[i]! << 16) | (pixels.bytes[i + 1]! << 8) | pixels.bytes[i + 2]!);
  expect(colors.size).toBeGreaterThan(10);
});

it('a hundred thousand slices take no more shapes than there are pixels', () => {
  const trace = run((w) => {
    for (let i = 0; i < 100_000; i++) w.gpu({ st: 1, t: i * 10, d: 4, name: 'k', kind: 'kernel' });
  });
  expect(trace.deviceSlices.length).toBe(100_000);
  expect(pictureOf(trace).shapes.length).toBeLessThan(3000);
});

it('an empty run is a picture too', () => {
  const picture = takePicture(
    run(() => {}),
    [],
    'empty',
  );
  expect(svg(picture)).toContain('empty');
  expect(rasterize(picture).width).toBe(picture.width * 2);
});

it('every printable letter has its dots, and they differ', () => {
  const seen = new Set<string>();
  for (let code = 33; code < 127; code++) {
    const rows = glyphOf(String.fromCharCode(code));
    expect(rows.length).toBeLessThanOrEqual(glyphHeight + 2);
    expect(rows.every((row) => row >= 0 && row < 32)).toBe(true);
    seen.add(rows.join());
  }
  expect(seen.size).toBe(94);
});

it('breaks words into lines of the room there is', () => {
  expect(wrapped('one two three', 9 * 7)).toEqual(['one two', 'three']);
  expect(wrapped('abcdefghijkl', 8 * 7)).toEqual(['abcdefg…']);
});
