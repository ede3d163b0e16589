/**
 * What the panel says of a selection, as plain facts: a title, sentences, rows of a table, places in the source. How they
 * are laid out is the panel's; words of findings are the rules'.
 */
import { edgeOfMark } from '../../core/timeline/edges.ts';
import { afterHeadline, headline, plain } from '../../core/timeline/findings.ts';
import type { Target } from '../../core/timeline/hit.ts';
import { sizeText, timeNumber, timeText, unitFor } from '../../core/timeline/units.ts';
import { deviceSliceKinds, hostSliceKinds, type TraceHazard } from '../../core/trace/trace.ts';
import type { Run } from '../messages.ts';

export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface DetailRow {
  readonly label: string;
  readonly place?: Place;
  /** What the label selects. */
  readonly target?: Target;
  /** Text that goes in the host or the GPU column; `value` spans both. */
  readonly host?: string;
  readonly gpu?: string;
  readonly value?: string;
  readonly strong?: boolean;
}

export interface Details {
  readonly title: string;
  readonly note: string;
  readonly text: readonly string[];
  /** Heading of the table; with `split` it has a host and a GPU column. */
  readonly heading?: string;
  readonly split?: boolean;
  readonly rows: readonly DetailRow[];
  /** Frames of the source, innermost first. */
  readonly stack: readonly (Place & { readonly name: string })[];
  readonly related: readonly (Place & { readonly name: string })[];
  /** Step to ask the worker about; -1: none. */
  readonly step: number;
  readonly source: Place | undefined;
}

const nothing = { text: [], rows: [], stack: [], related: [], step: -1, source: undefined } as const;

export function detailsOf(run: Run, target: Target): Details {
  switch (target.kind) {
    case 'device':
      return deviceDetails(run, target.index);
    case 'host':
      return hostDetails(run, target.index);
    case 'block':
      return blockDetails(run, target.index);
    case 'held':
      return edgeDetails(run, edgeOfMark(run.timeline.edges, target.index), target.index);
    case 'edge':
      return edgeDetails(run, target.index, run.timeline.edges.wait[target.index]!);
    case 'hazard':
      return hazardDetails(run, target.index);
  }
}

/** The user's frames of a site, innermost first. A cycle in a broken file ends it. */
export function stackOf({ trace }: Run, site: number): (Place & { name: string })[] {
  const frames: (Place & { name: string })[] = [];
  const { sites, strings } = trace;
  for (let at = site; at >= 0 && at < sites.length && frames.length < 64; at = sites.parent[at]!)
    frames.push({
      file: strings[sites.file[at]!] ?? '',
      line: sites.line[at]!,
      name: strings[sites.function[at]!] ?? '',
    });
  return frames.filter((frame) => frame.file !== '');
}

/** Where a target comes from: its own site, else that of the operator that launched it. */
export function sourceOf(run: Run, target: Target): Place | undefined {
  const { trace } = run;
  const first = (...sites: (number | undefined)[]): Place | undefined => {
    for (const site of sites) {
      const place = site === undefined ? undefined : stackOf(run, site).find((frame) => frame.line > 0);
      if (place) return { file: place.file, line: place.line };
    }
    return undefined;
  };
  const { index } = target;
  switch (target.kind) {
    case 'device': {
      const launcher = trace.deviceSlices.launcher[index]!;
      return first(trace.deviceSlices.site[index], launcher >= 0 ? trace.hostSlices.site[launcher] : undefined);
    }
    case 'host':
      return first(trace.hostSlices.site[index]);
    case 'block':
      return first(trace.blocks.allocationSite[index], trace.blocks.releaseSite[index]);
    case 'held':
      return first(trace.marks.site[index]);
    case 'edge':
      return first(
        trace.marks.site[run.timeline.edges.wait[index]!],
        trace.marks.site[run.timeline.edges.record[index]!],
      );
    case 'hazard': {
      const at = run.hazards[index]?.at;
      return at && at.line > 0 ? { file: at.file, line: at.line } : undefined;
    }
  }
}

/** How far back the operator around a call is looked for: what lies between are operators inside of it. */
const farthest = 10_000;

/** The host slice of the operator that is selected, or that launched what is selected; -1: none. */
export function operatorOf({ trace }: Run, { kind, index }: Target): number {
  const { hostSlices: slices } = trace;
  const call = kind === 'host' ? index : kind === 'device' ? trace.deviceSlices.launcher[index]! : -1;
  if (call < 0) return -1;
  const operator = hostSliceKinds.indexOf('operator');
  if (slices.kind[call] === operator) return call;
  if (kind === 'host') return -1;
  const end = slices.start[call]! + slices.duration[call]!;
  for (let i = call - 1; i >= Math.max(0, call - farthest) && slices.thread[i] === slices.thread[call]; i--)
    if (slices.kind[i] === operator && slices.start[i]! + slices.duration[i]! >= end) return i;
  return -1;
}

