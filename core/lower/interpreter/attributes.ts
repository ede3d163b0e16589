/** Reading, setting and deleting attributes of every kind of object. */
import {
  BoundMethodV,
  BuiltinMethodV,
  ClassMethodV,
  ClassV,
  DeviceV,
  ExternalV,
  FunctionV,
  InstanceV,
  ModuleV,
  NativeV,
  PartialV,
  partOrigin,
  PropertyV,
  StaticMethodV,
  StreamV,
  SuperV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  VersionV,
} from '../values.ts';
import type { StoreMode } from './assign.ts';
import { call } from './calls.ts';
import { lookup, madeAttribute, moduleLike } from './classes.ts';
import type { Machine } from './machine.ts';
import { external, globalValue, moduleValue, unknownGlobal } from './modules.ts';
import { namesParameter } from './modulesOfTorch.ts';
import { isModuleMethod } from '../../torch/modules.ts';
import { tensorAttribute } from './tensors.ts';
import { setTensorAttribute } from './tensors.ts';
import { isThreadLocal, keptByThread } from './threads.ts';
import { resolved } from './truth.ts';
import { versionAt, versionAttribute } from './versions.ts';

export function getAttribute(m: Machine, owner: Value, name: string): Value {
  const value = resolved(m, owner);
  if (value instanceof InstanceV) return instanceAttribute(m, value, name);
  if (value instanceof ModuleV) {
    const found = globalValue(m, value, name);
    if (found !== undefined) return found;
    const submodule = m.workspace.find(value.syntax, name, 1);
    if (submodule && /(^|\/)__init__\.pyi?$/.test(value.syntax.file)) return moduleValue(m, submodule);
    return unknownGlobal(m, `${value.syntax.file}:${name}`, name);
  }
  if (value instanceof ExternalV) {
    const path = `${value.path}.${name}`;
    const version = versionAt(m, path);
    if (version !== undefined) return version;
    const module = m.workspace.find(m.frame.module.syntax, path, 0);
    return module ? moduleValue(m, module) : external(path);
  }
  if (value instanceof TensorV) return tensorAttribute(m, value, name);
  if (value instanceof Unknown) return unknownAttribute(m, value, name);
  if (value instanceof StreamV) {
    if (name === 'device') return deviceOf(m, value);
    if (name === 'device_index') return value.deviceIndex;
    if (name === 'cuda_stream' || name === 'stream_id') {
      const handle = m.deriveUnknown(`a:${value.stream}:${name}`, name);
      handle.handleOf = value;
      return handle;
    }
    return m.temp(new BuiltinMethodV(value, name));
  }
  if (value instanceof DeviceV) {
    if (name === 'type') return value.type ?? plainUnknown(m, `d:${value.id}:type`, 'type');
    if (name === 'index') return value.index ?? plainUnknown(m, `d:${value.id}:index`, 'index');
  }
  if (value instanceof ClassV) {
    const found = madeAttribute(m, value, name);
    if (found instanceof StaticMethodV) return found.target;
    if (found instanceof ClassMethodV) return m.temp(new BoundMethodV(value, found.target as FunctionV));
    if (found === null && isSetLater(value, name)) return setLater(m, value, name);
    if (found !== undefined) return found;
    if (name === '__name__' || name === '__qualname__') return value.name;
    return m.deriveUnknown(`a:${value.id}:${name}`, name);
  }
  if (value instanceof SuperV) {
    const found = madeAttribute(m, value.cls, name, value.after);
    if (found instanceof FunctionV) return m.temp(new BoundMethodV(value.self, found));
    if (found instanceof PropertyV) return call(m, found.getter, [value.self], new Map(), m.frame.node);
    if (found instanceof ClassMethodV) return m.temp(new BoundMethodV(value.self, found.target as FunctionV));
    if (found instanceof StaticMethodV) return found.target;
    if (found !== undefined) return found;
    return m.temp(new BuiltinMethodV(value, name));
  }
  if (value instanceof TupleV && value.fields) {
    const index = value.fields.indexOf(name);
    if (index >= 0) return value.items[index]!;
  }
  if (value instanceof FunctionV) {
    const found = value.attributes?.get(name);
    if (found !== undefined) return found;
    if (name === '__name__' || name === '__qualname__') return value.name;
  }
  if (value instanceof PartialV) {
    if (name === 'func') return value.target;
  }
  if (value instanceof NativeV) {
    const found = value.attributes.get(name);
    if (found !== undefined) return found;
    if (isThreadLocal(value)) return keptByThread(value, name);
    if (value.path === 'torch.UntypedStorage') return plainUnknown(m, `a:${value.id}:${name}`, name);
    if (namesParameter.test(name) && value.tensors.length > 0) {
      const tensor = m.parameterTensor(`?${name}`, value.tensors[0]!.storage.device, 'unknown');
      tensor.storage.elements = value.tensors[0]!.storage.elements;
      value.attributes.set(name, tensor);
      return tensor;
    }
  }
  if (value instanceof VersionV) {
    const found = versionAttribute(m, value, name);
    if (found !== undefined) return found;
  }
  if (value === null || typeof value !== 'object') return m.temp(new BuiltinMethodV(value, name));
  return m.temp(new BuiltinMethodV(value, name));
}

/** Whether a method sets what the body of the class leaves at None: another call may have done so. */
function isSetLater(cls: ClassV, name: string): boolean {
  const text = cls.module?.syntax.text;
  return text !== undefined && new RegExp(`\\b(?:cls|${cls.name})\\.${name}\\s*(?::[^=\\n]+)?=[^=]`).test(text);
}

