/** A 2D context that writes down what is asked of it. Text is 6 px a letter, so that what fits does not hang on fonts. */
import type { Context, Pen, PenCache } from '../../webview/draw/pen.ts';
import { makeStrips, type Strips } from '../../webview/draw/strips.ts';
import { makeTheme, type ThemeKind } from '../../webview/draw/theme.ts';

export interface MockPen extends Pen {
  readonly log: string[];
  readonly strips: Strips;
}

const round = (value: unknown): string => {
  if (typeof value === 'number') return String(Math.round(value * 10) / 10);
  if (Array.isArray(value)) return `[${value.map(round).join(' ')}]`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null && 'pattern' in value) return 'hatch';
  return typeof value === 'object' ? 'canvas' : String(value);
};

export function mockPen(kind: ThemeKind = 'dark', width = 888): MockPen {
  const log: string[] = [];
  const state: Record<string, unknown> = { font: '', fillStyle: '', strokeStyle: '' };
  const ctx = new Proxy(state, {
    get(target, name: string) {
      if (name === 'measureText') return (text: string) => ({ width: text.length * 6 });
      if (name === 'createPattern') return () => ({ pattern: true, setTransform() {} });
      if (name in target) return target[name];
      return (...values: unknown[]) => {
        log.push(`${name}(${values.map(round).join(' ')})`);
      };
    },
    set(target, name: string, value) {
      if (target[name] !== value) log.push(`${name} = ${round(value)}`);
      target[name] = value;
      return true;
    },
  }) as unknown as Context;
  const blank = new Proxy({}, { get: () => () => {}, set: () => true }) as unknown as CanvasRenderingContext2D;
  const cache: PenCache = {
    widths: new Map(),
    patterns: new Map(),
    makeCanvas: () => ({ canvas: {} as CanvasImageSource, ctx: blank }),
  };
  const strips = makeStrips(width, (w, h) => ({
    image: { width: w, height: h, data: new Uint8ClampedArray(w * h * 4) } as unknown as ImageData,
    canvas: {} as CanvasImageSource,
    ctx: blank,
  }));
  return { ctx, theme: makeTheme(kind, () => ''), ratio: 1, cache, log, strips };
}
