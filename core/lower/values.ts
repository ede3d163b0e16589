/**
 * The values of the interpreter: Python's own (None, bool, numbers and strings are JavaScript's null, boolean, number
 * and string), and one class for each kind of object that matters to streams and memory. What is not known is a value
 * of its own, `Unknown`, with an identity that stays. Knows no syntax beyond the nodes that functions and classes hold,
 * and no effects: what an operation does is decided in interpreter/.
 */
import { namesUsed } from './names.ts';
import type { BlockId, EventId, GraphId, MemoryKind, StreamId, ThreadId } from '../program/program.ts';
import type { Copy } from './interpreter/copy.ts';
import type { Comparison } from './interpreter/ranges.ts';
import type { UnknownWork } from './interpreter/unknown-work.ts';
import type { ClassDef, Expression, FunctionDef, Lambda, Module, Parameter, Statement } from '../python/ast.ts';

export type Value = null | boolean | number | string | Obj;

let nextIdentity = 1;

/** Identities restart with each path, so that two runs with the same decisions give the same identities. */
export function restartIdentities(): void {
  nextIdentity = 1;
}

export function identitiesSoFar(): number {
  return nextIdentity;
}

/** A path goes on from what another one has prepared. */
export function resumeIdentities(soFar: number): void {
  nextIdentity = soFar;
}

export abstract class Obj {
  // Set in the constructor: fields with initializers are slow to define in a base of so many classes.
  declare readonly id: number;
  /** Epoch of the last reachability pass that came by. */
  declare mark: number;
  abstract readonly kind: string;
  constructor() {
    (this as { id: number }).id = nextIdentity++;
    this.mark = 0;
  }
  /** Values that this one keeps alive. */
  children(_visit: (value: Value | undefined) => void): void {}
}

/** The first part of a `copyFields`. */
function copyIdentity(to: Obj, from: Obj): void {
  (to as { id: number }).id = from.id;
  to.mark = from.mark;
}

/**
 * Whether something is on a CUDA device, shared by everything that must be on the same device (union-find): operands of
 * one operator, a tensor and its `.device`. Evidence for one member is evidence for all.
 */
export class DeviceClass {
  #parent: DeviceClass | undefined;
  #cuda = false;
  #index: number | undefined;

  takeHidden(from: DeviceClass, copy: Copy): void {
    this.#parent = copy(from.#parent);
    this.#cuda = from.#cuda;
    this.#index = from.#index;
  }

