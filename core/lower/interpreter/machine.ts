/**
 * The state of one path: frames, current streams, live memory, decisions, the program under construction. What Python
 * and PyTorch do to it is decided in the files beside this one, each of which takes the machine first.
 */
import type { Access, BlockId, MemoryKind, OriginId, SourceFrame, StreamId, ThreadId } from '../../program/program.ts';
import type { FunctionDef, Node } from '../../python/ast.ts';
import { access, type NewStep, ProgramBuilder } from '../builder.ts';
import { saysStreams } from '../entries.ts';
import type { Workspace } from '../imports.ts';
import type { BranchDecision, HandOver, LoweredPath } from '../lowered.ts';
import { type Decision, Decisions } from '../paths.ts';
import {
  DeviceClass,
  EventV,
  ExternalV,
  type FunctionV,
  isObj,
  ListV,
  DictV,
  SetV,
  type ModuleV,
  type NativeV,
  Obj,
  identitiesSoFar,
  restartIdentities,
  resumeIdentities,
  type Scope,
  Storage,
  StreamV,
  TensorV,
  type ThreadV,
  TupleV,
  Unknown,
  type Value,
  whole,
  type WorkV,
} from '../values.ts';
import { OpenActivation } from './activation.ts';
import type { FunctionNode } from './autograd.ts';
import type { Copy } from './copy.ts';
import { proveByWaits } from './evidence.ts';
import { type Frame, OutOfBudget, visitFrame } from './frame.ts';
import { joinAll } from './streams.ts';
import { type Hook, visitHook } from './hooks.ts';
import { Ranges } from './ranges.ts';
import { closeGiven, closeWork, type UnknownWork } from './unknown-work.ts';

export interface Selection {
  readonly stream: StreamV;
  /** The activation that selected it; -1: the entry's caller. */
  activation: number;
}

/** What a machine has of its own, wherever it goes on from. */
const remaining: ReadonlySet<string> = new Set(['workspace', 'everyRelease', 'decisions', 'oldestTorch']);

/** What is told of a path that has ended. */
const told: readonly string[] =
  'builder activations handOvers unknownWork givenWork optionalStreams touched judged acted changesCallers refused'.split(
    ' ',
  );

/** Objects that are looked into before a pass over all that is alive is cheaper. */
const longestLook = 64;

