/**
 * The built-in executor: runs a stream program on virtual streams and a model of the caching allocator, and writes the
 * run as a trace in the own format. It needs neither PyTorch nor a GPU; values are not computed.
 *
 * What the program leaves to others is played by a caller: at `outside` it allocates and fills a tensor, at `escape` it
 * reads what it was given. So a hazard that only shows in the caller shows in the run as well.
 * Deliberately unknown here: Python (places are asked for), hazards, which path of the source this is.
 */
import type {
  Access,
  BlockId,
  GraphId,
  HostWaitStep,
  LaunchStep,
  ReleaseStep,
  Step,
  StepIndex,
  StreamId,
  StreamProgram,
  ThreadId,
} from '../program/program.ts';
import { type AccessTuple, RacelineWriter, type WaitedFor } from '../trace/raceline-write.ts';
import { CachingAllocator } from './allocator.ts';
import { copyTime, hostCost, kernelTime, unknownSize } from './costs.ts';
import { VirtualDevice } from './device.ts';

export interface ExecuteOptions {
  /** Who writes, as the header has it: `raceline 0.1.0`. */
  readonly producer: string;
  /** The frames of a step, outermost first. */
  readonly placeOf?: (step: StepIndex) => readonly Frame[];
  readonly argv?: readonly string[];
  /** A sentence about what the run shows. */
  readonly note?: string;
  /** By launch (or escape, or replay) how much later than it could its work starts: a schedule that is as legal. Nanoseconds. */
  readonly delays?: ReadonlyMap<StepIndex, number>;
  /** Told when the work of a step, or the host's access, began and ended. */
  readonly onWork?: (step: StepIndex, start: number, end: number) => void;
  /** What to call the work of a step instead of by its operator. */
  readonly names?: ReadonlyMap<StepIndex, string>;
}

export interface Frame {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly function: string;
}

/** The text of a `.raceline` file. */
export function execute(program: StreamProgram, options: ExecuteOptions): string {
  return new Execution(program, options).run();
}

/** Where the modelled driver puts device and pinned memory. */
const deviceMemory = 0x7f0000000000;
const pinnedMemory = 0x7e0000000000;
/** How the profiler numbers streams: 7 is the default one, those of the pool follow in steps of 4. */
const defaultNumber = 7;
const firstPoolNumber = 13;

class Execution {
  readonly #program: StreamProgram;
  readonly #options: ExecuteOptions;
  readonly #writer: RacelineWriter;
  readonly #device: VirtualDevice;
  readonly #allocator = new CachingAllocator(deviceMemory);
  readonly #pinned = new CachingAllocator(pinnedMemory);
  /** Per thread the time at which its next call begins. */
  readonly #clock: Float64Array;
  /** No call begins before an earlier line's: lines are in host order. */
  #now = 0;
  #number = 0;
  #end = 0;
  /** How far the ranges reach in a block whose size is not known. */
  readonly #extent = new Map<BlockId, number>();
  readonly #held = new Set<BlockId>();
  readonly #recorded = new Map<BlockId, Set<StreamId>>();
  readonly #captured: (GraphId | undefined)[];
  readonly #graphEvents = new Map<number, GraphId>();
  readonly #graphs = new Map<GraphId, LaunchStep[]>();
  /** By pool what was released last: what the caller's next tensor is as large as. */
  readonly #released = new Map<StreamId, number>();
  readonly #streamOf = new Map<number, StreamId>();
  /** Blocks of the caller come after those of the program. */
  #callerBlocks: number;
  readonly #callerSizes = new Map<number, number>();
  #sizesGuessed = false;