function setLater(m: Machine, cls: ClassV, name: string): Unknown {
  const key = `later:${cls.id}:${name}`;
  let value = m.derived.get(key);
  if (!value) {
    value = new Unknown(`${cls.name}.${name}`, 'attribute');
    value.hint = null;
    m.derived.set(key, value);
  }
  return value;
}

export function plainUnknown(m: Machine, key: string, name: string): Unknown {
  const value = m.deriveUnknown(key, name);
  value.plain = true;
  return value;
}

function deviceOf(_m: Machine, stream: StreamV): DeviceV {
  return new DeviceV('cuda', stream.deviceIndex, stream.device);
}

function instanceAttribute(m: Machine, self: InstanceV, name: string): Value {
  if (name === '__class__') return self.cls;
  if (name === '__dict__') return m.deriveUnknown(`a:${self.id}:dict`, name);
  const found = madeAttribute(m, self.cls, name);
  if (found instanceof PropertyV) {
    if (found.cached && self.attributes.has(name)) return self.attributes.get(name)!;
    const value = call(m, found.getter, [self], new Map(), m.frame.node);
    if (found.cached) self.attributes.set(name, value);
    return value;
  }
  const own = self.attributes.get(name);
  if (own !== undefined) return own;
  if (found instanceof FunctionV) return m.temp(new BoundMethodV(self, found));
  if (found instanceof StaticMethodV) return found.target;
  if (found instanceof ClassMethodV) return m.temp(new BoundMethodV(self.cls, found.target as FunctionV));
  if (found instanceof BoundMethodV || found instanceof Unknown || found !== undefined) return found;
  const native = moduleLike(self.cls);
  if (native === 'torch.nn.Module' && isModuleMethod(name)) return m.temp(new BuiltinMethodV(self, name));
  if (name === 'training') return plainAttribute(self, name);
  const getter = lookup(self.cls, '__getattr__');
  if (getter instanceof FunctionV && !name.startsWith('__')) {
    const value = call(m, m.temp(new BoundMethodV(self, getter)), [name], new Map(), m.frame.node);
    if (!(value instanceof Unknown)) return value;
  }
  const unknown = new Unknown(`self.${name}`, 'attribute');
  unknown.loader = loaderLike(name);
  // What a proxy gives is somebody else's: a call of it is one of a method of that one.
  if (getter) unknown.receiver = m.deriveUnknown(`proxy:${self.id}`, self.cls.name);
  self.attributes.set(name, unknown);
  return unknown;
}

function plainAttribute(self: InstanceV, name: string): Value {
  const value = new Unknown(name, 'attribute');
  value.plain = true;
  self.attributes.set(name, value);
  return value;
}

export function loaderLike(name: string): boolean {
  return /loader|iter|batches|dataset|source|prefetch|reader/i.test(name);
}

function unknownAttribute(m: Machine, owner: Unknown, name: string): Value {
  const known = owner.attributes.get(name);
  if (known !== undefined) return known;
  if (owner.tensor) return tensorAttribute(m, owner.tensor, name);
  if (owner.stream && name === 'device') return new DeviceV('cuda', undefined, owner.device);
  if (name === 'is_cuda') {
    owner.device.prove();
    return true;
  }
  if (name === 'device') {
    const device = new DeviceV(undefined, undefined, owner.device);
    owner.attributes.set(name, device);
    return device;
  }
  // A gradient is what the backward pass before has just made.
  const origin = name === 'grad' && owner.origin !== 'result' ? 'parameter' : partOrigin(owner.origin);
  const value = new Unknown(owner.name ? `${owner.name}.${name}` : name, origin);
  value.receiver = owner;
  value.madeBy = owner.madeBy;
  value.batch = owner.batch;
  value.loader = loaderLike(name) || owner.loader;
  if (
    /^(shape|dtype|ndim|size|numel|name|type|index|layout|requires_grad|training|rank|world_size|__name__)$/.test(name)
  )
    value.plain = true;
  owner.attributes.set(name, value);
  return value;
}

export function setAttribute(m: Machine, owner: Value, name: string, value: Value, mode: StoreMode): void {
  const target = resolved(m, owner);
  if (target instanceof InstanceV) {
    const found = lookup(target.cls, name);
    if (found instanceof PropertyV && found.setter) {
      call(m, found.setter, [target, value], new Map(), m.frame.node);
      return;
    }
    if (mode === 'statement') m.drop(target.attributes.get(name), value);
    target.attributes.set(name, value);
    if (m.settled > 0 && value instanceof Unknown) value.heldAs ??= name;
  } else if (target instanceof TensorV) setTensorAttribute(m, target, name, value);
  else if (target instanceof Unknown) {
    if (target.tensor && (name === 'data' || name === 'grad')) setTensorAttribute(m, target.tensor, name, value);
    else {
      m.drop(target.attributes.get(name));
      target.attributes.set(name, value);
      // Whoever else holds the object finds it there.
      m.loseEvents(value);
    }
  } else if (target instanceof ModuleV) {
    m.drop(target.scope.vars.get(name));
    target.scope.vars.set(name, value);
  } else if (target instanceof ClassV || target instanceof NativeV) {
    m.drop(target.attributes.get(name));
    target.attributes.set(name, value);
  } else if (target instanceof FunctionV) {
    target.attributes ??= new Map();
    target.attributes.set(name, value);
  } else if (target instanceof ExternalV || target === null || typeof target !== 'object') m.keep(value);
}

export function deleteAttribute(m: Machine, owner: Value, name: string): void {
  const target = resolved(m, owner);
  if (
    target instanceof InstanceV ||
    target instanceof Unknown ||
    target instanceof ClassV ||
    target instanceof NativeV
  ) {
    m.drop(target.attributes.get(name));
    target.attributes.delete(name);
  } else if (target instanceof TensorV && name === 'grad') setTensorAttribute(m, target, 'grad', null);
}
