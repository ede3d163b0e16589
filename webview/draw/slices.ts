/**
 * Paints lanes of slices: wide ones one by one (tint, edge strip, label), narrow ones as solid bars, the rest as density.
 * Labels are handed back, to be drawn above the edges.
 */
import { makePicture, type RowPicture, takePicture } from '../../core/timeline/picture.ts';
import type { LaneBox, RowBox } from '../../core/timeline/layout.ts';
import type { Intervals, Row } from '../../core/timeline/row.ts';
import { span, toX } from '../../core/timeline/view.ts';
import { timeText } from '../../core/timeline/units.ts';
import { css, mix } from './color.ts';
import {
  drawDots,
  drawHatch,
  drawPlate,
  drawText,
  fitText,
  fontOf,
  type Pen,
  roundedRect,
  snap,
  widthOf,
} from './pen.ts';
import type { Scene } from './scene.ts';
import { pixelOf, type Strips } from './strips.ts';
import type { StreamColors } from './theme.ts';

export interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly height: number;
  /** What it stands on: a fill laid again under the letters; 'none'; undefined: a plate of the background, centred. */
  readonly fill: string | undefined;
  readonly faded: boolean;
  /** A plate's words in the foreground; else they are muted. */
  readonly strong?: boolean;
}

/** Room in CSS pixels from which a slice is tinted, labelled. */
const tinted = 5;
const labelled = 16;
/** Room from which a held wait is a line. */
const heldFrom = 6;
/** From here on corners are rounded: paths cost more than rectangles, and small ones are many. */
const rounded = 24;

let shared: RowPicture | undefined;

/** One picture is reused for all rows: a frame makes no garbage of its size. */
export function pictureOf(scene: Scene, pen: Pen, row: Row, columns: Intervals, wide: number): RowPicture {
  const count = Math.max(1, Math.round(scene.scale.width * pen.ratio));
  if (!shared || shared.density.length !== count) shared = makePicture(count);
  return takePicture(row, columns, scene.scale, wide * pen.ratio, shared);
}

/** Makes room for what is narrow in a lane, as far as it can be seen. */
export function openLane(pen: Pen, scene: Scene, box: LaneBox, top: number, strips: Strips): boolean {
  const from = Math.max(0, Math.floor(box.y + top));
  const to = Math.min(scene.height, Math.ceil(box.y + top + box.height));
  return strips.open(pen, scene.scale.left, from, to - from);
}

interface RowStyle {
  readonly colors: StreamColors;
  readonly columns: Intervals;
  readonly name: (item: number) => string;
  readonly matches: ((item: number) => boolean) | undefined;
  readonly isHost: boolean;
  readonly isHeldUp: (item: number) => boolean;
  /** Whether the strips have room for narrow slices. */
  readonly narrow: boolean;
}

export function drawStreamLane(
  pen: Pen,
  scene: Scene,
  box: LaneBox,
  top: number,
  strips: Strips,
  labels: Label[],
): void {
  if (box.lane.kind !== 'stream') return;
  const { trace, timeline, search } = scene;
  const { stream } = box.lane;
  const colors = pen.theme.stream(timeline.slots[stream.stream]!);
  drawHeld(pen, scene, box, top, labels);
  const slices = trace.deviceSlices;
  const narrow = openLane(pen, scene, box, top, strips);
  stream.rows.forEach((row, i) => {
    drawRow(pen, scene, row, offset(box.rows[i]!, top), strips, labels, {
      colors,
      columns: slices,
      name: (item) => trace.strings[slices.name[item]!] ?? '',
      matches: search?.isMatch.device,
      isHost: false,
      isHeldUp: () => false,
      narrow,
    });
  });
}

export function drawHostLane(pen: Pen, scene: Scene, box: LaneBox, top: number, strips: Strips, labels: Label[]): void {
  if (box.lane.kind !== 'host') return;
  const { trace, search } = scene;
  const slices = trace.hostSlices;
  const rows = box.lane.host.rows;
  const narrow = openLane(pen, scene, box, top, strips);
  box.rows.forEach((place, i) => {
    if (!rows[i]) return;
    drawRow(pen, scene, rows[i], offset(place, top), strips, labels, {
      colors: pen.theme.host,
      columns: slices,
      name: (item) => trace.strings[slices.name[item]!] ?? '',
      matches: search?.isMatch.host,
      isHost: true,
      isHeldUp: (item) => slices.kind[item] === 4,
      narrow,
    });
  });
}

