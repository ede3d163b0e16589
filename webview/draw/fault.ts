/**
 * Paints what findings mean in the lanes: both accesses of the selected one framed, guides at its extent, the order that
 * is missing as a dashed curve with ×, and on the block where it goes wrong. Of the other findings only the ×.
 */
import { isLifetime, severityOf } from '../../core/timeline/findings.ts';
import type { LaneBox } from '../../core/timeline/layout.ts';
import { rowsOfBlock } from '../../core/timeline/pools.ts';
import { firstStarting } from '../../core/timeline/row.ts';
import { toX, type View } from '../../core/timeline/view.ts';
import type { Trace, TraceHazard } from '../../core/trace/trace.ts';
import { blockPlace } from './blocks.ts';
import { css, type Rgb } from './color.ts';
import { drawHatch, drawPlate, drawText, fitText, fontOf, type Pen, roundedRect, snap, widthOf } from './pen.ts';
import type { Scene } from './scene.ts';
import { severityColor } from './theme.ts';

/** Of the findings that are not selected at most so many show their ×. */
const mostCrosses = 40;

export function drawFaults(pen: Pen, scene: Scene, top: number): void {
  let crosses = 0;
  for (const index of scene.urgency) {
    const hazard = scene.hazards[index]!;
    if (index === scene.hazard || crosses >= mostCrosses) continue;
    if (hazard.end < scene.scale.start || hazard.start > scene.scale.end) continue;
    if (drawMissing(pen, scene, top, hazard, '')) crosses++;
  }
  const selected = scene.hazards[scene.hazard];
  if (!selected) return;
  const color = severityColor(pen.theme, severityOf(selected));
  drawBlockFault(pen, scene, top, selected, color);
  for (const slice of [selected.firstSlice, selected.secondSlice]) frameSlice(pen, scene, top, slice, color);
  drawMissing(pen, scene, top, selected, 'no order');
}

