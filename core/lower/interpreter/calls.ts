/** Calls of every kind of callee. An unknown one may keep, synchronize and read what it is given: it keeps quiet. */
import type { StreamId } from '../../program/program.ts';
import type { Node } from '../../python/ast.ts';
import {
  anyDevice,
  asksForCuda,
  choosesDevice,
  givesDeviceFunctions,
  namedLikeDevice,
} from '../../torch/deviceModules.ts';
import { isTensorMethod, tensorOnly } from '../../torch/evidence.ts';
import {
  BoundMethodV,
  BuiltinMethodV,
  ClassMethodV,
  ClassV,
  ContextV,
  DeviceClass,
  DictV,
  EventV,
  ExternalV,
  FunctionV,
  GraphV,
  InstanceV,
  isObj,
  KernelV,
  keyOf,
  ListV,
  NativeV,
  PartialV,
  partOrigin,
  PropertyV,
  SetV,
  StaticMethodV,
  StreamV,
  SuperV,
  TensorV,
  ThreadV,
  TupleV,
  Unknown,
  type Value,
  WorkV,
  VersionV,
} from '../values.ts';
import { applyFunction, contextMethod } from './autograd.ts';
import { getAttribute } from './attributes.ts';
import { instantiate, lookup, moduleLike } from './classes.ts';
import { containerMethod } from './containers.ts';
import { generatorContext } from './contexts.ts';
import { callExternal, deviceCall } from './externals.ts';
import { GeneratorV, Raised } from './frame.ts';
import { callFunction, resumeGenerator } from './functions.ts';
import { graphMethod } from './graphs.ts';
import { callHooked, hasHooks, isHooked, registerHook, removeHook, runGradientHooks } from './hooks.ts';
import { givesBatches, ranModel } from './iteration.ts';
import { launchKernel } from './kernels.ts';
import { drained, drainedKeywords } from './lazy.ts';
import { type Machine, recordsEvents } from './machine.ts';
import { external } from './modules.ts';
import { callModule, moduleMethod, moveUnknownModule, nativeMethod } from './modulesOfTorch.ts';
import { eventMethod, eventOf, joinAll, othersMayRecord, streamContext, streamMethod, streamOf } from './streams.ts';
import { tensorMethod, tensorOf } from './tensors.ts';
import { threadMethod, threadOf } from './threads.ts';
import { deviceTarget } from './transfers.ts';
import { resolved } from './truth.ts';
import { openGiven, openWork } from './unknown-work.ts';
import { versionText } from './versions.ts';
import { workMethod } from './collectives.ts';

export type Keywords = ReadonlyMap<string, Value>;
export const noKeywords: Keywords = new Map();

