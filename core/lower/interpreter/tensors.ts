/** Tensors: attributes, operators and methods. Which name does what is in core/torch. */
import type { Node } from '../../python/ast.ts';
import { factoryKind } from '../../torch/factories.ts';
import {
  isBlocking,
  isBlockingTensor,
  isChecking,
  isComputing,
  isInPlace,
  isListing,
  isMetadata,
  isOverwriting,
  isSplitting,
  isViewing,
  type Results,
  severalResults,
  writtenPlaces,
} from '../../torch/operators.ts';
import {
  BuiltinMethodV,
  DeviceV,
  isObj,
  keyOf,
  ListV,
  NativeV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import type { Keywords } from './calls.ts';
import { tensorsIn, unknownCall } from './calls.ts';
import { makeTensor } from './factories.ts';
import { registerHook } from './hooks.ts';
import type { Machine } from './machine.ts';
import { hostRead, isHost, operate, operateMany, settlePending } from './memory.ts';
import { runBackward } from './autograd.ts';
import { streamOf } from './streams.ts';
import { getTensorItem, narrowed, setTensorItem } from './tensorItems.ts';
import { copyInto, download, transfer } from './transfers.ts';
import { resolved, truth } from './truth.ts';
import { gave } from './unknown-work.ts';

/** The tensor that a value is, or turns out to be by this use. */
export function tensorOf(m: Machine, value_: Value | undefined): TensorV | undefined {
  const value = value_ === undefined ? undefined : resolved(m, value_);
  if (value instanceof TensorV) return value;
  if (!(value instanceof Unknown) || value.plain || value.stream || value.event) return undefined;
  if (!value.tensor) {
    const made =
      value.origin === 'parameter' || value.origin === 'element'
        ? 'caller'
        : value.origin === 'attribute'
          ? 'long ago'
          : 'unknown';
    const tensor = m.parameterTensor(`?${value.name}`, value.device, made);
    tensor.grads = 'maybe';
    tensor.storage.batch = value.batch;
    value.tensor = tensor;
    if (m.frame.scope.vars.get(value.name) === value) m.bind(value.name, value, true);
    if (value.madeBy) gave(m, value.madeBy, tensor);
    else if (made === 'unknown') value.givenBy?.given.push(value);
  }
  return value.tensor;
}

export function view(m: Machine, base: TensorV, start = base.start, end = base.end): TensorV {
  const tensor = m.temp(new TensorV(base.storage, start, end));
  tensor.numpy = base.numpy;
  tensor.grads = base.grads;
  tensor.saved = base.saved;
  tensor.pending = base.pending;
  return tensor;
}

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

// ---- attributes

export function tensorAttribute(m: Machine, self: TensorV, name: string): Value {
  const known = self.attributes?.get(name);
  if (known !== undefined) return known;
  switch (name) {
    case 'shape': {
      const shape = plain('shape');
      self.attributes ??= new Map();
      self.attributes.set(name, self.size ? new TupleV(self.size) : shape);
      return self.attributes.get(name)!;
    }
    case 'device':
      // A module may be moved as a whole, and its parameters with it.
      return isHost(self) && self.grads !== 'yes'
        ? new DeviceV('cpu', undefined, self.storage.device, true)
        : deviceOfTensor(self);
    case 'is_cuda':
      if (!isHost(self)) self.storage.device.prove();
      return !isHost(self);
    case 'dtype':
    case 'ndim':
    case 'layout':
    case 'names':
    case 'itemsize':
    case 'nbytes':
    case 'grad_fn':
    case 'is_leaf':
    case 'requires_grad':
    case 'is_sparse':
    case '_version': {
      const value = plain(name);
      self.attributes ??= new Map();
      self.attributes.set(name, value);
      return value;
    }
    case 'data':
    case 'T':
    case 'mT':
    case 'H':
    case 'mH':
    case 'real':
    case 'imag':
    case '_local_tensor': {
      const tensor = view(m, self);
      if (name !== 'data') tensor.transposed = !self.transposed;
      return tensor;
    }
    // Of `sort`, `topk`, `max(dim)`: one value stands for the parts, which one launch makes.
    case 'values':
    case 'indices':
      return view(m, self);
    case 'grad': {
      if (self.grad === undefined) {
        const grad = m.parameterTensor('?grad', self.storage.device, 'unknown');
        self.grad = grad;
      }
      return self.grad;
    }
  }
  return m.temp(new BuiltinMethodV(self, name));
}

function deviceOfTensor(self: TensorV): DeviceV {
  self.attributes ??= new Map();
  const device = new DeviceV(undefined, undefined, self.storage.device);
  self.attributes.set('device', device);
  return device;
}

export function setTensorAttribute(m: Machine, self: TensorV, name: string, value: Value): void {
  if (name === 'data') {
    const source = tensorOf(m, value);
    const before = self.storage;
    if (source) {
      self.storage = source.storage;
      self.start = source.start;
      self.end = source.end;
    } else self.storage = m.newStorage('?data', 'device', before.device, m.current().stream);
    m.drop(before);
  } else if (name === 'grad') {
    m.drop(self.grad);
    self.grad = value;
  } else {
    self.attributes ??= new Map();
    m.drop(self.attributes.get(name));
    self.attributes.set(name, value);
    m.keep(undefined);
  }
}

/** Each becomes the other: views and names of a tensor follow its memory. */
export function swapTensors(a: TensorV, b: TensorV): void {
  [a.storage, b.storage] = [b.storage, a.storage];
  [a.start, b.start] = [b.start, a.start];
  [a.end, b.end] = [b.end, a.end];
  [a.grad, b.grad] = [b.grad, a.grad];
}

// ---- operators

export function tensorOperator(m: Machine, name: string, operands: readonly Value[]): Value {
  const tensors: TensorV[] = [];
  for (const operand of operands) {
    const tensor = operandTensor(m, operand);
    if (tensor) tensors.push(tensor);
  }
  const result = operate(m, operatorNames[name] ?? name, tensors, [], true);
  // Numbers and statuses are added and compared, too.
  if (result) result.storage.guessed = tensors.every((tensor) => tensor.storage.guessed);
  return result ?? plain(name);
}

const operatorNames: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '//': 'floor_divide',
  '%': 'remainder',
  '**': 'pow',
  '@': 'matmul',
  '&': 'bitwise_and',
  '|': 'bitwise_or',
  '^': 'bitwise_xor',
  '<<': 'shift',
  '>>': 'shift',
};