  find(): DeviceClass {
    let at: DeviceClass = this;
    while (at.#parent) {
      // The way gets shorter as it is gone: an operator more, and it would be one longer.
      if (at.#parent.#parent) at.#parent = at.#parent.#parent;
      at = at.#parent;
    }
    return at;
  }
  get cuda(): boolean {
    return this.find().#cuda;
  }
  get index(): number | undefined {
    return this.find().#index;
  }
  prove(index?: number): void {
    const root = this.find();
    root.#cuda = true;
    if (index !== undefined) root.#index ??= index;
  }
  unite(other: DeviceClass): void {
    const a = this.find();
    const b = other.find();
    if (a === b) return;
    b.#parent = a;
    a.#cuda ||= b.#cuda;
    a.#index ??= b.#index;
  }
}

/** Where an unknown value comes from; it decides how it may be used. */
export type UnknownOrigin = 'parameter' | 'attribute' | 'result' | 'element' | 'external';

/** Where a part of an unknown value comes from. */
export function partOrigin(owner: UnknownOrigin): UnknownOrigin {
  if (owner === 'parameter') return 'element';
  return owner === 'external' ? 'result' : owner;
}

export class Unknown extends Obj {
  readonly kind = 'unknown';
  #attributes: Map<string, Value> | undefined;
  #items: Map<string, Value> | undefined;
  #device: DeviceClass | undefined;
  /** Elements that iteration gives, of stable identity. */
  elements: Value[] | undefined;
  /** What it turned out to be, by use. */
  tensor: TensorV | undefined;
  stream: StreamV | undefined;
  event: EventV | undefined;
  /** Computed from unknown numbers: as an index it may well be another one's value. */
  computed = false;
  /** A number, a string, a flag: never a tensor. */
  plain = false;
  /** It is a module, by its use: all of its parameters. */
  parameters: TensorV | undefined;
  /** The default of a parameter, tried before anything else. */
  hint: Value | undefined;
  /** Each iteration gives fresh elements (data loaders). */
  loader = false;
  /** What a loader of data gives, and parts of it: on the host, unless something says otherwise. */
  batch = false;
  /** Receiver and attribute, for a method that is taken as a value. */
  receiver: Obj | undefined;
  /** A test that it is the outcome of. */
  comparison: Comparison | undefined;
  /** Where it says true, that value is one of these. */
  membership: { readonly of: Unknown; readonly among: readonly string[] } | undefined;
  /** The texts of which it is one, by what was decided. */
  oneOf: readonly string[] | undefined;
  /** Outcome of a comparison, perhaps of each element: as an index it is a mask. */
  mask = false;
  /** It is something, and not None. */
  present = false;
  /** One of several things that are known, nobody knows which. */
  picked = false;
  /** A global that stays None unless this attribute of an object says otherwise. */
  setUnder: string | undefined;
  /** The attribute in which a constructor kept it first. */
  heldAs: string | undefined;
  /** The number by which others than torch know this stream: `stream.cuda_stream`. */
  handleOf: StreamV | undefined;
  /** The call that gave it, where that may have made it. */
  madeBy: UnknownWork | undefined;
  /** The step before which the call that nobody knows gave it, where that may have made it on the current stream. */
  bornAt: number | undefined;
  /** That call's work on the current stream, if others turn out to work with what it gave: `closeGiven`. */
  givenBy: UnknownWork | undefined;
  /** Where it says true, a stream or event was seen to be done. */
  poll:
    | { readonly kind: 'event'; readonly event: EventId }
    | { readonly kind: 'stream'; readonly stream: StreamId }
    | undefined;
  constructor(
    public name: string,
    public origin: UnknownOrigin,
  ) {
    super();
  }
  copyFields(from: Unknown, copy: Copy): void {
    copyIdentity(this, from);
    this.name = from.name;
    this.origin = from.origin;
    if (from.#attributes) this.#attributes = copy(from.#attributes);
    if (from.#items) this.#items = copy(from.#items);
    if (from.#device) this.#device = copy(from.#device);
    if (from.elements) this.elements = copy(from.elements);
    if (from.tensor) this.tensor = copy(from.tensor);
    if (from.stream) this.stream = copy(from.stream);
    if (from.event) this.event = copy(from.event);
    this.computed = from.computed;
    this.plain = from.plain;
    if (from.parameters) this.parameters = copy(from.parameters);
    if (from.hint !== undefined) this.hint = copy(from.hint);
    this.loader = from.loader;
    this.batch = from.batch;
    if (from.receiver) this.receiver = copy(from.receiver);
    if (from.comparison) this.comparison = copy(from.comparison);
    if (from.membership) this.membership = copy(from.membership);
    this.oneOf = from.oneOf;
    this.mask = from.mask;
    this.present = from.present;
    this.picked = from.picked;
    this.setUnder = from.setUnder;
    this.heldAs = from.heldAs;
    if (from.handleOf) this.handleOf = copy(from.handleOf);
    if (from.madeBy) this.madeBy = copy(from.madeBy);
    this.bornAt = from.bornAt;
    if (from.givenBy) this.givenBy = copy(from.givenBy);
    this.poll = from.poll;
  }

  // Most unknown values are never looked into, so what holds their parts is made late.
  get attributes(): Map<string, Value> {
    this.#attributes ??= new Map();
    return this.#attributes;
  }
  get items(): Map<string, Value> {
    this.#items ??= new Map();
    return this.#items;
  }
  get device(): DeviceClass {
    this.#device ??= new DeviceClass();
    return this.#device;
  }
  /** It was decided to be one of these. */
  restrict(among: readonly string[]): void {
    this.oneOf = this.oneOf?.filter((text) => among.includes(text)) ?? among;
  }
  /** Nothing of it is known: it keeps nothing alive. */
  get empty(): boolean {
    return !this.#attributes && !this.#items && !this.elements && !this.tensor && !this.receiver;
  }
  override children(visit: (value: Value | undefined) => void): void {
    if (this.#attributes) for (const value of this.#attributes.values()) visit(value);
    if (this.#items) for (const value of this.#items.values()) visit(value);
    if (this.elements) for (const value of this.elements) visit(value);
    visit(this.tensor);
    visit(this.parameters);
    visit(this.receiver);
  }
}

/** One block of memory, alive. Views share it. */
export class Storage extends Obj {
  readonly kind = 'storage';
  /** An unknown keeper may hold it: its end is not known. */
  kept = false;
  released = false;
  /** Its end is looked for. */
  watched = false;
  /** Taken for the result of a callee that nobody knows: it may be no tensor at all. */
  guessed = false;
  /** A loader gave it: that somebody asks for it on the host does not say that it is elsewhere. */
  batch = false;
  /** Known to hold booleans: as an index it is a mask, whose number of elements the host waits for. */
  boolean = false;
  /** This rank has sent it to others: what a broadcast then does to it here is to read it. */
  sent = false;
  /** Type of the elements of a module's parameters, where it is known: a conversion to that one does nothing. */
  elements: string | undefined;
  /** Streams that the program says use it, by record_stream. */
  announced: Set<StreamId> | undefined;
  constructor(
    public block: BlockId,
    public memory: MemoryKind,
    readonly device: DeviceClass,
    public stream: StreamId | undefined,
  ) {
    super();
  }
}

/** Leading extent of a storage in abstract units; the whole is [0, whole). */
export const whole = 2 ** 40;

export class TensorV extends Obj {
  readonly kind = 'tensor';
  attributes: Map<string, Value> | undefined;
  /** Inputs that autograd may keep for as long as this tensor lives. */
  saved: Obj[] | undefined;
  grad: Value | undefined;
  /** Length of the first dimension, where known. */
  rows: number | undefined;
  /** Elements in all, where known. */
  size: readonly Value[] | undefined;
  /** Its dimensions are not in the order of memory. */
  transposed = false;
  /** Tensors of a result of several. */
  fields: readonly TensorV[] | undefined;
  /** A NumPy array over the same memory. */
  numpy = false;
  /** The tensor is (or may be) followed by autograd. */
  grads: 'no' | 'maybe' | 'yes' = 'no';
  /** The functional collective's result: the first use waits for this. */
  pending: WorkV | undefined;
  constructor(
    public storage: Storage,
    public start = 0,
    public end = whole,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.storage);
    visit(this.grad);
    if (this.attributes) for (const value of this.attributes.values()) visit(value);
    if (this.saved) for (const value of this.saved) visit(value);
  }
}

export class StreamV extends Obj {
  readonly kind = 'stream';
  constructor(
    readonly stream: StreamId,
    readonly device: DeviceClass,
    readonly deviceIndex: number,
    readonly isDefault: boolean,
  ) {
    super();
  }
}

export class EventV extends Obj {
  readonly kind = 'event';
  constructor(
    readonly event: EventId,
    readonly timing: boolean,
  ) {
    super();
  }
}

export class DeviceV extends Obj {
  readonly kind = 'device';
  constructor(
    /** `cuda`, `cpu`, `meta`; undefined: not known. */
    readonly type: string | undefined,
    readonly index: number | undefined,
    readonly device: DeviceClass,
    /** Read off a tensor that the host holds: what is sent there may be there already. */
    readonly besideHost = false,
  ) {
    super();
  }
}

/** A version of PyTorch, or one that it is compared with: any from the oldest to the newest that the program may meet. */
export class VersionV extends Obj {
  readonly kind = 'version';
  constructor(
    readonly newest: string,
    readonly oldest: string = newest,
  ) {
    super();
  }
}

/** A collective's handle. */
export class WorkV extends Obj {
  readonly kind = 'work';
  constructor(
    readonly event: EventId,
    readonly tensors: readonly TensorV[],
    /** `future`: what `get_future()` gives, whose wait gives the value; `host`: its wait holds the host. */
    readonly form: 'work' | 'future' | 'host' = 'work',
    /** Of a future that a callback made: what the callback gave. */
    readonly value?: Value,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const tensor of this.tensors) visit(tensor);
    visit(this.value);
  }
}

export class GraphV extends Obj {
  readonly kind = 'graph';
  captured = false;
  constructor(readonly graph: GraphId) {
    super();
  }
}

export class ListV extends Obj {
  readonly kind = 'list';
  /** Items that nobody here put in may be present too. */
  open = false;
  /** `deque(maxlen=…)`: what is put in at one end beyond this goes at the other. */
  longest: number | undefined;
  constructor(public items: Value[]) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const item of this.items) visit(item);
  }
}

export class TupleV extends Obj {
  readonly kind = 'tuple';
  constructor(
    readonly items: readonly Value[],
    /** Field names of a named tuple. */
    readonly fields?: readonly string[],
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const item of this.items) visit(item);
  }
}

export interface Entry {
  readonly key: Value;
  value: Value;
}

export class DictV extends Obj {
  readonly kind = 'dict';
  readonly entries = new Map<string, Entry>();
  /** Items that nobody here put in may be present too. */
  open = false;
  /** A function makes a stream out of it the current one for good: any stream in it may be its caller's current one. */
  selected = false;
  /** `defaultdict`'s factory. */
  factory: Value | undefined;
  /** Identity of values for keys that may be there. */
  readonly maybe = new Map<string, Value>();
  override children(visit: (value: Value | undefined) => void): void {
    for (const entry of this.entries.values()) {
      visit(entry.key);
      visit(entry.value);
    }
    for (const value of this.maybe.values()) visit(value);
    visit(this.factory);
  }
}

export class SetV extends Obj {
  readonly kind = 'set';
  open = false;
  readonly items = new Map<string, Value>();
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.items.values()) visit(value);
  }
}

