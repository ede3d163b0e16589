/** Functions of the program: making them, binding arguments, running bodies, generators. */
import type { Expression, FunctionDef, Lambda, Node, Parameter, Statement } from '../../python/ast.ts';
import {
  ClassMethodV,
  ClassV,
  DictV,
  ExternalV,
  FunctionV,
  InstanceV,
  isObj,
  KernelV,
  keyOf,
  NativeV,
  PropertyV,
  Scope,
  StaticMethodV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { call, unknownCall } from './calls.ts';
import { ev } from './expressions.ts';
import { type Frame, GeneratorV, isCaught, Raised } from './frame.ts';
import type { Machine } from './machine.ts';
import { leaveEntry, handOver, useByCaller } from './handover.ts';
import { type Completion, execBlock } from './statements.ts';
import { resolved } from './truth.ts';
import { openWork } from './unknown-work.ts';

const deepest = 24;
const deepestRecursion = 2;

export function makeFunction(m: Machine, node: FunctionDef): Value {
  const fn = bareFunction(m, node.name, node, node.parameters);
  let value: Value = fn;
  for (const decorator of [...node.decorators].reverse()) value = decorate(m, value, fn, ev(m, decorator), decorator);
  return value;
}

/** Triton's decorators, and a library's own `jit` over a function in Triton's language. */
function makesKernel(m: Machine, decorator: Value, at: Node, { start, end }: Node): boolean {
  if (decorator instanceof ExternalV && /^triton\./.test(decorator.path)) return true;
  const { text } = m.frame.module.syntax;
  return (
    /\bjit\b/.test(text.slice(at.start, at.end)) &&
    /\btl\.(?:program_id|num_programs|load|store)\(/.test(text.slice(start, end))
  );
}

export function makeLambda(m: Machine, node: Lambda): FunctionV {
  return m.temp(bareFunction(m, '<lambda>', node, node.parameters));
}

function bareFunction(
  m: Machine,
  name: string,
  node: FunctionDef | Lambda,
  parameters: readonly Parameter[],
): FunctionV {
  let closure: Scope = m.frame.scope;
  // A class's names are not seen from its methods.
  while (closure.kind === 'class' && closure.parent) closure = closure.parent;
  const fn = new FunctionV(name, node, parameters, closure);
  const defaults = new Map<string, Value>();
  for (const parameter of parameters) if (parameter.default) defaults.set(parameter.name, ev(m, parameter.default));
  if (defaults.size > 0) fn.defaults = defaults;
  return fn;
}

function decorate(m: Machine, value: Value, fn: FunctionV, decorator: Value, node: Node): Value {
  if (value instanceof KernelV) return value;
  if (fn.node.kind === 'FunctionDef' && makesKernel(m, decorator, node, fn.node))
    return new KernelV(fn.node, `${fn.closure.module.syntax.file}#${fn.node.start}`);
  if (decorator instanceof ExternalV) {
    switch (decorator.path) {
      case 'property':
      case 'abc.abstractproperty':
        return new PropertyV(value, undefined);
      case 'functools.cached_property':
        return new PropertyV(value, undefined, true);
      case 'staticmethod':
        return new StaticMethodV(value);
      case 'classmethod':
        return new ClassMethodV(value);
      case 'contextlib.contextmanager':
      case 'contextlib.asynccontextmanager':
        fn.contextManager = true;
        return value;
      case 'torch.no_grad':
      case 'torch.inference_mode':
        fn.noGrad = true;
        return value;
      case 'functools.cache':
      case 'functools.lru_cache':
        keepResults(fn);
        return value;
      case 'functools.wraps':
        return value;
    }
    return value;
  }
  if (decorator instanceof NativeV && decorator.path === 'functools.cache') {
    keepResults(fn);
    return value;
  }
  if (decorator instanceof Unknown) {
    if (decorator.receiver instanceof Unknown && /(^|\.)no_grad|inference_mode/.test(decorator.name)) fn.noGrad = true;
    // `@x.setter` of a property that is already there.
    if (/\.?setter$/.test(decorator.name)) return value;
    return value;
  }
  if (decorator instanceof FunctionV || decorator instanceof ClassV) {
    const result = call(m, decorator, [value], new Map(), node);
    return result instanceof Unknown || result === null ? value : result;
  }
  if (decorator !== null && typeof decorator === 'object') {
    const kind = (decorator as { kind: string }).kind;
    if (kind === 'builtin-method') {
      const method = decorator as unknown as { self: Value; name: string };
      if (method.self instanceof PropertyV && method.name === 'setter') return new PropertyV(method.self.getter, value);
    }
    if (kind === 'context') {
      fn.noGrad = true;
      return value;
    }
    if (kind === 'decorator') return value;
  }
  return value;
}

/** `f(*parts, last)`: more than the function takes says that there are fewer parts than a sequence is taken to have. */
function fitting(m: Machine, fn: FunctionV, args: readonly Value[]): readonly Value[] {
  if (m.spread.size === 0 || fn.parameters.some(({ kind, name }) => kind === 'star' && name !== '')) return args;
  const taken = fn.parameters.filter(({ kind }) => !/star|keyword-only/.test(kind)).length;
  let excess = args.length - taken;
  const kept: Value[] = [];
  for (const value of [...args].reverse()) {
    if (excess > 0 && m.spread.has(value)) excess--;
    else kept.push(value);
  }
  return kept.reverse();
}

/** Binds arguments to parameters; what is not given stays at its default, or unknown. */
export function bindArguments(
  m: Machine,
  fn: FunctionV,
  scope: Scope,
  given: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
): void {
  const args = fitting(m, fn, given);
  const left = new Map(keywords);
  let at = 0;
  for (const parameter of fn.parameters) {
    let value: Value | undefined;
    switch (parameter.kind) {
      case 'star':
        if (parameter.name === '') continue;
        value = new TupleV(args.slice(at));
        at = args.length;
        break;
      case 'double-star': {
        const dict = new DictV();
        for (const [name, item] of left) dict.entries.set(keyOf(name), { key: name, value: item });
        left.clear();
        value = dict;
        break;
      }
      case 'keyword-only':
        value = left.get(parameter.name);
        left.delete(parameter.name);
        break;
      default:
        if (at < args.length) value = args[at++];
        else {
          value = left.get(parameter.name);
          left.delete(parameter.name);
        }
    }
    if (value === undefined) value = fn.defaults.get(parameter.name);
    if (value === undefined) value = unknownParameter(parameter);
    // Numbers and strings of which only this says what they are.
    if (value instanceof Unknown && !value.tensor && isPlainType(parameter.annotation)) value.plain = true;
    scope.vars.set(parameter.name, value);
    if (typeof value === 'object' && value !== null) m.bind(parameter.name, value);
  }
}

/** `int`, `Optional[int]`, `int | None`: never a tensor. */
function isPlainType(annotation: Expression | undefined): boolean {
  switch (annotation?.kind) {
    case 'Name':
      return /^(int|float|str|bool|bytes)$/.test(annotation.id);
    case 'Subscript':
      return annotation.value.kind === 'Name' && annotation.value.id === 'Optional' && isPlainType(annotation.index);
    case 'Binary':
      return isNoneType(annotation.right)
        ? isPlainType(annotation.left)
        : isPlainType(annotation.right) && (isNoneType(annotation.left) || isPlainType(annotation.left));
  }
  return false;
}

function isNoneType(annotation: Expression): boolean {
  return annotation.kind === 'Constant' && annotation.value === null;
}

export function unknownParameter(parameter: Parameter): Unknown {
  const value = new Unknown(parameter.name, 'parameter');
  value.plain = isPlainType(parameter.annotation);
  value.loader = /loader|batches|data_iter|iterator/i.test(parameter.name);
  return value;
}

/** `functools.cache`: the first call with some arguments runs, later ones give what it gave. */
export function keepResults(fn: FunctionV): void {
  fn.results ??= new Map();
}

/** Calls a function of the program. */
export function callFunction(
  m: Machine,
  fn: FunctionV,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value {
  const { results } = fn;
  if (!results) return runFunction(m, fn, args, keywords, node);
  const given = [...args, ...[...keywords].sort(([a], [b]) => (a < b ? -1 : 1)).flat()];
  const key = given.map(keyOf).join();
  const known = results.get(key);
  if (known) return known.value;
  // Called with what may be the same arguments: which of the results this is, or whether it is one, is not known.
  for (const one of results.values())
    if (isObj(one.value) && mayBeSame(one.args, given)) {
      const kept = m.deriveUnknown(`cached:${fn.id}:${key}`, fn.name);
      kept.picked = true;
      return kept;
    }
  const value = runFunction(m, fn, args, keywords, node);
  results.set(key, { args: given, value });
  return value;
}

function mayBeSame(a: readonly Value[], b: readonly Value[]): boolean {
  return (
    a.length === b.length &&
    a.every((value, i) => keyOf(value) === keyOf(b[i]!) || value instanceof Unknown || b[i] instanceof Unknown)
  );
}

function runFunction(
  m: Machine,
  fn: FunctionV,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value {
  m.spend();
  let same = 0;
  for (const frame of m.stack) if (frame.fn?.node === fn.node && !frame.inside) same++;
  if (m.stack.length > deepest || same > deepestRecursion) return new Unknown(fn.name, 'result');
  const place = `${fn.closure.module.syntax.file}#${fn.node.start}`;
  m.touched.add(place);
  const module = fn.closure.module;
  const scope = new Scope(module, fn.closure, 'function');
  const caller = m.frame;
  const before = caller.node;
  caller.node = node;
  const frame = m.newFrame(module, fn, scope, fn.node, args[0]);
  const entry = m.entryCall;
  m.entryCall = false;
  // Arguments move into the callee: what only the call held goes when the callee drops it.
  for (const value of args) if (typeof value === 'object' && value !== null) removeTemp(caller, value);
  for (const value of keywords.values()) if (typeof value === 'object' && value !== null) removeTemp(caller, value);
  if (!entry && m.concerned(fn)) for (const value of [...args, ...keywords.values()]) takeForReady(m, value);
  m.stack.push(frame);
  bindArguments(m, fn, scope, args, keywords);
  if (fn.node.kind === 'FunctionDef' && fn.node.isGenerator) {
    judge(m, place);
    m.stack.pop();
    caller.node = before;
    const generator = m.temp(new GeneratorV(frame, runGenerator(m, fn.node.body)));
    return generator;
  }
  const grad = m.gradMode;
  if (fn.noGrad) m.gradMode = false;
  const depth = m.stack.length;
  const { refused } = m;
  try {
    if (fn.node.kind === 'Lambda') {
      frame.returned = ev(m, fn.node.body);
      frame.node = fn.node.body;
    } else runBody(m, fn.node.body);
    judge(m, place);
    const value = frame.returned;
    if (frame.returnedAt) frame.node = frame.returnedAt;
    if (entry) {
      // The return itself is where the result leaves.
      leaveEntry(m, value, 'return');
      if (m.usedAtOnce) useByCaller(m, value);
      else m.roots.push(value);
    } else handOver(m, frame, value, 'return');
    caller.temps.push(...asTemps(value));
    endFrame(m, frame);
    return value;
  } catch (error) {
    if (error instanceof Raised) {
      judge(m, place);
      m.stack.length = depth;
      endFrame(m, frame);
      if (m.refused === refused && isUnlikely(m, fn, args, caller, error))
        return unknownCall(m, fn.name, args, keywords);
    }
    throw error;
  } finally {
    m.gradMode = grad;
    caller.node = before;
  }
}

/**
 * Whether a function that has nothing to do with streams fails for no test that could have gone otherwise, and nobody
 * catches it: which method is called, or what it is given, is then not known well enough. It is taken for one that nobody
 * knows by the function that called it and has to do with streams; not inside of a capture, of which one that nobody knows
 * may make more streams a part, and not where it has nothing to work with, as what reads a program's options.
 */
function isUnlikely(m: Machine, fn: FunctionV, args: readonly Value[], caller: Frame, { name }: Raised): boolean {
  if (
    m.settled > 0 ||
    m.before > 0 ||
    m.filling ||
    m.capturing ||
    /^(?:Stop(?:Async)?Iteration|SystemExit|GeneratorExit)$/.test(name)
  )
    return false;
  if (fn.node === m.entry || m.concerned(fn)) return false;
  if (caller.fn && caller.fn.node !== m.entry && !m.concerned(caller.fn)) return false;
  const works = args.some(
    (value) => value instanceof InstanceV || value instanceof TensorV || (value instanceof Unknown && !value.plain),
  );
  return works && !isCaught(m.stack, name);
}

/**
 * What a callee that nobody knows has just given, and that is handed on to a function that has to do with streams: it is
 * ready on the stream that is current, as a parameter is where that function is looked at by itself.
 */
function takeForReady(m: Machine, given: Value): void {
  const value = resolved(m, given);
  if (!(value instanceof Unknown) || value.bornAt === undefined || value.madeBy || value.tensor) return;
  if (value.plain || value.stream || value.event || m.settled > 0 || m.filling) return;
  // Whatever orders streams in between may have ordered this.
  const { emitted, length } = m.builder;
  for (let at = value.bornAt; at < length; at++) if (!/^(?:launch|allocate|release)$/.test(emitted[at]!.kind)) return;
  value.madeBy = openWork(m, value.name, m.current(), [], [], true);
}

/** Judged with its caller is what ran to its end there: of what a spent budget cut, the caller says nothing. */
function judge(m: Machine, place: string): void {
  if (m.settled === 0 && m.before === 0) m.judged.add(place);
}

function asTemps(value: Value): (Value & object)[] {
  return typeof value === 'object' && value !== null ? [value] : [];
}

function removeTemp(frame: Frame, value: Value): void {
  for (let at = frame.temps.indexOf(value as never); at >= 0; at = frame.temps.indexOf(value as never))
    frame.temps.splice(at, 1);
}

function runBody(m: Machine, body: readonly Statement[]): Completion {
  const steps = execBlock(m, body);
  for (;;) {
    const result = steps.next(null);
    if (result.done) return result.value;
  }
}

/** The frame's names end; what only they held is released. */
function endFrame(m: Machine, frame: Frame): void {
  m.stack.pop();
  m.handSelectionsUp(frame.activation);
  frame.temps = [];
  frame.dropped = [];
  frame.held.length = 0;
  frame.returned = null;
  // The release is placed in the frame that ended; closures keep what they use of its names.
  m.stack.push(frame);
  m.collectFrame(frame);
  m.stack.pop();
}

function* runGenerator(m: Machine, body: readonly Statement[]): Generator<Value, void, Value> {
  yield* execBlock(m, body);
}

/** The next item of a generator of the program; undefined at its end. */
export function resumeGenerator(m: Machine, generator: GeneratorV, sent: Value): Value | undefined {
  if (generator.done || generator.running) return undefined;
  m.spend();
  if (m.stack.length > deepest) {
    generator.done = true;
    return undefined;
  }
  const frame = generator.frame;
  generator.running = true;
  m.stack.push(frame);
  const depth = m.stack.length;
  try {
    const result = generator.body.next(sent);
    m.stack.length = depth;
    if (result.done) {
      generator.done = true;
      generator.returned = frame.returned;
      endFrame(m, frame);
      return undefined;
    }
    // An expression in the middle of a function hands nothing out of it.
    if (!frame.inside) handOver(m, frame, result.value, 'yield');
    m.stack.pop();
    m.handSelectionsUp(frame.activation);
    m.hold(result.value);
    return result.value;
  } catch (error) {
    generator.done = true;
    if (error instanceof Raised) {
      m.stack.length = depth;
      endFrame(m, frame);
      // A generator that returns ends the iteration; another exception goes on.
      if (error.name === 'StopIteration') return undefined;
    }
    throw error;
  } finally {
    generator.running = false;
  }
}

export function isTensorLike(value: Value): boolean {
  return value instanceof TensorV || (value instanceof Unknown && value.tensor !== undefined);
}
