/** Paints what stands at the left of lanes: names, what is said of them in a second line, group headers. */
import type { LaneBox } from '../../core/timeline/layout.ts';
import { counted, percent, sizeText } from '../../core/timeline/units.ts';
import { ruleColor } from './axis.ts';
import { poolColors } from './blocks.ts';
import { css, type Rgb } from './color.ts';
import { drawRule, drawText, fitText, fontOf, type Pen, roundedRect, widthOf } from './pen.ts';
import { lanesTop, type Scene } from './scene.ts';

export function drawHeader(pen: Pen, scene: Scene, box: LaneBox, top: number): void {
  const { lane } = box;
  if (lane.kind === 'group') {
    drawGroup(pen, scene, box.y + top, lane.name, lane.note, lane.open);
    return;
  }
  if (lane.kind === 'part') {
    drawPart(pen, scene, box.y + top, box.height, lane);
    return;
  }
  const { name, note, color } = wordsOf(pen, scene, box);
  // The name stands in the middle of what is seen of the lane, not of what is scrolled away.
  const y = Math.max(box.y + top, lanesTop(scene) - 6);
  const end = Math.min(box.y + top + box.height, scene.height + 6);
  const place =
    end - y >= 40 || end - y >= box.height ? { y, height: end - y } : { y: box.y + top, height: box.height };
  drawName(pen, scene, place.y, place.height, name, note, color, lane.kind === 'unrecorded');
  drawBoxRule(pen, scene.measures.header, box, top);
}

/** The line under a lane. In the lanes themselves it lies below what findings draw between them. */
export function drawBoxRule(pen: Pen, width: number, box: LaneBox, top: number): void {
  drawRule(pen, 0, box.y + top + box.height - 1, width, ruleColor(pen, box.lane.kind === 'host' ? 1 : 0.8));
}

interface HeaderWords {
  readonly name: string;
  readonly note: string;
  readonly color: Rgb | undefined;
}

/** The two lines of a lane's header; also what a screen reader says of it. */
export function wordsOf(pen: Pen, scene: Scene, { lane, rows }: LaneBox): HeaderWords {
  const { trace, timeline } = scene;
  switch (lane.kind) {
    case 'host': {
      const deeper = lane.host.rows.length - rows.length;
      const note = deeper > 0 ? `${counted(deeper, 'deeper row')}: click` : 'Host thread';
      return { name: lane.host.name, note, color: undefined };
    }
    case 'stream': {
      const entry = trace.streams[lane.stream.stream]!;
      const number = entry.number >= 0 ? `stream ${entry.number}` : entry.handle || 'stream';
      const busy = `busy ${percent(lane.stream.busy)}`;
      return {
        name: lane.stream.name,
        note: lane.stream.name === number ? busy : `${number} · ${busy}`,
        color: pen.theme.stream(timeline.slots[lane.stream.stream]!).color,
      };
    }
    case 'pool': {
      const { bytes, smallest, largest, stream, name } = lane.pool;
      const sizes = smallest === largest ? `${sizeText(bytes)} · ${sizeText(largest)} blocks` : sizeText(bytes);
      return { name, note: sizes, color: poolColors(pen, scene, stream).color };
    }
    case 'totals':
      return {
        name: lane.totals.device < 0 ? 'Totals' : `Totals of GPU ${lane.totals.device}`,
        note: lane.totals.totals.reserved.length ? 'allocated, held back, reserved' : 'allocated, held back',
        color: undefined,
      };
    case 'unrecorded':
      return { name: lane.name, note: '', color: undefined };
    case 'group':
    case 'part':
      return { name: lane.name, note: lane.note, color: undefined };
  }
}

export function drawName(
  pen: Pen,
  { measures }: Scene,
  y: number,
  height: number,
  name: string,
  note: string,
  color: Rgb | undefined,
  quiet = false,
): void {
  const { ctx, theme } = pen;
  const width = measures.header;
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, y, width, height);
  ctx.fillStyle = ruleColor(pen);
  ctx.fillRect(width - 1, y, 1, height);
  if (color) {
    ctx.fillStyle = css(color);
    roundedRect(pen, 12, y + 6, 3, height - 12, 1.5);
    ctx.fill();
  }
  const left = color ? 22 : 12;
  const weight = quiet ? 'normal' : 'bold';
  const shown = fitText(pen, name, width - left - 8, fontOf(pen, 12, weight));
  const twoLines = note !== '' && !measures.narrow && height > 34;
  const middle = y + height / 2;
  drawText(pen, shown, left, twoLines ? middle - 8 : middle, {
    size: 12,
    weight,
    color: quiet ? theme.muted : theme.foreground,
  });
  if (twoLines)
    drawText(pen, fitText(pen, note, width - left - 8, fontOf(pen, 11)), left, middle + 8, { color: theme.muted });
}

function drawGroup(pen: Pen, scene: Scene, y: number, name: string, note: string, open: boolean): void {
  const { ctx, theme } = pen;
  ctx.fillStyle = css(theme.side);
  ctx.fillRect(0, y, scene.width, 22);
  drawRule(pen, 0, y, scene.width, ruleColor(pen));
  drawRule(pen, 0, y + 21, scene.width, ruleColor(pen));
  drawChevron(pen, y + 11, open);
  drawText(pen, name, 25, y + 11, { weight: 'bold' });
  const left = 25 + widthOf(pen, name, fontOf(pen, 11, 'bold')) + 10;
  drawText(pen, fitText(pen, note, scene.width - left - 12, fontOf(pen, 11)), left, y + 11, { color: theme.muted });
}

/** The head of one of two runs: higher than a group's, its name larger. */
function drawPart(
  pen: Pen,
  { width }: Scene,
  y: number,
  height: number,
  { name, note, open }: { readonly name: string; readonly note: string; readonly open: boolean },
): void {
  const { ctx, theme } = pen;
  ctx.fillStyle = css(theme.side);
  ctx.fillRect(0, y, width, height);
  drawRule(pen, 0, y, width, css(theme.muted, 0.6));
  drawRule(pen, 0, y + height - 1, width, ruleColor(pen));
  const twoLines = height > 34;
  const middle = y + height / 2;
  drawChevron(pen, middle, open);
  const room = width - 40;
  drawText(pen, fitText(pen, name, room, fontOf(pen, 13, 'bold')), 28, twoLines ? middle - 8 : middle, {
    size: 13,
    weight: 'bold',
  });
  if (twoLines)
    drawText(pen, fitText(pen, note, room, fontOf(pen, 12)), 28, middle + 9, { size: 12, color: theme.muted });
}

function drawChevron({ ctx, theme }: Pen, y: number, open: boolean): void {
  ctx.strokeStyle = css(theme.muted);
  ctx.lineWidth = 1.3;
  ctx.beginPath();
  if (open) {
    ctx.moveTo(12, y - 2);
    ctx.lineTo(15.5, y + 1.5);
    ctx.lineTo(19, y - 2);
  } else {
    ctx.moveTo(14, y - 3.5);
    ctx.lineTo(17.5, y);
    ctx.lineTo(14, y + 3.5);
  }
  ctx.stroke();
}
