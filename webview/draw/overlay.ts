/**
 * Paints what changes with every move of the pointer, on a canvas of its own above the lanes: hover, selection, marked
 * slices, cursor, range. A hover costs no frame of the lanes.
 */
import { edgePath, type Target } from '../../core/timeline/hit.ts';
import { firstStarting } from '../../core/timeline/row.ts';
import { timeText } from '../../core/timeline/units.ts';
import { toX } from '../../core/timeline/view.ts';
import { rangePill } from './axis.ts';
import { blockPlace } from './blocks.ts';
import { contrast, css, type Rgb } from './color.ts';
import { poolBox, slicePlace } from './fault.ts';
import { clipped, drawText, fontOf, type Pen, roundedRect, snap, widthOf } from './pen.ts';
import type { Note } from '../state/notes.ts';
import type { Measure } from '../state/state.ts';
import { lanesTop, type Scene } from './scene.ts';

export interface Pointing {
  readonly hover: Target | undefined;
  /** Time under the pointer; undefined: the pointer is elsewhere. */
  readonly cursor: number | undefined;
}

export function drawOverlay(pen: Pen, scene: Scene, pointing: Pointing): void {
  const { ctx, theme } = pen;
  const { width, height, scale } = scene;
  ctx.clearRect(0, 0, width, height);
  const pinned = lanesTop(scene);
  const top = pinned - scene.scroll;
  if (scene.range) drawRange(pen, scene);
  drawNotes(pen, scene);
  clipped(pen, scale.left, pinned, scale.width, height - pinned, () => {
    if (pointing.cursor !== undefined) {
      ctx.fillStyle = css(theme.muted, 0.5);
      ctx.fillRect(snap(pen, toX(scale, pointing.cursor)), pinned, 1, height - pinned);
    }
    if (scene.users.size > 0) {
      // Dotted: they use the block, they are not selected themselves.
      ctx.setLineDash([2, 2]);
      for (const slice of scene.users) outline(pen, scene, top, { kind: 'device', index: slice }, theme.focus, 2, 2);
      ctx.setLineDash([]);
    }
    for (const slice of scene.marked) outline(pen, scene, top, { kind: 'device', index: slice }, theme.info, 1.5, 2);
    if (pointing.hover) outline(pen, scene, top, pointing.hover, theme.foreground, 1, 0);
    // 2 px, one pixel apart from what it surrounds.
    if (scene.selection) outline(pen, scene, top, scene.selection, theme.focus, 2, 2);
    if (scene.measure) drawMeasure(pen, scene, scene.measure, pinned);
  });
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The rectangle of a target on the canvas, cut to a little outside the view. */
export function placeOf(scene: Scene, top: number, target: Target): Place | undefined {
  const { scale, trace, timeline } = scene;
  const cut = (from: number, to: number, y: number, height: number): Place => {
    const x = Math.max(from, scale.left - 12);
    return { x, y, width: Math.max(1.5, Math.min(to, scale.left + scale.width + 12) - x - 1), height };
  };
  const { index } = target;
  switch (target.kind) {
    case 'device': {
      const place = slicePlace(scene, top, index);
      return place && cut(place.from, place.to, place.y, place.height);
    }
    case 'host': {
      const start = trace.hostSlices.start[index]!;
      for (const box of scene.layout.boxes) {
        if (box.lane.kind !== 'host' || box.lane.host.thread !== trace.hostSlices.thread[index]) continue;
        for (const [i, row] of box.rows.entries()) {
          const items = box.lane.host.rows[i];
          if (!items) continue;
          for (let at = firstStarting(items, trace.hostSlices, start); at < items.items.length; at++) {
            if (trace.hostSlices.start[items.items[at]!]! > start) break;
            if (items.items[at] !== index) continue;
            const end = start + trace.hostSlices.duration[index]!;
            return cut(toX(scale, start), toX(scale, end), row.y + top, row.height);
          }
        }
      }
      return undefined;
    }
    case 'block': {
      const box = poolBox(scene, index);
      if (!box) return undefined;
      const { y, height } = blockPlace(scene, box, top, index);
      const start = timeline.blocks.start[index]!;
      return cut(toX(scale, start), toX(scale, start + timeline.blocks.duration[index]!), y, height);
    }
    case 'held': {
      const box = scene.layout.streamBoxes.get(trace.marks.stream[index]!);
      const row = box?.rows[0];
      if (!row) return undefined;
      const start = timeline.held.start[index]!;
      const end = start + timeline.held.duration[index]!;
      return cut(toX(scale, start), toX(scale, end), row.y + top + row.height / 2 - 6, 12);
    }
    case 'edge': {
      const path = edgePath(scene, index);
      if (!path) return undefined;
      const y = Math.min(path.y1, path.y2) + top;
      const from = Math.min(path.x1, path.x2);
      return {
        x: from - 5,
        y: y - 5,
        width: Math.abs(path.x2 - path.x1) + 10,
        height: Math.abs(path.y2 - path.y1) + 10,
      };
    }
    case 'hazard':
      return undefined;
  }
}

function outline(
  pen: Pen,
  scene: Scene,
  top: number,
  target: Target,
  color: Rgb,
  lineWidth: number,
  away: number,
): void {
  const { ctx } = pen;
  ctx.strokeStyle = css(color);
  ctx.lineWidth = lineWidth;
  if (target.kind === 'edge') {
    const path = edgePath(scene, target.index);
    if (!path) return;
    for (const [x, y] of [
      [path.x1, path.y1],
      [path.x2, path.y2],
    ] as const) {
      ctx.beginPath();
      ctx.arc(x, y + top, 5, 0, 7);
      ctx.stroke();
    }
    return;
  }
  const place = placeOf(scene, top, target);
  if (!place || place.x > scene.scale.left + scene.scale.width || place.x + place.width < scene.scale.left) return;
  const inset = away === 0 ? -0.5 : away;
  roundedRect(pen, snap(pen, place.x) - inset, place.y - inset, place.width + 2 * inset, place.height + 2 * inset, 3);
  ctx.stroke();
}

function drawRange(pen: Pen, scene: Scene): void {
  const { range, scale, measures, width, height } = scene;
  if (!range) return;
  const { ctx, theme } = pen;
  const axis = measures.minimap;
  const from = snap(pen, Math.max(scale.left, toX(scale, range.start)));
  const to = snap(pen, Math.min(width, toX(scale, range.end)));
  clipped(pen, scale.left, axis, scale.width, height - axis, () => {
    ctx.fillStyle = css(theme.background, 0.3);
    const below = axis + measures.axis;
    ctx.fillRect(scale.left, below, Math.max(0, from - scale.left), height);
    ctx.fillRect(to, below, Math.max(0, width - to), height);
    ctx.fillStyle = css(theme.focus);
    ctx.fillRect(from, axis, 1, height);
    ctx.fillRect(to, axis, 1, height);
    ctx.fillStyle = css(theme.focus, 0.25);
    ctx.fillRect(from, axis, Math.max(0, to - from), measures.axis - 1);
    const pill = rangePill(pen, scene);
    if (pill) drawPill(pen, pill.text, pill.x, axis + 11);
  });
}

/** Words on the focus colour, in whichever of black and white reads better on it. */
function drawPill(pen: Pen, text: string, x: number, y: number): void {
  const { ctx, theme } = pen;
  const width = widthOf(pen, text, fontOf(pen, 11, 'bold')) + 16;
  ctx.fillStyle = css(theme.focus);
  roundedRect(pen, x - width / 2, y - 8, width, 17, 8);
  ctx.fill();
  const white: Rgb = [255, 255, 255];
  const black: Rgb = [0, 0, 0];
  const color = contrast(white, theme.focus) >= contrast(black, theme.focus) ? white : black;
  drawText(pen, text, x, y, { weight: 'bold', align: 'center', color });
}

/** Two moments and the time between them. */
function drawMeasure(pen: Pen, { scale, height }: Scene, { from, to }: Measure, y: number): void {
  const { ctx, theme } = pen;
  const a = snap(pen, toX(scale, Math.min(from, to)));
  const b = snap(pen, toX(scale, Math.max(from, to)));
  ctx.fillStyle = css(theme.focus);
  ctx.fillRect(a, y, 1, height - y);
  ctx.fillRect(b, y, 1, height - y);
  const line = y + 14;
  ctx.fillRect(a, line, Math.max(1, b - a), 1);
  for (const x of [a, b]) ctx.fillRect(x, line - 4, 1, 9);
  const left = Math.max(a, scale.left);
  const right = Math.min(b, scale.left + scale.width);
  const text = timeText(Math.abs(to - from));
  const room = widthOf(pen, text, fontOf(pen, 11, 'bold')) + 20;
  // Beside the two lines where there is no room between them.
  const middle = right - left >= room ? (left + right) / 2 : right + room / 2 + 2;
  drawPill(pen, text, Math.min(middle, scale.left + scale.width - room / 2), line);
}

/** Notes: a flag on the axis, and a line where one is about a stretch of time. */
function drawNotes(pen: Pen, { notes, scale, measures, width }: Scene): void {
  const { ctx, theme } = pen;
  if (notes.length === 0) return;
  const y = measures.minimap;
  clipped(pen, scale.left - 6, y, width - scale.left + 6, measures.axis, () => {
    ctx.fillStyle = css(theme.info);
    for (const note of notes) {
      const from = snap(pen, toX(scale, note.start));
      const to = snap(pen, toX(scale, note.end));
      if (to < scale.left - 6 || from > width) continue;
      ctx.fillRect(from, y + 1, Math.max(1, to - from), 2);
      ctx.fillRect(from, y + 1, 1, measures.axis - 2);
      ctx.beginPath();
      ctx.moveTo(from, y + 1);
      ctx.lineTo(from + 8, y + 4.5);
      ctx.lineTo(from, y + 8);
      ctx.fill();
    }
  });
}

/** The note whose flag or stretch is at a place of the axis; undefined: none. */
export function noteAt({ notes, scale, measures }: Scene, x: number, y: number): Note | undefined {
  if (y < measures.minimap || y >= measures.minimap + measures.axis) return undefined;
  return notes.find((note) => {
    const from = toX(scale, note.start);
    return (x >= from - 3 && x <= from + 9) || (y < measures.minimap + 6 && x >= from && x <= toX(scale, note.end));
  });
}