export class Machine {
  readonly builder = new ProgramBuilder();
  readonly decisions: Decisions;
  readonly activations: OpenActivation[] = [];
  stack: Frame[] = [];
  readonly parkedStacks: Frame[][] = [];
  readonly roots: Value[] = [];
  readonly modules = new Map<string, ModuleV>();
  readonly handOvers: HandOver[] = [];
  /** Functions, classes and modules whose source this path looked at. */
  readonly touched = new Set<string>();
  /** Functions that ran as the entry has them run, not only to fill an object's state. */
  readonly judged = new Set<string>();
  /** Functions in which, or below which, a stream was selected or ordered. */
  readonly acted = new Set<string>();
  currents = new Map<number, Selection>();
  device = 0;
  /** The device that the program has made the current one, where nobody knows which one it is. */
  chosenDevice: number | undefined;
  readonly chosenDevices = new Map<DeviceClass, number>();
  /** `torch.set_default_device('cuda')` was called. */
  defaultDeviceCuda = false;
  /** Type of the elements of new parameters; undefined: the program has chosen one that is not known. */
  defaultElements: string | undefined = 'float32';
  /** The path has chosen the host where there is no CUDA: what is sent to `cpu` is there already. */
  withoutCuda = false;
  gradMode = true;
  inference = false;
  capturing: { readonly graph: number; readonly stream: StreamV } | undefined;
  /** Whether the running code is module code that a name asked for: its work lies before the entry. */
  before = 0;
  /** Comparisons and tests of the same values give the same unknown. */
  readonly derived = new Map<string, Unknown>();
  readonly unknownGlobals = new Map<string, Unknown>();
  /** Functions that a framework will call later: hooks, callbacks handed to unknown callees. */
  readonly hooks: Hook[] = [];
  /** The node of the autograd graph whose backward runs. */
  autogradNode: Value | undefined;
  /** What the call from outside returns is used on the current stream at once, and kept by nobody. */
  usedAtOnce = false;
  /** The call whose result nobody takes. */
  discarded: Node | undefined;
  /** Blocks of which the launch that comes next touches rows that a table picks. */
  picked: ReadonlySet<BlockId> = new Set();
  /** What the latest call passes by `*name`. */
  spread: ReadonlySet<Value> = new Set();
  /** While above 0: calls of one function after the other go the same way at each of its tests. */
  sameTurns = 0;
  readonly #defaults = new Map<number, StreamV>();
  readonly caches = new Map<unknown, Value>();
  /** What leaving `with stream:` by hand undoes. */
  readonly streamEntries: (() => void)[] = [];
  readonly recordedEvents = new Set<number>();
  /** Events whose latest record is on a stream that is not known. */
  readonly foreignRecords = new Set<number>();
  /** Which element of a known container each unknown index took. */
  readonly exitStacks = new Map<Value, (() => void)[]>();
  readonly groupStreams = new Map<string, StreamV>();
  /** The oldest PyTorch that the program has to work with, where that is known. */
  oldestTorch: string | undefined;
  /** Launches of sends, and of receives that only some ranks have among them. */
  readonly relays: number[] = [];
  /** Collects the handles of collectives, inside of `_coalescing_manager`. */
  coalescing: NativeV | undefined;
  /** What the unknown caller holds of what it was given last. */
  consumer: Value | undefined;
  /** Turns that a sequence of unknown length gives. */
  turns = 2;
  /** Elements of a list that nobody here filled, and turns of a count that nobody knows. */
  unknownLength = 2;
  /** Methods run only to fill an object's state: what they read is no concern of the entry. */
  filling = false;
  /** Parameters of methods that say which of an object's things is meant, by name. */
  readonly toldWhich = new Map<string, Value>();
  /** What the entry gives its caller changes what the caller's own code does. */
  changesCallers = false;
  /** The function that is the entry: what it calls has to do with streams, or it would be none. */
  entry: Node | undefined;
  /** The entry's call has begun. */
  entered = false;
  /** Events that were there before it. */
  eventsBefore = 0;
  /** Handles that were taken out of lists, and where. */
  readonly droppedHandles: { readonly work: WorkV; readonly origin: OriginId }[] = [];
  /** What host threads left to others, by what they left it in: each knows what its thread knew then. */
  readonly messages = new Map<Obj, { readonly from: ThreadId; readonly knows: ThreadId }[]>();
  /** Threads that an object which was made for a method's sake has at work. */
  readonly startedThreads = new Set<ThreadV>();
  /** Threads that have done nothing yet, and what each waits for. */
  readonly waitingThreads: { readonly thread: ThreadV; readonly on: Obj; readonly node: Node }[] = [];
  /** The running thread, as long as it has done nothing, if it may be left waiting. */
  idle: { readonly thread: ThreadId; readonly since: number } | undefined;
  /** Calls of thread pools that run. */
  pooled = 0;
  /** Functions that such calls ran, and their arguments: other turns of theirs may see what is put there later. */
  readonly givenToPools: Value[] = [];
  /** The next call is the entry itself: its result leaves. */
  entryCall = false;
  /** The object of which the entry is a method. */
  self: Value | undefined;
  /** What the entry has given its caller. */
  result: Value = null;
  /** Applications of custom Functions whose backward has not run. */
  readonly functionNodes: FunctionNode[] = [];
  readonly ranges = new Ranges();
  /** Launches of callees that nobody knows. */
  readonly unknownWork: UnknownWork[] = [];
  /** What callees that nobody knows gave, and on which stream. */
  readonly givenWork: { readonly work: UnknownWork; readonly stream: StreamId }[] = [];
  readonly nextCounts = new Map<string, number>();
  readonly indexOrder = new Map<string, Map<string, number>>();
  /** A frame that ends: its names count no more, except where a closure has them. */
  ending: Frame | undefined;
  #live: Storage[] = [];
  #epoch = 0;
  #budget: number;
  /** What the path was given, and the least that a part of it had beyond the budget of its own. */
  readonly #given: number;
  #spare = Infinity;
  #isPart = false;
  /** Steps before the entry's own call. */
  stepsBefore = 0;
  #sinceKept = 0;

  constructor(
    readonly workspace: Workspace,
    plan: ReadonlySet<string>,
    budget: number,
    /** Emit the end of every block, not only of those that several streams used. */
    readonly everyRelease = false,
  ) {
    restartIdentities();
    this.decisions = new Decisions(plan);
    this.#budget = budget;
    this.#given = budget;
  }

  // ---- what was prepared for other paths

  /** Whether this path, too, would have come to where that machine is. */
  canResume(prepared: Machine): boolean {
    const less = prepared.#given - this.#given;
    const isEnough = prepared.#budget >= Math.max(0, less) && prepared.#spare >= Math.max(0, less);
    return (less === 0 || isEnough) && this.decisions.agreeWith(prepared.decisions);
  }

