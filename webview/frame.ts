/**
 * The canvases: keeps them at the size of the stage in device pixels, holds what is kept between frames (measured texts,
 * patterns, strips, the minimap), and paints a scene when asked.
 */
import { drawMinimap } from './draw/minimap.ts';
import { drawOverlay, type Pointing } from './draw/overlay.ts';
import type { Pen, PenCache } from './draw/pen.ts';
import type { Scene } from './draw/scene.ts';
import { drawStage } from './draw/stage.ts';
import { makeStrips, type Strips } from './draw/strips.ts';
import type { Theme } from './draw/theme.ts';

export interface Frame {
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  resize(width: number, height: number, ratio: number): void;
  setTheme(theme: Theme): void;
  drawStage(scene: Scene): void;
  drawOverlay(scene: Scene, pointing: Pointing): void;
  /** The minimap is painted again at the next frame: the run, the size or the theme is another. */
  forgetMinimap(): void;
  pen(): Pen;
}

export function makeFrame(): Frame {
  const base = document.createElement('canvas');
  const overlay = document.createElement('canvas');
  const minimap = document.createElement('canvas');
  overlay.className = 'overlay';
  let ratio = 1;
  let theme: Theme | undefined;
  let cache = makeCache();
  let strips: Strips | undefined;
  let stripWidth = 0;
  let minimapDrawn = false;

  const penOn = (canvas: HTMLCanvasElement): Pen => {
    const ctx = canvas.getContext('2d')!;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { ctx, theme: theme!, ratio, cache };
  };
  const stripsFor = (width: number): Strips => {
    if (!strips || stripWidth !== width) {
      strips = makeStrips(width, (w, h) => {
        const canvas = document.createElement('canvas');
        canvas.width = w;
        canvas.height = h;
        const ctx = canvas.getContext('2d')!;
        return { canvas, ctx, image: ctx.createImageData(w, h) };
      });
      stripWidth = width;
    }
    return strips;
  };

  return {
    base,
    overlay,
    resize(width, height, nextRatio) {
      ratio = nextRatio;
      cache = makeCache();
      minimapDrawn = false;
      for (const canvas of [base, overlay, minimap]) {
        canvas.width = Math.max(1, Math.round(width * ratio));
        canvas.height = Math.max(1, Math.round((canvas === minimap ? 64 : height) * ratio));
        canvas.style.width = `${width}px`;
        canvas.style.height = `${canvas === minimap ? 64 : height}px`;
      }
    },
    setTheme(next) {
      theme = next;
      cache = makeCache();
      minimapDrawn = false;
    },
    forgetMinimap() {
      minimapDrawn = false;
    },
    drawStage(scene) {
      const line = stripsFor(Math.max(1, Math.round(scene.scale.width * ratio)));
      const pen = penOn(base);
      drawStage(pen, scene, line);
      if (!minimapDrawn) {
        drawMinimap(penOn(minimap), scene, line);
        minimapDrawn = true;
      }
      const height = Math.min(base.height, Math.round(scene.measures.minimap * ratio));
      pen.ctx.setTransform(1, 0, 0, 1, 0, 0);
      pen.ctx.drawImage(minimap, 0, 0, base.width, height, 0, 0, base.width, height);
    },
    drawOverlay(scene, pointing) {
      drawOverlay(penOn(overlay), scene, pointing);
    },
    pen: () => penOn(base),
  };
}

function makeCache(): PenCache {
  return {
    widths: new Map(),
    patterns: new Map(),
    makeCanvas(width, height) {
      const canvas = document.createElement('canvas');
      canvas.width = width;
      canvas.height = height;
      return { canvas, ctx: canvas.getContext('2d')! };
    },
  };
}
