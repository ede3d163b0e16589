/**
 * What every painter draws with: a 2D context together with its theme, text that fits or is left out, hatches as cached
 * patterns, positions on device pixels. Coordinates are CSS pixels.
 */
import { css, type Rgb } from './color.ts';
import type { Theme } from './theme.ts';

/** The part of a 2D context that painters use; tests log it. */
export type Context = Pick<
  CanvasRenderingContext2D,
  | 'save'
  | 'restore'
  | 'beginPath'
  | 'closePath'
  | 'moveTo'
  | 'lineTo'
  | 'quadraticCurveTo'
  | 'bezierCurveTo'
  | 'arc'
  | 'rect'
  | 'roundRect'
  | 'clip'
  | 'fill'
  | 'stroke'
  | 'fillRect'
  | 'strokeRect'
  | 'clearRect'
  | 'fillText'
  | 'measureText'
  | 'setLineDash'
  | 'drawImage'
  | 'createPattern'
  | 'setTransform'
  | 'translate'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
  | 'globalAlpha'
  | 'lineCap'
  | 'lineJoin'
  | 'imageSmoothingEnabled'
>;

export interface Pen {
  readonly ctx: Context;
  readonly theme: Theme;
  /** Device pixels a CSS pixel. */
  readonly ratio: number;
  readonly cache: PenCache;
}

/** Kept between frames: measured texts and patterns. Thrown away when the theme changes. */
export interface PenCache {
  readonly widths: Map<string, Map<string, number>>;
  readonly patterns: Map<string, CanvasPattern | null>;
  readonly makeCanvas: (width: number, height: number) => { canvas: CanvasImageSource; ctx: CanvasRenderingContext2D };
}

export type Weight = 'normal' | 'bold';

/** Moves a position onto a device pixel, so that a 1 px line stays one pixel. */
export const snap = (pen: Pen, x: number): number => Math.round(x * pen.ratio) / pen.ratio;

export function fontOf(pen: Pen, size: number, weight: Weight = 'normal'): string {
  return `${weight === 'bold' ? '600 ' : ''}${size}px ${pen.theme.fontFamily}`;
}

/** Longer texts are cut before they are measured: no label is that wide, but a hostile name may be megabytes. */
const longest = 300;

export function widthOf(pen: Pen, text: string, font: string): number {
  let widths = pen.cache.widths.get(font);
  if (!widths) {
    widths = new Map();
    pen.cache.widths.set(font, widths);
  }
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size > 20_000) widths.clear();
  if (pen.ctx.font !== font) pen.ctx.font = font;
  const width = pen.ctx.measureText(text.slice(0, longest)).width;
  widths.set(text, width);
  return width;
}

/** The text whole, or at least three letters of it and `…`, or nothing. */
export function fitText(pen: Pen, text: string, room: number, font: string): string {
  if (room < 8) return '';
  const clean = text.length > longest ? text.slice(0, longest) : text;
  const whole = widthOf(pen, clean, font);
  if (whole <= room) return clean;
  let count = Math.min(clean.length - 1, Math.floor((clean.length * room) / whole));
  for (; count >= 3; count--) {
    const cut = `${clean.slice(0, count)}…`;
    if (widthOf(pen, cut, font) <= room) return cut;
  }
  return '';
}

export interface TextStyle {
  readonly size?: number;
  readonly weight?: Weight;
  readonly color?: Rgb;
  readonly align?: CanvasTextAlign;
}

/** Draws text whose middle is at `y`. */
export function drawText(pen: Pen, text: string, x: number, y: number, style: TextStyle = {}): void {
  const { ctx, theme } = pen;
  const font = fontOf(pen, style.size ?? 11, style.weight);
  if (ctx.font !== font) ctx.font = font;
  ctx.fillStyle = css(style.color ?? theme.foreground);
  ctx.textAlign = style.align ?? 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, snap(pen, x), Math.round(y) + 0.5);
}

/** Text on a plate of the background, so that it reads over hatches and lines. */
export function drawPlate(pen: Pen, text: string, x: number, y: number, style: TextStyle = {}): void {
  const width = widthOf(pen, text, fontOf(pen, style.size ?? 11, style.weight)) + 8;
  pen.ctx.fillStyle = css(pen.theme.background);
  pen.ctx.fillRect(Math.round(x - width / 2), Math.round(y) - 8, Math.ceil(width), 16);
  drawText(pen, text, x, y, { ...style, align: 'center' });
}