  /** Goes on from a copy of all that the other machine has come to. */
  resume(prepared: Machine, copy: Copy): void {
    this.#sinceKept = 0;
    this.#take(prepared, copy, Object.keys(prepared));
    this.#budget = prepared.#budget - (prepared.#given - this.#given);
    resumeIdentities(prepared.#identities);
  }

  /**
   * A copy that stays as this machine is now. `isCut`: nothing runs on it any more, and what is told of the path is all
   * that counts.
   */
  shelved(isCut: boolean, copy: Copy): Machine {
    const identities = identitiesSoFar();
    try {
      const kept = new Machine(this.workspace, this.decisions.plan, this.#given, this.everyRelease);
      kept.#take(this, copy, isCut ? told : Object.keys(this));
      kept.#budget = this.#budget;
      kept.#identities = identities;
      this.#sinceKept = 0;
      return kept;
    } finally {
      resumeIdentities(identities);
    }
  }

  /** The entry is another one than that for which the state was prepared. */
  begin(entry: Node, before: Node): void {
    if (entry === before) return;
    this.entry = entry;
    const outermost = this.stack[0];
    if (outermost?.node === before) outermost.node = entry;
    this.builder.moveOrigins(before, entry);
  }

  #identities = 0;

  #take(from: Machine, copy: Copy, keys: readonly string[]): void {
    const own = this as unknown as Record<string, unknown>;
    const other = from as unknown as Record<string, unknown>;
    for (const key of keys) if (!remaining.has(key)) own[key] = copy(other[key]);
    this.decisions.takeOver(from.decisions);
    this.#spare = from.#spare;
    if (keys === told) return;
    this.#epoch = from.#epoch;
    this.#live = copy(from.#live);
    this.#captureStream = copy(from.#captureStream);
    putAll(this.#defaults, copy(from.#defaults));
    putAll(this.#successors, copy(from.#successors));
    putAll(this.#equals, from.#equals);
    addAll(this.#awaited, from.#awaited);
    addAll(this.#givenBack, from.#givenBack);
    addAll(this.#followed, copy(from.#followed));
    putAll(this.#rounds, from.#rounds);
  }

  // ---- frames and origins

  get frame(): Frame {
    return this.stack[this.stack.length - 1]!;
  }

  /** Steps since this state was last kept, or went on from one that was. */
  get stepsSinceKept(): number {
    return this.#sinceKept;
  }

  spend(amount = 1): void {
    this.#budget -= amount;
    this.#sinceKept += amount;
    if (this.#budget < 0) {
      this.cutShort();
      throw new OutOfBudget();
    }
  }

  get budgetLeft(): number {
    return this.#budget;
  }

  activate(module: ModuleV, fn: FunctionV | undefined): number {
    const caller = this.stack.length ? this.frame.activation : -1;
    const called = fn?.node.kind === 'FunctionDef' ? (fn.node as FunctionDef) : undefined;
    this.activations.push(new OpenActivation(module.syntax, called, caller, this.builder.length, module.torchName));
    return this.activations.length - 1;
  }

  newFrame(
    module: ModuleV,
    fn: FunctionV | undefined,
    scope: Scope,
    node: Node,
    firstArgument: Value | undefined,
  ): Frame {
    return {
      activation: this.activate(module, fn),
      module,
      fn,
      scope,
      node,
      temps: [],
      held: [],
      dropped: [],
      returned: null,
      tries: [],
      yielded: undefined,
      firstArgument,
      hidden: false,
      inside: undefined,
    };
  }

  /** After a frame ends or is suspended its selection of a stream counts as its caller's. */
  handSelectionsUp(activation: number): void {
    const caller = this.activations[activation]!.caller;
    for (const selection of this.currents.values())
      if (selection.activation === activation)
        selection.activation = this.stack.length ? this.frame.activation : caller;
  }

  /**
   * The innermost frame that names one of these streams other than by its own parameters: the one that chose them, as
   * a selection.
   */
  chosen(...streams: readonly Obj[]): Selection {
    let at = this.stack.length - 1;
    for (; at > 0; at--) {
      const frame = this.stack[at]!;
      const given = frame.fn?.parameters.map((parameter) => frame.scope.vars.get(parameter.name)) ?? [];
      if (!streams.every((stream) => given.includes(stream))) break;
    }
    return { stream: this.current().stream, activation: this.stack[at]?.activation ?? -1 };
  }

  origin(selection?: Selection): number {
    const shown = this.stack.length > 1 && this.stack[0]!.hidden ? this.stack.slice(1) : this.stack;
    const frames: SourceFrame[] = shown.map((frame) => ({
      activation: frame.activation,
      file: frame.module.syntax.file,
      start: frame.node.start,
      end: frame.node.end,
    }));
    let streamFrame = -1;
    if (selection)
      for (let i = frames.length - 1; i >= 0; i--)
        if (frames[i]!.activation === selection.activation) {
          streamFrame = i;
          break;
        }
    return this.builder.origin(frames, streamFrame);
  }

  emit(given: NewStep, selection?: Selection): number {
    // What a thread of a pool waits for, and when, is no statement about its caller.
    const own = given.kind === 'hostWait' && this.pooled > 0 ? { ...given, implicit: true } : given;
    const isWait = own.kind === 'wait' || own.kind === 'hostWait';
    const step = isWait && this.chosenDevice !== undefined ? { chosenDevice: this.chosenDevice, ...own } : own;
    const origin = this.origin(selection);
    if (this.before > 0) {
      this.builder.addBefore(step, origin);
      return 0;
    }
    return this.builder.add(step, origin);
  }

  /** The number of a device of which nobody knows which one it is. */
  numberOf(device: DeviceClass): number {
    const root = device.find();
    const known = this.chosenDevices.get(root) ?? this.chosenDevices.size;
    this.chosenDevices.set(root, known);
    return known;
  }

  /** Runs `action` with a budget of its own; what is left of it is not given back. */
  within(limit: number, action: () => void): void {
    const rest = this.#budget - limit;
    // Inside of a part that has its own budget, that one alone decides.
    if (!this.#isPart) this.#spare = Math.min(this.#spare, rest);
    const isPart = this.#isPart;
    this.#isPart = true;
    this.#budget = Math.min(limit, this.#budget);
    const stack = [...this.stack];
    const { device, chosenDevice, gradMode, capturing } = this;
    const currents = new Map([...this.currents].map(([index, selection]) => [index, { ...selection }]));
    try {
      action();
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      // A capture ends with its block, whose rest nobody sees.
      if (this.capturing && this.capturing !== capturing) {
        joinAll(this, this.capturing.stream);
        this.emit({ kind: 'captureEnd', graph: this.capturing.graph });
      }
      // What was selected where it ended is not selected after it.
      this.stack = stack;
      this.currents = currents;
      this.device = device;
      this.chosenDevice = chosenDevice;
      this.gradMode = gradMode;
      this.capturing = capturing;
      // The order that its rest makes nobody sees either.
      this.hostWaitAll();
    }
    this.#isPart = isPart;
    this.#budget = Math.max(0, this.#budget) + Math.max(0, rest);
  }

  /** Everything done so far is over: what follows happens at some later time. */
  hostWaitAll(): void {
    const devices = new Set([this.device, ...this.builder.streams.map((stream) => stream.device)]);
    for (const device of devices) this.hostWaitDevice(device, true);
  }

  readonly #awaited = new Set<ThreadId>();

  /**
   * A thread waits until somebody else puts something into its queue, who may have waited for all that was done before
   * the thread began. What the thread does from then on is its own to wait for.
   */
  awaitOthers(): void {
    if (this.builder.thread === 0 || this.#awaited.has(this.builder.thread)) return;
    this.#awaited.add(this.builder.thread);
    this.hostWaitAll();
  }

  /** Runs `action` with `node` as the place of what it emits. */
  at<T>(node: Node, action: () => T): T {
    const frame = this.frame;
    const before = frame.node;
    frame.node = node;
    try {
      return action();
    } finally {
      frame.node = before;
    }
  }

  // ---- streams and events

  /** A stream is selected or ordered here. */
  act(): void {
    for (const { fn, module } of this.stack) if (fn) this.acted.add(`${module.syntax.file}#${fn.node.start}`);
  }

  defaultStream(device: number): StreamV {
    let stream = this.#defaults.get(device);
    if (!stream) {
      const device_ = new DeviceClass();
      device_.prove(device);
      const name = device === 0 ? 'the default stream' : `the default stream of device ${device}`;
      stream = new StreamV(this.builder.stream(name, device, true), device_, device, true);
      this.#defaults.set(device, stream);
    }
    return stream;
  }

  current(device = this.device): Selection {
    let selection = this.currents.get(device);
    if (!selection) {
      selection = { stream: this.defaultStream(device), activation: -1 };
      this.currents.set(device, selection);
    }
    return selection;
  }

  /** Whether the program itself chose the current stream. */
  explicit(device = this.device): boolean {
    const selection = this.current(device);
    return !selection.stream.isDefault;
  }

  newStream(name: string, device: number, unknown = false): StreamV {
    const device_ = new DeviceClass();
    device_.prove();
    return new StreamV(this.builder.stream(name, device, false, unknown), device_, device, false);
  }

  #captureStream: StreamV | undefined;
  /** The stream that `torch.cuda.graph` captures on where none is named. */
  captureStream(): StreamV {
    this.#captureStream ??= this.newStream('the capture stream', this.device);
    return this.#captureStream;
  }

  readonly givenStreams: StreamV[] = [];
  /** Streams that the entry's caller may pass or not. */
  readonly optionalStreams = new Set<StreamId>();
  /** Streams of one of several devices, nobody knows of which. */
  readonly elsewhere = new Set<StreamId>();
  /** Streams that this path has made the current ones. */
  readonly selectedStreams = new Set<StreamId>();
  /** The caller passes a stream with its tensors: they are ready on that one as well. */
  readyBefore(stream: StreamV): void {
    this.givenStreams.push(stream);
    this.#makeReady(stream);
  }

  #makeReady(stream: StreamV): void {
    const origin = this.origin();
    const event = this.builder.event('before', true);
    const from = this.defaultStream(stream.deviceIndex).stream;
    this.builder.addLateAtEntry({ kind: 'record', event, stream: from }, origin);
    this.builder.addLateAtEntry({ kind: 'wait', event, stream: stream.stream, implicit: true }, origin);
  }

  readonly #givenBack = new Set<StreamId>();
  /** Whoever called goes on, and may get the memory that was given back. */
  goOnOutside(): void {
    const { stream } = this.current().stream;
    if (this.#givenBack.has(stream)) this.emit({ kind: 'outside', stream });
    this.#givenBack.clear();
  }

  /** A call from outside comes next: the entry's, or a hook's. What it is given was made just before. */
  arrive(): void {
    if (!this.entered) this.stepsBefore = this.#given - this.#budget;
    this.entered = true;
    this.eventsBefore = this.builder.events.length;
    this.builder.enter();
    for (const stream of this.givenStreams) this.#makeReady(stream);
  }

  newEvent(name: string, timing = false, unknown = false): EventV {
    // One of module code that runs by demand: another function may have recorded it since.
    if (this.before > 0 && recordsEvents(this.frame.module.syntax.text)) unknown = true;
    const event = this.builder.event(name, unknown);
    const { module, node } = this.frame;
    this.builder.events[event]!.made = `${module.syntax.file}:${node.start}`;
    return new EventV(event, timing);
  }

  readonly #followed = new Set<EventV>();

  /** Until something that is not followed gets hold of it, all that is done with the event is seen. */
  followEvent(event: EventV): EventV {
    // Of one that another method leaves behind, whatever comes between the two methods may make use.
    if (!this.filling) this.#followed.add(event);
    return event;
  }

  /** Events that can be reached from the value may be waited for, or asked, by code that is not seen. */
  loseEvents(value: Value | undefined): void {
    if (this.#followed.size === 0) return;
    const seen = new Set<Obj>();
    const visit = (reached: Value | undefined): void => {
      if (!(reached instanceof Obj) || seen.has(reached)) return;
      seen.add(reached);
      if (reached instanceof EventV) this.#followed.delete(reached);
      else reached.children(visit);
    };
    visit(value);
  }

  readonly #rounds = new Map<number, boolean>();

  /** A place that comes round after so many turns is asked for: what the turns after that find there may be waited for. */
  comesRound(turn: number, places: number): void {
    if (turn >= 0 && places > 1) this.#rounds.set(places, turn >= places || this.#rounds.get(places) === true);
  }

  /** The path ends before its code does: what would have come is not known. */
  cutShort(): void {
    this.#followed.clear();
  }

  /** What others can still reach when the entry has returned. */
  visitOutside(visit: (value: Value | undefined) => void): void {
    for (const module of this.modules.values()) for (const value of module.scope.vars.values()) visit(value);
    for (const value of this.roots) visit(value);
    visit(this.consumer);
    for (const values of [this.unknownGlobals, this.derived, this.caches])
      for (const value of values.values()) visit(value);
    for (const hook of this.hooks) visitHook(hook, visit);
  }

  /** What others can still reach when the path ends. */
  #loseReachableEvents(): void {
    this.visitOutside((value) => this.loseEvents(value));
    for (const value of this.givenToPools) this.loseEvents(value);
    if ([...this.#rounds.values()].includes(false)) this.#followed.clear();
    for (const { event } of this.#followed) this.builder.events[event]!.followed = true;
  }

  // ---- memory

  newStorage(name: string, memory: MemoryKind, device: DeviceClass, stream: StreamV | undefined): Storage {
    const block = this.builder.block(name, memory, device, stream?.stream);
    const storage = new Storage(block, memory, device, stream?.stream);
    if (this.everyRelease) this.watch(storage);
    return storage;
  }

  /**
   * From now on the end of the storage is looked for. Where a block lived on one stream only its end orders nothing, so
   * that looking for it would be in vain.
   */
  watch(storage: Storage): void {
    if (storage.watched || storage.memory !== 'device') return;
    storage.watched = true;
    this.#live.push(storage);
  }

  deviceIndexOf(device: DeviceClass): number {
    return device.index ?? this.device;
  }

  /**
   * A tensor that exists when the entry starts. `caller`: made by the entry's caller, ready on its stream; `long ago`:
   * ready everywhere; `unknown`: nothing is known of who makes it.
   */
  parameterTensor(name: string, device: DeviceClass, made: 'caller' | 'long ago' | 'unknown'): TensorV {
    const stream = this.defaultStream(device.index ?? 0);
    const storage = this.newStorage(name, 'device', device, undefined);
    storage.kept = true;
    if (made !== 'unknown') {
      const accesses = [{ block: storage.block, write: true }];
      const step: NewStep = { kind: 'launch', stream: stream.stream, name: 'before', accesses, before: true };
      if (made === 'caller' && this.entered) this.builder.addAtEntry(step, this.origin());
      else this.builder.addBefore(step, this.origin());
    }
    return new TensorV(storage);
  }

  /** A new device tensor of the current stream, with its allocation. */
  allocate(name: string, device: DeviceClass, selection = this.current(this.deviceIndexOf(device))): TensorV {
    const storage = this.newStorage(name, 'device', device, selection.stream);
    this.emit({ kind: 'allocate', block: storage.block, stream: selection.stream.stream }, selection);
    return this.temp(new TensorV(storage));
  }

  hostTensor(name: string, memory: 'pinned' | 'pageable'): TensorV {
    return this.temp(new TensorV(this.newStorage(name, memory, new DeviceClass(), undefined)));
  }

  launch(
    name: string,
    selection: Selection,
    reads: readonly TensorV[],
    writes: readonly TensorV[],
    copy?: 'h2d' | 'd2h' | 'd2d',
  ): void {
    const accesses = [];
    for (const t of writes) if (t.storage.memory !== 'pageable') accesses.push(this.#access(t, true));
    for (const t of this.filling && !this.capturing ? [] : reads)
      if (t.storage.memory !== 'pageable') accesses.push(this.#access(t, false));
    if (accesses.length === 0) return;
    for (const t of reads) this.waitForPending(t, selection);
    for (const t of [...writes, ...reads]) if (t.storage.stream !== selection.stream.stream) this.watch(t.storage);
    this.emit(
      { kind: 'launch', stream: selection.stream.stream, name, accesses, ...(copy ? { copy } : {}) },
      selection,
    );
  }

  #access({ storage: { block }, start, end }: TensorV, write: boolean): Access {
    const touched = access(block, write, start, end, whole);
    return this.picked.has(block) ? { ...touched, rows: true } : touched;
  }

  /** The result of a functional collective: the stream that first uses it waits. */
  waitForPending(tensor: TensorV, selection: Selection): void {
    const work = tensor.pending;
    if (!work) return;
    tensor.pending = undefined;
    this.emit({ kind: 'wait', event: work.event, stream: selection.stream.stream, implicit: true }, selection);
  }

  hostAccess(name: string, tensor: TensorV, write: boolean): void {
    if (tensor.storage.memory !== 'pinned') return;
    this.emit({
      kind: 'hostAccess',
      name,
      access: access(tensor.storage.block, write, tensor.start, tensor.end, whole),
    });
  }

  hostWaitStream(stream: StreamId, implicit: boolean): void {
    this.emit({ kind: 'hostWait', on: { kind: 'stream', stream }, ...(implicit ? { implicit: true } : {}) });
  }

  hostWaitDevice(device: number, implicit: boolean): void {
    this.emit({ kind: 'hostWait', on: { kind: 'device', device }, ...(implicit ? { implicit: true } : {}) });
  }

  // ---- references

  temp<T extends Obj>(value: T): T {
    if (this.stack.length) this.frame.temps.push(value);
    return value;
  }

  /** An old value that a statement replaces: if nothing else holds it, the statement is its end. */
  drop(value: Value | undefined, successor?: Value): void {
    if (!isObj(value) || !this.stack.length) return;
    this.frame.dropped.push(value);
    if (successor instanceof TensorV) this.#successors.set(value, successor);
  }
  /** By the old value of a place, the tensor that a statement put there. */
  readonly #successors = new Map<Obj, TensorV>();

  /** Called at the end of each statement and frame: what only its temporaries held is gone, then what it dropped. */
  settle(frame: Frame): void {
    const { temps, dropped } = frame;
    if (temps.length > 0) {
      frame.temps = [];
      if (this.#mayHold(temps)) this.collect('scope');
    }
    if (dropped.length > 0) {
      frame.dropped = [];
      if (this.#mayHold(dropped)) this.collect('statement');
      this.#successors.clear();
    }
  }

  /** The names of a function's frame end, and what it was called with. */
  collectFrame(frame: Frame): void {
    const self = frame.firstArgument;
    const values: Value[] = [];
    for (const value of frame.scope.vars.values()) if (value !== self || !this.#isHeld(value)) values.push(value);
    if (!this.#mayHold(values)) return;
    this.ending = frame;
    this.collect('scope');
    this.ending = undefined;
  }

  #isHeld(value: Value): boolean {
    if (this.roots.includes(value)) return true;
    return this.stack.some((frame) => {
      if (frame !== this.frame) for (const held of frame.scope.vars.values()) if (held === value) return true;
      return false;
    });
  }

  /**
   * Whether a block whose end is looked for can be reached from one of these: only then can its last reference have gone
   * with them. A short look instead of a pass over all that is alive; where it gets long the answer is yes.
   */
  #mayHold(values: readonly Value[]): boolean {
    if (this.#live.length === 0) return false;
    const epoch = ++this.#epoch;
    const pending: Obj[] = [];
    let found = false;
    const visit = (value: Value | undefined): void => {
      if (!(value instanceof Obj) || value.mark === epoch) return;
      value.mark = epoch;
      if (value instanceof Storage) found ||= value.watched && !value.kept;
      else if (!(value instanceof Unknown && value.empty)) pending.push(value);
    };
    for (const value of values) visit(value);
    for (let looks = 0; pending.length > 0 && !found; looks++) {
      if (looks > longestLook) return true;
      const value = pending.pop()!;
      // What the caller holds for good goes with nothing.
      if (value.kind !== 'instance' || !this.roots.includes(value)) value.children(visit);
    }
    return found;
  }

  /** A loop's target or a comprehension's variable was replaced. */
  collectLoop(): void {
    this.collect('scope');
  }

  /** Keeps a value until the running statement ends. */
  hold(value: Value | undefined): void {
    if (isObj(value) && this.stack.length) this.frame.temps.push(value);
  }

  collect(how: 'statement' | 'scope'): void {
    if (this.#live.length === 0) return;
    const epoch = ++this.#epoch;
    const pending: Obj[] = [];
    const visit = (value: Value | undefined): void => {
      if (!(value instanceof Obj) || value.mark === epoch) return;
      value.mark = epoch;
      if (!(value instanceof Unknown && value.empty)) pending.push(value);
    };
    for (const frame of this.stack) if (frame !== this.ending) visitFrame(frame, visit);
    for (const stack of this.parkedStacks) for (const frame of stack) visitFrame(frame, visit);
    for (const module of this.modules.values()) for (const value of module.scope.vars.values()) visit(value);
    for (const value of this.roots) visit(value);
    visit(this.consumer);
    for (const node of this.functionNodes) visit(node.context);
    for (const value of this.unknownGlobals.values()) visit(value);
    for (const value of this.derived.values()) visit(value);
    for (const hook of this.hooks) visitHook(hook, visit);
    visit(this.autogradNode);
    for (const value of this.caches.values()) visit(value);
    while (pending.length > 0) pending.pop()!.children(visit);
    const kept: Storage[] = [];
    for (const storage of this.#live) {
      if (storage.kept || storage.released) continue;
      if (storage.mark === epoch) kept.push(storage);
      else this.release(storage, how);
    }
    this.#live = kept;
  }

  release(storage: Storage, how: 'statement' | 'scope'): void {
    if (storage.released || storage.kept) return;
    storage.released = true;
    storage.watched = false;
    if (storage.memory !== 'device') return;
    if (storage.stream !== undefined) this.#givenBack.add(storage.stream);
    let successor: TensorV | undefined;
    for (const [old, next] of this.#successors)
      if (old instanceof TensorV && old.storage === storage && next.storage !== storage) successor = next;
    this.emit({
      kind: 'release',
      block: storage.block,
      how,
      ...(successor && how === 'statement' ? { successor: successor.storage.block } : {}),
    });
  }

  /** `resize_` back to a size: a new block under the same storage. */
  reallocate(tensor: TensorV): void {
    const before = tensor.storage;
    const selection = this.current(this.deviceIndexOf(before.device));
    before.block = this.builder.block(
      this.builder.blocks[before.block]!.name,
      'device',
      before.device,
      selection.stream.stream,
    );
    before.stream = selection.stream.stream;
    before.released = false;
    before.watched = false;
    this.watch(before);
    this.emit({ kind: 'allocate', block: before.block, stream: selection.stream.stream }, selection);
  }

  /** An unknown callee gets hold of it: what it may keep is never released here. */
  keep(value: Value | undefined, depth = 0): void {
    if (!isObj(value) || depth > 4) return;
    if (depth === 0) this.loseEvents(value);
    if (value instanceof TensorV) value.storage.kept = true;
    else if (value instanceof Unknown) {
      if (value.tensor) value.tensor.storage.kept = true;
    } else if (value instanceof ListV || value instanceof TupleV)
      for (const item of value.items) this.keep(item, depth + 1);
    else if (value instanceof DictV) for (const entry of value.entries.values()) this.keep(entry.value, depth + 1);
    else if (value instanceof SetV) for (const item of value.items.values()) this.keep(item, depth + 1);
    else value.children((child) => this.keep(child, depth + 1));
  }

  // ---- decisions

  /** How often a decision was asked for: tells whether a test was known. */
  consulted = 0;

  /** … and was none that follows from others. */
  decided = 0;

  /** While an object is made for a method's sake, its tests go their usual way. */
  settled = 0;

  /** Whether the running function has to do with streams: only then is the other outcome of its tests worth a path. */
  concerned(fn = this.frame.fn): boolean {
    return fn ? this.workspace.concerns(fn.node, fn.closure.module.syntax) : true;
  }

  /** Whether the running function is the entry's, or says itself that it is about streams. */
  #near(): boolean {
    const { fn, module } = this.frame;
    return !fn || this.stack.length <= 2 || saysStreams(fn.node, module.syntax);
  }

  decide(key: string, fallback: boolean, node: Node, open = true, negated = false, flag?: string): boolean {
    this.consulted++;
    this.decided++;
    const { fn } = this.frame;
    const concerned = this.concerned() || (fn !== undefined && fn.node === this.entry);
    const other = open && this.settled === 0 && this.before === 0 && concerned;
    const { file } = this.frame.module.syntax;
    const turn = this.sameTurns > 0 ? `turns:${file}:${node.start}` : key;
    return this.decisions.decide(
      key,
      fallback,
      { file, test: node, open: other, near: other && this.#near(), negated, flag },
      turn,
    );
  }

  /** The decision for which the program did not go on: no run of it takes that and comes to what follows. */
  refused: Decision | undefined;

  /** Asks what must be `wanted` for the program to go on, and keeps the decision for which it is not. */
  require(ask: () => boolean, wanted = true): boolean {
    let answer = wanted;
    const refused = this.decisions.refusal(() => {
      answer = ask();
      return answer === wanted;
    });
    if (refused) this.refused = refused;
    return answer;
  }

  // ---- unknown values

  deriveUnknown(key: string, name: string): Unknown {
    let value = this.derived.get(key);
    if (!value) {
      value = new Unknown(name, 'result');
      this.derived.set(key, value);
    }
    return value;
  }

  readonly #equals = new Map<string, number>();
  /** Whether another unknown value was compared with this constant before: two values that differ are not both equal to it. */
  equalElsewhere(left: Value, right: Value): boolean {
    const unknown = left instanceof Unknown ? left : right instanceof Unknown ? right : undefined;
    const constant = unknown === left ? right : left;
    const named = constant instanceof ExternalV && /\.[A-Z][A-Z0-9_]*$/.test(constant.path);
    if (!unknown || (typeof constant !== 'number' && typeof constant !== 'string' && !named)) return false;
    const key = named ? constant.path : `${typeof constant}:${constant}`;
    const first = this.#equals.get(key);
    if (first === undefined) {
      this.#equals.set(key, unknown.id);
      return false;
    }
    return first !== unknown.id;
  }

  // ---- names for rules

  bind(expression: string, value: Value | undefined, sinceStart = false): void {
    // Nobody means anything by `_`.
    if (!this.stack.length || expression === '_') return;
    const activation = this.activations[this.frame.activation]!;
    if (activation.bind(expression, value, this.builder.length, sinceStart)) this.#name(value as Obj, expression);
  }

  #name(value: Obj, expression: string): void {
    const tensor = value instanceof Unknown ? (value.tensor ?? value.parameters) : value;
    if (tensor instanceof TensorV) {
      const block = this.builder.blocks[tensor.storage.block]!;
      if (block.name.startsWith('?')) block.name = expression;
    } else if (value instanceof StreamV) {
      const entry = this.builder.streams[value.stream]!;
      if (entry.name.startsWith('?')) entry.name = expression;
    } else if (value instanceof EventV) {
      const entry = this.builder.events[value.event]!;
      if (entry.name.startsWith('?')) entry.name = expression;
    }
  }

  // ---- the result

  finish(): LoweredPath {
    this.#loseReachableEvents();
    for (const work of this.unknownWork) closeWork(work);
    closeGiven(this);
    proveByWaits(this.builder, this.optionalStreams);
    const unnamed = (name: string): string => (name.startsWith('?') ? name.slice(1) : name);
    for (const entry of [...this.builder.blocks, ...this.builder.streams, ...this.builder.events])
      entry.name = unnamed(entry.name);
    const decisions: BranchDecision[] = this.decisions.made
      .filter((d) => d.taken !== d.fallback)
      .map(({ file, test, taken, negated, flag }) => ({
        file,
        test,
        taken: taken !== negated,
        ...(flag === undefined ? {} : { flag }),
      }));
    const placed = this.builder.placing();
    const activations = this.activations.map((activation) => activation.told(placed));
    return {
      program: this.builder.finish(),
      activations,
      decisions,
      handOvers: this.handOvers.map((h) => ({ ...h, step: placed(h.step) })),
    };
  }
}

function putAll<K, V>(map: Map<K, V>, from: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of from) map.set(key, value);
}

function addAll<T>(set: Set<T>, from: ReadonlySet<T>): void {
  set.clear();
  for (const value of from) set.add(value);
}

/** Whether a text has a call that records events. */
export function recordsEvents(text: string): boolean {
  return /\brecord(_event)?\(/.test(text);
}