export class SliceV extends Obj {
  readonly kind = 'slice';
  constructor(
    readonly lower: Value,
    readonly upper: Value,
    readonly step: Value,
  ) {
    super();
  }
}

/** Names of one function, class body, comprehension or module. */
export class Scope {
  readonly vars = new Map<string, Value>();
  globalNames: Set<string> | undefined;
  nonlocalNames: Set<string> | undefined;
  constructor(
    readonly module: ModuleV,
    readonly parent: Scope | undefined,
    readonly kind: 'module' | 'function' | 'class' | 'comprehension',
  ) {}
}

export class ModuleV extends Obj {
  readonly kind = 'module';
  readonly scope: Scope;
  /** `__main__` for the entry whose module code runs. */
  main = false;
  readonly executed = new Set<Statement>();
  /** What this module calls `torch`. */
  torchName: string | undefined;
  constructor(
    readonly syntax: Module,
    /** Dotted name, as far as the path tells. */
    readonly name: string,
    /** Top-level statements that bind each name. */
    readonly binders: ReadonlyMap<string, readonly Statement[]>,
  ) {
    super();
    this.scope = new Scope(this, undefined, 'module');
  }
}

/** A package of the workspace that has no module of its own here, or an external one: `torch.cuda`, `numpy`. */
export class ExternalV extends Obj {
  readonly kind = 'external';
  constructor(readonly path: string) {
    super();
  }
}

