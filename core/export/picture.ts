/**
 * A run as one still picture: findings, lanes of streams with overlaps on sub-rows, event edges, host threads, allocated
 * bytes, and below it what was found in words. However many slices there are, a row takes at most one shape a pixel.
 *
 * Deliberately unknown here: SVG, PNG, and the interactive timeline, whose lanes can be chosen and moved.
 */
import { byUrgency, severityOf } from '../timeline/findings.ts';
import { packNested, packOverlaps, splitRows } from '../timeline/pack.ts';
import type { Intervals } from '../timeline/row.ts';
import { counted, sizeText, timeText, unitFor } from '../timeline/units.ts';
import { deviceSliceKinds, markKinds, type Trace, type TraceHazard } from '../trace/trace.ts';
import { type Palette, palettes } from './palette.ts';
import { type Color, fitted, letterHeight, type Picture, type Shape, wrapped } from './shapes.ts';

export interface PictureOptions {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  /** Nanoseconds; left out: the whole run. */
  readonly start?: number;
  readonly end?: number;
}

const header = 150;
const margin = 12;
const rowHeight = 18;
const hostRowHeight = 12;
/** Deeper rows of a host thread say little at the size of a picture. */
const mostHostRows = 4;
const mostOverlapRows = 8;
const mostEdges = 200;
const mostFindings = 40;
const totalsHeight = 60;

export function takePicture(
  trace: Trace,
  hazards: readonly TraceHazard[],
  name: string,
  options: PictureOptions = {},
): Picture {
  return new PictureTaker(trace, hazards, name, options).take();
}

class PictureTaker {
  readonly #trace: Trace;
  readonly #hazards: readonly TraceHazard[];
  readonly #name: string;
  readonly #palette: Palette;
  readonly #width: number;
  readonly #start: number;
  readonly #end: number;
  readonly #shapes: Shape[] = [];
  /** Middle of the first row of each stream. */
  readonly #middles = new Map<number, number>();
  readonly #colors: readonly Color[];
  #y = margin;