function deviceDetails(run: Run, index: number): Details {
  const { trace } = run;
  const { deviceSlices: slices } = trace;
  const start = slices.start[index]!;
  const duration = slices.duration[index]!;
  const launcher = slices.launcher[index]!;
  const rows: DetailRow[] = [
    { label: 'Stream', value: streamName(run, slices.stream[index]!) },
    { label: 'Kind', value: deviceSliceKinds[slices.kind[index]!] ?? 'kernel' },
    { label: 'From', value: timeText(start) },
    { label: 'To', value: timeText(start + duration) },
    { label: 'Duration', value: timeText(duration), strong: true },
  ];
  if (launcher >= 0) {
    const from = trace.hostSlices.start[launcher]!;
    rows.push({
      label: 'Launched by',
      value: trace.strings[trace.hostSlices.name[launcher]!] ?? '',
      target: { kind: 'host', index: launcher },
    });
    rows.push({ label: 'From launch to start', value: timeText(Math.max(0, start - from)) });
  }
  const bytes = slices.bytes[index]!;
  if (bytes >= 0) {
    rows.push({ label: 'Bytes', value: sizeText(bytes) });
    if (duration > 0) rows.push({ label: 'Rate', value: `${(bytes / duration).toFixed(1)} GB/s` });
  }
  if (slices.correlation[index]! >= 0) rows.push({ label: 'Correlation', value: `${slices.correlation[index]}` });
  const site = slices.site[index]! >= 0 ? slices.site[index]! : launcher >= 0 ? trace.hostSlices.site[launcher]! : -1;
  return {
    ...nothing,
    title: trace.strings[slices.name[index]!] || 'kernel',
    note: `${streamName(run, slices.stream[index]!)} · ${timeText(duration)}`,
    rows,
    stack: stackOf(run, site),
    step: slices.step[index]!,
    source: sourceOf(run, { kind: 'device', index }),
  };
}

function hostDetails(run: Run, index: number): Details {
  const { trace } = run;
  const { hostSlices: slices } = trace;
  const start = slices.start[index]!;
  const kind = hostSliceKinds[slices.kind[index]!] ?? 'operator';
  return {
    ...nothing,
    title: trace.strings[slices.name[index]!] || kind,
    note: `${kind === 'sync' ? 'the host waits' : kind} · ${timeText(slices.duration[index]!)}`,
    rows: [
      { label: 'Thread', value: trace.threads[slices.thread[index]!]?.name ?? '' },
      { label: 'From', value: timeText(start) },
      { label: 'To', value: timeText(start + slices.duration[index]!) },
      { label: 'Duration', value: timeText(slices.duration[index]!), strong: true },
    ],
    stack: stackOf(run, slices.site[index]!),
    source: sourceOf(run, { kind: 'host', index }),
  };
}

function blockDetails(run: Run, index: number): Details {
  const { trace, timeline } = run;
  const { blocks } = trace;
  const name = trace.strings[blocks.name[index]!] || `Block ${addressText(blocks.address[index]!)}`;
  const held = timeline.blocks.start[index]! + timeline.blocks.duration[index]! - timeline.blocks.release[index]!;
  return {
    ...nothing,
    title: name,
    note: `${sizeText(blocks.size[index]!)} · ${blocks.stream[index]! >= 0 ? `${streamName(run, blocks.stream[index]!)}’s pool` : 'pool not known'}`,
    heading: `Block ${addressText(blocks.address[index]!)}`,
    split: true,
    rows: [
      ...blockRows(run, index),
      ...(held > 0 && blocks.releaseRequested[index]! >= 0
        ? [{ label: 'Held back', value: timeText(held), strong: true }]
        : []),
    ],
    stack: stackOf(run, blocks.allocationSite[index]!),
    source: sourceOf(run, { kind: 'block', index }),
  };
}

/** The four times. Host or GPU is said at each: the host runs ahead. */
function blockRows(run: Run, index: number): DetailRow[] {
  const { blocks } = run.trace;
  const times = [
    blocks.allocated[index]!,
    blocks.releaseRequested[index]!,
    blocks.reusable[index]!,
    blocks.lastUse[index]!,
  ];
  const unit = unitFor(Math.max(...times));
  let first = true;
  const text = (time: number): string => {
    if (time < 0) return 'not known';
    const value = timeNumber(time, unit);
    const unitHere = first ? ` ${unit.name}` : '';
    first = false;
    return value + unitHere;
  };
  const stream = blocks.stream[index]! >= 0 ? ` on ${streamName(run, blocks.stream[index]!)}` : '';
  return [
    { label: `Allocated${stream}`, place: placeOf(run, blocks.allocationSite[index]!), host: text(times[0]!) },
    { label: 'Release requested', place: placeOf(run, blocks.releaseSite[index]!), host: text(times[1]!) },
    { label: 'Reusable', host: text(times[2]!) },
    {
      label: 'Last GPU use',
      gpu: times[3]! < 0 ? 'not known' : `${timeNumber(times[3]!, unit)} ${unit.name}`,
      strong: true,
    },
  ];
}

