/**
 * Density of rows as pixels: each row is one line of an image, stretched to the row's height. A row costs one drawImage
 * however many slices it holds.
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
  readonly height: number;
}

/** A column with anything in it is drawn at least this strongly, else single short kernels could not be seen. */
const faintest = 0.35;

export interface StripImage {
  readonly image: ImageData;
  readonly canvas: CanvasImageSource;
  readonly ctx: Pick<CanvasRenderingContext2D, 'putImageData'>;
}

/** Rows of one image; more are drawn in several goes. */
const lines = 128;

export function makeStrips(width: number, makeImage: (width: number, height: number) => StripImage): Strips {
  const { image, canvas, ctx: target } = makeImage(width, lines);
  const pixels = image.data;
  const placed: Placed[] = [];

  const strips: Strips = {
    add(pen, density, color, x, y, height, opacity) {
      if (placed.length === lines) strips.flush(pen);
      let at = placed.length * width * 4;
      const count = Math.min(width, density.length);
      for (let i = 0; i < width; i++, at += 4) {
        const value = i < count ? density[i]! : 0;
        pixels[at] = color[0];
        pixels[at + 1] = color[1];
        pixels[at + 2] = color[2];
        pixels[at + 3] = value === 0 ? 0 : Math.round(255 * opacity * (faintest + (1 - faintest) * value));
      }
      placed.push({ x, y, height });
    },
    flush({ ctx, ratio }) {
      if (placed.length === 0) return;
      target.putImageData(image, 0, 0, 0, 0, width, placed.length);
      ctx.imageSmoothingEnabled = false;
      placed.forEach(({ x, y, height }, i) => {
        ctx.drawImage(canvas, 0, i, width, 1, x, y, width / ratio, height);
      });
      placed.length = 0;
    },
  };
  return strips;
}
