/**
 * Paints one frame of the lanes. Order: grid and guides, lanes, edges, labels (above the edges: edges cross many slices),
 * findings, headers, what is pinned at the top.
 */
import { edgeOfMark } from '../../core/timeline/edges.ts';
import type { LaneBox } from '../../core/timeline/layout.ts';
import { drawAxis, drawGrid, ruleColor, ticksFor } from './axis.ts';
import { drawPool } from './blocks.ts';
import { css } from './color.ts';
import { drawEdges } from './edges.ts';
import { drawFaults, drawGuides } from './fault.ts';
import { drawFindingsLane } from './findings.ts';
import { drawBoxRule, drawHeader, drawName } from './headers.ts';
import { clipped, drawPlate, drawRule, fitText, fontOf, type Pen } from './pen.ts';
import { lanesTop, type Scene } from './scene.ts';
import { drawHostLane, drawLabels, drawStreamLane, type Label } from './slices.ts';
import type { Strips } from './strips.ts';
import { drawTotals } from './totals.ts';

export function drawStage(pen: Pen, scene: Scene, strips: Strips): void {
  const { ctx, theme } = pen;
  const { measures, scale, width, height } = scene;
  const pinned = lanesTop(scene);
  const top = pinned - scene.scroll;
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, 0, width, height);
  const ticks = ticksFor(scene);
  const { boxes, pinnedCount, pinnedHeight } = scene.layout;
  const strong = strongEdges(scene);
  // What is pinned lies above what scrolls: each of the two is painted in its own part of the canvas.
  for (const zone of [
    { boxes: boxes.slice(pinnedCount), y: pinned + pinnedHeight, end: height },
    { boxes: boxes.slice(0, pinnedCount), y: pinned, end: Math.min(height, pinned + pinnedHeight) },
  ]) {
    const shown = zone.boxes.filter((box) => box.y + box.height + top > zone.y && box.y + top < zone.end);
    if (zone.end <= zone.y) continue;
    clipped(pen, scale.left, zone.y, scale.width, zone.end - zone.y, () => {
      drawGrid(pen, scene, ticks, zone.y);
      drawGuides(pen, scene, zone.y, zone.end - zone.y);
      const labels: Label[] = [];
      for (const box of shown) {
        drawLane(pen, scene, box, top, strips, labels);
        drawBoxRule(pen, width, box, top);
      }
      strips.flush(pen);
      drawEdges(pen, scene, top, strong);
      drawLabels(pen, labels);
      drawFaults(pen, scene, top);
    });
    clipped(pen, 0, zone.y, width, zone.end - zone.y, () => {
      for (const box of shown) drawHeader(pen, scene, box, top);
      if (zone.y === pinned && pinnedCount > 0) drawRule(pen, 0, zone.end - 1, width, css(theme.muted));
    });
  }

  const axisTop = measures.minimap;
  const findingsTop = axisTop + measures.axis;
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, axisTop, width, pinned - axisTop);
  clipped(pen, scale.left, findingsTop, scale.width, measures.findings, () => {
    drawGrid(pen, { ...scene, height: pinned }, ticks, findingsTop);
    drawFindingsLane(pen, scene, findingsTop);
  });
  drawName(pen, scene, findingsTop, measures.findings, 'Findings', '', undefined);
  drawRule(pen, 0, pinned - 1, width, ruleColor(pen));
  drawAxis(pen, scene, ticks, axisTop);
}

function drawLane(pen: Pen, scene: Scene, box: LaneBox, top: number, strips: Strips, labels: Label[]): void {
  const { kind } = box.lane;
  if (kind === 'host') drawHostLane(pen, scene, box, top, strips, labels);
  else if (kind === 'stream') drawStreamLane(pen, scene, box, top, strips, labels);
  else if (kind === 'pool') drawPool(pen, scene, box, top, strips, labels);
  else if (kind === 'totals') drawTotals(pen, scene, box, top);
  else if (kind === 'unrecorded') drawUnrecorded(pen, scene, box, top, box.lane.text);
}

function drawUnrecorded(pen: Pen, { scale }: Scene, box: LaneBox, top: number, text: string): void {
  const { ctx, theme } = pen;
  ctx.strokeStyle = css(theme.muted, 0.5);
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 3]);
  ctx.strokeRect(scale.left + 8.5, box.y + top + 8.5, scale.width - 18, box.height - 18);
  ctx.setLineDash([]);
  const words = fitText(pen, text, scale.width - 40, fontOf(pen, 11));
  drawPlate(pen, words, scale.left + scale.width / 2, box.y + top + box.height / 2, { color: theme.muted });
}

/** Edges of the selection, drawn in the foreground. */
function strongEdges({ selection, timeline }: Scene): ReadonlySet<number> {
  if (selection?.kind === 'edge') return new Set([selection.index]);
  if (selection?.kind === 'held') return new Set([edgeOfMark(timeline.edges, selection.index)]);
  return new Set();
}
