/**
 * When a device had nothing to do between its first and its last work, and what the host was at meanwhile: the innermost
 * slice of the host that covers most of the gap.
 */
import { hostSliceKinds, type Trace, type TracePlace } from '../trace/trace.ts';
import { busyOf, lengthOf, type Stretches, union } from './intervals.ts';
import { placeOfSite } from './place.ts';

export interface Gap {
  readonly device: number;
  readonly start: number;
  readonly end: number;
  /** Host slice, -1: nothing was recorded. */
  readonly slice: number;
  readonly name: string;
  readonly at: TracePlace;
}

export interface Idle {
  readonly device: number;
  /** Nanoseconds from its first to its last work, and how much of that nothing ran. */
  readonly span: number;
  readonly idle: number;
  /** The longest first. */
  readonly gaps: readonly Gap[];
}

const mostGaps = 20;

export function idleOf(trace: Trace): Idle[] {
  const busy = busyOf(trace);
  const ofDevice = new Map<number, Stretches[]>();
  for (const [stream, { device }] of trace.streams.entries()) {
    const known = ofDevice.get(device);
    if (known) known.push(busy[stream]!);
    else ofDevice.set(device, [busy[stream]!]);
  }
  const devices = [...ofDevice.keys()].sort((a, b) => a - b);
  return devices.flatMap((device): Idle[] => {
    const work = union(ofDevice.get(device)!);
    const count = work.start.length;
    if (count === 0) return [];
    const span = work.end[count - 1]! - work.start[0]!;
    const places = Array.from({ length: count - 1 }, (_, i) => i)
      .sort((a, b) => work.start[b + 1]! - work.end[b]! - (work.start[a + 1]! - work.end[a]!) || a - b)
      .slice(0, mostGaps);
    const gaps = places.map((i): Gap => {
      const [start, end] = [work.end[i]!, work.start[i + 1]!];
      const slice = hostDuring(trace, start, end);
      const site = slice < 0 ? -1 : trace.hostSlices.site[slice]!;
      const name = slice < 0 ? '' : (trace.strings[trace.hostSlices.name[slice]!] ?? '');
      return { device, start, end, slice, name, at: placeOfSite(trace, site) };
    });
    return [{ device, span, idle: span - lengthOf(work), gaps }];
  });
}

/** Of all that the host did in that time, the shortest slice that covers at least half of it. */
function hostDuring({ hostSlices: h }: Trace, start: number, end: number): number {
  let best = -1;
  let length = Number.POSITIVE_INFINITY;
  for (let from = 0; from < h.length; ) {
    const thread = h.thread[from]!;
    let to = from;
    while (to < h.length && h.thread[to] === thread) to++;
    // What begins after the gap cannot cover it; slices of a thread are sorted by their starts.
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (h.start[middle]! < end) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= from && i >= low - deepest; i--) {
      const covered = Math.min(end, h.start[i]! + h.duration[i]!) - Math.max(start, h.start[i]!);
      if (covered * 2 < end - start || h.duration[i]! >= length || hostSliceKinds[h.kind[i]!] === 'annotation')
        continue;
      best = i;
      length = h.duration[i]!;
    }
    from = to;
  }
  return best;
}

/** So many slices before the end of a gap are looked at: the frames of a deep stack, and what ended since. */
const deepest = 2000;
