/** Paints bytes over time: allocated filled, what is held back hatched above it, reserved as a dashed line. */
import type { LaneBox } from '../../core/timeline/layout.ts';
import { stepAt, takeTotals, type Totals } from '../../core/timeline/totals.ts';
import { sizeText } from '../../core/timeline/units.ts';
import { css, mix } from './color.ts';
import { drawText, fontOf, hatchPattern, type Pen, widthOf } from './pen.ts';
import type { Scene } from './scene.ts';

export function drawTotals(pen: Pen, scene: Scene, box: LaneBox, top: number): void {
  if (box.lane.kind !== 'totals') return;
  const { scale, measures } = scene;
  const { totals } = box.lane.totals;
  const { ctx, theme } = pen;
  const columns = Math.max(1, Math.round(scale.width));
  const picture = takeTotals(totals, scale, columns);
  const bottom = box.y + top + box.height - 6;
  const height = box.height - 22;
  const highest = Math.max(1, totals.highest);
  const level = (value: number): number => Math.round(bottom - (Math.max(0, value) / highest) * height) + 0.5;
  const right = scale.left + scale.width;
  const line = (values: Float64Array): void => {
    ctx.beginPath();
    let last = level(values[0]!);
    ctx.moveTo(scale.left, last);
    for (let x = 1; x < columns; x++) {
      const next = level(values[x]!);
      if (next === last) continue;
      ctx.lineTo(scale.left + x, last);
      ctx.lineTo(scale.left + x, next);
      last = next;
    }
    ctx.lineTo(right, last);
  };
  const area = (values: Float64Array): void => {
    line(values);
    ctx.lineTo(right, bottom);
    ctx.lineTo(scale.left, bottom);
    ctx.closePath();
  };
  area(picture.both);
  ctx.fillStyle = hatchPattern(pen, css(theme.muted, 0.55), 7, false) ?? css(theme.muted, 0.3);
  ctx.fill();
  area(picture.allocated);
  ctx.fillStyle = css(mix(theme.muted, theme.background, theme.kind.endsWith('ight') ? 0.22 : 0.34));
  ctx.fill();
  ctx.lineWidth = 1;
  ctx.strokeStyle = css(theme.muted);
  line(picture.both);
  ctx.stroke();
  ctx.strokeStyle = css(theme.foreground, 0.9);
  line(picture.allocated);
  ctx.stroke();
  if (totals.reserved.length) {
    ctx.setLineDash([6, 3]);
    ctx.strokeStyle = css(theme.foreground, 0.8);
    line(picture.reserved);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (!measures.narrow) drawValues(pen, scene, totals, right, level);
}

/** Values at the right end of the view, each at its own line, moved apart where they would overlap. */
function drawValues(pen: Pen, { scale }: Scene, totals: Totals, right: number, level: (value: number) => number): void {
  const at = stepAt(totals, scale.end);
  if (at < 0) return;
  const allocated = Math.max(0, totals.allocated[at]!);
  const held = Math.max(0, totals.heldBack[at]!);
  const labels: { text: string; y: number }[] = [];
  if (totals.reserved.length)
    labels.push({ text: `reserved ${sizeText(totals.reserved[at]!)}`, y: level(totals.reserved[at]!) - 9 });
  if (held > 0) labels.push({ text: `held back ${sizeText(held)}`, y: level(allocated + held / 2) });
  labels.push({ text: `allocated ${sizeText(allocated)}`, y: level(allocated / 2) });
  let last = Number.NEGATIVE_INFINITY;
  for (const { text, y } of labels) {
    const place = Math.max(y, last + 17);
    last = place;
    const width = widthOf(pen, text, fontOf(pen, 11)) + 8;
    pen.ctx.fillStyle = css(pen.theme.background, 0.9);
    pen.ctx.fillRect(right - 6 - width, Math.round(place) - 8, width, 16);
    drawText(pen, text, right - 10, place, { align: 'right' });
  }
}
