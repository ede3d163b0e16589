/**
 * Paints event edges: ● where the event is recorded, a line along that lane's gutter that turns where the wait ends, ○ at
 * the waiting lane. No arrowheads: ● to ○ says the direction.
 */
import type { EdgePath } from '../../core/timeline/edges.ts';
import { edgePath } from '../../core/timeline/hit.ts';
import { css } from './color.ts';
import { type Pen, snap } from './pen.ts';
import type { Scene } from './scene.ts';

export function drawEdges(pen: Pen, scene: Scene, top: number, strong: ReadonlySet<number>): void {
  const { trace, timeline } = scene;
  const { ctx, theme } = pen;
  const placed: { edge: number; path: EdgePath }[] = [];
  for (const edge of scene.edges) {
    const path = edgePath(scene, edge);
    if (path) placed.push({ edge, path: onPixels(pen, path, top, scene) });
  }
  const inferred = (edge: number): boolean => trace.marks.inferred[timeline.edges.wait[edge]!] === 1;
  // The background first, a little wider, so that a line reads over slices and other lines.
  for (const { path } of placed) drawStraight(pen, path, 3, css(theme.background, 0.8));
  const color = css(theme.muted, theme.kind.startsWith('high') ? 1 : 0.75);
  for (const { edge, path } of placed) {
    if (strong.has(edge)) continue;
    if (inferred(edge) || placed.length <= fewEdges) drawCurved(pen, path, color, inferred(edge));
    else drawStraight(pen, path, 1, color);
  }
  for (const { edge, path } of placed) {
    if (!strong.has(edge)) continue;
    ctx.strokeStyle = css(theme.foreground);
    ctx.lineWidth = 1.8;
    ctx.setLineDash(inferred(edge) ? [1.5, 3] : []);
    ctx.beginPath();
    followPath(pen, path);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  for (const { edge, path } of placed) drawEnds(pen, scene, edge, path, inferred(edge));
}

/** Up to so many edges turn in a curve. More are drawn from rectangles: paths with curves cost many times as much. */
const fewEdges = 60;

function drawCurved(pen: Pen, path: EdgePath, color: string, dotted: boolean): void {
  const { ctx } = pen;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.setLineDash(dotted ? [1.5, 3] : []);
  ctx.beginPath();
  followPath(pen, path);
  ctx.stroke();
}

function drawStraight({ ctx }: Pen, { x1, y1, x2, y2 }: EdgePath, width: number, color: string): void {
  const half = width / 2;
  const end = y2 > y1 ? y2 - 3 : y2 + 3;
  ctx.fillStyle = color;
  if (Math.abs(x2 - x1) >= 4) ctx.fillRect(Math.min(x1, x2), y1 - Math.floor(half), Math.abs(x2 - x1), width);
  ctx.fillRect(x2 - half, Math.min(y1, end), width, Math.abs(end - y1));
}

/** Cut to a little outside the view, so that far ends keep their precision. */
function onPixels(pen: Pen, path: EdgePath, top: number, { scale }: Scene): EdgePath {
  const cut = (x: number): number =>
    snap(pen, Math.min(Math.max(x, scale.left - 20), scale.left + scale.width + 20)) + 0.5;
  return { x1: cut(path.x1), x2: cut(path.x2), y1: path.y1 + top, y2: path.y2 + top };
}

function followPath({ ctx }: Pen, { x1, y1, x2, y2 }: EdgePath): void {
  const down = y2 > y1 ? 1 : -1;
  const end = y2 - 3 * down;
  ctx.moveTo(x1, y1);
  if (Math.abs(x2 - x1) < 4) {
    ctx.lineTo(x2, end);
    return;
  }
  const radius = Math.min(6, Math.abs(x2 - x1), Math.abs(end - y1));
  const right = x2 > x1 ? 1 : -1;
  ctx.lineTo(x2 - radius * right, y1);
  ctx.quadraticCurveTo(x2, y1, x2, y1 + radius * down);
  ctx.lineTo(x2, end);
}

function drawEnds(pen: Pen, { trace, timeline }: Scene, edge: number, path: EdgePath, inferred: boolean): void {
  const { ctx, theme } = pen;
  const color = (mark: number): string => theme.stream(timeline.slots[trace.marks.stream[mark]!]!).line;
  const record = color(timeline.edges.record[edge]!);
  ctx.beginPath();
  ctx.arc(path.x1, path.y1, 3, 0, 7);
  if (inferred) {
    // Hollow and dotted: a guess from positions.
    ctx.fillStyle = css(theme.background);
    ctx.fill();
    ctx.strokeStyle = record;
    ctx.lineWidth = 1.2;
    ctx.setLineDash([2, 1.5]);
    ctx.stroke();
    ctx.setLineDash([]);
  } else {
    ctx.fillStyle = record;
    ctx.fill();
  }
  ctx.beginPath();
  ctx.arc(path.x2, path.y2, 2.6, 0, 7);
  ctx.fillStyle = css(theme.background);
  ctx.fill();
  ctx.strokeStyle = color(timeline.edges.wait[edge]!);
  ctx.lineWidth = 1.6;
  ctx.stroke();
}
