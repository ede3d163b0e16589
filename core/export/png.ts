/** Pixels as a PNG file: red, green, blue, eight bits each, rows without filter. Knows nothing of what they show. */
import { zlibSync } from 'fflate';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel, row by row. */
  readonly bytes: Uint8Array;
}

export function png({ width, height, bytes }: Pixels): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 2, 0, 0, 0], 8);
  // Each row begins with the number of its filter; 0 is none.
  const rows = new Uint8Array(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    rows.set(bytes.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  const chunks = [chunk('IHDR', header), chunk('IDAT', zlibSync(rows, { level: 6 })), chunk('IEND', new Uint8Array(0))];
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  const file = new Uint8Array(signature.length + chunks.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of [signature, ...chunks]) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const result = new Uint8Array(12 + content.length);
  const view = new DataView(result.buffer);
  view.setUint32(0, content.length);
  for (let i = 0; i < 4; i++) result[4 + i] = type.charCodeAt(i);
  result.set(content, 8);
  view.setUint32(8 + content.length, crc(result.subarray(4, 8 + content.length)));
  return result;
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
