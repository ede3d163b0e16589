/**
 * A picture as pixels, for places without a canvas. Rectangles and lines are smoothed at their edges; letters are drawn
 * from a small font of dots (glyphs.ts), at twice their size where the picture is.
 */
import { glyphHeight, glyphOf, glyphWidth } from './glyphs.ts';
import type { Pixels } from './png.ts';
import { arrowHead, type Color, type LineShape, letterWidth, type Picture, type TextShape } from './shapes.ts';

/** So many pixels each way of the picture's own: letters of dots need two to be read with ease. */
const ratio = 2;
/** Taller pictures are drawn at half the size: some viewers open no more, and memory is not free. */
const mostPixels = 40_000_000;

export function rasterize(picture: Picture): Pixels {
  const scale = picture.width * picture.height * ratio * ratio > mostPixels ? 1 : ratio;
  const canvas = new Canvas(Math.ceil(picture.width * scale), Math.ceil(picture.height * scale), picture.background);
  for (const shape of picture.shapes)
    switch (shape.kind) {
      case 'rect':
        canvas.rect(
          shape.x * scale,
          shape.y * scale,
          (shape.x + shape.width) * scale,
          (shape.y + shape.height) * scale,
          rgb(shape.fill),
          shape.opacity ?? 1,
        );
        break;
      case 'line':
        canvas.line(shape, scale);
        break;
      case 'text':
        canvas.text(shape, scale);
        break;
    }
  return canvas;
}

type Rgb = readonly [number, number, number];

class Canvas implements Pixels {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;

  constructor(width: number, height: number, background: Color) {
    this.width = width;
    this.height = height;
    this.bytes = new Uint8Array(width * height * 3);
    const [r, g, b] = rgb(background);
    for (let i = 0; i < this.bytes.length; i += 3) {
      this.bytes[i] = r;
      this.bytes[i + 1] = g;
      this.bytes[i + 2] = b;
    }
  }

  /** Pixels that are covered in part are mixed in that part. */
  rect(left: number, top: number, right: number, bottom: number, color: Rgb, opacity: number): void {
    const first = Math.max(0, Math.floor(left));
    const last = Math.min(this.width, Math.ceil(right));
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(this.height, Math.ceil(bottom)); y++) {
      const high = Math.min(bottom, y + 1) - Math.max(top, y);
      for (let x = first; x < last; x++)
        this.#mix(x, y, color, opacity * high * (Math.min(right, x + 1) - Math.max(left, x)));
    }
  }

  line(line: LineShape, scale: number): void {
    const { x1, y1, x2, y2, dashed } = line;
    const color = rgb(line.color);
    const length = Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) * scale));
    const dash = 3 * scale;
    const half = scale / 2;
    let before = '';
    for (let i = 0; i <= length; i++) {
      if (dashed && Math.floor(i / dash) % 2 === 1) continue;
      const x = Math.round((x1 + ((x2 - x1) * i) / length) * scale - half);
      const y = Math.round((y1 + ((y2 - y1) * i) / length) * scale - half);
      // Neighbouring steps share pixels: each is laid once.
      if (before === `${x} ${y}`) continue;
      before = `${x} ${y}`;
      this.rect(x, y, x + Math.max(1, half), y + Math.max(1, half), color, 1);
    }
    if (line.arrow)
      this.#triangle(
        arrowHead(line).map(([x, y]) => [x * scale, y * scale]),
        color,
      );
  }

  text({ x, y, text, color, bold }: TextShape, scale: number): void {
    const ink = rgb(color);
    let left = Math.round(x * scale);
    const top = Math.round(y * scale) - glyphHeight * scale;
    for (const letter of text) {
      const rows = glyphOf(letter);
      for (let row = 0; row < rows.length; row++)
        for (let column = 0; column < glyphWidth; column++) {
          if ((rows[row]! & (1 << (glyphWidth - 1 - column))) === 0) continue;
          const dot = left + column * scale;
          this.rect(dot, top + row * scale, dot + scale + (bold ? scale / 2 : 0), top + (row + 1) * scale, ink, 1);
        }
      left += letterWidth * scale;
    }
  }

  #triangle(corners: readonly (readonly number[])[], color: Rgb): void {
    const xs = corners.map((corner) => corner[0]!);
    const ys = corners.map((corner) => corner[1]!);
    const side = (a: number, b: number, x: number, y: number) =>
      (xs[b]! - xs[a]!) * (y - ys[a]!) - (ys[b]! - ys[a]!) * (x - xs[a]!);
    for (let y = Math.floor(Math.min(...ys)); y <= Math.max(...ys); y++)
      for (let x = Math.floor(Math.min(...xs)); x <= Math.max(...xs); x++) {
        const sides = [side(0, 1, x + 0.5, y + 0.5), side(1, 2, x + 0.5, y + 0.5), side(2, 0, x + 0.5, y + 0.5)];
        if (sides.every((value) => value >= 0) || sides.every((value) => value <= 0)) this.#mix(x, y, color, 1);
      }
  }

  #mix(x: number, y: number, color: Rgb, share: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = (y * this.width + x) * 3;
    for (let i = 0; i < 3; i++) this.bytes[at + i] = Math.round(this.bytes[at + i]! * (1 - share) + color[i]! * share);
  }
}

function rgb(color: Color): Rgb {
  const part = (from: number) => Number.parseInt(color.slice(from, from + 2), 16);
  return [part(1), part(3), part(5)];
}
