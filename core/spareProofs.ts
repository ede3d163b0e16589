/**
 * Why a call can go: what makes its order without it, or that nothing relies on that order. Silence is never a proof; that
 * no race comes up without the call is asked elsewhere.
 */
import { chosenDevice } from './hazards/redundant-waits.ts';
import { Clocks } from './order/clocks.ts';
import type { EventId, Step, StepIndex, StreamId, StreamProgram } from './program/program.ts';
import { recordOf } from './rules/rule.ts';
import { frameNames } from './rules/source-names.ts';
import { type Found, frameOf, type Subject } from './spareSubject.ts';

export interface Proof {
  readonly text: string;
  readonly by: readonly StepIndex[];
}

/** Why the wait at `at` can go: what covers it before or after, or that nothing relies on it. */
export function unwaited(
  subject: Subject,
  program: StreamProgram,
  left: Found,
  gone: readonly StepIndex[],
  at: StepIndex,
): Proof | undefined {
  const removed = subject.steps[at]!;
  if (removed.kind !== 'wait' && removed.kind !== 'hostWait') return undefined;
  const names = namesAt(subject, at);
  const waiter = removed.kind === 'wait' ? names.stream(removed.stream) : 'the host';
  const cover = coverOf(subject, program, at);
  if (cover === 'no-work') return undefined;
  if (cover === 'same-stream' && removed.kind === 'wait') {
    // Whose the default stream is depends on the caller.
    if (subject.path.program.streams[removed.stream]!.isDefault || removed.chosenDevice !== undefined) return undefined;
    return { text: `${waiter} waits for itself: one stream's work is in order as it is`, by: [] };
  }
  if (cover !== 'never' && cover !== 'same-stream') {
    const by = cover.waits.filter((wait) => wait < subject.own && !gone.includes(wait));
    if (by.some((wait) => chosenDevice(subject.steps[wait]!) !== removed.chosenDevice)) return undefined;
    if (!by.length || !by.every((wait) => sameRun(subject.path.program, at, wait))) return undefined;
    if (isBlind(subject, Math.min(at, ...by), Math.max(at, ...by))) return undefined;
    return cover.before
      ? { text: `${waiter} is after the same work already: %`, by }
      : { text: `nothing relies on it before the same order is made by %`, by };
  }
  if (isBlind(subject, 0, subject.own)) return undefined;
  if (removed.kind === 'hostWait') {
    // What the host waits for can be meant for more than this program shows, unless streams wait for the same.
    if (removed.on.kind === 'device') return undefined;
    const awaited = awaitedBy(subject.steps, at);
    const by = subject.steps.flatMap((step, wait) => {
      if (wait < at || wait >= subject.own || !left.relied[wait]) return [];
      if (step.kind !== 'wait' || step.chosenDevice !== removed.chosenDevice) return [];
      return awaitedBy(subject.steps, wait) === awaited ? [wait] : [];
    });
    if (!by.length || !by.every((wait) => sameRun(subject.path.program, at, wait))) return undefined;
    return { text: `the host touches nothing that it waits for here, and streams are ordered by %`, by };
  }
  if (leavesOpen(subject, removed.stream)) return undefined;
  return { text: `nothing that ${waiter} does after it uses what it waits for, or reuses its memory`, by: [] };
}

/** Why the record_stream at `at` can go. */
export function unrecorded(subject: Subject, at: StepIndex): Proof | undefined {
  const { steps, path, own } = subject;
  const call = steps[at]!;
  if (call.kind !== 'recordStream') return undefined;
  const { block, stream } = call;
  const names = namesAt(subject, at);
  const allocation = steps.findLastIndex((step, i) => i < at && step.kind === 'allocate' && step.block === block);
  const allocated = steps[allocation];
  if (allocated?.kind !== 'allocate') return undefined;
  if (allocated.stream === stream) {
    if (path.program.streams[stream]!.isDefault) return undefined;
    return {
      text: `${names.block(block)} was allocated on ${names.stream(stream)}: its memory goes back to that stream's pool, in order`,
      by: [],
    };
  }
  const release = steps.findIndex((step, i) => i > at && step.kind === 'release' && step.block === block);
  // What outlives the entry is its caller's, and whoever drops it may not wait.
  if (release < 0 || release >= own) return undefined;
  if (steps.some((step) => step.kind === 'escape' && step.block === block)) return undefined;
  if (isBlind(subject, allocation, release)) return undefined;
  const use = steps.findLastIndex(
    (step, i) =>
      i < release && step.kind === 'launch' && step.stream === stream && step.accesses.some((a) => a.block === block),
  );
  if (use < 0) return undefined;
  for (let i = use + 1; i < release; i++) {
    const step = steps[i]!;
    const joins =
      (step.kind === 'wait' && step.stream === allocated.stream && awaitedBy(steps, i) === stream) ||
      (step.kind === 'hostWait' &&
        (step.on.kind === 'device' || (step.on.kind === 'stream' && step.on.stream === stream)));
    if (!joins || !frameOf(path.program, i)) continue;
    const who = step.kind === 'wait' ? names.stream(allocated.stream) : 'the host';
    return {
      text: `${who} waits for ${names.stream(stream)} before ${names.block(block)} is dropped: %`,
      by: [i],
    };
  }
  return undefined;
}

/** Whether both steps lie in one call of the entry: what its object went through before may go another way. */
function sameRun({ steps, origins }: StreamProgram, a: StepIndex, b: StepIndex): boolean {
  const [first, second] = [a, b].map((at) => origins[steps[at]!.origin]);
  if (first?.kind !== 'source' || second?.kind !== 'source') return false;
  return first.frames.length > 0 && first.frames[0]!.activation === second.frames[0]?.activation;
}