const noDefaults: ReadonlyMap<string, Value> = new Map();

export class FunctionV extends Obj {
  readonly kind = 'function';
  /** Values of parameters; most functions have none. */
  defaults: ReadonlyMap<string, Value> = noDefaults;
  /** Decorators that change how it is called, innermost first. */
  contextManager = false;
  noGrad = false;
  owner: ClassV | undefined;
  attributes: Map<string, Value> | undefined;
  /** What `functools.cache` keeps, by its arguments; undefined where the function is not cached. */
  results: Map<string, { readonly args: readonly Value[]; readonly value: Value }> | undefined;
  constructor(
    readonly name: string,
    readonly node: FunctionDef | Lambda,
    readonly parameters: readonly Parameter[],
    readonly closure: Scope,
  ) {
    super();
  }
  copyFields(from: FunctionV, copy: Copy): void {
    copyIdentity(this, from);
    const own = this as { -readonly [K in keyof FunctionV]: FunctionV[K] };
    own.name = from.name;
    own.node = from.node;
    own.parameters = from.parameters;
    own.closure = copy(from.closure);
    if (from.defaults !== noDefaults) this.defaults = copy(from.defaults);
    this.contextManager = from.contextManager;
    this.noGrad = from.noGrad;
    if (from.owner) this.owner = copy(from.owner);
    if (from.attributes) this.attributes = copy(from.attributes);
    if (from.results) this.results = copy(from.results);
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.defaults.values()) visit(value);
    if (this.attributes) for (const value of this.attributes.values()) visit(value);
    if (this.results) for (const { value } of this.results.values()) visit(value);
    // Names that the body may take from enclosing functions. A function of a module has none, and is not read for them.
    for (let scope: Scope | undefined = this.closure; scope && scope.kind !== 'module'; scope = scope.parent)
      for (const name of namesUsed(this.node)) visit(scope.vars.get(name));
  }
}

export class BoundMethodV extends Obj {
  readonly kind = 'method';
  constructor(
    readonly self: Value,
    readonly target: FunctionV | Obj,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.self);
    visit(this.target);
  }
}

/** A method of a built-in object taken as a value: `items.append`. */
export class BuiltinMethodV extends Obj {
  readonly kind = 'builtin-method';
  constructor(
    readonly self: Value,
    readonly name: string,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.self);
  }
}

export class PropertyV extends Obj {
  readonly kind = 'property';
  constructor(
    readonly getter: Value,
    readonly setter: Value | undefined,
    readonly cached = false,
  ) {
    super();
  }
}

export class StaticMethodV extends Obj {
  readonly kind = 'staticmethod';
  constructor(readonly target: Value) {
    super();
  }
}

export class ClassMethodV extends Obj {
  readonly kind = 'classmethod';
  constructor(readonly target: Value) {
    super();
  }
}