/** What programs call a number that says how much there is of something: `num_heads`, `self.block_size`. */
const countName = /(?:^|\.)(?:(?:num|n)_\w+|(?:\w+_)?(?:size|dim|rank))$/;

export function isCount(value: Unknown): boolean {
  return countName.test(value.name);
}

/** An operand beside a tensor: unknown values of the entry's caller are tensors too, results of unknown calls may be. */
function operandTensor(m: Machine, operand: Value): TensorV | undefined {
  const value = resolved(m, operand);
  if (value instanceof TensorV) return value;
  if (value instanceof Unknown) {
    if (value.tensor) return value.tensor;
    if (value.origin === 'parameter' && value.hint === undefined && !isCount(value)) return tensorOf(m, value);
  }
  return undefined;
}

export function tensorCompare(m: Machine, left: Value, right: Value): Value {
  return tensorOperator(m, 'compare', [left, right]);
}

export function inPlaceOperator(m: Machine, operator: string, self: TensorV, value: Value): void {
  const other = operandTensor(m, value);
  const reads = other ? [self, other] : [self];
  operate(m, `${operatorNames[operator] ?? operator}_`, reads, [self], false);
}

/** `torch.NAME(…)` of an operator that makes a new tensor, with `out=`. */
export function computeFunction(m: Machine, operator: string, args: readonly Value[], keywords: Keywords): Value {
  const name = operator.slice(operator.lastIndexOf('.') + 1);
  const out = keywords.get('out');
  const inputs = [...args];
  for (const [key, value] of keywords) if (key !== 'out') inputs.push(value);
  const reads: TensorV[] = [];
  for (const input of inputs) {
    const value = resolved(m, input);
    if (value instanceof ListV || value instanceof TupleV) {
      for (const item of value.items) {
        const tensor = tensorOf(m, item);
        if (tensor) reads.push(tensor);
      }
    } else if (value instanceof Unknown && input !== args[0]) {
      if (value.tensor) reads.push(value.tensor);
      else if (value.origin === 'parameter' && value.hint === undefined && !value.plain && args.includes(input)) {
        const tensor = tensorOf(m, value);
        if (tensor) reads.push(tensor);
      }
    } else {
      const tensor = tensorOf(m, value);
      if (tensor) reads.push(tensor);
    }
  }
  if (out !== undefined && out !== null) {
    const writes = tensorsIn(m, [out]);
    const made = tensorOf(m, out);
    if (made && writes.length === 0) writes.push(made);
    operate(m, name, reads, writes, false);
    return out;
  }
  if (reads.length === 0) return unknownCall(m, name, args, keywords);
  if (waitsForHost(m, name, args, keywords)) hostRead(m, reads[0]!, name);
  const results = severalResults(operator);
  const fields = results && fieldsAsked(m, results, args, keywords);
  if (fields) return m.temp(new TupleV(operateMany(m, name, reads, [], fields.length), fields));
  return operate(m, name, reads, [], true)!;
}