/** Guides run behind everything in the lanes. */
export function drawGuides(pen: Pen, scene: Scene, y: number, height: number): void {
  const hazard = scene.hazards[scene.hazard];
  if (!hazard || hazard.start < 0) return;
  const { ctx, theme } = pen;
  ctx.strokeStyle = css(severityColor(theme, severityOf(hazard)), 0.7);
  ctx.lineWidth = 1;
  ctx.setLineDash([2, 4]);
  ctx.beginPath();
  for (const time of [hazard.start, hazard.end]) {
    const x = snap(pen, toX(scene.scale, time)) + 0.5;
    if (x < scene.scale.left || x > scene.scale.left + scene.scale.width) continue;
    ctx.moveTo(x, y);
    ctx.lineTo(x, y + height);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

interface SlicePlace {
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly height: number;
  readonly lane: number;
}

/** Where a device slice is drawn, uncut; undefined: its lane is not shown. */
export function slicePlace(scene: Scene, top: number, slice: number): SlicePlace | undefined {
  const { deviceSlices } = scene.trace;
  if (slice < 0 || slice >= deviceSlices.length) return undefined;
  const box = scene.layout.streamBoxes.get(deviceSlices.stream[slice]!);
  if (box?.lane.kind !== 'stream') return undefined;
  const start = deviceSlices.start[slice]!;
  const { rows } = box.lane.stream;
  const row = rows.findIndex((items) => {
    for (let i = firstStarting(items, deviceSlices, start); i < items.items.length; i++) {
      if (items.items[i] === slice) return true;
      if (deviceSlices.start[items.items[i]!]! > start) return false;
    }
    return false;
  });
  const place = box.rows[Math.max(0, row)]!;
  return {
    from: toX(scene.scale, start),
    to: toX(scene.scale, start + deviceSlices.duration[slice]!),
    y: place.y + top,
    height: place.height,
    lane: box.y,
  };
}

function frameSlice(pen: Pen, scene: Scene, top: number, slice: number, color: Rgb): void {
  const place = slicePlace(scene, top, slice);
  if (!place) return;
  const { scale } = scene;
  const from = Math.max(place.from, scale.left - 10);
  const to = Math.min(Math.max(place.to, place.from + 2), scale.left + scale.width + 10);
  if (to < from) return;
  pen.ctx.lineWidth = 2;
  pen.ctx.strokeStyle = css(color);
  roundedRect(pen, snap(pen, from) - 1, place.y - 1, snap(pen, to) - snap(pen, from) + 1, place.height + 2, 3);
  pen.ctx.stroke();
}

/** The missing order, from one access to the other. Whether something was drawn. */
function drawMissing(pen: Pen, scene: Scene, top: number, hazard: TraceHazard, label: string): boolean {
  const first = slicePlace(scene, top, hazard.firstSlice);
  const second = slicePlace(scene, top, hazard.secondSlice);
  if (!first || !second) return false;
  const down = second.y > first.y;
  const { scale } = scene;
  const middle = (place: SlicePlace): number =>
    (Math.max(place.from, scale.left) + Math.min(place.to, scale.left + scale.width)) / 2;
  // Two that run at once meet where they overlap; else the curve goes from one to the other.
  const from = Math.max(first.from, second.from);
  const to = Math.min(first.to, second.to);
  const overlap = to > from;
  const x1 = overlap ? (from + to) / 2 : middle(first);
  const x2 = overlap ? x1 : middle(second);
  const right = scale.left + scale.width;
  if ((x1 < scale.left && x2 < scale.left) || (x1 > right && x2 > right)) return false;
  // Findings that are not selected are crosses beside the slices, and only while there is room for them.
  if (label === '' && Math.abs(x2 - x1) < 12 && !overlap) return false;
  const y1 = down ? first.y + first.height + 1 : first.y - 1;
  const y2 = first.y === second.y ? y1 : down ? second.y - 1 : second.y + second.height + 1;
  drawCurve(pen, x1, y1, x2, y2, severityColor(pen.theme, severityOf(hazard)), label);
  return true;
}

function drawCurve(pen: Pen, x1: number, y1: number, x2: number, y2: number, color: Rgb, label: string): void {
  const { ctx, theme } = pen;
  const bend = Math.max(26, Math.abs(y2 - y1) * 0.5) * (y2 >= y1 ? 1 : -1);
  const straight = Math.abs(x2 - x1) < 2;
  const path = (): void => {
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    if (straight) ctx.lineTo(x2, y2);
    else if (y1 === y2) ctx.bezierCurveTo(x1, y1 - 30, x2, y2 - 30, x2, y2);
    else ctx.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
  };
  ctx.lineWidth = 4;
  ctx.strokeStyle = css(theme.background, 0.7);
  path();
  ctx.stroke();
  ctx.lineWidth = label ? 2 : 1.5;
  ctx.strokeStyle = css(color);
  ctx.setLineDash([6, 4]);
  path();
  ctx.stroke();
  ctx.setLineDash([]);
  drawCross(pen, (x1 + x2) / 2, y1 === y2 ? y1 - 22 : (y1 + y2) / 2, color, label);
}

/** × with words on a pill. */
function drawCross(pen: Pen, x: number, y: number, color: Rgb, label: string): void {
  const { ctx, theme } = pen;
  const width = label ? widthOf(pen, label, fontOf(pen, 11, 'bold')) + 28 : 20;
  roundedRect(pen, x - width / 2, y - 9, width, 18, 9);
  ctx.fillStyle = css(theme.background);
  ctx.fill();
  ctx.strokeStyle = css(color);
  ctx.lineWidth = 1.2;
  ctx.stroke();
  ctx.lineWidth = 1.8;
  const left = x - width / 2 + (label ? 8 : 7);
  ctx.beginPath();
  ctx.moveTo(left, y - 3);
  ctx.lineTo(left + 6, y + 3);
  ctx.moveTo(left + 6, y - 3);
  ctx.lineTo(left, y + 3);
  ctx.stroke();
  if (label) drawText(pen, label, left + 11, y, { weight: 'bold' });
}

/** The life of a block that fault is about: when it was given away, and to whom. */
export function nextOwner(scene: Scene, box: LaneBox, block: number): number {
  if (box.lane.kind !== 'pool') return -1;
  const { pool } = box.lane;
  const { trace, timeline } = scene;
  const { blocks } = trace;
  const [first, end] = rowsOfBlock(pool, blocks, block);
  let best = -1;
  // Blocks that start above may reach down into these rows; so all rows are asked, each with one search.
  pool.rows.forEach((row, i) => {
    if (i >= end) return;
    const position = firstStarting(row, timeline.blocks, timeline.blocks.release[block]!);
    const other = row.items[position];
    if (other === undefined || other === block) return;
    if (rowsOfBlock(pool, blocks, other)[1] <= first) return;
    if (best < 0 || timeline.blocks.start[other]! < timeline.blocks.start[best]!) best = other;
  });
  return best;
}

/** Whether the device still used the block after it could be handed out again. */
export function isUsedAfterFree(scene: Scene, block: number): boolean {
  const { blocks } = scene.trace;
  const free = Math.max(blocks.reusable[block]!, blocks.releaseRequested[block]!);
  return blocks.releaseRequested[block]! >= 0 && blocks.lastUse[block]! > free;
}

function drawBlockFault(pen: Pen, scene: Scene, top: number, hazard: TraceHazard, color: Rgb): void {
  const { block } = hazard;
  const { trace, timeline, scale } = scene;
  if (block < 0 || block >= trace.blocks.length) return;
  const box = poolBox(scene, block);
  if (box?.lane.kind !== 'pool' || box.lane.rowHeight < 6) return;
  const { y, height } = blockPlace(scene, box, top, block);
  const middle = y + height / 2;
  const { ctx } = pen;
  const edge = (time: number): number =>
    Math.min(Math.max(toX(scale, time), scale.left - 20), scale.left + scale.width + 20);
  const dashes = (from: number, to: number): void => {
    if (to <= from) return;
    ctx.lineWidth = 1.6;
    ctx.strokeStyle = css(color);
    ctx.setLineDash([5, 3]);
    ctx.beginPath();
    ctx.moveTo(from, middle);
    ctx.lineTo(to, middle);
    ctx.stroke();
    ctx.setLineDash([]);
  };
  const lifetime = isLifetime(hazard) && isUsedAfterFree(scene, block);
  const next = lifetime ? nextOwner(scene, box, block) : -1;
  const last = edge(trace.blocks.lastUse[block]!);
  const both = overlapOf(trace, hazard);
  const from = edge(both.start);
  const to = edge(both.end);
  if (lifetime) {
    dashes(edge(timeline.blocks.release[block]!), next >= 0 ? edge(timeline.blocks.start[next]!) - 1 : last);
    if (hazard.status === 'confirmed') dashes(to, last);
  }
  if (hazard.status === 'confirmed' && to > from) {
    ctx.fillStyle = css(pen.theme.background);
    ctx.fillRect(from, y, to - from, height);
    ctx.fillStyle = css(color, 0.14);
    ctx.fillRect(from, y, to - from, height);
    drawHatch(pen, from, y, to - from, height, css(color, 0.75), 8, true);
    ctx.lineWidth = 2;
    ctx.strokeStyle = css(color);
    ctx.strokeRect(snap(pen, from), y, snap(pen, to) - snap(pen, from), height);
    const text = fitText(
      pen,
      lifetime ? 'overwritten while read' : 'touched by both',
      to - from - 14,
      fontOf(pen, 11, 'bold'),
    );
    if (text && height >= 12) drawPlate(pen, text, (from + to) / 2, middle, { weight: 'bold' });
  } else if (!lifetime) {
    ctx.lineWidth = 2;
    ctx.strokeStyle = css(color);
    ctx.setLineDash([4, 3]);
    ctx.strokeRect(snap(pen, from), y, Math.max(2, snap(pen, to) - snap(pen, from)), height);
    ctx.setLineDash([]);
  }
  if (lifetime && trace.blocks.lastUse[block]! >= 0) {
    ctx.fillStyle = css(color);
    ctx.beginPath();
    ctx.arc(last, middle, 3.6, 0, 7);
    ctx.fill();
  }
}

/** While both accesses run; else the whole extent of the finding. */
function overlapOf({ deviceSlices }: Trace, hazard: TraceHazard): View {
  const { firstSlice: a, secondSlice: b } = hazard;
  if (a < 0 || b < 0 || a >= deviceSlices.length || b >= deviceSlices.length) return hazard;
  const start = Math.max(deviceSlices.start[a]!, deviceSlices.start[b]!);
  const end = Math.min(
    deviceSlices.start[a]! + deviceSlices.duration[a]!,
    deviceSlices.start[b]! + deviceSlices.duration[b]!,
  );
  return end > start ? { start, end } : hazard;
}

/** The box of the pool that a block lies in. */
export function poolBox(scene: Pick<Scene, 'layout' | 'trace' | 'timeline'>, block: number): LaneBox | undefined {
  return scene.layout.boxes.find((box) => {
    if (box.lane.kind !== 'pool') return false;
    const { pool } = box.lane;
    const [first] = rowsOfBlock(pool, scene.trace.blocks, block);
    const row = pool.rows[first]!;
    const start = scene.timeline.blocks.start[block]!;
    for (let i = firstStarting(row, scene.timeline.blocks, start); i < row.items.length; i++) {
      if (row.items[i] === block) return true;
      if (scene.timeline.blocks.start[row.items[i]!]! > start) return false;
    }
    return false;
  });
}