export function call(m: Machine, callee: Value, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const target = resolved(m, callee);
  if (target instanceof FunctionV) {
    if (args.length === 0 && givesDeviceFunctions(target.name) && choosesDevice(target.closure.module.name))
      return external(anyDevice);
    const result = callFunction(m, target, args, keywords, node);
    return target.contextManager && result instanceof GeneratorV ? generatorContext(m, result) : result;
  }
  if (target instanceof BoundMethodV)
    return target.target instanceof FunctionV
      ? call(m, target.target, [target.self, ...args], keywords, node)
      : call(m, target.target, args, keywords, node);
  if (target instanceof ClassV) return m.at(node, () => instantiate(m, target, args, keywords, node));
  if (target instanceof PartialV)
    return call(m, target.target, [...target.args, ...args], new Map([...target.keywords, ...keywords]), node);
  if (target instanceof ExternalV) return m.at(node, () => callExternal(m, target.path, args, keywords, node));
  if (target instanceof BuiltinMethodV) return callMethod(m, target.self, target.name, args, keywords, node);
  if (target instanceof InstanceV) {
    const method = lookup(target.cls, '__call__');
    if (method instanceof FunctionV) return call(m, new BoundMethodV(target, method), args, keywords, node);
    const result = callForward(m, target, args, keywords, node);
    if (result !== undefined) return result;
  }
  if (target instanceof NativeV)
    return m.at(node, () => callHooked(m, target, args, () => callModule(m, target, args, keywords, node)));
  if (target instanceof KernelV) return m.at(node, () => launchKernel(m, target, args, keywords));
  if (target instanceof StaticMethodV) return call(m, target.target, args, keywords, node);
  if (target instanceof ClassMethodV) return call(m, target.target, args, keywords, node);
  if (target instanceof Unknown && isHooked(m, target))
    return callHooked(m, target, args, () => call(m, target, args, keywords, node));
  if (target instanceof Unknown && target.receiver) {
    const name = target.name.slice(target.name.lastIndexOf('.') + 1);
    return callMethod(m, target.receiver, name, args, keywords, node);
  }
  // Who says nothing else gets the default.
  if (target instanceof Unknown && target.hint instanceof FunctionV) return call(m, target.hint, args, keywords, node);
  // What a constructor keeps is called by the name under which it is kept, not by that of what made it.
  const kept = target instanceof Unknown && target.origin === 'result' ? target.heldAs : undefined;
  const name = kept !== undefined ? `self.${kept}` : target instanceof Unknown ? target.name : 'call';
  if (target instanceof Unknown && args.length === 0 && givesDeviceFunctions(name)) return external(anyDevice);
  const parameters = target instanceof Unknown ? target.parameters : undefined;
  if (parameters) m.at(node, () => m.launch('forward', m.current(), [parameters], []));
  const called = target instanceof Unknown && target.origin === 'attribute' ? unknownMethodCall : unknownCall;
  return m.at(node, () => called(m, name, args, keywords));
}

