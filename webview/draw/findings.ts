/** Paints the findings lane: one mark a finding with its extent and headline, or one with a count where they crowd. */
import { findingMarks, headline, severityOf } from '../../core/timeline/findings.ts';
import { toX } from '../../core/timeline/view.ts';
import { css } from './color.ts';
import { drawText, fitText, fontOf, type Pen, snap, widthOf } from './pen.ts';
import type { Scene } from './scene.ts';
import { drawSign } from './signs.ts';
import { severityColor } from './theme.ts';

export function drawFindingsLane(pen: Pen, scene: Scene, y: number): void {
  const { hazards, scale, measures } = scene;
  const { ctx, theme } = pen;
  const height = measures.findings;
  const middle = y + height / 2 - 4;
  if (hazards.length === 0) {
    const text = scene.trace.limits.length ? 'No finding. This file cannot tell everything.' : 'No finding in this run';
    drawText(pen, fitText(pen, text, scale.width - 20, fontOf(pen, 12)), scale.left + 10, y + height / 2, {
      size: 12,
      color: theme.muted,
    });
    return;
  }
  for (const mark of findingMarks(hazards, scene.urgency, scale)) {
    const first = hazards[mark.hazards[0]!]!;
    const color = severityColor(theme, severityOf(first));
    const confirmed = first.status === 'confirmed';
    const selected = mark.hazards.includes(scene.hazard);
    ctx.strokeStyle = css(color);
    ctx.lineWidth = confirmed ? 2 : 1.5;
    ctx.setLineDash(confirmed ? [] : [4, 3]);
    const from = snap(pen, Math.max(toX(scale, first.start), scale.left - 10));
    const to = Math.max(from + 1, snap(pen, Math.min(toX(scale, first.end), scale.left + scale.width + 10)));
    ctx.beginPath();
    ctx.moveTo(from, y + height - 4.5);
    ctx.lineTo(to, y + height - 4.5);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
    for (const end of [from, to]) {
      ctx.moveTo(end, y + height - 8);
      ctx.lineTo(end, y + height - 1);
    }
    ctx.stroke();
    drawSign(pen, mark.x + 9, middle, confirmed ? 'confirmed' : 'latent', color);
    let x = mark.x + 22;
    if (mark.hazards.length > 1) {
      const count = `${mark.hazards.length}`;
      drawText(pen, count, x, middle + 1, { size: 12, weight: 'bold' });
      x += widthOf(pen, count, fontOf(pen, 12, 'bold')) + 6;
    }
    const weight = selected ? 'bold' : 'normal';
    const room = mark.room - (x - mark.x) - 10;
    const text = fitText(pen, headline(first.message), room, fontOf(pen, 12, weight));
    drawText(pen, text, x, middle + 1, { size: 12, weight });
  }
}