  constructor(program: StreamProgram, options: ExecuteOptions) {
    this.#program = program;
    this.#options = options;
    this.#writer = new RacelineWriter({
      producer: options.producer,
      mode: 'builtin',
      level: 'full',
      device: 'built-in executor',
      argv: options.argv,
      note: options.note,
    });
    this.#device = new VirtualDevice(program.streams.length, program.events.length);
    this.#clock = new Float64Array(Math.max(1, program.threads.length));
    this.#captured = new Array(program.streams.length);
    this.#callerBlocks = program.blocks.length;
    this.#allocator.onReusable = (block, time) => this.#writer.reusable(block, Math.round(time));
    this.#pinned.onReusable = (block, time) => this.#writer.reusable(block, Math.round(time));
  }

  run(): string {
    this.#declare();
    this.#program.steps.forEach((step, at) => {
      this.#take(step, at);
    });
    this.#finish();
    return this.#writer.take();
  }

  #declare(): void {
    const { streams, threads, blocks, steps } = this.#program;
    let pool = firstPoolNumber;
    streams.forEach(({ name, device, isDefault, unknown, collective }, id) => {
      const num = isDefault ? defaultNumber : pool;
      if (!isDefault) pool += 4;
      this.#writer.stream({ id, device: Math.max(0, device), num, name, default: isDefault, unknown, collective });
    });
    threads.forEach(({ name }, id) => {
      this.#writer.thread({ id, name });
    });
    const allocated = new Set<BlockId>();
    const used = new Set<BlockId>();
    const use = ({ block, end }: Access) => {
      used.add(block);
      if (end !== undefined && blocks[block]!.size === undefined)
        this.#extent.set(block, Math.max(end, this.#extent.get(block) ?? 0));
    };
    for (const step of steps) {
      if (step.kind === 'allocate') allocated.add(step.block);
      else if (step.kind === 'launch') step.accesses.forEach(use);
      else if (step.kind === 'hostAccess') use(step.access);
      else if (step.kind === 'escape') used.add(step.block);
    }
    for (const b of used) {
      const block = blocks[b]!;
      if (allocated.has(b) || block.memory === 'pageable') continue;
      const pinned = block.memory === 'pinned';
      // Its pool need not be known: nobody gives it back.
      const stream = block.stream ?? 0;
      const { address, size } = this.#memoryOf(b).allocate(b, this.#size(b), stream, 0);
      this.#writer.block({
        b,
        addr: hex(address),
        size,
        st: block.stream,
        name: block.name,
        mem: pinned ? 'pinned' : undefined,
      });
    }
  }

  #take(step: Step, at: StepIndex): void {
    switch (step.kind) {
      case 'launch':
        this.#launch(step, at);
        break;
      case 'record': {
        const graph = this.#captured[step.stream];
        const call = this.#call(step.thread, hostCost.record);
        this.#writer.record({ ...call.line, e: step.event, st: step.stream, s: this.#site(at) });
        if (graph === undefined) {
          this.#graphEvents.delete(step.event);
          this.#device.record(step.event, step.stream, call.end);
        } else this.#graphEvents.set(step.event, graph);
        break;
      }
      case 'wait': {
        const call = this.#call(step.thread, hostCost.wait);
        const { event: e, stream: st, implicit } = step;
        this.#writer.wait({ ...call.line, e, st, implicit, s: this.#site(at) });
        const graph = this.#graphEvents.get(e);
        if (graph !== undefined) this.#captured[st] = graph;
        else if (this.#captured[st] === undefined) {
          const { time, blocked } = this.#device.wait(st, e, call.end);
          this.#writer.edge(call.line.n, Math.round(time), Math.round(blocked));
        }
        break;
      }
      case 'hostWait': {
        const call = this.#call(step.thread, hostCost.hostWait, this.#doneAt(step.on));
        this.#writer.sync({ ...call.line, ...this.#waitedFor(step.on), implicit: step.implicit, s: this.#site(at) });
        break;
      }
      case 'poll': {
        // The program goes on where the query says "done": the model waits until it does.
        this.#advance(step.thread, this.#doneAt(step.on));
        const call = this.#call(step.thread, hostCost.poll);
        this.#writer.poll({ ...call.line, ...this.#waitedFor(step.on), s: this.#site(at) });
        break;
      }
      case 'hostAccess':
        this.#hostAccess(step.access, step.name, step.thread, at);
        break;
      case 'allocate':
        if (this.#program.blocks[step.block]!.memory !== 'pageable')
          this.#allocate(step.block, step.stream, this.#program.blocks[step.block]!.name, step.thread, at);
        break;
      case 'release':
        if (this.#held.has(step.block)) this.#release(step.block, step.thread, this.#site(at), step.how);
        break;
      case 'recordStream': {
        if (!this.#held.has(step.block)) break;
        const call = this.#call(step.thread, hostCost.recordStream);
        this.#writer.recordStream({ ...call.line, b: step.block, st: step.stream, s: this.#site(at) });
        if (step.stream !== this.#streamOf.get(step.block)) {
          const streams = this.#recorded.get(step.block) ?? new Set();
          this.#recorded.set(step.block, streams.add(step.stream));
        }
        break;
      }
      case 'captureBegin': {
        const call = this.#call(step.thread, hostCost.capture);
        this.#writer.capture({ ...call.line, g: step.graph, st: step.stream, s: this.#site(at) });
        this.#captured[step.stream] = step.graph;
        this.#allocator.captureBegins();
        this.#graphs.set(step.graph, []);
        break;
      }
      case 'captureEnd': {
        const call = this.#call(step.thread, hostCost.capture);
        this.#writer.captureEnd({ ...call.line, g: step.graph, s: this.#site(at) });
        this.#captured.forEach((graph, stream) => {
          if (graph === step.graph) this.#captured[stream] = undefined;
        });
        if (this.#graphs.has(step.graph)) this.#allocator.captureEnds(call.line.t);
        break;
      }
      case 'replay': {
        const call = this.#call(step.thread, hostCost.replay);
        this.#writer.replay({ ...call.line, g: step.graph, st: step.stream, s: this.#site(at) });
        for (const launch of this.#graphs.get(step.graph) ?? [])
          this.#work(call.line.n, step.stream, call.end, launch, at);
        break;
      }
      case 'fork': {
        const call = this.#call(step.thread, hostCost.fork);
        this.#writer.fork({ ...call.line, child: step.child, s: this.#site(at) });
        this.#advance(step.child, call.end);
        break;
      }
      case 'join': {
        const call = this.#call(step.thread, hostCost.join, this.#clock[step.child]!);
        this.#writer.join({ ...call.line, child: step.child, s: this.#site(at) });
        break;
      }
      case 'escape':
        this.#callerReads(step.block, step.stream, step.thread, at);
        break;
      case 'outside':
        this.#callerAllocates(step.stream, step.thread, at);
        break;
    }
  }

  #launch(step: LaunchStep, at: StepIndex): void {
    const call = this.#call(step.thread, hostCost.launch);
    const { tuples, blind } = this.#tuples(step.accesses);
    this.#writer.op({
      ...call.line,
      st: step.stream,
      name: nameOf(step),
      acc: tuples,
      blind: blind || undefined,
      copy: step.copy,
      s: this.#site(at),
    });
    const graph = this.#captured[step.stream];
    if (graph !== undefined) this.#graphs.get(graph)?.push(step);
    else this.#work(call.line.n, step.stream, call.end, step, at);
  }

  /** The device's part of a launch. */
  #work(op: number, stream: StreamId, issued: number, step: LaunchStep, at: StepIndex): void {
    const { accesses, copy } = step;
    let bytes = 0;
    for (const access of accesses) {
      const [start, end] = this.#range(access);
      // Both ends of a copy are the same bytes.
      bytes = copy ? Math.max(bytes, end - start) : bytes + end - start;
    }
    const duration = copy ? copyTime(bytes, copy) : kernelTime(bytes);
    const start = this.#run(at, stream, issued, duration);
    this.#writer.gpu({
      op,
      st: stream,
      t: Math.round(start),
      d: duration,
      name: this.#options.names?.get(at) ?? nameOf(step),
      kind: copy ? 'copy' : 'kernel',
      bytes: copy ? bytes : undefined,
    });
  }

  #hostAccess(access: Access, name: string, thread: ThreadId, at: StepIndex): void {
    const block = this.#program.blocks[access.block]!;
    if (block.memory !== 'pinned' || !block.evidence || access.unknownRange) return;
    const call = this.#call(thread, hostCost.hostAccess);
    const [lo, hi] = this.#range(access);
    this.#options.onWork?.(at, call.line.t, call.end);
    this.#writer.host({
      ...call.line,
      b: access.block,
      acc: access.write ? 'w' : 'r',
      lo,
      hi,
      name: name || undefined,
      s: this.#site(at),
    });
  }

  #allocate(block: number, stream: StreamId, name: string, thread: ThreadId, at: StepIndex): void {
    const call = this.#call(thread, hostCost.allocate);
    const size = this.#size(block);
    const memory = this.#memoryOf(block).allocate(block, size, stream, call.line.t, this.#captured[stream]);
    this.#held.add(block);
    this.#streamOf.set(block, stream);
    this.#writer.alloc({
      ...call.line,
      b: block,
      addr: hex(memory.address),
      size: memory.size,
      st: stream,
      name,
      mem: this.#program.blocks[block]?.memory === 'pinned' ? 'pinned' : undefined,
      s: this.#site(at),
    });
    this.#count(call.line.t);
  }

  #release(block: number, thread: ThreadId, s: number | undefined, how: ReleaseStep['how']): void {
    const recorded = this.#recorded.get(block);
    const call = this.#call(thread, hostCost.release + (recorded ? hostCost.releaseRecorded : 0));
    this.#held.delete(block);
    this.#recorded.delete(block);
    this.#writer.free({ ...call.line, b: block, how, s });
    const events = new Map<number, number>();
    for (const stream of recorded ?? []) events.set(stream, Math.max(this.#device.doneAt(stream), call.line.t));
    // The pinned allocator keeps what copies still read by itself.
    if (this.#program.blocks[block]?.memory === 'pinned')
      this.#program.streams.forEach((_, stream) => {
        if (this.#device.doneAt(stream) > call.line.t) events.set(stream, this.#device.doneAt(stream));
      });
    this.#memoryOf(block).release(block, events, call.line.t);
    this.#released.set(this.#streamOf.get(block)!, this.#size(block));
    this.#count(call.line.t);
  }

  #callerAllocates(stream: StreamId, thread: ThreadId, at: StepIndex): void {
    if (!this.#released.has(stream) || this.#program.streams[stream]!.unknown) return;
    const block = this.#callerBlocks++;
    this.#callerSizes.set(block, this.#released.get(stream)!);
    this.#released.delete(stream);
    this.#allocate(block, stream, 'the caller’s next tensor', thread, at);
    const access: AccessTuple = [block, 0, this.#size(block), 'w'];
    this.#callerWork('the caller fills a tensor', stream, thread, at, access);
  }

  #callerReads(block: BlockId, stream: StreamId, thread: ThreadId, at: StepIndex): void {
    const { memory, evidence } = this.#program.blocks[block]!;
    if (memory !== 'device' || !evidence || this.#program.streams[stream]!.unknown) return;
    this.#callerWork('the caller reads it', stream, thread, at, [block, 0, this.#size(block), 'r']);
  }

  #callerWork(name: string, st: StreamId, thread: ThreadId, at: StepIndex, access: AccessTuple): void {
    const call = this.#call(thread, hostCost.launch);
    this.#writer.op({ ...call.line, st, name, acc: [access], s: this.#site(at) });
    const duration = kernelTime(access[2]);
    const start = this.#run(at, st, call.end, duration);
    const shown = this.#options.names?.get(at) ?? name;
    this.#writer.gpu({ op: call.line.n, st, t: Math.round(start), d: duration, name: shown, kind: 'kernel' });
  }

  /** The start of the work of a step. */
  #run(at: StepIndex, stream: StreamId, issued: number, duration: number): number {
    const start = this.#device.run(stream, issued, duration, this.#options.delays?.get(at));
    this.#end = Math.max(this.#end, start + duration);
    this.#options.onWork?.(at, start, start + duration);
    return start;
  }

  #finish(): void {
    const { streams } = this.#program;
    if (this.#sizesGuessed)
      this.#writer.limit(
        `Sizes that the source does not tell are taken as ${unknownSize >> 20} MiB, so which tensors share memory is an example.`,
      );
    if (streams.some(({ unknown }) => unknown))
      this.#writer.limit('Some streams come from outside of what was followed; what they stand for is not known.');
    this.#writer.end(Math.round(Math.max(this.#end, ...this.#clock)), 'ok');
  }

  /** A call of the host: its line's number and time, and its end. `until`: the host blocks at least until then. */
  #call(thread: ThreadId, cost: number, until = 0) {
    const t = Math.max(this.#now, this.#clock[thread]!);
    const end = Math.max(t + cost, Math.ceil(until));
    this.#now = t;
    this.#clock[thread] = end;
    const line = { n: this.#number++, t, d: end - t, th: thread === 0 ? undefined : thread };
    return { line, end };
  }

  #advance(thread: ThreadId, time: number): void {
    this.#clock[thread] = Math.max(this.#clock[thread]!, Math.ceil(time));
  }

  #doneAt(on: HostWaitStep['on']): number {
    if (on.kind === 'event') return this.#graphEvents.has(on.event) ? 0 : this.#device.reachedAt(on.event);
    if (on.kind === 'stream') return this.#device.doneAt(on.stream);
    let done = 0;
    this.#program.streams.forEach(({ device }, stream) => {
      if (on.device < 0 || device < 0 || device === on.device) done = Math.max(done, this.#device.doneAt(stream));
    });
    return done;
  }

  #waitedFor(on: HostWaitStep['on']): WaitedFor {
    if (on.kind === 'event') return { on: 'event', e: on.event };
    if (on.kind === 'stream') return { on: 'stream', st: on.stream };
    return { on: 'device', device: Math.max(0, on.device) };
  }

  /** What may be accused of a launch; the rest makes the line blind, which keeps quiet. */
  #tuples(accesses: readonly Access[]): { readonly tuples: AccessTuple[]; readonly blind: boolean } {
    const byRange = new Map<string, AccessTuple>();
    let blind = false;
    for (const access of accesses) {
      const { memory, evidence } = this.#program.blocks[access.block]!;
      if (memory === 'pageable') continue;
      if (!evidence || access.unknownRange) {
        blind = true;
        continue;
      }
      const [start, end] = this.#range(access);
      const key = `${access.block} ${start} ${end}`;
      const mode = access.write ? 'w' : 'r';
      const known = byRange.get(key);
      byRange.set(key, [access.block, start, end, known && known[3] !== mode ? 'rw' : mode]);
    }
    return { tuples: [...byRange.values()], blind };
  }

  /**
   * In bytes of the block as it was made here. Ranges of a block whose size is not known are in a unit of their own: they
   * are shrunk to the size that was taken for it.
   */
  #range(access: Access): readonly [start: number, end: number] {
    const size = this.#size(access.block);
    const start = access.start ?? 0;
    const end = access.end ?? size;
    const extent = this.#extent.get(access.block) ?? 0;
    if (extent <= size || access.end === undefined) return [start, end];
    const shrink = size / 2 ** Math.ceil(Math.log2(extent));
    const first = Math.floor(start * shrink);
    return [first, Math.max(first + 1, Math.floor(end * shrink))];
  }

  #size(block: number): number {
    const size = this.#callerSizes.get(block) ?? this.#program.blocks[block]!.size;
    if (size !== undefined) return size;
    this.#sizesGuessed = true;
    return unknownSize;
  }

  #memoryOf(block: number): CachingAllocator {
    return this.#program.blocks[block]?.memory === 'pinned' ? this.#pinned : this.#allocator;
  }

  #count(time: number): void {
    const { allocated, reserved, heldBack } = this.#allocator;
    this.#writer.counter({ t: time, device: 0, allocated, reserved, held: heldBack });
  }

  #site(at: StepIndex): number | undefined {
    let site: number | undefined;
    for (const frame of this.#options.placeOf?.(at) ?? [])
      site = this.#writer.site(frame.file, frame.line, frame.function, site);
    return site;
  }
}

function nameOf({ name, before }: LaunchStep): string {
  return before ? 'the caller’s work before' : name || 'operation';
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}
