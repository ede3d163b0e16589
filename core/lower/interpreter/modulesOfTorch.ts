/** Modules, losses and optimizers of torch, and the methods that every nn.Module has. */
import type { Node } from '../../python/ast.ts';
import { hasParameters, moduleContainers, moduleWrappers } from '../../torch/modules.ts';
import {
  BoundMethodV,
  DeviceClass,
  DictV,
  ExternalV,
  FunctionV,
  InstanceV,
  isObj,
  keyOf,
  ListV,
  NativeV,
  type Obj,
  PartialV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { call, callForward, type Keywords, tensorsIn, unknownCall } from './calls.ts';
import { moduleLike } from './classes.ts';
import { waitForAll } from './collectives.ts';
import { concurrentMethod } from './concurrent.ts';
import { isModule, registerHook, registerSavedTensorsHooks } from './hooks.ts';
import { itemsOf } from './iteration.ts';
import { exitStackMethod } from './library.ts';
import type { Machine } from './machine.ts';
import { isHost, operate } from './memory.ts';
import { flag, tensorOf } from './tensors.ts';
import { signalMethod } from './threads.ts';
import { deviceTarget, namesHost } from './transfers.ts';
import { resolved } from './truth.ts';

export function makeModule(m: Machine, name: string, args: readonly Value[], keywords: Keywords): Value {
  const module = m.temp(new NativeV(`torch.nn.${name}`));
  if (name === 'Parameter' || name === 'Buffer') {
    const tensor = tensorOf(m, args[0] ?? keywords.get('data'));
    if (tensor) {
      const parameter = m.temp(new TensorV(tensor.storage, tensor.start, tensor.end));
      parameter.grads = 'yes';
      parameter.rows = tensor.rows;
      parameter.size = tensor.size;
      return parameter;
    }
    return new Unknown('parameter', 'result');
  }
  if (moduleContainers.has(name)) {
    const first = args[0] === undefined ? undefined : resolved(m, args[0]);
    if (name === 'Sequential' && args.length > 0 && !(first instanceof DictV)) module.parts = [...args];
    else if (first instanceof DictV) {
      module.parts = [...first.entries.values()].map((entry) => entry.value);
      for (const entry of first.entries.values()) module.attributes.set(`[${keyOf(entry.key)}]`, entry.value);
    } else if (moduleWrappers.has(name)) {
      module.parts = [args[0] ?? keywords.get('module') ?? null];
      module.attributes.set('module', module.parts[0]!);
    } else if (args.length > 0) module.parts = itemsOf(m, args[0]!, m.frame.node);
    return module;
  }
  const target = keywords.get('device') === undefined ? undefined : deviceTarget(m, keywords.get('device'));
  module.device = new DeviceClass();
  if (target?.kind === 'cuda') module.device.unite(target.device);
  if (hasParameters(name)) {
    const parameter = parameterOf(m, name, module.device);
    parameter.storage.elements = keywords.has('dtype') ? elementsNamed(m, keywords.get('dtype')) : m.defaultElements;
    module.tensors = [parameter];
  }
  return module;
}

function parameterOf(m: Machine, name: string, device: DeviceClass): TensorV {
  const tensor = m.parameterTensor(`?${name}'s parameters`, device, 'unknown');
  tensor.grads = 'yes';
  return tensor;
}

/** Attributes of torch's own modules that their forward reads. */
export const namesParameter = /^(?:weight|bias|running_mean|running_var)$/;

/** One tensor stands for the parameters of which nobody has asked for any by its name. */
function ownTensors(module: NativeV): TensorV[] {
  const named = [...module.attributes].flatMap(([name, value]) =>
    namesParameter.test(name) && value instanceof TensorV ? [value] : [],
  );
  return named.length > 0 ? [...module.tensors, ...named] : module.tensors;
}

/** All tensors that a module owns, its parts' included. */
export function tensorsOfModule(value: Value, into: TensorV[] = [], depth = 0): TensorV[] {
  if (depth > 6) return into;
  if (value instanceof NativeV) {
    into.push(...ownTensors(value));
    for (const part of value.parts) tensorsOfModule(part, into, depth + 1);
  } else if (value instanceof InstanceV) {
    for (const attribute of value.attributes.values())
      if (attribute instanceof TensorV && attribute.grads === 'yes') into.push(attribute);
      else if (attribute instanceof NativeV || attribute instanceof InstanceV)
        tensorsOfModule(attribute, into, depth + 1);
  }
  return into;
}

export function callModule(m: Machine, self: NativeV, args: readonly Value[], keywords: Keywords, node: Node): Value {
  if (self.path === 'decorator') return args[0] ?? null;
  if (!self.path.startsWith('torch.nn.')) return unknownCall(m, self.path, args, keywords);
  const name = self.path.slice('torch.nn.'.length);
  if (name === 'Sequential') {
    let value: Value = args[0] ?? null;
    for (const part of self.parts) {
      value = call(m, part, [value], new Map(), node);
      m.hold(value);
    }
    return value;
  }
  if (moduleWrappers.has(name)) return call(m, self.parts[0] ?? null, args, keywords, node);
  const inputs: TensorV[] = [];
  for (const arg of [...args, ...keywords.values()]) {
    const tensor = tensorOf(m, arg);
    if (tensor) inputs.push(tensor);
    else inputs.push(...tensorsIn(m, [arg]));
  }
  if (inputs.length === 0) return unknownCall(m, self.path, args, keywords);
  const onDevice = (tensor: TensorV): boolean =>
    !isHost(tensor) && (tensor.storage.device.cuda || !inputs.some(isHost));
  const reads = [...inputs, ...ownTensors(self).filter(onDevice)];
  return operate(m, name, reads, [], true) ?? unknownCall(m, self.path, args, keywords);
}

export function makeOptimizer(m: Machine, path: string, args: readonly Value[], keywords: Keywords): Value {
  const optimizer = m.temp(new NativeV(path));
  const given = resolved(m, args[0] ?? keywords.get('params') ?? null);
  optimizer.parts = [given];
  if (isObj(given)) {
    for (const item of iterable(given) ? itemsOf(m, given, m.frame.node, 16) : []) {
      if (item instanceof TensorV) optimizer.tensors.push(item);
      else if (item instanceof DictV) {
        const params = item.entries.get(keyOf('params'))?.value;
        if (params !== undefined) optimizer.tensors.push(...tensorsIn(m, [params]));
      }
    }
  }
  return optimizer;
}

function iterable(value: Value): boolean {
  return (
    value instanceof ListV ||
    value instanceof TupleV ||
    (isObj(value) && /^(sequence|iterator|generator)$/.test(value.kind))
  );
}

/** Every parameter that is not on the device yet gets memory there, and is copied. */
function moveModule(m: Machine, self: Value, device: DeviceClass, nonBlocking: boolean): void {
  const selection = m.current(m.deviceIndexOf(device));
  let copied = false;
  for (const tensor of new Set(tensorsOfModule(self))) {
    const before = tensor.storage;
    if (device.cuda && !before.device.cuda) {
      tensor.storage = m.newStorage(
        m.builder.blocks[before.block]!.name,
        'device',
        new DeviceClass(),
        selection.stream,
      );
      tensor.storage.elements = before.elements;
      m.emit({ kind: 'allocate', block: tensor.storage.block, stream: selection.stream.stream }, selection);
      m.launch('to', selection, [], [tensor], 'h2d');
      copied = true;
    }
    tensor.storage.device.unite(device);
  }
  if (copied && !nonBlocking) m.hostWaitStream(selection.stream.stream, true);
  const unit = (value: Value, depth: number): void => {
    if (depth > 6) return;
    if (value instanceof NativeV) {
      value.device?.unite(device);
      for (const part of value.parts) unit(part, depth + 1);
    }
  };
  unit(self, 0);
}

/** By the other names of them, types of elements. */
const elementsOf: Readonly<Record<string, string>> = { half: 'float16', float: 'float32', double: 'float64' };

/** `torch.float16`; undefined: which type that is, or whether it is one, is not known. */
function elementsNamed(m: Machine, value: Value | undefined): string | undefined {
  const given = value === undefined ? null : resolved(m, value);
  const name = given instanceof ExternalV ? /^torch\.((?:b?float|double|half)\d*)$/.exec(given.path)?.[1] : undefined;
  return name === undefined ? undefined : (elementsOf[name] ?? name);
}

/** `begun`: told of the copy before it has any items. Undefined: it is no container. */
export function copyOfContainer(
  m: Machine,
  value: Value,
  copyOf: (item: Value) => Value,
  begun: (copy: Value) => void = () => {},
): Value | undefined {
  if (value instanceof TupleV) return m.temp(new TupleV(value.items.map(copyOf), value.fields));
  if (value instanceof ListV) {
    const list = m.temp(new ListV([]));
    begun(list);
    list.items = value.items.map(copyOf);
    list.open = value.open;
    return list;
  }
  if (!(value instanceof DictV)) return undefined;
  const dict = m.temp(new DictV());
  begun(dict);
  for (const [key, entry] of value.entries) dict.entries.set(key, { key: entry.key, value: copyOf(entry.value) });
  dict.open = value.open;
  return dict;
}

/** What `copy.deepcopy` makes of a module: each tensor is read into memory of its own, each part is another one. */
export function copyOfModule(m: Machine, module: Obj, copies = new Map<Value, Value>()): Value {
  const copyOf = (value: Value): Value => {
    const known = copies.get(value);
    if (known !== undefined) return known;
    if (value instanceof TensorV) return made(value, copyOfTensor(m, value));
    if (isObj(value) && isModule(value)) return copyOfModule(m, value, copies);
    if (value instanceof BoundMethodV) return m.temp(new BoundMethodV(copyOf(value.self), value.target));
    return copyOfContainer(m, value, copyOf, (copy) => made(value, copy)) ?? value;
  };
  const made = <T extends Value>(value: Value, copy: T): T => {
    copies.set(value, copy);
    return copy;
  };
  if (module instanceof NativeV) {
    const copy = made(module, m.temp(new NativeV(module.path)));
    copy.tensors = module.tensors.map((tensor) => copyOf(tensor) as TensorV);
    copy.parts = module.parts.map(copyOf);
    for (const [name, value] of module.attributes) copy.attributes.set(name, copyOf(value));
    if (module.device) {
      copy.device = new DeviceClass();
      if (module.device.cuda) copy.device.unite(module.device);
    }
    return copy;
  }
  if (!(module instanceof InstanceV)) return module;
  const copy = made(module, m.temp(new InstanceV(module.cls)));
  for (const [name, value] of module.attributes) copy.attributes.set(name, copyOf(value));
  copy.open = module.open;
  return copy;
}

/** On the host, as far as anybody knows, it is a parameter of which nobody knows where it will go. */
function copyOfTensor(m: Machine, tensor: TensorV): TensorV {
  const { storage } = tensor;
  const copy =
    isHost(tensor) || storage.device.cuda
      ? operate(m, 'deepcopy', [tensor], [], true)!
      : m.parameterTensor(m.builder.blocks[storage.block]!.name, new DeviceClass(), 'unknown');
  copy.saved = undefined;
  copy.grads = tensor.grads;
  copy.rows = tensor.rows;
  copy.size = tensor.size;
  copy.transposed = tensor.transposed;
  copy.storage.elements = storage.elements;
  return copy;
}

/**
 * Each parameter on the device is written on the current stream, and what it gets is read there. What comes from the host,
 * or from nobody knows where, is there before the host goes on.
 */
function loadState(m: Machine, self: Value, given: Value, assigns: boolean): void {
  // The given tensors take the parameters' places.
  if (assigns) return;
  const written = [...new Set(tensorsOfModule(self))].filter((t) => !isHost(t) && t.storage.device.cuda);
  if (written.length === 0) return;
  const index = m.deviceIndexOf(written[0]!.storage.device);
  const isThere = ({ storage: { device } }: TensorV): boolean => device.cuda && m.deviceIndexOf(device) === index;
  const sources = tensorsIn(m, [given]);
  const read = sources.filter((tensor) => !isHost(tensor) && isThere(tensor));
  const selection = m.current(index);
  m.launch('load_state_dict', selection, read, written);
  if (read.length > 0 && read.length === sources.length) return;
  m.builder.unseen();
  m.hostWaitStream(selection.stream.stream, true);
}

function mayNameElements(m: Machine, value: Value | undefined): boolean {
  const given = value === undefined ? null : resolved(m, value);
  return given instanceof ExternalV || given instanceof Unknown || given instanceof TensorV;
}

/** Parameters on the device get new memory, and are read into it; where they are of that type already, nothing is done. */
function convertModule(m: Machine, self: Value, name: string, elements: string | undefined): void {
  for (const tensor of new Set(tensorsOfModule(self))) {
    const before = tensor.storage;
    if (before.elements === elements) continue;
    if (before.elements === undefined || elements === undefined || isHost(tensor) || !before.device.cuda) {
      before.elements = elements;
      continue;
    }
    const read = m.temp(new TensorV(before, tensor.start, tensor.end));
    const made = operate(m, name, [read], [], true)!;
    tensor.storage = made.storage;
    tensor.storage.elements = elements;
    m.builder.blocks[tensor.storage.block]!.name = m.builder.blocks[before.block]!.name;
    m.drop(before);
  }
}

/**
 * `module.to(…)` of which nobody takes the result: only a module moves in place. Where a stream is chosen for it, all
 * of its parameters are written there, or read on their way to the host.
 */
export function moveUnknownModule(
  m: Machine,
  self: Unknown,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): boolean {
  // `cuda` of a module has no such argument.
  if (name === 'cuda' && keywords.has('non_blocking')) return false;
  const nonBlocking = flag(m, keywords.get('non_blocking') ?? args[1], node);
  const given = keywords.get('device') ?? args[0];
  const target = given === undefined ? undefined : deviceTarget(m, given);
  if (name === 'to' && !target) return false;
  self.parameters ??= m.parameterTensor(`?${self.name}`, new DeviceClass(), 'long ago');
  if (!nonBlocking) {
    // Parameters that are elsewhere are copied, and the host waits for each; no capture is accused of what may not happen.
    if (!m.capturing) m.hostWaitStream(m.current(target?.index ?? m.device).stream.stream, true);
    return true;
  }
  if (!m.explicit(target?.index ?? m.device)) return true;
  if (name === 'cuda' || (target?.kind === 'cuda' && !namesHost(m, given))) self.parameters.storage.device.prove();
  const selection = m.current(target?.index ?? m.device);
  // To the host they are copied out: the memory on the device is given up, not written.
  if (target?.kind === 'cpu' || namesHost(m, given)) m.launch(name, selection, [self.parameters], []);
  else {
    // They get memory of their own: what was done with those on the host, or elsewhere, has nothing to do with it.
    m.reallocate(self.parameters);
    m.launch(name, selection, [], [self.parameters]);
  }
  m.bind(self.name, self, true);
  return true;
}

/** A method of nn.Module called on a module of the program or of torch. */
export function moduleMethod(
  m: Machine,
  self: Value,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  switch (name) {
    case '__init__':
      if (self instanceof InstanceV && moduleLike(self.cls) === 'torch.autograd.graph.saved_tensors_hooks')
        registerSavedTensorsHooks(m, args[0] ?? keywords.get('pack_hook'), args[1] ?? keywords.get('unpack_hook'));
      return null;
    case 'to':
    case 'cuda': {
      const device = new DeviceClass();
      if (name === 'to')
        for (const given of [keywords.get('dtype'), ...args])
          if (mayNameElements(m, given)) convertModule(m, self, name, elementsNamed(m, given));
      if (name === 'cuda') device.prove();
      else {
        const target = deviceTarget(m, keywords.get('device') ?? args[0]);
        if (target?.kind !== 'cuda') return self;
        device.unite(target.device);
      }
      moveModule(m, self, device, flag(m, keywords.get('non_blocking'), node));
      return self;
    }
    case 'half':
    case 'float':
    case 'double':
    case 'bfloat16':
      convertModule(m, self, name, elementsOf[name] ?? name);
      return self;
    case 'type':
      convertModule(m, self, name, elementsNamed(m, args[0] ?? keywords.get('dst_type')));
      return self;
    case 'cpu':
    case 'eval':
    case 'train':
    case 'requires_grad_':
    case 'share_memory':
    case 'to_empty':
    case 'compile':
      return self;
    case 'zero_grad':
      return null;
    case 'register_buffer':
    case 'register_parameter':
    case 'register_module':
    case 'add_module':
    case '__setattr__': {
      const attribute = args[0];
      if (typeof attribute === 'string' && (self instanceof InstanceV || self instanceof NativeV))
        self.attributes.set(attribute, args[1] ?? null);
      return null;
    }
    case 'parameters':
    case 'buffers':
      return m.temp(new ListV(tensorsOfModule(self)));
    case 'named_parameters':
    case 'named_buffers':
      return m.temp(new ListV(tensorsOfModule(self).map((tensor, i) => new TupleV([`parameter ${i}`, tensor]))));
    case 'state_dict': {
      const dict = m.temp(new DictV());
      for (const [i, tensor] of tensorsOfModule(self).entries())
        dict.entries.set(keyOf(`parameter ${i}`), { key: `parameter ${i}`, value: tensor });
      if (dict.entries.size === 0) dict.open = true;
      return dict;
    }
    case 'load_state_dict':
      loadState(
        m,
        self,
        args[0] ?? keywords.get('state_dict') ?? null,
        flag(m, keywords.get('assign') ?? args[2], node),
      );
      return null;
    case 'children':
    case 'modules':
    case 'named_children':
    case 'named_modules': {
      const all: NamedPart[] = /modules$/.test(name) ? [['', self], ...allParts(self)] : partsOf(self);
      if (all.length === 0) return new Unknown(name, 'result');
      return m.temp(new ListV(all.map(([path, part]) => (/^named/.test(name) ? new TupleV([path, part]) : part))));
    }
    case 'get_submodule': {
      const found = allParts(self).find(([path]) => path === args[0]);
      if (found) return found[1];
      break;
    }
    case 'apply': {
      const fn = args[0] ?? null;
      // What it does besides, as to make weights, is done long before.
      if (isObj(fn) && registersHooks(fn)) {
        for (const [, part] of allParts(self).reverse()) call(m, fn, [part], new Map(), node);
        call(m, fn, [self], new Map(), node);
      }
      return self;
    }
    case 'forward': {
      if (self instanceof NativeV) return callModule(m, self, args, keywords, node);
      break;
    }
    case '__call__':
      if (self instanceof InstanceV) {
        const result = callForward(m, self, args, keywords, node);
        if (result !== undefined) return result;
      }
      break;
  }
  if (/^register_.*hook$/.test(name)) {
    return registerHook(m, self, name, args);
  }
  return unknownCall(m, name, args, keywords);
}

type NamedPart = readonly [name: string, part: Value];

/** The modules right below, by their names. */
function partsOf(self: Value): NamedPart[] {
  if (self instanceof NativeV) {
    const keys = [...self.attributes].filter(([key]) => key.startsWith('[s:') || key === 'module');
    return self.parts.map((part, i) => {
      const key = keys.find(([, value]) => value === part)?.[0];
      return [key === undefined ? String(i) : key.replace(/^\[s:(.*)\]$/, '$1'), part];
    });
  }
  if (self instanceof InstanceV) return [...self.attributes].filter(([, value]) => isObj(value) && isModule(value));
  return [];
}

const mostParts = 64;

/** The modules below, one inside of the other, each before its own parts. */
function allParts(self: Value, prefix = '', into: NamedPart[] = [], seen = new Set<Value>([self])): NamedPart[] {
  for (const [name, part] of partsOf(self)) {
    if (into.length >= mostParts || seen.has(part)) continue;
    seen.add(part);
    into.push([prefix + name, part]);
    allParts(part, `${prefix}${name}.`, into, seen);
  }
  return into;
}

function registersHooks(value: Obj): boolean {
  const fn = value instanceof BoundMethodV || value instanceof PartialV ? value.target : value;
  if (!(fn instanceof FunctionV)) return false;
  return /\bregister_\w*hook\(/.test(fn.closure.module.syntax.text.slice(fn.node.start, fn.node.end));
}

/** A method of an object whose class is the framework's. */
export function nativeMethod(
  m: Machine,
  self: NativeV,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const left = exitStackMethod(m, self, name, args, node);
  if (left !== undefined) return left;
  const concurrent = concurrentMethod(m, self, name, args, keywords, node);
  if (concurrent !== undefined) return concurrent;
  if (self.path.startsWith('torch.nn.')) {
    if (name === 'append') {
      self.parts.push(args[0] ?? null);
      return self;
    }
    if (name === 'items') return m.temp(new ListV(self.parts.map((part, i) => new TupleV([`${i}`, part]))));
    if (name === 'values') return m.temp(new ListV([...self.parts]));
    return moduleMethod(m, self, name, args, keywords, node);
  }
  if (self.path === 'torch.UntypedStorage') {
    const tensor = self.tensors[0];
    if (name === 'resize_' && tensor) {
      if (args[0] === 0 || !(typeof args[0] === 'number')) {
        if (args[0] === 0) m.release(tensor.storage, 'statement');
      } else if (tensor.storage.released) m.reallocate(tensor);
      return null;
    }
    if (name === 'copy_' && tensor) {
      const other = args[0];
      if (other instanceof NativeV && other.tensors[0]) operate(m, name, [other.tensors[0]], [tensor], false);
      return null;
    }
    return new Unknown(name, 'result');
  }
  if (self.path.startsWith('torch.optim.')) {
    if (name === 'step' && self.tensors.length > 0) {
      const written = self.tensors.filter((tensor) => !isHost(tensor));
      const gradients = written.flatMap((tensor) => (tensor.grad instanceof TensorV ? [tensor.grad] : []));
      if (written.length > 0) operate(m, 'step', [...written, ...gradients], written, false);
      return null;
    }
    if (name === 'zero_grad') {
      for (const tensor of self.tensors) {
        m.drop(tensor.grad);
        tensor.grad = undefined;
      }
      return null;
    }
    return new Unknown(name, 'result');
  }
  if (self.path === 'torch.amp.GradScaler') {
    if (name === 'scale') {
      const tensor = tensorOf(m, args[0]);
      return tensor ? (operate(m, name, [tensor], [], true) ?? null) : new Unknown(name, 'result');
    }
    // Whether a gradient was infinite is asked on the host; `get_scale` reads the scale there.
    if (name === 'step' || name === 'get_scale') m.hostWaitStream(m.current().stream.stream, true);
    if (name === 'get_scale') return new Unknown(name, 'result');
    if (name === 'step' && args[0] instanceof NativeV) return nativeMethod(m, args[0], 'step', [], new Map(), node);
    return null;
  }
  if (self.path === 'torch.distributed.coalescing' && name === 'wait') {
    waitForAll(m, self);
    return null;
  }
  if (self.path === 'torch.autograd.Node' && /^register_(pre)?hook$/.test(name))
    return registerHook(m, self, name, args);
  if (self.path.startsWith('threading.')) return signalMethod(m, self, name, [...args, ...keywords.values()]);
  return unknownCall(m, `${self.path}.${name}`, args, keywords);
}
