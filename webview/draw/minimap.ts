/** Paints the minimap: the whole run, a line a stream, marks of findings above. The window over it is d3's brush. */
import { severityOf } from '../../core/timeline/findings.ts';
import { makePicture, takePicture } from '../../core/timeline/picture.ts';
import { timeText } from '../../core/timeline/units.ts';
import { span, toX, type Scale } from '../../core/timeline/view.ts';
import { ruleColor } from './axis.ts';
import { css } from './color.ts';
import { drawRule, drawText, type Pen } from './pen.ts';
import type { Scene } from './scene.ts';
import { drawSign } from './signs.ts';
import type { Strips } from './strips.ts';
import { severityColor } from './theme.ts';

/** Room at the top for the marks of findings. */
const signs = 14;

export function minimapScale({ scale, timeline }: Pick<Scene, 'scale' | 'timeline'>): Scale {
  return { ...timeline.bounds, left: scale.left, width: Math.max(1, scale.width - 8) };
}

export function drawMinimap(pen: Pen, scene: Scene, strips: Strips): void {
  const { ctx, theme } = pen;
  const { measures, timeline, trace, width } = scene;
  const height = measures.minimap;
  const scale = minimapScale(scene);
  ctx.fillStyle = css(theme.side);
  ctx.fillRect(0, 0, width, height);
  const length = timeText(span(timeline.bounds));
  drawText(pen, measures.narrow ? length : `Whole run, ${length}`, 12, height / 2, { color: theme.muted });
  const lanes = timeline.streams.slice(0, 12);
  const each = (height - signs - 6) / Math.max(1, lanes.length);
  const count = Math.max(1, Math.round(scale.width * pen.ratio));
  const picture = makePicture(count);
  lanes.forEach((lane, i) => {
    const sum = new Float32Array(count);
    for (const row of lane.rows) {
      takePicture(row, trace.deviceSlices, scale, Number.POSITIVE_INFINITY, picture);
      for (let x = 0; x < count; x++) sum[x] = Math.min(1, sum[x]! + picture.density[x]!);
    }
    const color = theme.stream(timeline.slots[lane.stream]!).color;
    strips.add(pen, sum, color, scale.left, signs + 1 + i * each, Math.max(1, each - (each > 4 ? 2 : 0)), 0.85);
  });
  strips.flush(pen);
  const { urgency, hazards } = scene;
  // Where signs would lie on top of each other the most urgent stands for all.
  const drawn: number[] = [];
  for (const index of urgency.slice(0, 500)) {
    const hazard = hazards[index]!;
    const x = toX(scale, hazard.start);
    if (hazard.start < 0 || drawn.some((other) => Math.abs(other - x) < 10)) continue;
    drawn.push(x);
    const sign = hazard.status === 'confirmed' ? 'confirmed' : 'latent';
    drawSign(pen, x, 8, sign, severityColor(theme, severityOf(hazard)), 5);
  }
  drawRule(pen, 0, height - 1, width, ruleColor(pen));
}
