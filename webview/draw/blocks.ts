/**
 * Paints a pool: blocks as rectangles of address × time. Outlined from allocation to the release request; hatched with a
 * dashed outline from there to when the block can be handed out again; a bar and a dot at the last GPU use.
 */
import type { LaneBox } from '../../core/timeline/layout.ts';
import { rowsOfBlock } from '../../core/timeline/pools.ts';
import { toX } from '../../core/timeline/view.ts';
import { sizeText, timeText } from '../../core/timeline/units.ts';
import { css } from './color.ts';
import { drawDashes, fitText, fontOf, hatchPattern, type Pen, roundedRect, snap, widthOf } from './pen.ts';
import type { Scene } from './scene.ts';
import { type Label, openLane, pictureOf } from './slices.ts';
import { pixelOf, type Strips } from './strips.ts';
import type { StreamColors } from './theme.ts';

/** From this width corners are rounded: paths cost more than rectangles, and small ones are many. */
const rounded = 24;
/** From this width a word of one letter may have room. */
const letter = 14;

/** Rows lower than this are one band. */
const lowest = 2;

export function poolColors(pen: Pen, scene: Scene, stream: number): StreamColors {
  return stream >= 0 ? pen.theme.stream(scene.timeline.slots[stream]!) : pen.theme.host;
}

export function drawPool(pen: Pen, scene: Scene, box: LaneBox, top: number, strips: Strips, labels: Label[]): void {
  if (box.lane.kind !== 'pool') return;
  const { pool, rowHeight } = box.lane;
  const colors = poolColors(pen, scene, pool.stream);
  const { scale, timeline } = scene;
  const { ctx, theme } = pen;
  if (rowHeight < lowest) {
    drawBand(pen, scene, box, top, strips, colors);
    return;
  }
  if (rowHeight >= 10) {
    ctx.fillStyle = css(theme.line, 0.6);
    for (let i = 1; i < pool.rows.length; i++)
      ctx.fillRect(scale.left, snap(pen, box.rows[i]!.y + top) - 2, scale.width, 1);
  }
  const inks: Inks = {
    colors,
    ground: css(theme.background),
    hatch: hatchPattern(pen, colors.hatch, 7, false),
    line: pixelOf(colors.color),
    block: pixelOf(colors.blockRgb),
  };
  const narrow = openLane(pen, scene, box, top, strips);
  pool.rows.forEach((row, i) => {
    const place = box.rows[i]!;
    // Blocks reach down into the rows below their own, never up.
    if (place.y + top >= scene.height) return;
    const picture = pictureOf(scene, pen, row, timeline.blocks, 3);
    if (picture.dense) strips.add(pen, picture.density, colors.color, scale.left, place.y + top, place.height, 0.8);
    for (let n = 0; n < picture.count; n++)
      drawBlock(pen, scene, box, top, picture.items[n]!, inks, narrow ? strips : undefined, labels);
  });
}

/** Too many address ranges for rows: how much of the time each range is used is lost, that it is used is not. */
function drawBand(pen: Pen, scene: Scene, box: LaneBox, top: number, strips: Strips, colors: StreamColors): void {
  if (box.lane.kind !== 'pool') return;
  const { rows } = box.lane.pool;
  const count = Math.max(1, Math.round(scene.scale.width * pen.ratio));
  const sum = new Float32Array(count);
  // A sample of the ranges is enough for a band, and bounds the work of a frame.
  const step = Math.max(1, Math.floor(rows.length / 64));
  let seen = 0;
  for (let i = 0; i < rows.length; i += step) {
    const picture = pictureOf(scene, pen, rows[i]!, scene.timeline.blocks, Number.POSITIVE_INFINITY);
    for (let x = 0; x < count; x++) sum[x]! += picture.density[x]!;
    seen++;
  }
  for (let x = 0; x < count; x++) sum[x]! /= seen;
  strips.add(pen, sum, colors.color, scene.scale.left, box.y + top + 6, box.height - 12, 0.8);
}