/** The fields that a call of an operator of several results gives; undefined where it gives one tensor. */
function fieldsAsked(
  m: Machine,
  results: Results,
  args: readonly Value[],
  keywords: Keywords,
): readonly string[] | undefined {
  if (results.when === 'always') return results.fields;
  if (results.when === 'dim') {
    const dim = keywords.get('dim') ?? args[1];
    if (dim === undefined || dim === null) return undefined;
    const value = resolved(m, dim);
    return typeof value === 'number' || (value instanceof Unknown && value.plain) ? results.fields : undefined;
  }
  const more = results.when.filter((key) => flag(m, keywords.get(key), m.frame.node)).length;
  return more === 0 ? undefined : results.fields.slice(0, 1 + more);
}

/** Whether the call makes the host wait for the values. */
function waitsForHost(m: Machine, name: string, args: readonly Value[], keywords: Keywords): boolean {
  if (name === 'where') return args.length + keywords.size === 1;
  if (isChecking(name)) return true;
  if (!isBlocking(name)) return false;
  if (name !== 'repeat_interleave' || args.length + keywords.size === 1) return true;
  // Only for counts on the device: their sum is the length of the result.
  const size = keywords.get('output_size');
  const repeats = keywords.get('repeats') ?? args[1];
  if ((size !== undefined && size !== null) || repeats === undefined || typeof repeats === 'number') return false;
  const value = resolved(m, repeats);
  return value instanceof TensorV || m.capturing === undefined;
}

/** `torch._foreach_NAME(…)`: one launch over lists of tensors. */
export function foreachFunction(m: Machine, name: string, args: readonly Value[], keywords: Keywords): Value {
  const values = [...args, ...keywords.values()];
  const all = tensorsIn(m, values);
  if (all.length === 0) return unknownCall(m, name, args, keywords);
  if (isInPlace(name)) {
    const written = tensorsIn(
      m,
      writtenPlaces(name).flatMap((place) => values.slice(place, place + 1)),
    );
    operate(m, name, isOverwriting(name) ? all.filter((tensor) => !written.includes(tensor)) : all, written, false);
    return null;
  }
  const count = tensorsIn(m, values.slice(0, 1)).length;
  return m.temp(new ListV(operateMany(m, name, all, [], count)));
}

// ---- methods

