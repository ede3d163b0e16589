/**
 * Functions that PyTorch calls later: hooks of modules, tensors and the autograd graph, and callbacks handed to callees
 * that nobody knows. Each is judged for itself, with what it is given made just now on the stream that is current. Hooks
 * for saved tensors are the exception: PyTorch itself calls one after the other, so that both are judged together.
 */
import {
  BoundMethodV,
  DeviceClass,
  EventV,
  FunctionV,
  InstanceV,
  isObj,
  NativeV,
  type Obj,
  PartialV,
  type Scope,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { call, noKeywords } from './calls.ts';
import { moduleLike } from './classes.ts';
import { shareEvents } from './fill.ts';
import { Raised } from './frame.ts';
import type { Machine } from './machine.ts';
import { leaveGenerator } from './run.ts';

export interface Hook {
  /**
   * Who calls it: somebody, a module (with itself first), the gradient of a tensor (with that), a parameter that got
   * its gradient (with the parameter), a node of the autograd graph, or the engine at the end of a backward pass.
   */
  readonly caller: 'somebody' | 'module' | 'gradient' | 'parameter' | 'node' | 'backward' | 'saved tensors';
  readonly fn: Value;
  /** What it is registered on. */
  readonly owner?: Value;
  /** Of saved tensors: what gives the tensor back. */
  readonly unpack?: Value;
  /** Of a module's: whether it runs before its forward or after it, where it is a forward's at all. */
  readonly when?: 'before' | 'after';
  /** What takes it away again. */
  readonly handle?: Unknown;
  /** The path has come to where it is called: it is judged there. */
  ran?: boolean;
  /** The forward around which it is called runs. */
  running?: boolean;
}

const most = 8;

export function visitHook(hook: Hook, visit: (value: Value | undefined) => void): void {
  visit(hook.fn);
  visit(hook.owner);
  visit(hook.unpack);
}

/** `owner.register_…_hook(fn)`. */
export function registerHook(m: Machine, owner: Value, method: string, args: readonly Value[]): Unknown {
  const handle = m.temp(new Unknown('handle', 'result'));
  for (const fn of args)
    if (isCallable(fn)) {
      const when = /^register_forward_(pre_)?hook$/.exec(method);
      m.hooks.push({
        caller: callerOf(owner, method),
        fn,
        owner,
        handle,
        ...(when ? { when: when[1] ? 'before' : 'after' } : {}),
      });
      if (owner instanceof Unknown && fn instanceof FunctionV) leaveToHook(m, fn);
    }
  return handle;
}

/** `handle.remove()` of what `registerHook` gave; false where it is the handle of something else. */
export function removeHook(m: Machine, handle: Unknown): boolean {
  const left = m.hooks.filter((hook) => hook.handle !== handle);
  if (left.length === m.hooks.length) return false;
  // What it has done by now it has done where it was called.
  m.hooks.splice(0, m.hooks.length, ...left);
  return true;
}

/** What lies before the entry has its hooks run later, as others call them. */
function calledHere(m: Machine): boolean {
  return m.settled === 0 && m.before === 0 && !m.filling;
}

/** Whether a module that nobody knows, or a part of it, has hooks around its forward which do not run already. */
export function isHooked(m: Machine, module: Unknown): boolean {
  return calledHere(m) && m.hooks.some((hook) => hook.when !== undefined && !hook.running && isOf(hook, module));
}

/** Whether there are hooks around the forward of the module, or of a part of it, whoever is to run it. */
export function hasHooks(m: Machine, module: Value): boolean {
  if (!isObj(module) || m.hooks.length === 0) return false;
  return m.hooks.some((hook) => hook.when !== undefined && isOf(hook, module, true));
}

/** On the module itself, or on a part of one that nobody knows: its forward goes through its parts. */
function isOf({ owner }: Hook, module: Obj, isInside = false): boolean {
  const seen = new Set<Value>();
  const holds = (whole: Obj, isInside: boolean): boolean => {
    if (whole === owner) return true;
    const goesThrough = whole instanceof Unknown || (isInside && isModule(whole));
    if (!goesThrough || seen.has(whole)) return false;
    seen.add(whole);
    let found = false;
    whole.children((part) => {
      found ||= isObj(part) && !(whole instanceof Unknown && part === whole.receiver) && holds(part, true);
    });
    return found;
  };
  return holds(module, isInside);
}

/** A module of torch, or of a class of the program. */
export function isModule(value: Obj): boolean {
  return value instanceof NativeV
    ? value.path.startsWith('torch.nn.')
    : value instanceof InstanceV && moduleLike(value.cls) === 'torch.nn.Module';
}

/** An event that the hook of an unknown module records is recorded as soon as somebody calls that module. */
function leaveToHook(m: Machine, fn: FunctionV): void {
  const text = fn.closure.module.syntax.text.slice(fn.node.start, fn.node.end);
  for (const [, name] of text.matchAll(/\b(\w+)\.record\(/g)) {
    let scope: Scope | undefined = fn.closure;
    while (scope && !scope.vars.has(name!)) scope = scope.parent;
    const event = scope?.vars.get(name!);
    if (event instanceof EventV && !m.recordedEvents.has(event.event)) m.builder.events[event.event]!.unknown = true;
  }
}

/** The engine calls it when the backward pass that runs is over. */
export function atEndOfBackward(m: Machine, fn: Value | undefined): void {
  if (fn !== undefined && isCallable(fn)) m.hooks.push({ caller: 'backward', fn });
}

/** `saved_tensors_hooks(pack, unpack)`, or the constructor of a class that derives from it. */
export function registerSavedTensorsHooks(m: Machine, pack: Value | undefined, unpack: Value | undefined): void {
  if (pack !== undefined && unpack !== undefined && isCallable(pack) && isCallable(unpack))
    m.hooks.push({ caller: 'saved tensors', fn: pack, unpack });
}

function isCallable(value: Value): boolean {
  return isObj(value) && /^(function|method|partial)$/.test(value.kind);
}

function callerOf(owner: Value, method: string): Hook['caller'] {
  if (method === 'register_post_accumulate_grad_hook') return 'parameter';
  if (owner instanceof NativeV && owner.path === 'torch.autograd.Node') return 'node';
  if (method === 'register_hook') return 'gradient';
  if (/^register_(forward|backward|full_backward)/.test(method)) return 'module';
  return 'somebody';
}

/** Calls a module, and the hooks of its forward around it. */
export function callHooked(m: Machine, module: Obj, args: readonly Value[], forward: () => Value): Value {
  const hooks = calledHere(m) ? m.hooks.filter((hook) => isOf(hook, module)) : [];
  if (!hooks.some(({ when }) => when !== undefined)) return forward();
  const given = m.temp(new TupleV([...args]));
  const run = (when: Hook['when'], ...values: Value[]): Value => {
    let result: Value = null;
    for (const hook of hooks) {
      const fn = functionOf(hook);
      if (hook.when !== when || !fn || !m.concerned(fn)) continue;
      hook.ran = true;
      try {
        result = call(m, hook.fn, [module, given, ...values], noKeywords, m.frame.node) ?? result;
      } catch (error) {
        if (!(error instanceof Raised)) throw error;
      }
    }
    return result;
  };
  run('before');
  for (const hook of hooks) hook.running = true;
  let result: Value;
  try {
    result = forward();
  } finally {
    for (const hook of hooks) hook.running = false;
  }
  m.hold(result);
  return run('after', result) ?? result;
}

/** A backward pass that the program itself starts calls the hooks of gradients where it stands. */
export function runGradientHooks(m: Machine): void {
  if (!calledHere(m)) return;
  const registered = m.hooks.filter(({ caller }) => caller === 'gradient' || caller === 'parameter');
  for (const hook of registered.slice(0, most)) {
    const fn = functionOf(hook);
    if (!fn || !m.concerned(fn)) continue;
    hook.ran = true;
    try {
      runHook(m, hook);
    } catch (error) {
      if (!(error instanceof Raised)) throw error;
    }
  }
}

/** Every hook that has not run yet, at a later time than all before. */
export function runHooks(m: Machine): void {
  for (let count = 0; m.hooks.length > 0 && count < most; ) {
    const hook = m.hooks.shift()!;
    if (hook.ran) continue;
    count++;
    m.hold(hook.fn);
    // What it leaves in a container around it, its maker may look at afterwards.
    m.givenToPools.push(hook.fn);
    m.hostWaitAll();
    shareEvents(m);
    m.arrive();
    try {
      if (hook.caller === 'saved tensors') runSavedTensorsHooks(m, hook.fn, hook.unpack!);
      else {
        m.entryCall = true;
        const result = runHook(m, hook);
        m.entryCall = false;
        leaveGenerator(m, result);
        runWaiting(m, 'backward');
        m.goOnOutside();
      }
    } catch (error) {
      if (!(error instanceof Raised)) throw error;
    }
  }
}

/** Calls it as its caller does, at once. */
export function runHook(m: Machine, hook: Hook): Value {
  return call(m, hook.fn, argumentsFor(m, hook), noKeywords, m.frame.node);
}

/** The function of the source that runs when the hook is called; undefined: none that can be seen. */
export function functionOf({ fn }: Hook): FunctionV | undefined {
  let target = fn;
  while (target instanceof PartialV || target instanceof BoundMethodV) target = target.target;
  return target instanceof FunctionV ? target : undefined;
}

/** What the caller of a hook gives it first; the rest is made where the parameters are bound. */
function argumentsFor(m: Machine, hook: Hook): Value[] {
  const owner = hook.owner;
  switch (hook.caller) {
    case 'module':
      return owner === undefined ? [] : [owner];
    case 'gradient':
      return [gradientOf(m, owner)];
    case 'parameter': {
      if (owner === undefined || !isObj(owner)) return [];
      const gradient = gradientOf(m, owner);
      if (owner instanceof Unknown) owner.attributes.set('grad', gradient);
      const tensor = owner instanceof Unknown ? owner.tensor : owner;
      if (tensor instanceof TensorV) tensor.grad = gradient;
      // The parameter stays, and its gradient with it where the hook leaves it there: nobody else holds that.
      m.frame.temps = m.frame.temps.filter((value) => value !== gradient);
      m.roots.push(owner);
      return [owner];
    }
    default:
      return [];
  }
}

/** The backward pass has just made it. */
function gradientOf(m: Machine, owner: Value | undefined): TensorV {
  const device = new DeviceClass();
  if (owner instanceof TensorV) device.unite(owner.storage.device);
  else if (owner instanceof Unknown) device.unite(owner.tensor?.storage.device ?? owner.device);
  const gradient = m.allocate('?grad', device);
  m.launch('backward', m.current(m.deviceIndexOf(device)), [], [gradient]);
  return gradient;
}

/** Hooks of this kind that were registered meanwhile, without anything in between. */
function runWaiting(m: Machine, caller: Hook['caller']): void {
  for (let count = 0; count < most; count++) {
    const at = m.hooks.findIndex((hook) => hook.caller === caller);
    if (at < 0) return;
    const [hook] = m.hooks.splice(at, 1);
    m.hold(hook!.fn);
    call(m, hook!.fn, [], noKeywords, m.frame.node);
    m.settle(m.frame);
  }
}

/** Tensors that a forward pass saves: more than most implementations keep on the device. */
const savedAtFirst = 7;
const savedAgain = 2;

/**
 * A forward pass packs what it saves, the backward pass unpacks it in reverse; then once more. A forward's result has no
 * other owner than the graph.
 */
function runSavedTensorsHooks(m: Machine, pack: Value, unpack: Value): void {
  const frame = m.frame;
  frame.held.push(pack, unpack);
  m.sameTurns++;
  for (const count of [savedAtFirst, savedAgain]) {
    const packed: Value[] = [];
    for (let i = 0; i < count; i++) {
      const result = call(m, pack, [makeOnCurrent(m, 'activation', 'forward')], noKeywords, frame.node);
      packed.push(result);
      frame.held.push(result);
      m.settle(frame);
    }
    while (packed.length > 0) {
      const item = packed.pop()!;
      frame.held.pop();
      m.autogradNode = new NativeV('torch.autograd.Node');
      m.entryCall = true;
      m.usedAtOnce = true;
      m.hold(item);
      call(m, unpack, [item], noKeywords, frame.node);
      m.entryCall = false;
      m.usedAtOnce = false;
      makeOnCurrent(m, 'grad', 'backward');
      m.settle(frame);
      runWaiting(m, 'node');
      // A node that saved nothing comes next.
      makeOnCurrent(m, 'grad', 'backward');
      m.settle(frame);
    }
    m.autogradNode = undefined;
    runWaiting(m, 'backward');
    m.settle(frame);
  }
  m.sameTurns--;
  frame.held.length -= 2;
}

/** The framework's own work: a new tensor on the stream that is current. */
function makeOnCurrent(m: Machine, name: string, by: string): TensorV {
  const tensor = m.allocate(`?${name}`, new DeviceClass());
  m.launch(by, m.current(), [], [tensor]);
  return tensor;
}