/** Where a block is drawn, uncut in time. */
export function blockPlace(scene: Scene, box: LaneBox, top: number, block: number): { y: number; height: number } {
  if (box.lane.kind !== 'pool') return { y: 0, height: 0 };
  const [first, end] = rowsOfBlock(box.lane.pool, scene.trace.blocks, block);
  const from = box.rows[first]!;
  const to = box.rows[end - 1]!;
  return { y: from.y + top, height: to.y + to.height - from.y };
}

/** What all blocks of a pool are drawn with, looked up once: there may be thousands in a frame. */
interface Inks {
  readonly colors: StreamColors;
  readonly ground: string;
  readonly hatch: CanvasPattern | null;
  /** As pixels. */
  readonly line: number;
  readonly block: number;
}

function drawBlock(
  pen: Pen,
  scene: Scene,
  box: LaneBox,
  top: number,
  block: number,
  inks: Inks,
  /** Takes what is narrow; undefined: there is no room in it. */
  strips: Strips | undefined,
  labels: Label[],
): void {
  const { colors, ground, hatch } = inks;
  const { scale, timeline } = scene;
  const { ctx } = pen;
  const { y, height } = blockPlace(scene, box, top, block);
  const left = scale.left - 4;
  const right = scale.left + scale.width + 4;
  const cut = (time: number): number => Math.min(right, Math.max(left, toX(scale, time)));
  const allocated = snap(pen, cut(timeline.blocks.start[block]!));
  const released = snap(pen, cut(timeline.blocks.release[block]!));
  const reusable = snap(pen, cut(timeline.blocks.start[block]! + timeline.blocks.duration[block]!));
  const held = released - allocated;
  const back = reusable - released;
  if (strips && held < rounded && back < 6) {
    fillNarrow(strips, allocated, y, held, back, height, inks);
    if (held >= letter) labelBlock(pen, scene, block, { y, height, allocated, released, reusable }, labels);
    return;
  }
  if (held >= rounded && height >= 8) {
    ctx.fillStyle = colors.block;
    ctx.strokeStyle = colors.line;
    ctx.lineWidth = 1;
    roundedRect(pen, allocated + 0.5, y + 0.5, held - 2, height - 1);
    ctx.fill();
    ctx.stroke();
  } else if (held >= 1) {
    ctx.fillStyle = colors.line;
    ctx.fillRect(allocated, y, Math.max(1, held - 1), height);
    ctx.fillStyle = colors.block;
    if (held >= 4 && height >= 4) ctx.fillRect(allocated + 1, y + 1, held - 3, height - 2);
  }
  if (back >= 6) {
    if (back >= rounded) drawDashes(pen, released, y, back - 1, height, colors.line);
    else {
      ctx.fillStyle = colors.line;
      ctx.fillRect(released, y, back - 1, height);
      ctx.fillStyle = ground;
      ctx.fillRect(released + 1, y + 1, back - 3, height - 2);
    }
    if (height >= 6 && hatch) {
      ctx.fillStyle = hatch;
      ctx.fillRect(released, y + 1, back - 1, height - 2);
    }
    drawLastUse(pen, scene, block, y, height, colors, left, right);
  } else if (back >= 2) {
    ctx.fillStyle = colors.block;
    ctx.fillRect(released, y, back - 1, height);
  }
  labelBlock(pen, scene, block, { y, height, allocated, released, reusable }, labels);
}

/** A narrow block without a hatch is pixels: there may be thousands. */
function fillNarrow(
  strips: Strips,
  x: number,
  y: number,
  held: number,
  back: number,
  height: number,
  { line, block }: Inks,
): void {
  if (held >= 1) strips.fill(x, y, Math.max(1, held - 1), height, line);
  if (held >= 4 && height >= 4) strips.fill(x + 1, y + 1, held - 3, height - 2, block);
  if (back >= 2) strips.fill(x + held, y, back - 1, height, block);
}