export function tensorMethod(
  m: Machine,
  self: TensorV,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  settleUnless(m, self, name);
  switch (name) {
    case 'record_stream': {
      const stream = streamOf(m, args[0] ?? keywords.get('stream'));
      if (isHost(self)) return null;
      self.storage.device.prove();
      m.watch(self.storage);
      if (stream) {
        self.storage.announced ??= new Set();
        self.storage.announced.add(stream.stream);
        m.emit({ kind: 'recordStream', block: self.storage.block, stream: stream.stream });
      }
      return null;
    }
    case 'to':
    case 'cuda':
      return transfer(m, self, name, args, keywords);
    case 'type':
      // Without an argument it says which type the tensor has.
      if (args.length === 0 && !keywords.has('dtype')) return plain(name);
      if (typeof args[0] === 'string' && args[0].includes('.cuda.') && isHost(self))
        return transfer(m, self, 'cuda', [], keywords);
      return operate(m, name, [self], [], true)!;
    case 'cpu':
      return download(m, self, false);
    case 'pin_memory': {
      if (self.storage.memory === 'pinned') return self;
      m.hostAccess('pin_memory', self, false);
      return m.hostTensor('?pinned', 'pinned');
    }
    case 'copy_':
      return copyInto(m, self, args, keywords);
    case 'numpy':
    case '__array__': {
      if (!isHost(self)) {
        hostRead(m, self, name);
        return plain('array');
      }
      const array = view(m, self);
      array.numpy = true;
      return array;
    }
    case 'backward':
      runBackward(m, self, node);
      return null;
    case 'detach_':
    case 'requires_grad_':
    case 'retain_grad':
    case 'share_memory_':
      if (name === 'requires_grad_') self.grads = 'yes';
      return self;
    case 'register_hook':
    case 'register_post_accumulate_grad_hook':
      return registerHook(m, self, name, args);
    case 'untyped_storage':
    case 'storage':
    case 'typed_storage': {
      const storage = m.temp(new NativeV('torch.UntypedStorage'));
      storage.tensors = [self];
      return storage;
    }
    case 'resize_':
      return self;
    case 'set_': {
      const given = args[0] instanceof NativeV ? args[0].tensors[0] : args[0];
      const source = tensorOf(m, given);
      if (source) setTensorAttribute(m, self, 'data', source);
      return self;
    }
    case 'is_contiguous': {
      if (args.length > 0 || keywords.size > 0) return plain(name);
      return m.decide(`contiguous:${self.storage.id}:${self.start}`, !self.transposed, node, !isHost(self));
    }
    case 'reshape':
    case 'flatten':
    case 'ravel':
      // Memory that is not in the order of the dimensions is copied.
      if (self.transposed && !self.numpy) return operate(m, name, [self], [], true)!;
      break;
    case 'contiguous':
      if (self.transposed || m.decisions.known(`contiguous:${self.storage.id}:${self.start}`) === false)
        return operate(m, name, [self], [], true)!;
      return self;
    case 'is_pinned':
      return isHost(self) ? self.storage.memory === 'pinned' : plain(name);
    case 'size':
    case 'numel':
    case 'nelement':
      return sizeOf(self, name, args);
    case 'repeat':
      return operate(m, name, [self], [], true)!;
    case 'dequantize':
      return operate(m, name, [self], [], true)!;
    case 'tobytes':
    case 'astype':
    case 'save':
      if (self.numpy) {
        hostRead(m, self, name);
        return plain(name);
      }
      break;
    case 'result':
      break;
  }
  if (isMetadata(name)) return plain(name);
  if (self.numpy) return arrayMethod(m, self, name, args, keywords);
  if (isSplitting(name)) return splitTensor(m, self, name, args, keywords);
  if (isViewing(name)) {
    const part = name === 'narrow' || name === 'select' ? narrowed(m, self, name, args) : view(m, self);
    if (/^(t|transpose|permute|swapaxes|swapdims|movedim|moveaxis|adjoint|t_|transpose_)$/.test(name))
      part.transposed = !self.transposed;
    // Elements that stand at several places are copied where one after the other is wanted.
    if (/^(expand|expand_as|broadcast_to)$/.test(name)) part.transposed = true;
    if (name === 'detach' || name === 'data') {
      part.grads = 'no';
      part.saved = undefined;
    }
    return part;
  }
  const factory = factoryKind(name);
  if (factory) return makeTensor(m, name, factory, args, keywords, self);
  if (name === '__setitem__') {
    setTensorItem(m, self, args[0] ?? null, args[1] ?? null);
    return null;
  }
  if (name === '__getitem__') return getTensorItem(m, self, args[0] ?? null);
  if (isInPlace(name)) {
    const others = tensorsIn(m, [...args, ...keywords.values()]);
    for (const arg of args) {
      const tensor = operandTensor(m, arg);
      if (tensor && !others.includes(tensor)) others.push(tensor);
    }
    operate(m, name, isOverwriting(name) ? others : [self, ...others], [self], false);
    return self;
  }
  if (isBlocking(name) && !isBlockingTensor(name)) {
    for (const tensor of tensorsIn(m, args)) if (!isHost(tensor)) hostRead(m, tensor, name);
    hostRead(m, self, name);
    return plain(name);
  }
  if (isComputing(name) || isListing(name)) return computeFunction(m, name, [self, ...args], keywords);
  if (/^__(r|i)?(add|sub|mul|truediv|matmul|pow|mod|floordiv)__$/.test(name))
    return tensorOperator(m, name, [self, ...args]);
  void node;
  return unknownCall(m, name, [self, ...args], keywords);
}

