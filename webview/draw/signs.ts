/** Paints the signs of findings: a filled diamond for confirmed, an open triangle for not seen in this run. */
import { css, type Rgb } from './color.ts';
import type { Pen } from './pen.ts';

export type Sign = 'confirmed' | 'latent';

export function drawSign(pen: Pen, x: number, y: number, sign: Sign, color: Rgb, radius = 7): void {
  const { ctx, theme } = pen;
  ctx.beginPath();
  if (sign === 'confirmed') {
    ctx.moveTo(x, y - radius);
    ctx.lineTo(x + radius, y);
    ctx.lineTo(x, y + radius);
    ctx.lineTo(x - radius, y);
    ctx.closePath();
    ctx.fillStyle = css(color);
    ctx.fill();
  } else {
    ctx.moveTo(x, y - radius + 1);
    ctx.lineTo(x + radius, y + radius - 1.5);
    ctx.lineTo(x - radius, y + radius - 1.5);
    ctx.closePath();
    ctx.fillStyle = css(theme.background);
    ctx.fill();
    ctx.lineJoin = 'round';
    ctx.lineWidth = 1.6;
    ctx.strokeStyle = css(color);
    ctx.stroke();
  }
  // The exclamation mark, in the other of the two colours.
  const down = sign === 'confirmed' ? 0 : radius / 7;
  ctx.lineCap = 'round';
  ctx.lineWidth = (1.6 * radius) / 7;
  ctx.strokeStyle = css(sign === 'confirmed' ? theme.background : color);
  ctx.beginPath();
  ctx.moveTo(x, y + (down - 3) * (radius / 7));
  ctx.lineTo(x, y + (down + 0.4) * (radius / 7));
  ctx.moveTo(x, y + (down + 3) * (radius / 7));
  ctx.lineTo(x, y + (down + 3.05) * (radius / 7));
  ctx.stroke();
  ctx.lineCap = 'butt';
}