export class ClassV extends Obj {
  readonly kind = 'class';
  readonly attributes = new Map<string, Value>();
  /** Fields of a dataclass or NamedTuple, in order. */
  fields: { name: string; default?: Expression; value?: Value; keyword?: boolean }[] | undefined;
  named = false;
  constructor(
    readonly name: string,
    readonly node: ClassDef | undefined,
    readonly bases: readonly Value[],
    readonly module: ModuleV | undefined,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.attributes.values()) visit(value);
  }
}

/** What the body of a class sets, not made before it is asked for. */
export class LateV extends Obj {
  readonly kind = 'late';
  constructor(
    readonly statement: Statement,
    /** Of the class body. */
    readonly scope: Scope,
  ) {
    super();
  }
}

export class InstanceV extends Obj {
  readonly kind = 'instance';
  readonly attributes = new Map<string, Value>();
  /** Attributes that nobody here set may be present too. */
  open = false;
  /** Device of an nn.Module's parameters. */
  device: DeviceClass | undefined;
  constructor(readonly cls: ClassV) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.attributes.values()) visit(value);
  }
}

export class SuperV extends Obj {
  readonly kind = 'super';
  constructor(
    readonly self: Value,
    readonly after: ClassV,
    readonly cls: ClassV,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.self);
  }
}

export class PartialV extends Obj {
  readonly kind = 'partial';
  constructor(
    readonly target: Value,
    readonly args: readonly Value[],
    readonly keywords: ReadonlyMap<string, Value>,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.target);
    for (const value of this.args) visit(value);
    for (const value of this.keywords.values()) visit(value);
  }
}

/** Anything with `__next__` that is not a generator of the program. */
export class IteratorV extends Obj {
  readonly kind = 'iterator';
  constructor(
    readonly next: () => Value | undefined,
    readonly source: readonly Value[],
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.source) visit(value);
  }
}

/** `range`, `zip`, … of a length that may be known, iterated afresh each time. */
export class SequenceV extends Obj {
  readonly kind = 'sequence';
  constructor(
    readonly make: () => IteratorV,
    readonly source: readonly Value[],
    readonly length: number | undefined,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.source) visit(value);
  }
}

/** A context manager that the framework or contextlib makes. */
export class ContextV extends Obj {
  readonly kind = 'context';
  suppresses = false;
  /** What entering it saved. */
  saved: unknown;
  constructor(
    readonly enter: (context: ContextV) => Value,
    readonly exit: (context: ContextV) => void,
    readonly source: readonly Value[],
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.source) visit(value);
  }
}

/** A module of torch.nn, an optimizer, a loader, …: an object whose class is the framework's. */
export class NativeV extends Obj {
  readonly kind = 'native';
  readonly attributes = new Map<string, Value>();
  /** Tensors that it owns: parameters. */
  tensors: TensorV[] = [];
  /** Modules or values inside. */
  parts: Value[] = [];
  device: DeviceClass | undefined;
  constructor(readonly path: string) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    for (const value of this.attributes.values()) visit(value);
    for (const value of this.tensors) visit(value);
    for (const value of this.parts) visit(value);
  }
}

export class ThreadV extends Obj {
  readonly kind = 'thread';
  thread: ThreadId | undefined;
  joined = false;
  constructor(
    readonly target: Value,
    readonly args: readonly Value[],
    readonly keywords: ReadonlyMap<string, Value>,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    visit(this.target);
    for (const value of this.args) visit(value);
    for (const value of this.keywords.values()) visit(value);
  }
}

/** A kernel of the program's own, launched as `kernel[grid](…)`. */
export class KernelV extends Obj {
  readonly kind = 'kernel';
  constructor(
    readonly node: FunctionDef,
    /** Of its text: what a launch does is read off that. */
    readonly place: string,
  ) {
    super();
  }
}

/** An exception object of the program. */
export class ExceptionV extends Obj {
  readonly kind = 'exception';
  constructor(readonly name: string) {
    super();
  }
}

export function isObj(value: Value | undefined): value is Obj {
  return value instanceof Obj;
}

/** Key of a value in dicts and sets; values that are not known differ from each other and from every constant. */
export function keyOf(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'string') return `s:${value}`;
  if (typeof value === 'number') return `n:${value}`;
  if (typeof value === 'boolean') return `n:${value ? 1 : 0}`;
  if (value instanceof TupleV) return `(${value.items.map(keyOf).join(',')})`;
  if (value instanceof StreamV) return `stream:${value.stream}`;
  if (value instanceof DeviceV && value.type !== undefined) return `device:${value.type}:${value.index ?? ''}`;
  if (value instanceof ExternalV) return `x:${value.path}`;
  return `o:${value.id}`;
}