/** The stream that a wait is for; undefined for a device. */
export function awaitedBy(steps: readonly Step[], at: StepIndex): StreamId | undefined {
  const step = steps[at]!;
  if (step.kind === 'hostWait' && step.on.kind === 'stream') return step.on.stream;
  const taken = recordOf(steps, at);
  const record = taken === undefined ? undefined : steps[taken];
  return record?.kind === 'record' ? record.stream : undefined;
}

/** Whether the path ends while tensors live: whoever has them may queue more on this stream. */
function leavesOpen(subject: Subject, stream: StreamId): boolean {
  const { isDefault } = subject.path.program.streams[stream]!;
  return isDefault && subject.steps.length > subject.own;
}

type Cover = 'no-work' | 'same-stream' | 'never' | { readonly before: boolean; readonly waits: readonly StepIndex[] };

/** What makes the order of the wait at `removed` in a program that lacks it. */
function coverOf(subject: Subject, left: StreamProgram, removed: StepIndex): Cover {
  const step = subject.steps[removed]!;
  if (step.kind !== 'wait' && step.kind !== 'hostWait') return 'never';
  const n = left.streams.length;
  // The probe's events are kept to the end, so that they can be asked.
  const probe = left.events.length;
  const clocks = new Clocks({
    streams: n,
    threads: left.threads.length,
    events: probe + n,
    lastWait: new Int32Array(probe + n).fill(left.steps.length),
  });
  const work = new Int32Array(n).fill(-1);
  let probes: readonly { readonly event: EventId; readonly stream: StreamId }[] | undefined;
  let done: Int32Array | undefined;
  const covering = (): StepIndex[] | undefined => {
    const waits: StepIndex[] = [];
    for (const { event, stream } of probes!) {
      const last = (of: StreamId): StepIndex => done![of]!;
      if (step.kind === 'wait' && clocks.streamCovers(step.stream, event, last))
        waits.push(...clocks.waitsOfStream(step.stream, stream));
      else if (clocks.hostCovers(step.thread, event, last)) waits.push(...clocks.waitsOfHost(step.thread, stream));
      else return undefined;
    }
    return [...new Set(waits)];
  };
  /** Per event the last work of each stream at its record. */
  const doneAt = new Map<EventId, Int32Array>();
  for (let i = 0; i < left.steps.length; i++) {
    if (i === removed) {
      const on = step.kind === 'wait' ? ({ kind: 'event', event: step.event } as const) : step.on;
      if (on.kind === 'event') {
        const stream = clocks.recordOf(on.event) < 0 ? -1 : clocks.recordStreamOf(on.event);
        done = doneAt.get(on.event);
        if (stream < 0 || !done || done[stream]! < 0) return 'no-work';
        if (step.kind === 'wait' && stream === step.stream) return 'same-stream';
        probes = [{ event: on.event, stream }];
      } else {
        const own = left.streams.flatMap(({ device }, stream) =>
          (on.kind === 'stream' ? stream === on.stream : device < 0 || on.device < 0 || device === on.device) &&
          work[stream]! >= 0
            ? [stream]
            : [],
        );
        if (!own.length) return 'no-work';
        done = work.slice();
        probes = own.map((stream) => {
          clocks.record(probe + stream, stream, step.thread, i);
          return { event: probe + stream, stream };
        });
      }
      const waits = covering();
      if (waits) return { before: true, waits };
      continue;
    }
    const now = left.steps[i]!;
    switch (now.kind) {
      case 'launch':
        clocks.issue(now.stream, now.thread, i);
        if (!now.before) work[now.stream] = i;
        break;
      case 'allocate':
        work[now.stream] = i;
        break;
      case 'record':
        // A wait is bound to the record that it saw: what follows says nothing about it.
        if (probes?.some(({ event }) => event === now.event)) return 'never';
        clocks.record(now.event, now.stream, now.thread, i);
        doneAt.set(now.event, work.slice());
        break;
      case 'wait':
        clocks.wait(now.stream, now.event, now.thread, i);
        break;
      case 'hostWait':
        if (now.on.kind === 'event') clocks.hostWaitEvent(now.thread, now.on.event, i);
        else
          for (let stream = 0; stream < n; stream++) {
            const { device } = left.streams[stream]!;
            const { on } = now;
            if (on.kind === 'stream' ? stream !== on.stream : on.device >= 0 && device >= 0 && device !== on.device)
              continue;
            clocks.hostWaitStream(now.thread, stream, i);
          }
        break;
      default:
    }
    if (probes && i < subject.own && (now.kind === 'wait' || now.kind === 'hostWait')) {
      const waits = covering();
      if (waits) return { before: false, waits };
    }
  }
  return 'never';
}

function namesAt(subject: Subject, at: StepIndex): ReturnType<typeof frameNames> {
  const frame = frameOf(subject.path.program, at);
  return frameNames(subject.path, frame?.activation ?? 0, at);
}

/** Whether code that nobody sees runs between two steps; what comes after all work of the entry is its caller's. */
function isBlind({ path, steps, own }: Subject, from: StepIndex, to: StepIndex): boolean {
  const last = steps.findLastIndex((step, at) => at < own && step.kind === 'launch');
  const isUnseen = (step: Step, at: StepIndex) => step.kind === 'outside' && at > from && at < Math.min(to, last);
  return (path.program.blind ?? []).some((at) => at > from && at <= to) || steps.some(isUnseen);
}