/** What `nn.Module.__call__` does: the forward, and the hooks around it. Undefined: it is no module, or has none. */
export function callForward(
  m: Machine,
  self: InstanceV,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value | undefined {
  if (moduleLike(self.cls) !== 'torch.nn.Module') return undefined;
  const forward = self.attributes.get('forward') ?? lookup(self.cls, 'forward');
  if (forward instanceof FunctionV)
    return callHooked(m, self, args, () => call(m, new BoundMethodV(self, forward), args, keywords, node));
  return forward !== undefined && isObj(forward) ? call(m, forward, args, keywords, node) : undefined;
}

/** Whether `value.__call__(…)` is the same as `value(…)`: no method of that name is looked up anywhere else. */
function isCalledByName(value: Value): boolean {
  if (value instanceof InstanceV) return !value.attributes.has('__call__') && !lookup(value.cls, '__call__');
  return (
    value instanceof FunctionV ||
    value instanceof PartialV ||
    value instanceof BoundMethodV ||
    value instanceof NativeV ||
    (value instanceof Unknown && !value.attributes.has('__call__'))
  );
}

export function callMethod(
  m: Machine,
  receiver: Value,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const self = resolved(m, receiver);
  if (name === '__call__' && isCalledByName(self)) return call(m, self, args, keywords, node);
  if (self instanceof TensorV) return m.at(node, () => tensorMethod(m, self, name, drained(m, args), keywords, node));
  if (self instanceof StreamV) return m.at(node, () => streamMethod(m, self, name, args, keywords));
  if (self instanceof EventV) return m.at(node, () => eventMethod(m, self, name, args, keywords));
  if (self instanceof Unknown) return m.at(node, () => unknownMethod(m, self, name, args, keywords, node));
  if (
    self instanceof InstanceV ||
    self instanceof ClassV ||
    self instanceof SuperV ||
    self instanceof FunctionV ||
    self instanceof PartialV ||
    self instanceof ExternalV ||
    (isObj(self) && self.kind === 'module')
  ) {
    if (self instanceof ClassV && name === 'apply' && /(^|\.)Function$/.test(moduleLike(self) ?? ''))
      return m.at(node, () => applyFunction(m, self, args, keywords, node));
    if (self instanceof InstanceV && !self.attributes.has(name)) {
      const result = contextMethod(m, self, name, args);
      if (result !== undefined) return result;
      const thread = /^(?:start|join|is_alive)$/.test(name) && !lookup(self.cls, name) ? threadOf(self) : undefined;
      if (thread) return m.at(node, () => threadMethod(m, thread, name, node));
    }
    const method = getAttribute(m, self, name);
    if (method instanceof BuiltinMethodV && method.self === self) {
      if (self instanceof SuperV) return m.at(node, () => moduleMethod(m, self.self, name, args, keywords, node));
      return m.at(node, () => moduleMethod(m, self, name, args, keywords, node));
    }
    if (method instanceof Unknown && self instanceof InstanceV && !self.attributes.has(name))
      return m.at(node, () => unknownMethodCall(m, name, args, keywords));
    return call(m, method, args, keywords, node);
  }
  if (self instanceof NativeV) {
    const own = self.attributes.get(name);
    if (own instanceof FunctionV || own instanceof BoundMethodV) return call(m, own, args, keywords, node);
    return m.at(node, () => nativeMethod(m, self, name, drained(m, args), keywords, node));
  }
  if (self instanceof WorkV) return m.at(node, () => workMethod(m, self, name, args, keywords));
  if (self instanceof GraphV) return m.at(node, () => graphMethod(m, self, name, args, keywords, node));
  if (self instanceof ThreadV) return m.at(node, () => threadMethod(m, self, name, node));
  if (self instanceof GeneratorV) {
    if (name === '__next__' || name === 'send') return resumeGenerator(m, self, args[0] ?? null) ?? null;
    if (name === '__iter__') return self;
    return null;
  }
  if (self instanceof ContextV) {
    if (name === '__enter__') return m.at(node, () => self.enter(self));
    if (name === '__exit__') {
      m.at(node, () => self.exit(self));
      return false;
    }
  }
  if (self instanceof PropertyV) return self;
  // Such a call fails, so what it is called on is not None in truth: whoever it is may wait for all there is.
  if (self === null && receiver instanceof Unknown && m.settled === 0 && m.before === 0 && !m.filling)
    throw new Raised('AttributeError', null);
  if (self === null && (ordering.test(name) || /^record/.test(name) || args.some((arg) => mayBeTensor(m, arg))))
    m.hostWaitDevice(m.device, true);
  if (self instanceof VersionV) return callMethod(m, versionText(m, self), name, args, keywords, node);
  const result = m.at(node, () => containerMethod(m, self, name, args, keywords, node));
  if (result !== undefined) return result;
  return m.at(node, () => unknownCall(m, name, args, keywords));
}

function mayBeTensor(m: Machine, arg: Value): boolean {
  const value = resolved(m, arg);
  return value instanceof TensorV || (value instanceof Unknown && !value.plain);
}

/** Tensors that a callee is handed, a container deep. */
export function tensorsIn(m: Machine, values: Iterable<Value>, depth = 0): TensorV[] {
  const found: TensorV[] = [];
  for (const item of values) {
    const value = resolved(m, item);
    if (value instanceof TensorV) found.push(value);
    else if (value instanceof Unknown && value.tensor) found.push(value.tensor);
    else if (depth < 2 && (value instanceof ListV || value instanceof TupleV))
      found.push(...tensorsIn(m, value.items, depth + 1));
    else if (depth < 2 && value instanceof SetV) found.push(...tensorsIn(m, value.items.values(), depth + 1));
    else if (depth < 2 && value instanceof DictV)
      found.push(
        ...tensorsIn(
          m,
          [...value.entries.values()].map((entry) => entry.value),
          depth + 1,
        ),
      );
    else if (depth < 2 && value instanceof InstanceV && value.cls.fields)
      found.push(...tensorsIn(m, value.attributes.values(), depth + 1));
  }
  return found;
}

/** What a library calls its own `torch.cuda.stream`. */
const selectsStream = /(?:^|[._])(?:\w*stream_?(?:context|ctx|guard|scope)|use_stream)$/i;

/** What a library calls its own `torch.cuda.current_stream`; not what gives the bare handle of it. */
const givesCurrent = /(?:^|[._])(?:get_)?current_(?:[a-z]+_)*?stream(?:_fast|_cached|_obj)?$/i;
const givesHandle = /(?:^|_)(?:raw|ptr|handle|id|int)(?:_|$)/i;

/** Callees whose name says that what they give lies on the host. */
const givesHostCopy = /(?:^|[._])(?:to|on|into)_(?:cpu|host|numpy|list)$/i;

/** Callees that may wait for what they are given. */
const ordering = /wait|sync|join|barrier|ready|finish|ensure|complete/i;

/** Callees that hand out what is there already. */
const onlyGives = /(^|[._])(get|peek|find|lookup|pop\w*|current|default)(_|$|\()/;

/** Callees that let a stream wait for a value in memory, which any work of any stream may write: `cuStreamWaitValue32`. */
const waitsOnDevice = /wait_?(?:on_?)?(?:value|flag|signal|mem)|(?:signal|flag|value)_?wait|batch_?mem_?op/i;

/** A callee that nobody here knows. */
export function unknownCall(m: Machine, name: string, args_: readonly Value[], keywords_: Keywords): Value {
  const args = drained(m, args_);
  const keywords = drainedKeywords(m, keywords_);
  const values = [...args, ...keywords.values()];
  if (selectsStream.test(name) && values.length === 1) return streamContext(m, values[0]!);
  if (values.length === 0 && givesCurrent.test(name) && !givesHandle.test(name)) return m.current().stream;
  m.builder.unseen();
  const result = new Unknown(name, 'result');
  // `prepared(model)` gives what runs the model with its hooks.
  for (const value of values) if (hasHooks(m, value)) result.attributes.set(ranModel, value);
  if (!onlyGives.test(name)) result.bornAt = m.builder.length;
  m.temp(result);
  // `progress(loader)` gives what the loader gives.
  for (const value of args)
    if (value instanceof Unknown && value.loader) {
      result.loader = true;
      result.batch ||= givesBatches(value);
    }
  if (m.capturing) proveInputs(m, values);
  // What was made for a device is a tensor to whom it is given.
  for (const value of values)
    if (value instanceof Unknown && value.madeBy?.makes && value.device.cuda) tensorOf(m, value);
  const computes = computesHere(m, name);
  if (computes) for (const value of values) takeForTensor(m, value);
  const tensors = tensorsIn(m, values);
  const streams = new Set<StreamId>();
  // Whatever it does with the result of a functional collective, that waits for it.
  for (const tensor of tensors) m.waitForPending(tensor, m.current());
  for (const item of values) {
    const given = resolved(m, item);
    // `event.cuda_event`: the handle is the event to whom it is given.
    const value = given instanceof BuiltinMethodV && given.self instanceof EventV ? given.self : given;
    m.keep(value);
    const stream = value instanceof Unknown ? value.handleOf : value;
    if (stream instanceof StreamV) {
      streams.add(stream.stream);
      m.hostWaitStream(stream.stream, true);
      if (waitsOnDevice.test(name)) joinAll(m, stream);
    } else if (value instanceof EventV) {
      m.builder.events[value.event]!.unknown = true;
      m.emit({ kind: 'hostWait', on: { kind: 'event', event: value.event }, implicit: true });
    } else if (isContainer(value)) waitForHandles(m, value);
    else if (value instanceof FunctionV || value instanceof BoundMethodV || value instanceof PartialV) {
      m.hooks.push({ caller: 'somebody', fn: value });
      // A pool of threads may run it at any time from here on.
      if (recordsInBody(value)) othersMayRecord(m);
    } else if (value instanceof WorkV) workMethod(m, value, 'wait', [], noKeywords);
  }
  const device = tensors.find((t) => t.storage.memory === 'device');
  if (device && (computes || m.explicit(m.deviceIndexOf(device.storage.device)))) {
    const selection = m.current(m.deviceIndexOf(device.storage.device));
    const reads = tensors.filter((t) => t.storage.memory === 'device');
    // An operator's tensors are on one device.
    if (name.startsWith('torch.ops.')) for (const t of reads) device.storage.device.unite(t.storage.device);
    const first = m.builder.length;
    if (movesRows(name, values)) m.picked = new Set(reads.map(({ storage }) => storage.block));
    m.launch(name, selection, reads, []);
    m.picked = new Set();
    if (givesHostCopy.test(name)) return result;
    const born = m.allocate(`?${name}`, computes ? new DeviceClass() : device.storage.device, selection);
    m.launch(name, selection, [], [born]);
    // It may wait for what it did there itself.
    for (const stream of streams) m.hostWaitStream(stream, true);
    if (computes) m.builder.computed(first);
    born.storage.kept = true;
    born.storage.guessed = true;
    result.tensor = born;
  } else if (m.explicit()) {
    const named = keywords.get('device');
    const target = named === undefined || named === null ? undefined : deviceTarget(m, named);
    if (target?.kind === 'cuda') {
      // What is made for a device while a stream is selected is made for a device with streams.
      target.device.prove();
      result.device.unite(target.device);
    }
    const makes = !onlyGives.test(name) && !givesHostCopy.test(name);
    result.madeBy = openWork(m, name, m.current(), values, [], makes);
    if (result.madeBy && movesRows(name, values)) result.madeBy.rows = true;
  } else if (keywords.has('device') && keywords.has('dtype') && /^(?:.*\.)?[a-z]\w*$/.test(name)) {
    const target = deviceTarget(m, keywords.get('device')!);
    if (target?.kind === 'cuda') {
      result.device.unite(target.device);
      result.madeBy = openWork(m, name, m.current(), [], [], true);
    }
  } else if (device && !ordering.test(name)) {
    const selection = m.current(m.deviceIndexOf(device.storage.device));
    const onDevice = tensors.filter((t) => t.storage.memory === 'device');
    // Who says that the current stream uses a tensor gives it to those who use it.
    const told = onDevice.filter((t) => t.storage.announced?.has(selection.stream.stream));
    if (told.length > 0) m.launch(name, selection, told, []);
    // A callee that gives a tensor computes with those that it gets.
    else result.madeBy = openWork(m, name, selection, [], onDevice, false);
  } else if (givesTensors(m, name)) result.givenBy = openGiven(m, name, m.current());
  for (const tensor of tensors) if (tensor.storage.memory === 'pinned') tensor.storage.kept = true;
  return result;
}

/** Whether what the callee gives may be what it has just computed, in code that has to do with streams. */
function givesTensors(m: Machine, name: string): boolean {
  if (!m.entered || m.settled > 0 || m.before > 0 || m.filling || !m.concerned()) return false;
  const own = name.slice(name.lastIndexOf('.') + 1);
  return !onlyGives.test(own) && !moves.test(own);
}

/** `swap_blocks(source_ids, target_ids, cache)`: a callee that moves rows, and is told which. */
function movesRows(name: string, values: readonly Value[]): boolean {
  return (
    /(?:^|[._])(?:swap|copy|move|transfer|migrate|store|reshape_and_cache)(?:_|$)[^.]*$/.test(name) &&
    values.some(
      (value) =>
        value instanceof Unknown && /(?:ids|idx|indices|blocks|slots|pages|mappings?|tables?)$/.test(value.name),
    )
  );
}

function isContainer(value: Value): value is ListV | TupleV | SetV | DictV {
  return value instanceof ListV || value instanceof TupleV || value instanceof SetV || value instanceof DictV;
}

/** `sync_all(handles)`: a callee that nobody knows may wait for each of what it finds in a container. */
function waitForHandles(m: Machine, container: ListV | TupleV | SetV | DictV, depth = 0): void {
  container.children((item) => {
    const value = item === undefined ? undefined : resolved(m, item);
    if (value instanceof StreamV) m.hostWaitStream(value.stream, true);
    else if (value instanceof EventV) {
      m.builder.events[value.event]!.unknown = true;
      m.emit({ kind: 'hostWait', on: { kind: 'event', event: value.event }, implicit: true });
    } else if (value instanceof WorkV) workMethod(m, value, 'wait', [], noKeywords);
    else if (value !== undefined && isContainer(value) && depth < 2) waitForHandles(m, value, depth + 1);
  });
}

function recordsInBody(value: Value): boolean {
  if (value instanceof BoundMethodV || value instanceof PartialV) return recordsInBody(value.target);
  if (!(value instanceof FunctionV)) return false;
  return recordsEvents(value.closure.module.syntax.text.slice(value.node.start, value.node.end));
}

/**
 * Whether a callee that is not known computes with what it gets: a method of a module calls its submodules, and functions
 * of layers. That it runs on CUDA at all is for the waits around it to say.
 */
function computesHere(m: Machine, name: string): boolean {
  if (m.settled > 0 || m.before > 0 || m.filling || m.capturing || !(m.concerned() || m.explicit())) return false;
  const { firstArgument: self, fn } = m.frame;
  if (moves.test(name)) return false;
  // A forward that somebody puts into a module's place is a plain function, or one inside of a method.
  if (!(self instanceof InstanceV))
    return fn !== undefined && /(?:^|_)forward(?:_|$)/.test(fn.name) && /^self\.\w/.test(name);
  // A part of a module's class may have no base of its own.
  const mixedIn = self.cls.bases.length === 0 && fn !== undefined && /^forward(?:_|$)/.test(fn.name);
  return mixedIn || moduleLike(self.cls) === 'torch.nn.Module';
}

/** Callees that hand out, move or make things, or that only look at them. */
const moves =
  /(^|[._])(to|cuda|cpu|load\w*|fetch\w*|prefetch\w*|copy\w*|move\w*|upload\w*|offload\w*|transfer\w*|put|get\w*|set\w*|init\w*|reset\w*|log\w*|print\w*|len|range|build\w*|make\w*|create\w*|next|is\w*|has\w*|use\w*|should\w*|check\w*|assert\w*|debug|info|warn\w*|wait\w*|sync\w*|join|record\w*|register\w*|append|extend|update|pop|items|keys|values|split\w*_sizes?|format|join|int|float|str|bool|min|max|zip|enumerate|type|isinstance|super|supports?\w*|supported|enabled|available|allowed|eligible|compatible|can_\w+|needs?_\w+|needed|required)$/i;

function takeForTensor(m: Machine, item: Value): void {
  const value = resolved(m, item);
  if (!(value instanceof Unknown) || value.plain || value.tensor || value.hint !== undefined) return;
  if (/^(parameter|element|result)$/.test(value.origin)) tensorOf(m, value);
}

/** A graph is captured of work on the device: what comes into it from outside lies there. */
function proveInputs(m: Machine, values: readonly Value[]): void {
  for (const value of values) {
    if (value instanceof TensorV && value.storage.memory === 'device') value.storage.device.prove();
    if (
      value instanceof Unknown &&
      !value.plain &&
      value.hint === undefined &&
      /^(parameter|element)$/.test(value.origin)
    )
      tensorOf(m, value)?.storage.device.prove();
  }
}

/** What a module gives of its parts: the same ones whenever it is asked. */
const givesParts = /^(?:(?:named_)?(?:modules|children)|get_submodule)$/;

const barriers = /^(wait|synchronize|join|result|flush|barrier|wait_all|finish|finalize|get_result|block_until_ready)$/;

function unknownMethod(
  m: Machine,
  self: Unknown,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const own = self.attributes.get(name);
  if (own !== undefined && !(own instanceof Unknown && own.receiver === self))
    return call(m, own, args, keywords, node);
  if (name === 'remove' && removeHook(m, self)) return null;
  if (self.stream) return streamMethod(m, self.stream, name, args, keywords);
  if (self.event) return eventMethod(m, self.event, name, args, keywords);
  if (self.tensor && (isTensorMethod(name) || tensorOnly(name)))
    return tensorMethod(m, self.tensor, name, args, keywords, node);
  const first = args[0] === undefined ? undefined : resolved(m, args[0]);
  if (callsDevice(self, name, first, args, keywords)) {
    const result = deviceCall(m, name, args, keywords, node);
    if (result !== undefined) return result;
  }
  // What is judged here runs on CUDA.
  if (asksForCuda(name) && args.length === 0) return true;
  switch (name) {
    case 'wait_stream':
    case 'wait_event':
    case 'record_event': {
      const stream = streamOf(m, self);
      if (stream) return streamMethod(m, stream, name, args, keywords);
      break;
    }
    case 'record':
      if (args.length <= 1 && (first === undefined || first instanceof StreamV || first instanceof Unknown)) {
        if (first instanceof StreamV || /event|ready|done|fence|mark|copied|loaded/i.test(self.name))
          return eventMethod(m, eventOf(m, self), name, args, keywords);
      }
      break;
    case 'wait':
      if (first instanceof StreamV) return eventMethod(m, eventOf(m, self), name, args, keywords);
      break;
    case 'synchronize':
    case 'query':
      if (/stream/i.test(self.name) && !/stream.*event|event.*stream/i.test(self.name)) {
        const stream = streamOf(m, self);
        if (stream) return streamMethod(m, stream, name, args, keywords);
      }
      if (/event/i.test(self.name)) return eventMethod(m, eventOf(m, self), name, args, keywords);
      break;
  }
  if (/^register_.*hook$|^add_done_callback$|^register_callback$/.test(name)) {
    return registerHook(m, self, name, args);
  }
  if ((name === 'to' || name === 'cuda') && m.discarded === node && !self.tensor)
    if (moveUnknownModule(m, self, name, args, keywords, node)) return self;
  if (!self.plain && (tensorOnly(name) || (name === 'to' && looksLikeTransfer(args, keywords)) || name === 'cuda')) {
    const tensor = tensorOf(m, self);
    if (tensor) return tensorMethod(m, tensor, name, args, keywords, node);
  }
  if (
    name === 'items' ||
    name === 'keys' ||
    name === 'values' ||
    name === 'named_parameters' ||
    name === 'parameters'
  ) {
    const known = self.attributes.get(`${name}()`);
    if (known !== undefined) return known;
    const value = pairsOf(m, self, name);
    self.attributes.set(`${name}()`, value);
    return value;
  }
  if (barriers.test(name)) {
    const result = unknownCall(m, `${self.name}.${name}`, args, keywords);
    m.hostWaitDevice(m.device, true);
    if (name === 'wait' && args.length === 0 && result instanceof Unknown && result.madeBy?.makes)
      result.madeBy.hostWait = m.builder.length - 1;
    return result;
  }
  if (name === 'numel' || name === 'size' || name === 'dim' || name === 'element_size') {
    const value = m.deriveUnknown(
      `c:${self.id}:${name}:${args.map((a) => (isObj(a) ? a.id : String(a))).join()}`,
      name,
    );
    value.plain = true;
    return value;
  }
  if (args.length === 0 && keywords.size === 0 && tellsLayout.test(name)) return layout(m, `${self.id}.${name}`, name);
  const asked = givesParts.test(name) ? `${name}(${args.map(keyOf).join()})` : undefined;
  const parts = asked === undefined ? undefined : self.attributes.get(asked);
  if (parts !== undefined) return parts;
  const result = unknownMethodCall(m, self.name ? `${self.name}.${name}` : name, args, keywords);
  if (asked !== undefined) self.attributes.set(asked, result);
  if (name === 'backward') runGradientHooks(m);
  if (name === 'get' || name === 'setdefault' || name === 'pop')
    if (args.length > 0 && result instanceof Unknown) {
      const key = `get:${isObj(args[0]) ? args[0].id : String(args[0])}`;
      const known = self.items.get(key);
      if (known !== undefined) return known;
      if (name === 'get' && args.length === 1) result.hint = undefined;
      self.items.set(key, result);
    }
  return result;
}

/** Methods that move what their object holds to the device, or back. */
const movesObject =
  /(?:^|\.)(?:cuda|gpu|cpu|_?(?:(?:move|copy|send|put|transfer|load|upload|offload|onload)_)?to_(?:cuda|gpu|device|cpu|host))$/;
const goesOn = /non_?block|async/i;

/** A method of an object whose class nobody knows: a move that is not told to go on meanwhile may copy, and wait for that. */
function unknownMethodCall(m: Machine, name: string, args: readonly Value[], keywords: Keywords): Value {
  const result = unknownCall(m, name, args, keywords);
  const told =
    [...keywords].some(([key, value]) => goesOn.test(key) && value !== false) ||
    args.some((arg) => arg instanceof Unknown && goesOn.test(arg.name));
  // No capture is accused of what may not happen.
  if (movesObject.test(name) && !told && !m.capturing) m.hostWaitStream(m.current().stream.stream, true);
  return result;
}

/** What a program is told of the ranks that it runs on stays as it is. */
export const tellsLayout =
  /(?:^|_)(?:(?:world|group|parallel)_(?:world_)?size|rank|degree|(?:first|last)_stage|main_process)$/;

/** `grid().get_model_parallel_world_size()`: the same number whenever it is asked for. */
export function layout(m: Machine, asked: string, name: string): Unknown {
  const value = m.deriveUnknown(`layout:${asked}`, name);
  value.plain = true;
  return value;
}

/** Whether the receiver must be the module of some device: functions of streams are called on it. */
function callsDevice(
  self: Unknown,
  name: string,
  first: Value | undefined,
  args: readonly Value[],
  keywords: Keywords,
): boolean {
  const given = first ?? keywords.get('stream');
  const takesStream =
    given instanceof StreamV ||
    (given instanceof Unknown && (given.stream !== undefined || /stream/i.test(given.name)));
  const only = (...names: string[]): boolean => [...keywords.keys()].every((key) => names.includes(key));
  switch (name) {
    case 'Stream':
      return args.length <= 2 && only('device', 'priority');
    case 'current_stream':
    case 'default_stream':
      return args.length <= 1 && only('device');
    case 'stream':
    case 'set_stream':
    case 'StreamContext':
      return args.length + keywords.size === 1 && takesStream;
    case 'Event':
      // Threads and processes have events too.
      return only('enable_timing', 'blocking', 'interprocess') && (keywords.size > 0 || namedLikeDevice(self.name));
  }
  return false;
}

function pairsOf(m: Machine, self: Unknown, name: string): Value {
  const values = [0, 1].map((i) => {
    const value = new Unknown(`${self.name}[${i}]`, partOrigin(self.origin));
    value.batch = self.batch;
    return value;
  });
  if (name === 'values' || name === 'parameters') return m.temp(new ListV(values));
  const keys = [0, 1].map((i) => {
    const key = new Unknown(`key ${i}`, 'element');
    key.plain = true;
    return key;
  });
  if (name === 'keys') return m.temp(new ListV(keys));
  for (const [i, value] of values.entries()) self.items.set(`[o:${keys[i]!.id}]`, value);
  return m.temp(new ListV(keys.map((key, i) => new TupleV([key, values[i]!]))));
}

function looksLikeTransfer(args: readonly Value[], keywords: Keywords): boolean {
  return args.length > 0 || keywords.has('device') || keywords.has('non_blocking') || keywords.has('dtype');
}
