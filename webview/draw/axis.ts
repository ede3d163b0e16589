/** Paints the time axis and its grid. Ticks are d3's, at most one every 110 px. */
import { scaleLinear } from 'd3';
import { grouped, timeText, type TimeUnit, unitFor } from '../../core/timeline/units.ts';
import { span, toX } from '../../core/timeline/view.ts';
import { css } from './color.ts';
import { drawRule, drawText, fontOf, type Pen, snap, widthOf } from './pen.ts';
import type { Scene } from './scene.ts';

export interface Ticks {
  readonly times: readonly number[];
  readonly unit: TimeUnit;
  readonly digits: number;
}

export function ticksFor({ scale }: Pick<Scene, 'scale'>): Ticks {
  // The unit goes by the end of the view, so that numbers stay short; the digits by the distance of the ticks.
  const length = span(scale);
  const unit = unitFor(
    Math.max(Math.abs(scale.end), length) / 10 > length * 1e3 ? length * 1e3 : Math.max(Math.abs(scale.end), length),
  );
  const ticks = scaleLinear()
    .domain([scale.start / unit.nanoseconds, scale.end / unit.nanoseconds])
    .ticks(Math.max(2, Math.floor(scale.width / 110)));
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));
  return { times: ticks.map((tick) => tick * unit.nanoseconds), unit, digits };
}

export function drawGrid(pen: Pen, scene: Scene, ticks: Ticks, y: number): void {
  const { ctx, theme } = pen;
  ctx.fillStyle = css(theme.line, theme.kind.startsWith('high') ? 0.28 : 0.55);
  for (const time of ticks.times) ctx.fillRect(snap(pen, toX(scene.scale, time)), y, 1, scene.height - y);
}

export function drawAxis(pen: Pen, scene: Scene, ticks: Ticks, y: number): void {
  const { measures, scale, width } = scene;
  const { ctx, theme } = pen;
  const height = measures.axis;
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, y, width, height);
  const label = measures.narrow ? ticks.unit.name : `${ticks.unit.name} from start of run`;
  drawText(pen, label, 12, y + height / 2, { color: theme.muted });
  const pill = rangePill(pen, scene);
  for (const time of ticks.times) {
    const x = snap(pen, toX(scale, time));
    if (x > width - 26) continue;
    ctx.fillStyle = css(theme.muted, 0.6);
    ctx.fillRect(x, y + height - 5, 1, 5);
    const first = x - scale.left < 14;
    const text = grouped(time / ticks.unit.nanoseconds, ticks.digits);
    // A number that looked out from under the pill would be another number.
    const wide = widthOf(pen, text, fontOf(pen, 11));
    const middle = first ? x + 4 + wide / 2 : x;
    if (pill && Math.abs(middle - pill.x) < (pill.width + wide) / 2 + 2) continue;
    drawText(pen, text, x + (first ? 4 : 0), y + height / 2 - 2, {
      color: theme.muted,
      align: first ? 'left' : 'center',
    });
  }
  drawRule(pen, 0, y + height - 1, width, ruleColor(pen));
}

/** Where the length of the range stands on the axis, its middle; undefined: there is no range. */
export function rangePill(
  pen: Pen,
  { range, scale, width }: Scene,
): { readonly text: string; readonly x: number; readonly width: number } | undefined {
  if (!range) return undefined;
  const from = snap(pen, Math.max(scale.left, toX(scale, range.start)));
  const to = snap(pen, Math.min(width, toX(scale, range.end)));
  const text = timeText(span(range));
  return { text, x: (from + to) / 2, width: widthOf(pen, text, fontOf(pen, 11, 'bold')) + 16 };
}

/** Lines between lanes: in high contrast they are the theme's contrast border, quieter. */
export function ruleColor({ theme }: Pen, opacity = 1): string {
  return css(theme.line, theme.kind.startsWith('high') ? 0.55 * opacity : opacity);
}