/** Fills a rectangle with 45° lines, or crossed ones, from one cached pattern a colour. */
export function drawHatch(
  pen: Pen,
  x: number,
  y: number,
  width: number,
  height: number,
  color: string,
  gap: number,
  crossed = false,
): void {
  if (width <= 0 || height <= 0) return;
  const pattern = hatchPattern(pen, color, gap, crossed);
  if (!pattern) return;
  pen.ctx.fillStyle = pattern;
  pen.ctx.fillRect(x, y, width, height);
}

export function hatchPattern(pen: Pen, color: string, gap: number, crossed: boolean): CanvasPattern | null {
  return cachedPattern(pen, `hatch ${color} ${gap} ${crossed} ${pen.ratio}`, () => {
    const size = Math.max(2, Math.round(gap * pen.ratio));
    const { canvas, ctx } = pen.cache.makeCanvas(size, size);
    ctx.strokeStyle = color;
    ctx.lineWidth = pen.ratio;
    ctx.lineCap = 'square';
    ctx.beginPath();
    // Drawn three times, so that the corners of the tile join.
    for (const shift of [-size, 0, size]) {
      ctx.moveTo(shift, size);
      ctx.lineTo(shift + size, 0);
      if (crossed) {
        ctx.moveTo(shift, 0);
        ctx.lineTo(shift + size, size);
      }
    }
    ctx.stroke();
    return canvas;
  });
}

function cachedPattern(pen: Pen, key: string, draw: () => CanvasImageSource): CanvasPattern | null {
  const known = pen.cache.patterns.get(key);
  if (known !== undefined) return known;
  const pattern = pen.ctx.createPattern(draw(), 'repeat');
  // The tile is made of device pixels; the context draws in CSS pixels.
  if (pattern && pen.ratio !== 1) pattern.setTransform(new DOMMatrix().scale(1 / pen.ratio));
  pen.cache.patterns.set(key, pattern);
  return pattern;
}

/**
 * A dashed outline of one pixel, from cached patterns: stroking a dashed path costs many times as much where there are
 * hundreds of them.
 */
export function drawDashes(pen: Pen, x: number, y: number, width: number, height: number, color: string): void {
  if (width < 2 || height < 2) return;
  const across = dashPattern(pen, color, true);
  const down = dashPattern(pen, color, false);
  if (!across || !down) return;
  pen.ctx.fillStyle = across;
  pen.ctx.fillRect(x, y, width, 1);
  pen.ctx.fillRect(x, y + height - 1, width, 1);
  pen.ctx.fillStyle = down;
  pen.ctx.fillRect(x, y, 1, height);
  pen.ctx.fillRect(x + width - 1, y, 1, height);
}

function dashPattern(pen: Pen, color: string, across: boolean, on = 3, off = 3): CanvasPattern | null {
  return cachedPattern(pen, `dash ${color} ${across} ${on} ${off} ${pen.ratio}`, () => {
    const length = Math.max(2, Math.round((on + off) * pen.ratio));
    const made = pen.cache.makeCanvas(across ? length : 1, across ? 1 : length);
    const drawn = Math.round(on * pen.ratio);
    made.ctx.fillStyle = color;
    made.ctx.fillRect(0, 0, across ? drawn : 1, across ? 1 : drawn);
    return made.canvas;
  });
}

/** A dotted line to the right, from a cached pattern. */
export function drawDots(pen: Pen, x: number, y: number, width: number, color: string): void {
  const pattern = dashPattern(pen, color, true, 2, 3);
  if (!pattern || width <= 0) return;
  pen.ctx.fillStyle = pattern;
  pen.ctx.fillRect(x, y, width, 1);
}

/** A horizontal rule of one pixel. */
export function drawRule(pen: Pen, x: number, y: number, width: number, color: string): void {
  pen.ctx.fillStyle = color;
  pen.ctx.fillRect(x, snap(pen, y), width, 1);
}

export function roundedRect({ ctx }: Pen, x: number, y: number, width: number, height: number, radius = 2): void {
  ctx.beginPath();
  ctx.roundRect(x, y, Math.max(0, width), height, Math.max(0, Math.min(radius, width / 2)));
}

/** Draws with everything outside the rectangle cut off. */
export function clipped({ ctx }: Pen, x: number, y: number, width: number, height: number, draw: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, Math.max(0, width), Math.max(0, height));
  ctx.clip();
  draw();
  ctx.restore();
}
