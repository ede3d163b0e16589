/**
 * A screenshot as a PNG with a palette: a page has a few hundred colours, and a picture of it then takes a third of the
 * bytes. The most common colours are kept, the others become the nearest of them.
 */
import { deflateSync, inflateSync } from 'node:zlib';

/** More colours are hardly seen, and each makes the file longer. */
const mostColors = 128;

export function withPalette(file: Buffer): Buffer {
  const { width, height, pixels } = decode(file);
  const counts = new Map<number, number>();
  for (let i = 0; i < pixels.length; i += 3) {
    const color = (pixels[i]! << 16) | (pixels[i + 1]! << 8) | pixels[i + 2]!;
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostColors)
    .map(([color]) => color);
  const places = new Map(palette.map((color, i) => [color, i]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 3) {
      const color = (pixels[i]! << 16) | (pixels[i + 1]! << 8) | pixels[i + 2]!;
      let place = places.get(color);
      if (place === undefined) {
        place = nearest(palette, color);
        places.set(color, place);
      }
      rows[y * (width + 1) + 1 + x] = place;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([
    file.subarray(0, 8),
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], color: number): number {
  let best = 0;
  let distance = Number.POSITIVE_INFINITY;
  palette.forEach((other, i) => {
    const red = (other >> 16) - (color >> 16);
    const green = ((other >> 8) & 255) - ((color >> 8) & 255);
    const blue = (other & 255) - (color & 255);
    const away = red * red * 2 + green * green * 4 + blue * blue;
    if (away >= distance) return;
    distance = away;
    best = i;
  });
  return best;
}

/** Eight bits a channel, not interlaced: as browsers write it. */
function decode(file: Buffer): { width: number; height: number; pixels: Buffer } {
  const parts: Buffer[] = [];
  let width = 0;
  let height = 0;
  let channels = 3;
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const content = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      width = content.readUInt32BE(0);
      height = content.readUInt32BE(4);
      channels = content[9] === 6 ? 4 : 3;
    } else if (type === 'IDAT') parts.push(content);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const line = width * channels;
  const whole = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)]!;
    for (let x = 0; x < line; x++) {
      const left = x >= channels ? whole[y * line + x - channels]! : 0;
      const up = y > 0 ? whole[(y - 1) * line + x]! : 0;
      const corner = x >= channels && y > 0 ? whole[(y - 1) * line + x - channels]! : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      whole[y * line + x] = raw[y * (line + 1) + 1 + x]! + guess;
    }
  }
  if (channels === 3) return { width, height, pixels: whole };
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0, j = 0; i < whole.length; i += 4, j += 3) whole.copy(pixels, j, i, i + 3);
  return { width, height, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(type: string, content: Buffer): Buffer {
  const result = Buffer.alloc(content.length + 12);
  result.writeUInt32BE(content.length, 0);
  result.write(type, 4, 'latin1');
  content.copy(result, 8);
  result.writeUInt32BE(checksum(result.subarray(4, content.length + 8)), content.length + 8);
  return result;
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
