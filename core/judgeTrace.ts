/**
 * The trace pipeline: a recorded run → hazards of its stream program → words, grouped, and compared with the times that
 * were measured. Order is by submission; times only tell whether it went wrong in this run.
 *
 * A trace that does not know accesses gives no hazards: what was not recorded is never guessed.
 */
import { examine } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import type { BlockId, StepIndex, StreamProgram } from './program/program.ts';
import { type WordedHazard, wordHazard } from './rules/index.ts';
import type { Trace, TraceHazard, TracePlace } from './trace/trace.ts';

export interface JudgedHazard {
  /** The one of its repeats that is shown. */
  readonly hazard: Hazard;
  readonly told: TraceHazard;
}

/** By the place where each shows first. */
export function judgeTrace(trace: Trace): TraceHazard[] {
  return judge(trace).map(({ told }) => told);
}

/** The same with the facts of each: its steps. */
export function judge(trace: Trace): JudgedHazard[] {
  if (trace.accesses === false || !knowsAccesses(trace.program)) return [];
  const { program } = trace;
  const run = new MeasuredRun(trace);
  const groups = new Map<string, Group>();
  for (const hazard of examine(program).hazards) {
    // One run cannot tell that a call changes nothing on every execution: that is advice for source.
    if (hazard.kind === 'redundant-record-stream' || hazard.kind === 'redundant-sync') continue;
    if (hazard.kind === 'lifetime' && run.heldBackUnseen(hazard)) continue;
    const words = wordHazard(hazard, program);
    if (!words) continue;
    const key = groupKey(program, hazard, words);
    const confirmed = run.wentWrong(hazard);
    const group = groups.get(key);
    if (!group) groups.set(key, { hazard, words, confirmed, count: 1 });
    else {
      group.count++;
      // What is shown is a time at which it went wrong, if there is one.
      if (confirmed && !group.confirmed) Object.assign(group, { hazard, words, confirmed });
    }
  }
  return [...groups.values()].map((group) => ({ hazard: group.hazard, told: tell(trace, run, group) }));
}

interface Group {
  hazard: Hazard;
  words: WordedHazard;
  confirmed: boolean;
  count: number;
}

function knowsAccesses(program: StreamProgram): boolean {
  return program.steps.some(
    (step) => (step.kind === 'launch' && step.accesses.length > 0) || step.kind === 'hostAccess',
  );
}

function tell(trace: Trace, run: MeasuredRun, { hazard, words, confirmed, count }: Group): TraceHazard {
  const { program } = trace;
  const [first, second] = run.stepsOf(hazard);
  const firstSlice = run.sliceOf(first);
  const secondSlice = run.sliceOf(second);
  const extent = run.extent([first, second, words.at]);
  return {
    code: words.rule.code,
    severity: confirmed ? 'error' : words.rule.severity,
    status: confirmed ? 'confirmed' : 'latent',
    message: words.message,
    at: placeOf(program, words.at),
    related: words.related.map(({ at, message }) => ({ ...placeOf(program, at), message })),
    count,
    firstSlice,
    secondSlice,
    block: 'block' in hazard ? run.rowOf(hazard.block) : -1,
    start: extent.start,
    end: extent.end,
  };
}

/** Equal for repeats: the same code between the same two places; without places, between the same operations. */
function groupKey(program: StreamProgram, hazard: Hazard, words: WordedHazard): string {
  const place = (at: StepIndex | undefined) => {
    if (at === undefined) return '';
    const { file, line } = placeOf(program, at);
    const step = program.steps[at]!;
    const stream = 'stream' in step ? step.stream : '';
    return file ? `${file}:${line}` : `${step.kind} ${'name' in step ? step.name : ''} ${stream}`;
  };
  const other = words.earlier ?? words.related[0]?.at;
  return [words.rule.code, hazard.kind, place(words.at), place(other)].join('\n');
}

function placeOf(program: StreamProgram, at: StepIndex): TracePlace {
  const origin = program.origins[program.steps[at]?.origin ?? -1];
  if (origin?.kind !== 'trace' || origin.file === undefined) return { file: '', line: 0 };
  return { file: origin.file, line: origin.line ?? 0 };
}

/** When the steps really ran. */
class MeasuredRun {
  readonly #trace: Trace;
  /** Per step the first device slice, -1 for none, and from when to when its slices ran. */
  readonly #slice: Int32Array;
  readonly #start: Float64Array;
  readonly #end: Float64Array;
  readonly #firstAccess: Int32Array;
  readonly #row: Int32Array;
  readonly #recorded = new Set<BlockId>();

