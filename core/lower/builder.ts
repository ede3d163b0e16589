/**
 * Collects the tables and steps of one path's stream program. Work that must have happened before the entry started
 * (a parameter's producer) is put in front at the end. Knows no Python.
 */
import type {
  Access,
  BlockEntry,
  BlockId,
  EventEntry,
  EventId,
  GraphId,
  MemoryKind,
  Origin,
  OriginId,
  SourceFrame,
  Step,
  StreamEntry,
  StreamId,
  StreamProgram,
  ThreadEntry,
  ThreadId,
} from '../program/program.ts';
import type { Node } from '../python/ast.ts';
import type { Copy } from './interpreter/copy.ts';
import type { DeviceClass } from './values.ts';

interface OpenBlock {
  name: string;
  memory: MemoryKind;
  readonly device: DeviceClass;
  readonly stream: StreamId | undefined;
}

interface Arrival {
  /** Index of the step before which it lies. */
  readonly at: number;
  readonly steps: Step[];
  readonly late: Step[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Unplaced<T> = T extends unknown ? Omit<T, 'thread' | 'origin'> : never;
/** A step without the thread and origin, which the builder adds. */
export type NewStep = Unplaced<Step>;

export class ProgramBuilder {
  readonly streams: Mutable<StreamEntry>[] = [];
  readonly events: Mutable<EventEntry>[] = [];
  readonly blocks: OpenBlock[] = [];
  readonly threads: ThreadEntry[] = [{ name: 'main' }];
  readonly #origins: Origin[] = [];
  readonly #originKeys = new Map<string, OriginId>();
  readonly #prologue: Step[] = [];
  /** Places where a caller from outside comes in: the entry's call, then each hook's. */
  readonly #arrivals: Arrival[] = [{ at: 0, steps: [], late: [] }];
  readonly #steps: Step[] = [];
  readonly #open: number[] = [];
  #graphs = 0;
  readonly #blind: number[] = [];
  thread: ThreadId = 0;

  readonly #computed = new Set<Step>();

  takeHidden(from: ProgramBuilder, copy: Copy): void {
    for (const origin of from.#origins) this.#origins.push(origin);
    for (const [key, origin] of from.#originKeys) this.#originKeys.set(key, origin);
    for (const step of from.#prologue) this.#prologue.push(copy(step));
    this.#arrivals.length = 0;
    for (const arrival of from.#arrivals) this.#arrivals.push(copy(arrival));
    for (const step of from.#steps) this.#steps.push(copy(step));
    for (const index of from.#open) this.#open.push(index);
    this.#graphs = from.#graphs;
    for (const index of from.#blind) this.#blind.push(index);
    for (const step of from.#computed) this.#computed.add(copy(step));
  }

  /** What the outermost frame did at one place it did at another. */
  moveOrigins(from: Node, to: Node): void {
    for (const [i, origin] of this.#origins.entries()) {
      if (origin.kind !== 'source') continue;
      const [only, inner] = origin.frames;
      if (!only || inner || only.activation !== 0 || only.start !== from.start || only.end !== from.end) continue;
      const frames = [{ ...only, start: to.start, end: to.end }];
      this.#origins[i] = { ...origin, frames };
      this.#originKeys.delete(keyOf(origin.frames, origin.streamFrame));
      this.#originKeys.set(keyOf(frames, origin.streamFrame), i);
    }
  }

  /** The launches from `index` on are those of a callee that computes with tensors, if it computes at all. */
  computed(index: number): void {
    for (const step of this.#steps.slice(index)) if (step.kind === 'launch') this.#computed.add(step);
  }

  isComputed(step: Step): boolean {
    return this.#computed.has(step);
  }

  /** The steps so far, without the prologue and what callers did. */
  get emitted(): readonly Step[] {
    return this.#steps;
  }

  /** Steps so far, without the prologue. */
  get length(): number {
    return this.#steps.length;
  }

  stream(name: string, device: number, isDefault: boolean, unknown = false): StreamId {
    this.streams.push({ name, device, isDefault, ...(unknown ? { unknown: true } : {}) });
    return this.streams.length - 1;
  }

  event(name: string, unknown = false): EventId {
    this.events.push({ name, ...(unknown ? { unknown: true } : {}) });
    return this.events.length - 1;
  }

  block(name: string, memory: MemoryKind, device: DeviceClass, stream: StreamId | undefined): BlockId {
    this.blocks.push({ name, memory, device, stream });
    return this.blocks.length - 1;
  }

  newThread(name: string): ThreadId {
    this.threads.push({ name });
    return this.threads.length - 1;
  }

  /** Code runs here that nobody sees. */
  unseen(): void {
    if (this.#blind.at(-1) !== this.#steps.length) this.#blind.push(this.#steps.length);
  }

  newGraph(): GraphId {
    return this.#graphs++;
  }

  origin(frames: readonly SourceFrame[], streamFrame: number): OriginId {
    const key = keyOf(frames, streamFrame);
    const known = this.#originKeys.get(key);
    if (known !== undefined) return known;
    this.#origins.push({ kind: 'source', frames, streamFrame });
    const id = this.#origins.length - 1;
    this.#originKeys.set(key, id);
    return id;
  }

  add(step: NewStep, origin: OriginId): number {
    this.#steps.push({ ...step, thread: this.thread, origin } as Step);
    return this.#steps.length - 1;
  }

  /** A launch whose accesses are added later; one without any is left out of the program. */
  openLaunch(step: NewStep & { readonly kind: 'launch' }, origin: OriginId): void {
    this.#open.push(this.add(step, origin));
  }

  /** What a step stood for turned out not to be. */
  cancel(index: number): void {
    const { thread, origin } = this.#steps[index]!;
    this.#steps[index] = { kind: 'launch', stream: 0, name: '', accesses: [], thread, origin };
    this.#open.push(index);
  }

  /** What was taken for a launch that writes may write nothing. */
  readsOnly(index: number): void {
    const step = this.#steps[index];
    if (step?.kind !== 'launch') return;
    this.#steps[index] = { ...step, accesses: step.accesses.map((access) => ({ ...access, write: false })) };
  }

  /** Before everything else: module code that ran by demand, the state of objects. */
  addBefore(step: NewStep, origin: OriginId): void {
    this.#prologue.push({ ...step, thread: 0, origin } as Step);
  }

  /** The entry's call, or a hook's, comes next: what its caller did for it lies here. */
  enter(): void {
    this.#arrivals.push({ at: this.#steps.length, steps: [], late: [] });
  }

  /** By the caller, just before the latest call from outside. */
  addAtEntry(step: NewStep, origin: OriginId): void {
    this.#arrivals.at(-1)!.steps.push({ ...step, thread: 0, origin } as Step);
  }

  /** By the caller, after everything that `addAtEntry` puts there. */
  addLateAtEntry(step: NewStep, origin: OriginId): void {
    this.#arrivals.at(-1)!.late.push({ ...step, thread: 0, origin } as Step);
  }

  /** Where a step that `add` gave an index ends up, as of now. */
  placing(): (index: number) => number {
    const untouched = this.#open.filter((at) => isEmpty(this.#steps[at]!)).sort((a, b) => a - b);
    return (index) => {
      let place = index + this.#prologue.length;
      for (const { at, steps, late } of this.#arrivals) if (at <= index) place += steps.length + late.length;
      return place - countBelow(untouched, index);
    };
  }

  /** Where the entry's own call begins. */
  get #entryAt(): number {
    return this.#arrivals[1]?.at ?? 0;
  }

  #stepsFrom(from: number, to = this.#steps.length): Step[] {
    const steps = this.#steps.slice(from, to);
    return this.#open.length > 0 ? steps.filter((step) => !isEmpty(step)) : steps;
  }

  /** Whether the entry itself did nothing that has an order. */
  get idle(): boolean {
    return (
      this.#arrivals.every(({ steps }) => steps.length === 0) &&
      this.#stepsFrom(this.#entryAt).every(({ kind }) => kind === 'escape' || kind === 'outside')
    );
  }

  /**
   * Whether all that the entry itself did lies on one stream, on memory that no other stream used before, and is nothing
   * for the host to order: nothing can be wrong with it.
   */
  get dull(): boolean {
    const streams = new Set<StreamId>();
    const blocks = new Set<BlockId>();
    const note = (step: Step): void => {
      if (step.kind === 'launch') for (const { block } of step.accesses) blocks.add(block);
      if ('stream' in step) streams.add(step.stream);
    };
    for (const step of [...this.#arrivals.flatMap(({ steps }) => steps), ...this.#stepsFrom(this.#entryAt)]) {
      if (step.kind === 'hostWait') {
        if (step.on.kind === 'stream') streams.add(step.on.stream);
      } else if (step.kind === 'launch' || step.kind === 'allocate' || step.kind === 'outside') note(step);
      else if (step.kind !== 'release' && step.kind !== 'escape') return false;
    }
    if (streams.size > 1) return false;
    const foreign = (step: Step): boolean =>
      step.kind === 'launch' && !streams.has(step.stream) && step.accesses.some(({ block }) => blocks.has(block));
    return !this.#prologue.some(foreign) && !this.#stepsFrom(0, this.#entryAt).some(foreign);
  }

  finish(): StreamProgram {
    const placed = this.placing();
    const blocks: BlockEntry[] = this.blocks.map((block) => ({
      name: block.name,
      memory: block.memory,
      evidence: block.memory !== 'device' || block.device.cuda,
      ...(block.stream === undefined ? {} : { stream: block.stream }),
    }));
    return {
      streams: this.streams,
      events: this.events,
      blocks,
      threads: this.threads,
      origins: this.#origins,
      steps: [
        ...this.#prologue,
        ...this.#arrivals.flatMap(({ at, steps, late }, i) => [
          ...steps,
          ...late,
          ...this.#stepsFrom(at, this.#arrivals[i + 1]?.at ?? this.#steps.length),
        ]),
      ],
      ...(this.#entryAt > 0 ? { entered: placed(this.#entryAt) } : {}),
      ...(this.#blind.length ? { blind: this.#blind.map(placed) } : {}),
    };
  }
}

function keyOf(frames: readonly SourceFrame[], streamFrame: number): string {
  return `${streamFrame};${frames.map((f) => `${f.activation},${f.start},${f.end}`).join(';')}`;
}

/** How many of these, in their order, are less. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isEmpty(step: Step): boolean {
  return step.kind === 'launch' && step.accesses.length === 0;
}

export function access(block: BlockId, write: boolean, start: number, end: number, whole: number): Access {
  return start <= 0 && end >= whole ? { block, write } : { block, write, start, end };
}