function settleUnless(m: Machine, self: TensorV, name: string): void {
  if (self.pending && !isMetadata(name) && name !== 'record_stream') settlePending(m, self);
}

function sizeOf(self: TensorV, name: string, args: readonly Value[]): Value {
  if (name === 'size' && self.size && typeof args[0] === 'number') {
    const at = args[0] < 0 ? self.size.length + args[0] : args[0];
    return self.size[at] ?? plain(name);
  }
  if (name === 'size' && args[0] === 0 && self.rows !== undefined) return self.rows;
  const key = `${name}(${args.map((arg) => (isObj(arg) ? keyOf(arg) : String(arg))).join()})`;
  self.attributes ??= new Map();
  let value = self.attributes.get(key);
  if (value === undefined) {
    value = plain(name);
    self.attributes.set(key, value);
  }
  return value;
}

/** A NumPy array over the memory of a host tensor. */
function arrayMethod(m: Machine, self: TensorV, name: string, args: readonly Value[], keywords: Keywords): Value {
  if (/^(reshape|view|ravel|squeeze|transpose|swapaxes|flatten)$/.test(name)) return view(m, self);
  if (/^(fill|sort|put|partition|itemset|resize)$/.test(name)) {
    m.hostAccess(name, self, true);
    return null;
  }
  for (const tensor of tensorsIn(m, [...args, ...keywords.values()])) m.hostAccess(name, tensor, false);
  m.hostAccess(name, self, false);
  return plain(name);
}

/** `chunk`, `split`, `unbind`: disjoint parts. */
export function splitTensor(
  m: Machine,
  self: TensorV,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
): Value {
  const count = resolved(
    m,
    args[0] ?? keywords.get('chunks') ?? keywords.get('split_size_or_sections') ?? keywords.get('split_size') ?? null,
  );
  let parts = 2;
  if (name === 'unbind') parts = self.rows ?? 2;
  else if (/chunk|tensor_split/.test(name) && typeof count === 'number') parts = count;
  else if (count instanceof ListV || count instanceof TupleV) parts = count.items.length;
  else if (/split/.test(name) && typeof count === 'number' && self.rows !== undefined && count > 0)
    parts = Math.ceil(self.rows / count);
  parts = Math.max(1, Math.min(parts, 32));
  const width = (self.end - self.start) / parts;
  const views: Value[] = [];
  for (let i = 0; i < parts; i++) {
    const part = view(m, self, self.start + i * width, self.start + (i + 1) * width);
    if (self.rows !== undefined && name !== 'unbind') part.rows = Math.max(1, Math.round(self.rows / parts));
    views.push(part);
  }
  return m.temp(new TupleV(views));
}

/** Whether an argument says true; a flag that is not known is asked once. */
export function flag(m: Machine, value_: Value | undefined, node: Node): boolean {
  const value = value_ === undefined ? false : resolved(m, value_);
  if (value instanceof Unknown) return truth(m, value, node);
  return value === true || (typeof value === 'number' && value !== 0);
}
