/**
 * What is too small and too many to be drawn piece by piece, as pixels: the density of rows, and narrow rectangles. Each
 * row or lane becomes lines of one image, as high as it is, which is copied to the canvas as it stands: it costs the same
 * however much it holds, and copying is the cheapest that a canvas can do.
 */
import type { Rgb } from './color.ts';
import type { Pen } from './pen.ts';

export interface Strips {
  /** `density` has one value a device pixel. */
  add(pen: Pen, density: Float32Array, color: Rgb, x: number, y: number, height: number, opacity: number): void;
  /** Makes room for rectangles in the lines from `y` on, as far as the stage goes; false where there is none. */
  open(pen: Pen, x: number, y: number, height: number): boolean;
  /** A rectangle in the room that was opened last; what lies outside of it is cut. */
  fill(x: number, y: number, width: number, height: number, color: number): void;
  /** Draws all added rows and forgets them. */
  flush(pen: Pen): void;
}

/** The colour as four bytes of an image. */
export function pixelOf([r, g, b]: Rgb, opacity = 1): number {
  bytesOfPixel.set([r, g, b, Math.round(opacity * 255)]);
  return pixel[0]!;
}

const pixel = new Uint32Array(1);
const bytesOfPixel = new Uint8Array(pixel.buffer);

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly line: number;
  readonly lines: number;
}

/** A column with anything in it is drawn at least this strongly, else single short kernels could not be seen. */
const faintest = 0.35;

export interface StripImage {
  readonly image: ImageData;
  readonly canvas: CanvasImageSource;
  readonly ctx: Pick<CanvasRenderingContext2D, 'putImageData'>;
}

/** Lines of one image; what does not fit is drawn in several goes. */
const mostLines = 1024;

/** Colours of one theme, times the opacities in use; themes come and go. */
const mostShades = 64;

export function makeStrips(width: number, makeImage: (width: number, height: number) => StripImage): Strips {
  const rows = new Lines(width, makeImage(width, mostLines));
  const rooms = new Lines(width, makeImage(width, mostLines));
  const mixed = new Map<string, Uint32Array>();
  /** The room for rectangles: how many lines, where they are on the stage, and the first line, -1 while it is empty. */
  let room: { pen: Pen; x: number; y: number; lines: number; line: number } | undefined;

  function lineOf(open: NonNullable<typeof room>): number {
    if (open.line >= 0) return open.line;
    const { pen, x, y, lines } = open;
    open.line = rooms.place(pen, x, y, lines);
    rooms.pixels.fill(0, open.line * width, (open.line + lines) * width);
    return open.line;
  }

  /** Colours of all densities as the image's bytes: red, green, blue, opacity. Streams come by turns, so each is kept. */
  function shadesOf(color: Rgb, opacity: number): Uint32Array {
    const key = `${color} ${opacity}`;
    const known = mixed.get(key);
    if (known) return known;
    const shades = new Uint32Array(256);
    const bytes = new Uint8Array(shades.buffer);
    for (let i = 1; i < 256; i++)
      bytes.set([...color, Math.round(255 * opacity * (faintest + (1 - faintest) * (i / 255)))], 4 * i);
    if (mixed.size >= mostShades) mixed.clear();
    mixed.set(key, shades);
    return shades;
  }

  return {
    add(pen, density, color, x, y, height, opacity) {
      const lines = Math.max(1, Math.min(mostLines, Math.round(height * pen.ratio)));
      const shades = shadesOf(color, opacity);
      const from = rows.place(pen, x, y, lines) * width;
      const count = Math.min(width, density.length);
      const { pixels } = rows;
      for (let i = 0; i < count; i++) {
        const value = density[i]!;
        pixels[from + i] = value === 0 ? 0 : shades[Math.max(1, (value * 255) | 0)]!;
      }
      pixels.fill(0, from + count, from + width);
      for (let line = 1; line < lines; line++) pixels.copyWithin(from + line * width, from, from + width);
    },
    open(pen, x, y, height) {
      const lines = Math.round(height * pen.ratio);
      room = lines < 1 || lines > mostLines ? undefined : { pen, x, y, lines, line: -1 };
      return room !== undefined;
    },
    fill(x, y, wide, high, color) {
      if (!room) return;
      const { ratio } = room.pen;
      const left = Math.max(0, Math.round((x - room.x) * ratio));
      const right = Math.min(width, Math.round((x + wide - room.x) * ratio));
      const top = Math.max(0, Math.round((y - room.y) * ratio));
      const bottom = Math.min(room.lines, Math.round((y + high - room.y) * ratio));
      if (left >= right || top >= bottom) return;
      const first = lineOf(room);
      for (let line = first + top; line < first + bottom; line++)
        rooms.pixels.fill(color, line * width + left, line * width + right);
    },
    flush(pen) {
      room = undefined;
      rooms.draw(pen);
      rows.draw(pen);
    },
  };
}

/** An image whose lines are given out, and then drawn where they belong. */
class Lines {
  readonly pixels: Uint32Array;
  readonly #width: number;
  readonly #image: StripImage;
  #placed: Placed[] = [];
  #used = 0;

  constructor(width: number, image: StripImage) {
    const { data } = image.image;
    this.pixels = new Uint32Array(data.buffer, data.byteOffset, width * mostLines);
    this.#width = width;
    this.#image = image;
  }

  /** The first of so many lines, which hold what was there before. */
  place(pen: Pen, x: number, y: number, lines: number): number {
    if (this.#used + lines > mostLines) this.draw(pen);
    const line = this.#used;
    this.#placed.push({ x, y, line, lines });
    this.#used += lines;
    return line;
  }

  draw({ ctx, ratio }: Pen): void {
    if (this.#placed.length === 0) return;
    const { image, canvas, ctx: target } = this.#image;
    const width = this.#width;
    target.putImageData(image, 0, 0, 0, 0, width, this.#used);
    ctx.imageSmoothingEnabled = false;
    for (const { x, y, line, lines } of this.#placed)
      ctx.drawImage(canvas, 0, line, width, lines, x, y, width / ratio, lines / ratio);
    this.#placed = [];
    this.#used = 0;
  }
}
