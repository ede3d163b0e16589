/**
 * Density of rows as pixels. Each row becomes lines of one image, as high as the row, which is copied to the canvas as it
 * is: a row costs the same however many slices it holds, and copying is the cheapest that a canvas can do.
 */
import type { Rgb } from './color.ts';
import type { Pen } from './pen.ts';

export interface Strips {
  /** `density` has one value a device pixel. */
  add(pen: Pen, density: Float32Array, color: Rgb, x: number, y: number, height: number, opacity: number): void;
  /** Draws all added rows and forgets them. */
  flush(pen: Pen): void;
}

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
  const { image, canvas, ctx: target } = makeImage(width, mostLines);
  const pixels = new Uint32Array(image.data.buffer, image.data.byteOffset, width * mostLines);
  const placed: Placed[] = [];
  let used = 0;
  const mixed = new Map<string, Uint32Array>();

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

  const strips: Strips = {
    add(pen, density, color, x, y, height, opacity) {
      const lines = Math.max(1, Math.min(mostLines, Math.round(height * pen.ratio)));
      if (used + lines > mostLines) strips.flush(pen);
      const shades = shadesOf(color, opacity);
      const from = used * width;
      const count = Math.min(width, density.length);
      for (let i = 0; i < count; i++) {
        const value = density[i]!;
        pixels[from + i] = value === 0 ? 0 : shades[Math.max(1, (value * 255) | 0)]!;
      }
      pixels.fill(0, from + count, from + width);
      for (let line = 1; line < lines; line++) pixels.copyWithin(from + line * width, from, from + width);
      placed.push({ x, y, line: used, lines });
      used += lines;
    },
    flush({ ctx, ratio }) {
      if (placed.length === 0) return;
      target.putImageData(image, 0, 0, 0, 0, width, used);
      ctx.imageSmoothingEnabled = false;
      for (const { x, y, line, lines } of placed)
        ctx.drawImage(canvas, 0, line, width, lines, x, y, width / ratio, lines / ratio);
      placed.length = 0;
      used = 0;
    },
  };
  return strips;
}
