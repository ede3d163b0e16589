/**
 * Device times of records and waits, worked out from the neighbours, where the recorder has not measured them.
 *
 *     copy     ███ upload ███●record
 *     compute  ██ k0 ██░░░░░░│wait ends, ██ k1 ██
 *              blocked ↑^^^^^^
 *
 * A record is reached when the work submitted to its stream before it is done. A wait ends when its stream has come to
 * it, the host has issued it, and the record is reached; what the record adds to that is the time it blocked. A step that
 * is captured into a graph does not run and gets no time. What is measured already is left as it is.
 */
import { hostWaitMark, recordMark, type TraceDraft, waitMark } from './draft.ts';

export function workOutMarkTimes(draft: TraceDraft): void {
  const { steps, device, marks, stepTime } = draft;
  if (device.length === 0) return;

  const { first, last } = spansOf(draft);
  const following = followingWork(draft, first);
  const markOfStep = marksByStep(draft);
  const ready = new Float64Array(draft.programStreams.length).fill(-1);
  const capturing = new Map<number, number>();
  const captured = capturedStreams();

  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    if (captured(i)) continue;
    if (step.kind === 'launch' || step.kind === 'replay') {
      ready[step.stream] = Math.max(ready[step.stream]!, last[i]!);
      continue;
    }
    const mark = markOfStep[i]!;
    if (mark < 0) continue;
    const issued = stepTime.get(i);
    if (step.kind === 'record' && marks.kind.get(mark) === recordMark) {
      if (marks.deviceTime.get(mark) < 0) {
        const reached = Math.max(ready[step.stream]!, issued);
        if (reached >= 0) marks.deviceTime.set(mark, reached);
      }
    } else if (step.kind === 'wait' && marks.kind.get(mark) === waitMark) {
      const come = Math.max(ready[step.stream]!, issued);
      const record = marks.other.get(mark);
      const reached = record >= 0 ? marks.deviceTime.get(record) : -1;
      if (marks.deviceTime.get(mark) < 0 && come >= 0) {
        let end = Math.max(come, reached);
        // The clocks of host and device differ by a little: the next work bounds the wait.
        if (following[i]! >= 0) end = Math.min(end, following[i]!);
        marks.deviceTime.set(mark, end);
        if (marks.blocked.get(mark) < 0 && reached >= 0) marks.blocked.set(mark, Math.max(0, end - come));
      }
      ready[step.stream] = Math.max(ready[step.stream]!, marks.deviceTime.get(mark));
    } else if (step.kind === 'hostWait' && marks.kind.get(mark) === hostWaitMark) {
      const blocked = marks.blocked.get(mark);
      if (marks.deviceTime.get(mark) < 0 && issued >= 0 && blocked >= 0) marks.deviceTime.set(mark, issued + blocked);
    }
  }

  /** Whether step i belongs to a capture: on the capturing stream, or on one that was forked from it by a wait. */
  function capturedStreams(): (i: number) => boolean {
    const eventStream = new Map<number, number>();
    return (i) => {
      const step = steps[i]!;
      switch (step.kind) {
        case 'captureBegin':
          capturing.set(step.stream, step.graph);
          return true;
        case 'captureEnd':
          for (const [stream, graph] of capturing) if (graph === step.graph) capturing.delete(stream);
          return true;
        case 'record':
          if (capturing.has(step.stream)) eventStream.set(step.event, capturing.get(step.stream)!);
          else eventStream.delete(step.event);
          return capturing.has(step.stream);
        case 'wait': {
          const graph = eventStream.get(step.event);
          if (graph !== undefined && capturing.size > 0) capturing.set(step.stream, graph);
          return capturing.has(step.stream);
        }
        case 'launch':
          return capturing.has(step.stream);
        default:
          return false;
      }
    };
  }
}

/** When the work of each step begins and ends on the device, -1: it has none. */
function spansOf({ steps, device }: TraceDraft): { readonly first: Float64Array; readonly last: Float64Array } {
  const first = new Float64Array(steps.length).fill(-1);
  const last = new Float64Array(steps.length).fill(-1);
  for (let row = 0; row < device.length; row++) {
    const step = device.step.get(row);
    if (step < 0) continue;
    const start = device.start.get(row);
    const end = start + device.duration.get(row);
    if (first[step]! < 0 || start < first[step]!) first[step] = start;
    if (end > last[step]!) last[step] = end;
  }
  return { first, last };
}

/** For each wait the start of the next work on its stream, seen from the end; -1: none. */
function followingWork({ steps, programStreams }: TraceDraft, first: Float64Array): Float64Array {
  const following = new Float64Array(steps.length).fill(-1);
  const nextOnStream = new Float64Array(programStreams.length).fill(-1);
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i]!;
    if (step.kind === 'wait') following[i] = nextOnStream[step.stream]!;
    else if ((step.kind === 'launch' || step.kind === 'replay') && first[i]! >= 0)
      nextOnStream[step.stream] = first[i]!;
  }
  return following;
}

function marksByStep({ steps, marks }: TraceDraft): Int32Array {
  const markOf = new Int32Array(steps.length).fill(-1);
  for (let mark = 0; mark < marks.length; mark++) {
    const step = marks.step.get(mark);
    if (step >= 0) markOf[step] = mark;
  }
  return markOf;
}