  constructor(trace: Trace, hazards: readonly TraceHazard[], name: string, options: PictureOptions) {
    this.#trace = trace;
    this.#hazards = hazards;
    this.#name = name;
    this.#palette = palettes[options.theme ?? 'light'];
    this.#width = Math.max(400, Math.round(options.width ?? 1400));
    this.#start = Math.max(0, options.start ?? startOfWork(trace));
    this.#end = Math.max(this.#start + 1000, options.end ?? Math.max(trace.duration, this.#start));
    const side = this.#palette.streams.slice(1);
    let next = 0;
    this.#colors = trace.streams.map((stream) =>
      stream.isDefault ? this.#palette.streams[0]! : side[next++ % side.length]!,
    );
  }

  take(): Picture {
    const { counts, producer } = this.#trace;
    const title = `${this.#name}: ${counted(counts.kernels, 'kernel')}, ${counted(counts.copies, 'copy', 'copies')}, ${counted(counts.waits, 'wait')}, ${counted(this.#hazards.length, 'finding')}, ${timeText(this.#end - this.#start)}`;
    this.#text(margin, title, this.#palette.foreground, { bold: true });
    this.#text(margin, producer, this.#palette.muted);
    this.#y += 6;
    this.#findingMarks();
    this.#axis();
    this.#streams();
    this.#edges();
    this.#hosts();
    this.#totals();
    this.#words();
    return {
      width: this.#width,
      height: Math.ceil(this.#y + margin),
      background: this.#palette.background,
      title,
      shapes: this.#shapes,
    };
  }

  get #left(): number {
    return header;
  }

  get #right(): number {
    return this.#width - margin;
  }

  #x(time: number): number {
    return this.#left + ((time - this.#start) / (this.#end - this.#start)) * (this.#right - this.#left);
  }

  #text(x: number, text: string, color: Color, more: { bold?: boolean } = {}): void {
    this.#shapes.push({
      kind: 'text',
      x,
      y: this.#y + letterHeight,
      text: fitted(text, this.#width - margin - x),
      color,
      ...more,
    });
    this.#y += letterHeight + 5;
  }

  #findingMarks(): void {
    const { error, warning, hint } = this.#palette;
    const colors = { error, warning, hint };
    const y = this.#y;
    if (this.#hazards.length === 0) return;
    this.#label('Findings', y, rowHeight);
    let last = Number.NEGATIVE_INFINITY;
    for (const [i, index] of byUrgency(this.#hazards).slice(0, mostFindings).entries()) {
      const hazard = this.#hazards[index]!;
      if (hazard.start < 0) continue;
      const x = this.#x(Math.max(hazard.start, this.#start));
      if (x > this.#right) continue;
      const color = colors[severityOf(hazard)];
      const end = Math.min(this.#right, Math.max(x + 3, this.#x(hazard.end)));
      this.#rect(x, y + 1, end - x, rowHeight - 3, color, { opacity: 0.35, title: hazard.message });
      this.#rect(x, y + 1, 3, rowHeight - 3, color);
      if (x - last > 22)
        this.#shapes.push({ kind: 'text', x: x + 6, y: y + 13, text: String(i + 1), color, bold: true });
      last = x;
    }
    this.#y += rowHeight + 2;
  }

  #axis(): void {
    const y = this.#y;
    const span = this.#end - this.#start;
    const unit = unitFor(span);
    const step = niceStep(span / Math.max(2, Math.floor((this.#right - this.#left) / 110)));
    const { line, muted } = this.#palette;
    this.#line(this.#left, y + 16, this.#right, y + 16, line);
    for (let time = Math.ceil(this.#start / step) * step; time <= this.#end; time += step) {
      const x = this.#x(time);
      this.#line(x, y + 12, x, y + 16, muted);
      if (x > this.#right - 50) continue;
      this.#shapes.push({
        kind: 'text',
        x: x + 3,
        y: y + 11,
        text: timeText(time, unit).replaceAll('\u202f', ' '),
        color: muted,
      });
    }
    this.#y += 20;
  }

  #streams(): void {
    const { deviceSlices: d, marks: m, streams, strings } = this.#trace;
    const items = streams.map((): number[] => []);
    for (let i = 0; i < d.length; i++) items[d.stream[i]!]?.push(i);
    const marked = new Set(m.stream);
    const order = streams
      .map((_, i) => i)
      .filter((i) => items[i]!.length > 0 || marked.has(i))
      .sort(
        (a, b) =>
          streams[a]!.device - streams[b]!.device ||
          Number(streams[b]!.isDefault) - Number(streams[a]!.isDefault) ||
          a - b,
      );
    const devices = new Set(order.map((i) => streams[i]!.device));
    for (const stream of order) {
      const list = Int32Array.from(items[stream]!);
      const rows = splitRows(list, packOverlaps(list, d));
      const shown = Math.max(1, Math.min(rows.length, mostOverlapRows));
      const y = this.#y;
      const { name, device } = streams[stream]!;
      this.#band(y, shown * rowHeight + 4);
      this.#label(devices.size > 1 ? `${name} (GPU ${device})` : name, y, rowHeight, this.#colors[stream]);
      this.#middles.set(stream, y + 2 + rowHeight / 2);
      this.#held(stream, y);
      for (let row = 0; row < shown; row++)
        this.#row(
          rows[row] ?? new Int32Array(0),
          d,
          y + 2 + row * rowHeight,
          rowHeight - 2,
          this.#colors[stream]!,
          (i) => {
            const bytes = d.bytes[i]! >= 0 ? `, ${sizeText(d.bytes[i]!)}` : '';
            return [
              strings[d.name[i]!] ?? '',
              `${deviceSliceKinds[d.kind[i]!]} on ${name}, ${timeText(d.duration[i]!)}${bytes}`,
            ];
          },
        );
      this.#y += shown * rowHeight + 6;
    }
  }

  /** Where a wait held the stream, a dashed line with a foot. */
  #held(stream: number, y: number): void {
    const { marks: m } = this.#trace;
    let covered = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < m.length; i++) {
      if (m.stream[i] !== stream || markKinds[m.kind[i]!] !== 'wait') continue;
      if (m.deviceTime[i]! < 0 || !(m.blocked[i]! > 0)) continue;
      const from = Math.max(this.#left, this.#x(m.deviceTime[i]! - m.blocked[i]!));
      const to = Math.min(this.#right, this.#x(m.deviceTime[i]!));
      if (to - from < 3 || from < covered) continue;
      covered = to;
      this.#line(from, y + 2 + rowHeight / 2, to, y + 2 + rowHeight / 2, this.#palette.muted, { dashed: true });
    }
  }

  #row(
    items: Int32Array,
    columns: Intervals,
    y: number,
    height: number,
    fill: Color,
    say: (item: number) => readonly [name: string, more: string],
  ): void {
    let from = -1;
    let to = -1;
    let busy = 0;
    // Slices narrower than a pixel are gathered into one shape as long as they touch.
    const flush = () => {
      if (from >= 0)
        this.#rect(from, y, Math.max(1, to - from), height, fill, {
          opacity: 0.35 + 0.65 * Math.min(1, busy / Math.max(1, to - from)),
        });
      from = -1;
      busy = 0;
    };
    for (const item of items) {
      const start = columns.start[item]!;
      const end = start + columns.duration[item]!;
      if (end < this.#start || start > this.#end) continue;
      const left = Math.max(this.#left, this.#x(start));
      const right = Math.min(this.#right, this.#x(end));
      if (right - left >= 2) {
        flush();
        const [name, more] = say(item);
        this.#rect(left, y, right - left - 0.5, height, fill, { title: `${name}\n${more}` });
        const text = fitted(name, right - left - 6);
        if (text)
          this.#shapes.push({ kind: 'text', x: left + 3, y: y + height / 2 + 5, text, color: this.#palette.onStream });
        continue;
      }
      if (from >= 0 && left - to > 1) flush();
      if (from < 0) from = left;
      to = Math.max(to, right, from + 1);
      busy += right - left;
    }
    flush();
  }

  /** From the record to the wait that it releases; of very many only those of the longest waits. */
  #edges(): void {
    const { marks: m } = this.#trace;
    const waits: number[] = [];
    for (let i = 0; i < m.length; i++)
      if (markKinds[m.kind[i]!] === 'wait' && m.other[i]! >= 0 && m.stream[i] !== m.stream[m.other[i]!]) waits.push(i);
    waits.sort((a, b) => m.blocked[b]! - m.blocked[a]! || a - b);
    for (const wait of waits.slice(0, mostEdges)) {
      const record = m.other[wait]!;
      const [from, to] = [record, wait].map((mark) =>
        m.deviceTime[mark]! >= 0 ? m.deviceTime[mark]! : m.hostTime[mark]!,
      ) as [number, number];
      const y1 = this.#middles.get(m.stream[record]!);
      const y2 = this.#middles.get(m.stream[wait]!);
      if (y1 === undefined || y2 === undefined || to < this.#start || from > this.#end || from < 0) continue;
      const x1 = Math.max(this.#left, this.#x(from));
      const x2 = Math.min(this.#right, Math.max(x1, this.#x(to)));
      this.#line(x1, y1, x2, y2, this.#palette.foreground, { arrow: true, dashed: m.inferred[wait] === 1 });
    }
  }

  #hosts(): void {
    const { hostSlices: h, threads, strings } = this.#trace;
    for (let from = 0; from < h.length; ) {
      const thread = h.thread[from]!;
      let to = from;
      while (to < h.length && h.thread[to] === thread) to++;
      const items = Int32Array.from({ length: to - from }, (_, i) => from + i);
      const rows = splitRows(items, packNested(items, h)).slice(0, mostHostRows);
      const y = this.#y;
      this.#label(threads[thread]?.name || `thread ${thread}`, y, hostRowHeight);
      for (const [row, list] of rows.entries())
        this.#row(list, h, y + row * hostRowHeight, hostRowHeight - 1, this.#palette.host, (i) => [
          strings[h.name[i]!] ?? '',
          timeText(h.duration[i]!),
        ]);
      this.#y += rows.length * hostRowHeight + 6;
      from = to;
    }
  }

  #totals(): void {
    const { counters: c } = this.#trace;
    const devices = [...new Set(c.device ?? (c.length > 0 ? [0] : []))];
    for (const device of devices) {
      const columns = Math.ceil(this.#right - this.#left);
      const allocated = new Float64Array(columns).fill(-1);
      const held = new Float64Array(columns).fill(-1);
      let highest = 0;
      let [bytes, back] = [0, 0];
      let at = 0;
      // The peak of each pixel column; a column without a change keeps the value before it.
      const fillTo = (column: number) => {
        for (; at < Math.min(column, columns); at++) {
          allocated[at] = Math.max(allocated[at]!, bytes);
          held[at] = Math.max(held[at]!, back);
        }
      };
      for (let i = 0; i < c.length; i++) {
        if ((c.device?.[i] ?? 0) !== device) continue;
        const column = Math.floor(this.#x(c.time[i]!) - this.#left);
        fillTo(column);
        bytes = Math.max(0, c.allocated[i]!);
        back = Math.max(0, c.heldBack[i]!);
        if (column < 0 || column >= columns) continue;
        allocated[column] = Math.max(allocated[column]!, bytes);
        held[column] = Math.max(held[column]!, back);
        highest = Math.max(highest, bytes + back);
      }
      fillTo(columns);
      for (let i = 0; i < columns; i++) highest = Math.max(highest, allocated[i]! + Math.max(0, held[i]!));
      if (highest === 0) continue;
      const y = this.#y;
      this.#label(devices.length > 1 ? `Allocated, GPU ${device}` : 'Allocated', y, 16);
      this.#shapes.push({
        kind: 'text',
        x: margin,
        y: y + 30,
        text: `peak ${sizeText(highest).replaceAll('\u202f', ' ')}`,
        color: this.#palette.muted,
      });
      this.#steps(allocated, highest, y, 0, this.#palette.allocated);
      this.#steps(held, highest, y, allocated, this.#palette.heldBack);
      this.#line(this.#left, y + totalsHeight, this.#right, y + totalsHeight, this.#palette.line);
      this.#y += totalsHeight + 8;
    }
  }

  /** Equal neighbours are one shape. */
  #steps(values: Float64Array, highest: number, y: number, under: Float64Array | 0, fill: Color): void {
    const below = (i: number) => (under === 0 ? 0 : Math.max(0, under[i]!));
    for (let i = 0; i < values.length; ) {
      let to = i + 1;
      while (to < values.length && values[to] === values[i] && below(to) === below(i)) to++;
      if (values[i]! > 0) {
        const height = (values[i]! / highest) * totalsHeight;
        const foot = (below(i) / highest) * totalsHeight;
        this.#rect(this.#left + i, y + totalsHeight - foot - height, to - i, height, fill, { opacity: 0.8 });
      }
      i = to;
    }
  }

  #words(): void {
    const { error, warning, hint, foreground, muted } = this.#palette;
    const colors = { error, warning, hint };
    const room = this.#width - 2 * margin;
    this.#y += 4;
    const order = byUrgency(this.#hazards);
    for (const [i, index] of order.slice(0, mostFindings).entries()) {
      const hazard = this.#hazards[index]!;
      const place = hazard.at.file ? `${hazard.at.file}:${hazard.at.line}` : 'place not known';
      const times = hazard.count > 1 ? `, ${hazard.count} times` : '';
      this.#text(margin, `${i + 1}  ${hazard.code}, ${hazard.status}${times}  ${place}`, colors[severityOf(hazard)], {
        bold: true,
      });
      for (const line of wrapped(hazard.message, room)) this.#text(margin, line, foreground);
    }
    if (order.length > mostFindings)
      this.#text(margin, `${order.length - mostFindings} more findings are not listed here.`, foreground);
    for (const limit of this.#trace.limits)
      for (const line of wrapped(`Cannot tell: ${limit}`, room)) this.#text(margin, line, muted);
  }

  #label(text: string, y: number, height: number, color?: Color): void {
    if (color) this.#rect(margin, y + height / 2 - 3, 8, 8, color);
    const x = color ? margin + 13 : margin;
    this.#shapes.push({
      kind: 'text',
      x,
      y: y + height / 2 + 5,
      text: fitted(text, header - x - 4),
      color: this.#palette.foreground,
    });
  }

  #band(y: number, height: number): void {
    this.#rect(this.#left, y, this.#right - this.#left, height, this.#palette.band);
  }

  #rect(
    x: number,
    y: number,
    width: number,
    height: number,
    fill: Color,
    more: { opacity?: number; title?: string } = {},
  ): void {
    if (width > 0 && height > 0) this.#shapes.push({ kind: 'rect', x, y, width, height, fill, ...more });
  }

  #line(
    x1: number,
    y1: number,
    x2: number,
    y2: number,
    color: Color,
    more: { dashed?: boolean; arrow?: boolean } = {},
  ): void {
    this.#shapes.push({ kind: 'line', x1, y1, x2, y2, color, ...more });
  }
}

/** What comes long before the first kernel (imports, warm-up of the recorder) would leave the picture empty. */
function startOfWork({ deviceSlices: d, hostSlices: h, marks: m, blocks: b, duration }: Trace): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { length, times } of [
    { length: d.length, times: d.start },
    { length: h.length, times: h.start },
    { length: m.length, times: m.hostTime },
    { length: b.length, times: b.allocated },
  ])
    for (let i = 0; i < length; i++) if (times[i]! >= 0 && times[i]! < first) first = times[i]!;
  return Number.isFinite(first) && first < duration ? Math.max(0, first - (duration - first) * 0.01) : 0;
}

/** 1, 2 or 5 times a power of ten, at least `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= least) return power * factor;
  return power * 10;
}