const offset = (row: RowBox, top: number): RowBox => ({ y: row.y + top, height: row.height });

function drawRow(
  pen: Pen,
  scene: Scene,
  row: Row,
  place: RowBox,
  strips: Strips,
  labels: Label[],
  style: RowStyle,
): void {
  const { scale } = scene;
  const picture = pictureOf(scene, pen, row, style.columns, tinted);
  if (picture.dense)
    strips.add(pen, picture.density, style.colors.color, scale.left, place.y, place.height, style.matches ? 0.6 : 1);
  const right = scale.left + scale.width;
  const { ctx } = pen;
  for (let i = 0; i < picture.count; i++) {
    const item = picture.items[i]!;
    const from = toX(scale, style.columns.start[item]!);
    const to = toX(scale, style.columns.start[item]! + style.columns.duration[item]!);
    const match = style.matches?.(item);
    const faded = match === false;
    if (faded) ctx.globalAlpha = 0.6;
    // A slice far longer than the view is drawn as far as it can be seen: huge coordinates lose their precision.
    const x = snap(pen, Math.max(from, scale.left - 8));
    const width = Math.max(1.5, snap(pen, Math.min(to, right + 8)) - x - 1);
    const held = style.isHeldUp(item);
    if (held) drawHeldUp(pen, x, place, width, style.colors);
    else if (width < labelled && style.narrow) fillNarrow(strips, x, place, width, style, faded ? 0.6 : 1);
    else drawSlice(pen, x, place, width, style);
    if (faded) ctx.globalAlpha = 1;
    if (match) outlineMatch(pen, x, place, width);
    if (width >= labelled) addLabel(pen, scene, item, x, place, width, style, labels, faded, held);
  }
}

function drawSlice(pen: Pen, x: number, place: RowBox, width: number, { colors, isHost }: RowStyle): void {
  const { ctx } = pen;
  const { y, height } = place;
  if (width < rounded) {
    // Full colour, then the tint inside it: outline and edge strip in two calls.
    const strip = isHost ? 1 : Math.min(3, width / 2);
    ctx.fillStyle = colors.line;
    ctx.fillRect(x, y, width, height);
    ctx.fillStyle = colors.fill;
    ctx.fillRect(x + strip, y + 1, Math.max(0, width - strip - 1), height - 2);
    return;
  }
  roundedRect(pen, x + 0.5, y + 0.5, width - 1, height - 1);
  ctx.fillStyle = colors.fill;
  ctx.fill();
  ctx.strokeStyle = colors.line;
  ctx.lineWidth = 1;
  ctx.stroke();
  if (isHost) return;
  ctx.fillStyle = colors.line;
  if (colors.split) {
    const half = Math.floor(height / 2) - 1;
    ctx.fillRect(x, y, 3, half);
    ctx.fillRect(x, y + height - half, 3, half);
  } else {
    roundedRect(pen, x, y, 3, height, 1);
    ctx.fill();
  }
}

/** As a slice without rounded corners is drawn, in pixels: there may be thousands. */
function fillNarrow(
  strips: Strips,
  x: number,
  { y, height }: RowBox,
  width: number,
  { colors, isHost }: RowStyle,
  opacity: number,
): void {
  const strip = isHost ? 1 : Math.min(3, width / 2);
  strips.fill(x, y, width, height, pixelOf(colors.color, opacity));
  strips.fill(x + strip, y + 1, width - strip - 1, height - 2, pixelOf(colors.fillRgb, opacity));
}

/** The host waits for the device: hatched in grey. */
function drawHeldUp(pen: Pen, x: number, { y, height }: RowBox, width: number, colors: StreamColors): void {
  drawHatch(pen, x + 1, y + 1, width - 2, height - 2, css(colors.color, 0.5), 5);
  pen.ctx.strokeStyle = colors.line;
  pen.ctx.lineWidth = 1;
  pen.ctx.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}

