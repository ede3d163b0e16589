/**
 * Waits that could go without any order being lost in this run, and what they cost. Two grades: `implied`, where the order
 * is there without it, through other waits; `unused`, where the order is lost but nothing that was recorded needs it (only
 * where accesses are recorded). One run says nothing of other runs: this is where to look, not what to delete.
 */
import { examine } from '../hazards/find.ts';
import { Clocks } from '../order/clocks.ts';
import type { Step, StepIndex, StreamProgram } from '../program/program.ts';
import { markKinds, type Trace, type TracePlace } from '../trace/trace.ts';
import { placeOfSite, placeOfStep } from './place.ts';

export interface SpareWait {
  readonly why: 'implied' | 'unused';
  readonly kind: 'wait' | 'hostWait';
  /** The waiting stream, -1 for the host. */
  readonly stream: number;
  readonly at: TracePlace;
  readonly count: number;
  /** Nanoseconds for which they held up their stream, or the host. */
  readonly blocked: number;
  /** The first of them. */
  readonly mark: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The most costly first. Only places all of whose waits could go: a loop that needs one of them needs its line. */
export function spareWaitsOf(trace: Trace): SpareWait[] {
  const { marks: m, program } = trace;
  const implied = impliedWaits(program);
  const known = program.steps.some((step) => step.kind === 'launch' && step.accesses.length > 0);
  const relied = known ? examine(program).relied : undefined;
  const groups = new Map<string, Mutable<SpareWait> & { needed: boolean }>();
  for (let mark = 0; mark < m.length; mark++) {
    const kind = markKinds[m.kind[mark]!]!;
    const step = m.step[mark]!;
    if (kind === 'record' || m.implicit[mark] === 1) continue;
    const stream = kind === 'wait' ? m.stream[mark]! : -1;
    const own = placeOfStep(trace, step);
    const at = own.file ? own : placeOfSite(trace, m.site[mark]!);
    const why =
      step < 0 ? undefined : implied.has(step) ? 'implied' : relied && relied[step] === 0 ? 'unused' : undefined;
    // What the host waits for it may use in ways that no recording sees: printing, timing, ending.
    const needed = why === undefined || (kind === 'hostWait' && why === 'unused');
    // Without a place each wait stands for itself.
    const key = at.file ? `${kind} ${stream} ${at.file}:${at.line}` : `${mark}`;
    const blocked = Math.max(0, m.blocked[mark]!);
    const group = groups.get(key);
    if (!group) groups.set(key, { why: why ?? 'unused', kind, stream, at, count: 1, blocked, mark, needed });
    else {
      group.count++;
      group.blocked += blocked;
      group.needed ||= needed;
      if (why === 'unused') group.why = 'unused';
    }
  }
  return [...groups.values()]
    .filter((group) => !group.needed)
    .map(({ needed: _, ...wait }) => wait)
    .sort((a, b) => b.blocked - a.blocked || a.mark - b.mark);
}

/** Steps that wait for what their stream, or the host, comes after already. */
function impliedWaits({ steps, streams, threads, events }: StreamProgram): Set<StepIndex> {
  const lastWait = new Int32Array(events.length).fill(-1);
  for (const [i, step] of steps.entries()) {
    const event = eventOf(step);
    if (event >= 0) lastWait[event] = i;
  }
  const clocks = new Clocks({ streams: streams.length, threads: threads.length, events: events.length, lastWait });
  const work = new Int32Array(streams.length).fill(-1);
  const done = (stream: number): StepIndex => work[stream]!;
  const workAtRecord = new Int32Array(events.length).fill(-1);
  const result = new Set<StepIndex>();
  let capturing = 0;
  for (const [i, step] of steps.entries()) {
    if (step.kind === 'captureBegin') capturing++;
    else if (step.kind === 'captureEnd') capturing = Math.max(0, capturing - 1);
    // What is captured does not run, and its waits are the graph's edges.
    if (capturing > 0) continue;
    switch (step.kind) {
      case 'launch':
      case 'replay':
        clocks.issue(step.stream, step.thread, i);
        work[step.stream] = i;
        break;
      case 'allocate':
        work[step.stream] = i;
        break;
      case 'record':
        clocks.record(step.event, step.stream, step.thread, i);
        workAtRecord[step.event] = work[step.stream]!;
        break;
      case 'wait': {
        const from = clocks.recordOf(step.event) < 0 ? -1 : clocks.recordStreamOf(step.event);
        const until = workAtRecord[step.event]!;
        if (
          from >= 0 &&
          !events[step.event]!.unknown &&
          (from === step.stream ||
            until < 0 ||
            (clocks.streamAfter(step.stream, from, until) && clocks.streamCovers(step.stream, step.event, done)) ||
            (clocks.hostAfter(step.thread, from, until) && clocks.hostCovers(step.thread, step.event, done)))
        )
          result.add(i);
        clocks.wait(step.stream, step.event, step.thread, i);
        break;
      }
      case 'hostWait':
      case 'poll': {
        const { on, thread } = step;
        if (on.kind === 'event') clocks.hostWaitEvent(thread, on.event, i);
        else
          for (let stream = 0; stream < streams.length; stream++)
            if (on.kind === 'stream' ? stream === on.stream : on.device < 0 || streams[stream]!.device === on.device)
              clocks.hostWaitStream(thread, stream, i);
        break;
      }
      case 'fork':
        clocks.fork(step.thread, step.child);
        break;
      case 'join':
        clocks.join(step.thread, step.child);
        break;
    }
  }
  return result;
}

function eventOf(step: Step): number {
  if (step.kind === 'wait') return step.event;
  return (step.kind === 'hostWait' || step.kind === 'poll') && step.on.kind === 'event' ? step.on.event : -1;
}