  constructor(trace: Trace) {
    this.#trace = trace;
    const { program, deviceSlices, blocks } = trace;
    const steps = program.steps;
    this.#slice = new Int32Array(steps.length).fill(-1);
    this.#start = new Float64Array(steps.length).fill(-1);
    this.#end = new Float64Array(steps.length).fill(-1);
    for (let slice = 0; slice < deviceSlices.length; slice++) {
      const step = deviceSlices.step[slice]!;
      const start = deviceSlices.start[slice]!;
      if (step < 0 || step >= steps.length || start < 0) continue;
      if (this.#slice[step]! < 0 || start < this.#start[step]!) {
        this.#slice[step] = slice;
        this.#start[step] = start;
      }
      this.#end[step] = Math.max(this.#end[step]!, start + Math.max(0, deviceSlices.duration[slice]!));
    }
    this.#row = new Int32Array(program.blocks.length).fill(-1);
    for (let row = 0; row < blocks.length; row++) {
      const block = blocks.programBlock[row]!;
      if (block >= 0) this.#row[block] = row;
    }
    this.#firstAccess = new Int32Array(program.blocks.length).fill(-1);
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!;
      if (step.kind === 'recordStream') this.#recorded.add(step.block);
      else if (step.kind === 'launch')
        for (const { block } of step.accesses) if (this.#firstAccess[block]! < 0) this.#firstAccess[block] = i;
    }
  }

  sliceOf(step: StepIndex): number {
    return step < 0 ? -1 : this.#slice[step]!;
  }

  rowOf(block: BlockId): number {
    return this.#row[block]!;
  }

  /** The earlier and the later step that the hazard is about, -1 for none. */
  stepsOf(hazard: Hazard): readonly [first: StepIndex, second: StepIndex] {
    switch (hazard.kind) {
      case 'order':
      case 'host':
        return [hazard.first, hazard.second];
      case 'lifetime':
        return [hazard.use, hazard.nextBlock === undefined ? hazard.reuse : this.#firstAccess[hazard.nextBlock]!];
      case 'unjoined':
        return [hazard.write, hazard.escape];
      case 'unrecorded':
        return [-1, hazard.wait];
      case 'reversed':
        return [hazard.record, hazard.wait];
      case 'redundant-record-stream':
        return [hazard.join ?? -1, hazard.call];
      case 'late-record-stream':
        return [hazard.use, hazard.call];
      case 'capture-unjoined':
        return [hazard.fork, hazard.end];
      case 'capture-external-event':
        return [hazard.record, hazard.wait];
      case 'capture-illegal-sync':
        return [hazard.begin, hazard.sync];
      case 'capture-record-stream':
        return [hazard.begin, hazard.call];
      case 'too-many-streams':
      case 'external-stream-zero':
        return [-1, -1];
      case 'serialized-streams':
        return [hazard.wait, hazard.next];
      case 'redundant-sync':
        return [hazard.earlier ?? -1, hazard.wait];
      case 'unused-event':
        return [-1, hazard.record];
      case 'rerecorded':
        return [hazard.lost, hazard.record];
    }
  }

  /** The later step began, by the clock, before the earlier one was done. Not known is no. */
  wentWrong(hazard: Hazard): boolean {
    if (hazard.kind !== 'order' && hazard.kind !== 'lifetime' && hazard.kind !== 'host') return false;
    if (hazard.kind === 'lifetime' && hazard.nextBlock === undefined) return false;
    const [first, second] = this.stepsOf(hazard);
    if (first < 0 || second < 0) return false;
    const ended = this.#end[first]!;
    const began = hazard.kind === 'host' ? this.#time(second) : this.#start[second]!;
    return ended >= 0 && began >= 0 && began < ended;
  }

  /**
   * The allocator kept the block after its release although no record_stream was seen: one that this recording cannot
   * see (the autograd engine's, a library's) covers it, unless the times prove that it did not.
   */
  heldBackUnseen(hazard: Hazard & { readonly kind: 'lifetime' }): boolean {
    const row = this.#row[hazard.block]!;
    if (row < 0 || this.#recorded.has(hazard.block) || this.wentWrong(hazard)) return false;
    const { releaseRequested, reusable } = this.#trace.blocks;
    const released = releaseRequested[row]!;
    return released >= 0 && reusable[row]! - released > clockStep;
  }

  /** What to show on the timeline: from the start of the first to the end of the last, or the host's calls. */
  extent(steps: readonly StepIndex[]): { readonly start: number; readonly end: number } {
    let start = Number.POSITIVE_INFINITY;
    let end = -1;
    const include = (from: number, to: number) => {
      if (from < 0) return;
      start = Math.min(start, from);
      end = Math.max(end, to);
    };
    for (const step of steps) if (step >= 0) include(this.#start[step]!, this.#end[step]!);
    if (end < 0) for (const step of steps) if (step >= 0) include(this.#time(step), this.#time(step));
    return end < 0 ? { start: -1, end: -1 } : { start, end };
  }

  /** The host time of the step's call, -1 if not known. */
  #time(step: StepIndex): number {
    return this.#trace.stepTime?.[step] ?? -1;
  }
}

/** The allocator's history counts microseconds: a release and its completion may be one apart. Nanoseconds. */
const clockStep = 2000;