function drawLastUse(
  pen: Pen,
  { scale, trace }: Scene,
  block: number,
  y: number,
  height: number,
  colors: StreamColors,
  left: number,
  right: number,
): void {
  const time = trace.blocks.lastUse[block]!;
  if (time < 0) return;
  const x = toX(scale, time);
  if (x < left || x > right) return;
  const { ctx } = pen;
  ctx.fillStyle = colors.line;
  ctx.fillRect(snap(pen, x) - 1, y, 2, height);
  if (height < 12) return;
  ctx.beginPath();
  ctx.arc(snap(pen, x), y + height / 2, 3.2, 0, 7);
  ctx.fill();
}

interface Drawn {
  readonly y: number;
  readonly height: number;
  readonly allocated: number;
  readonly released: number;
  readonly reusable: number;
}

function labelBlock(pen: Pen, scene: Scene, block: number, drawn: Drawn, labels: Label[]): void {
  if (drawn.height < 12) return;
  const { trace, timeline, scale } = scene;
  const { y, height } = drawn;
  const left = Math.max(drawn.allocated, scale.left);
  const fault = faultOver(scene, block);
  const end = fault ? Math.min(drawn.released, Math.max(fault.from, left)) : drawn.released;
  const font = fontOf(pen, 11);
  const name = trace.strings[trace.blocks.name[block]!] ?? '';
  const size = sizeText(trace.blocks.size[block]!);
  const room = end - left - 9;
  const whole = name ? `${name}, ${size}` : size;
  // The name with the size, the name, or nothing: two letters of a tensor's name would be another name.
  const fits = (text: string): boolean => text !== '' && widthOf(pen, text, font) <= room;
  const text =
    fits(whole) && room > 110
      ? whole
      : fits(name)
        ? name
        : name
          ? fitText(pen, name, room, font)
          : fits(size)
            ? size
            : '';
  if (text) labels.push({ text, x: left + 6, y: y + height / 2, height, fill: 'none', faded: false });

  const heldFor = timeline.blocks.start[block]! + timeline.blocks.duration[block]! - timeline.blocks.release[block]!;
  if (drawn.reusable - drawn.released < 60) return;
  const label = `held back ${timeText(heldFor)}`;
  const last = trace.blocks.lastUse[block]!;
  const used = last >= 0 ? toX(scale, last) : drawn.reusable;
  const from = Math.max(drawn.released, scale.left, fault ? fault.to + 6 : 0);
  const to = Math.min(drawn.reusable, scale.left + scale.width);
  const width = widthOf(pen, label, font) + 16;
  // Beside the mark of the last use, on the roomier side.
  const before = Math.min(used, to) - from;
  const after = to - Math.max(used, from);
  const place =
    before >= width ? (from + Math.min(used, to)) / 2 : after >= width ? (Math.max(used, from) + to) / 2 : -1;
  if (place >= 0)
    labels.push({ text: label, x: place, y: y + height / 2, height, fill: undefined, faded: false, strong: true });
}

/** What the selected finding draws over a block: the block's own words keep out of it. Undefined: nothing. */
function faultOver(scene: Scene, block: number): { from: number; to: number } | undefined {
  const hazard = scene.hazards[scene.hazard];
  if (!hazard || hazard.block < 0 || hazard.block === block || hazard.start < 0) return undefined;
  const { blocks } = scene.trace;
  const other = hazard.block;
  const overlap =
    blocks.address[block]! < blocks.address[other]! + blocks.size[other]! &&
    blocks.address[other]! < blocks.address[block]! + blocks.size[block]!;
  const from = toX(scene.scale, hazard.start);
  if (!overlap || from <= toX(scene.scale, scene.timeline.blocks.start[block]!)) return undefined;
  return { from, to: toX(scene.scale, Math.max(hazard.end, blocks.lastUse[other]!)) };
}