function edgeDetails(run: Run, edge: number, wait: number): Details {
  const { trace, timeline } = run;
  const { marks } = trace;
  const record = edge >= 0 ? timeline.edges.record[edge]! : -1;
  const waiting = streamName(run, marks.stream[wait]!);
  const source = record >= 0 ? streamName(run, marks.stream[record]!) : '';
  const blocked = marks.blocked[wait]!;
  const title = source ? `${waiting} waits for ${source}` : `${waiting} waits`;
  const time = (value: number): string => (value < 0 ? 'not known' : timeText(value));
  const rows: DetailRow[] = [];
  if (record >= 0) {
    rows.push({
      label: `Recorded on ${source}`,
      place: placeOf(run, marks.site[record]!),
      host: time(marks.hostTime[record]!),
      gpu: time(marks.deviceTime[record]!),
    });
  }
  rows.push({
    label: `Waited on ${waiting}`,
    place: placeOf(run, marks.site[wait]!),
    host: time(marks.hostTime[wait]!),
    gpu: time(marks.deviceTime[wait]!),
  });
  if (blocked >= 0)
    rows.push({ label: 'Held the stream', value: blocked > 0 ? timeText(blocked) : 'not at all', strong: true });
  const text: string[] = [];
  if (marks.inferred[wait] === 1)
    text.push('This edge is inferred from positions: the file does not say which record the wait belongs to.');
  if (marks.implicit[wait] === 1) text.push('Made by the framework itself, not written in the program.');
  return {
    ...nothing,
    title,
    note: marks.inferred[wait] === 1 ? 'Inferred' : 'Recorded',
    text,
    heading: 'Event',
    split: true,
    rows,
    stack: stackOf(run, marks.site[wait]!),
    source: sourceOf(run, { kind: 'held', index: wait }),
  };
}

function hazardDetails(run: Run, index: number): Details {
  const hazard = run.hazards[index]!;
  const { trace } = run;
  const title = headline(hazard.message);
  const rest = afterHeadline(hazard.message);
  const rows: DetailRow[] = [];
  let heading: string | undefined;
  if (hazard.block >= 0 && hazard.block < trace.blocks.length) {
    heading = `Block ${addressText(trace.blocks.address[hazard.block]!)}`;
    rows.push(...blockRows(run, hazard.block));
  }
  for (const [label, slice] of [
    ['First access', hazard.firstSlice],
    ['Second access', hazard.secondSlice],
  ] as const) {
    if (slice < 0 || slice >= trace.deviceSlices.length) continue;
    const name = trace.strings[trace.deviceSlices.name[slice]!] ?? '';
    const from = trace.deviceSlices.start[slice]!;
    rows.push({
      label: `${label}, ${name} on ${streamName(run, trace.deviceSlices.stream[slice]!)}`,
      target: { kind: 'device', index: slice },
      place: sourceOf(run, { kind: 'device', index: slice }),
      gpu: `${timeText(from)}`,
    });
  }
  return {
    ...nothing,
    title,
    note: statusText(hazard),
    text: rest === '' ? [] : [rest],
    heading,
    split: true,
    rows,
    related: hazard.related.map((place) => ({ file: place.file, line: place.line, name: plain(place.message) })),
    source: sourceOf(run, { kind: 'hazard', index }),
  };
}

/** Never "safe": what a run did not show may still happen. */
export function statusText(hazard: TraceHazard): string {
  const seen = hazard.status === 'confirmed' ? 'Confirmed in this run' : 'Not seen in this run';
  return hazard.count > 1 ? `${seen} · ${hazard.count} times` : seen;
}

export const addressText = (address: number): string => `0x${Math.max(0, address).toString(16)}`;

export const streamName = ({ trace }: Run, stream: number): string =>
  trace.streams[stream]?.name || (stream >= 0 ? `stream ${stream}` : 'a stream that is not known');

function placeOf(run: Run, site: number): Place | undefined {
  const frame = stackOf(run, site).find((entry) => entry.line > 0);
  return frame && { file: frame.file, line: frame.line };
}

/** `train.py:12` of a longer path. */
export const placeText = ({ file, line }: Place): string => `${file.split(/[\\/]/).pop()}${line > 0 ? `:${line}` : ''}`;