function outlineMatch(pen: Pen, x: number, { y, height }: RowBox, width: number): void {
  pen.ctx.strokeStyle = css(pen.theme.foreground);
  pen.ctx.lineWidth = 1.5;
  roundedRect(pen, x - 1.5, y - 1.5, width + 3, height + 3, 3);
  pen.ctx.stroke();
}

function addLabel(
  pen: Pen,
  { scale }: Scene,
  item: number,
  x: number,
  place: RowBox,
  width: number,
  style: RowStyle,
  labels: Label[],
  faded: boolean,
  held: boolean,
): void {
  const left = Math.max(x, scale.left);
  const right = Math.min(x + width, scale.left + scale.width);
  const font = fontOf(pen, 11);
  const text = fitText(pen, style.name(item), right - left - (held ? 24 : 12), font);
  if (!text) return;
  const y = place.y + place.height / 2;
  if (held) labels.push({ text, x: (left + right) / 2, y, height: place.height, fill: undefined, faded, strong: true });
  else
    labels.push({
      text,
      x: left + (style.isHost ? 6 : 8),
      y,
      height: place.height,
      fill: faded ? css(mix(style.colors.fillRgb, pen.theme.background, 0.6)) : style.colors.fill,
      faded,
    });
}

/** Dotted, with its length: a line from 6 px, the length from 60, the sentence from 170. */
function drawHeld(pen: Pen, scene: Scene, box: LaneBox, top: number, labels: Label[]): void {
  if (box.lane.kind !== 'stream') return;
  const { scale, timeline, trace } = scene;
  const place = box.rows[0]!;
  const { held } = box.lane.stream;
  // At most zooms all are short, and there is nothing to look for.
  if ((held.longest / span(scale)) * scale.width < heldFrom - 1) return;
  const picture = pictureOf(scene, pen, held, timeline.held, heldFrom);
  if (picture.count === 0) return;
  const { ctx, theme } = pen;
  const middle = Math.round(place.y + top + place.height / 2);
  const right = scale.left + scale.width;
  const color = css(theme.muted);
  const ends: number[] = [];
  for (let i = 0; i < picture.count; i++) {
    const mark = picture.items[i]!;
    const from = toX(scale, timeline.held.start[mark]!);
    const to = toX(scale, timeline.held.start[mark]! + timeline.held.duration[mark]!);
    const left = Math.max(from, scale.left + 2);
    const end = Math.min(to, right) - 2;
    if (end - left < 4) continue;
    drawDots(pen, snap(pen, left), middle, end - left, color);
    if (from >= scale.left) ends.push(snap(pen, from));
    const room = to - from;
    const length = timeText(timeline.held.duration[mark]!);
    const record = trace.marks.other[mark]!;
    const source = trace.streams[trace.marks.stream[record]!]?.name;
    const sentence = source && room > 170 ? `waits ${length} for ${source}` : length;
    const text = room > 60 ? fitText(pen, sentence, end - left - 16, fontOf(pen, 11)) : '';
    if (text && !text.endsWith('…'))
      labels.push({ text, x: (left + end) / 2, y: middle, height: place.height, fill: undefined, faded: false });
  }
  ctx.fillStyle = color;
  for (const x of ends) ctx.fillRect(x, middle - 4, 1, 9);
}

export function drawLabels(pen: Pen, labels: readonly Label[]): void {
  const { theme, ctx } = pen;
  const font = fontOf(pen, 11);
  for (const label of labels) {
    if (label.fill === undefined) {
      const words = label.strong ? theme.foreground : theme.muted;
      const color = label.faded ? mix(words, theme.background, 0.75) : words;
      drawPlate(pen, label.text, label.x, label.y, { color });
      continue;
    }
    // An edge may run under the label: the fill is laid again where the letters stand.
    if (label.fill !== 'none') {
      ctx.fillStyle = label.fill;
      ctx.fillRect(label.x - 1, label.y - label.height / 2 + 2, widthOf(pen, label.text, font) + 2, label.height - 4);
    }
    ctx.globalAlpha = label.faded ? 0.75 : 1;
    drawText(pen, label.text, label.x, label.y);
    ctx.globalAlpha = 1;
  }
}
