/** Python's built-in functions, as far as they move references or read values. */
import type { Call, Node } from '../../python/ast.ts';
import { anyDevice } from '../../torch/deviceModules.ts';
import {
  ClassV,
  ContextV,
  DictV,
  ExceptionV,
  ExternalV,
  FunctionV,
  InstanceV,
  isObj,
  IteratorV,
  keyOf,
  ListV,
  NativeV,
  SequenceV,
  SetV,
  SliceV,
  StreamV,
  EventV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  WorkV,
  BoundMethodV,
  VersionV,
} from '../values.ts';
import { getAttribute, setAttribute } from './attributes.ts';
import { call, type Keywords, tensorsIn } from './calls.ts';
import { lookup, moduleLike, resolutionOrder } from './classes.ts';
import { stop } from './containers.ts';
import { GeneratorV, isCaught } from './frame.ts';
import { resumeGenerator } from './functions.ts';
import { itemAt, iterate, itemsOf, type PyIterator } from './iteration.ts';
import { makeLazily } from './lazy.ts';
import { isLoader, loaderBatch } from './loaders.ts';
import type { Machine } from './machine.ts';
import { hostRead } from './memory.ts';
import { readIndex } from './tensorItems.ts';
import { tensorOperator } from './tensors.ts';
import { isThreadLocal } from './threads.ts';
import { resolved, truth } from './truth.ts';
import { hasTorchName, versionText } from './versions.ts';

const names = new Set(
  (
    'print len range enumerate zip map filter list tuple dict set frozenset sum min max any all sorted reversed iter next ' +
    'isinstance issubclass hasattr getattr setattr delattr callable float int bool str repr bytes type id abs round divmod pow ' +
    'object super property staticmethod classmethod slice open input hash vars dir chr ord hex bin format globals locals ' +
    'Exception BaseException RuntimeError ValueError TypeError KeyError IndexError StopIteration AttributeError ImportError ' +
    'NotImplementedError AssertionError OSError NotImplemented Ellipsis StopAsyncIteration KeyboardInterrupt ' +
    'ModuleNotFoundError ZeroDivisionError MemoryError bytearray memoryview complex exit quit __import__ eval exec compile'
  ).split(' '),
);

export function isBuiltin(name: string): boolean {
  return names.has(name);
}

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

export function builtinCall(m: Machine, name: string, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const first = args[0] === undefined ? null : resolved(m, args[0]);
  switch (name) {
    case 'print':
    case 'str':
    case 'repr':
    case 'format':
      for (const tensor of tensorsIn(m, args)) hostRead(m, tensor, name);
      if (name === 'str' && first instanceof VersionV) return versionText(m, first);
      return name === 'print'
        ? null
        : typeof first === 'string' || typeof first === 'number'
          ? String(first)
          : plain(name);
    case 'float':
    case 'int':
    case 'bool':
    case 'complex': {
      const tensor = first instanceof TensorV ? first : first instanceof Unknown ? first.tensor : undefined;
      if (tensor) {
        hostRead(m, tensor, name);
        return plain(name);
      }
      if (name === 'bool') return first instanceof Unknown ? truth(m, first, node) : truth(m, first, node);
      if (typeof first === 'number') return name === 'int' ? Math.trunc(first) : first;
      if (typeof first === 'boolean') return Number(first);
      if (typeof first === 'string' && first.trim() !== '' && !Number.isNaN(Number(first))) return Number(first);
      if (args.length === 0) return 0;
      const value = m.deriveUnknown(`${name}:${keyOf(first)}`, name);
      value.plain = true;
      return value;
    }
    case 'len':
      return lengthOf(m, first, node);
    case 'range':
      return range(m, args, node);
    case 'enumerate': {
      const start =
        typeof args[1] === 'number'
          ? args[1]
          : typeof keywords.get('start') === 'number'
            ? (keywords.get('start') as number)
            : 0;
      settleLengths(m, first, node);
      return lazy(m, [first], () => {
        const inner = iterate(m, first, node);
        let at = start;
        return {
          keep: inner.keep ?? null,
          next: () => {
            const item = inner.next();
            return item === undefined ? undefined : new TupleV([at++, item]);
          },
        };
      });
    }
    case 'zip':
      return lazy(m, args, () => {
        const inner = args.map((arg) => iterate(m, arg, node));
        return {
          keep: new TupleV(inner.map((i) => i.keep ?? null)),
          next: () => {
            const items: Value[] = [];
            for (const iterator of inner) {
              const item = iterator.next();
              if (item === undefined) return undefined;
              items.push(item);
            }
            return items.length === 0 ? undefined : new TupleV(items);
          },
        };
      });
    case 'map': {
      const inner = args.slice(1).map((arg) => iterate(m, arg, node));
      return makeLazily(m, node, [...args, ...inner.map(({ keep }) => keep ?? null)], () =>
        mapped(m, first, inner, node),
      );
    }
    case 'filter': {
      const inner = iterate(m, args[1] ?? null, node);
      return makeLazily(m, node, [...args, inner.keep ?? null], () => filtered(m, first, inner, node));
    }
    case 'list':
    case 'tuple':
    case 'sorted':
    case 'reversed': {
      if (args.length === 0) return name === 'tuple' ? m.temp(new TupleV([])) : newContainer(m, new ListV([]));
      const items = itemsOf(m, first, node);
      if (name === 'reversed') items.reverse();
      return name === 'tuple' ? m.temp(new TupleV(items)) : m.temp(new ListV(items));
    }
    case 'set':
    case 'frozenset': {
      const set = m.temp(new SetV());
      if (args.length > 0) for (const item of itemsOf(m, first, node)) set.items.set(keyOf(item), item);
      return set;
    }
    case 'dict': {
      const dict = m.temp(new DictV());
      if (first instanceof DictV)
        for (const [key, entry] of first.entries) dict.entries.set(key, { key: entry.key, value: entry.value });
      else if (args.length > 0)
        for (const pair of itemsOf(m, first, node)) {
          const items = pair instanceof TupleV || pair instanceof ListV ? pair.items : [];
          const key = items[0] ?? null;
          dict.entries.set(keyOf(key), { key, value: items[1] ?? null });
        }
      for (const [key, value] of keywords) dict.entries.set(keyOf(key), { key, value });
      return args.length === 0 && keywords.size === 0 ? newContainer(m, dict) : dict;
    }
    case 'sum': {
      const items = itemsOf(m, first, node);
      if (items.length === 0) return args[1] ?? 0;
      let total: Value = args[1] ?? items.shift()!;
      for (const item of items) total = add(m, total, item);
      return total;
    }
    case 'min':
    case 'max': {
      const items = args.length > 1 ? [...args] : itemsOf(m, first, node);
      if (items.length > 0 && items.every((item) => typeof item === 'number'))
        return name === 'min' ? Math.min(...(items as number[])) : Math.max(...(items as number[]));
      const tensors = tensorsIn(m, items);
      for (const tensor of tensors) hostRead(m, tensor, name);
      if (tensors.length > 0) return items[0] ?? null;
      const value = m.deriveUnknown(`${name}:${items.map(keyOf).join()}`, name);
      value.plain = true;
      for (const item of items) if (typeof item === 'number') m.ranges.bound(value, name === 'min' ? '<=' : '>=', item);
      return value;
    }
    case 'any':
    case 'all': {
      const items = itemsOf(m, first, node);
      for (const item of items) {
        if (item instanceof Unknown || item instanceof TensorV) {
          if (item instanceof TensorV) hostRead(m, item, name);
          return m.deriveUnknown(`${name}:${items.map(keyOf).join()}`, name);
        }
        if (truth(m, item, node) === (name === 'any')) return name === 'any';
      }
      return name === 'all';
    }
    case 'iter': {
      if (first instanceof GeneratorV || first instanceof IteratorV) return first;
      if (first instanceof InstanceV) {
        const method = lookup(first.cls, '__iter__');
        if (method instanceof FunctionV) return call(m, new BoundMethodV(first, method), [], new Map(), node);
      }
      if (first instanceof Unknown && first.loader) return first;
      if (first instanceof Unknown && !first.tensor) {
        let at = 0;
        const following = (): Value | undefined =>
          at < Math.max(m.turns, askedTurns) ? itemAt(first, at++) : undefined;
        return m.temp(new IteratorV(following, [first]));
      }
      const inner = iterate(m, first, node);
      return m.temp(new IteratorV(() => inner.next(), [first, inner.keep ?? null]));
    }
    case 'next':
      return next(m, first, args, node);
    case 'isinstance':
      return isInstance(m, first, args[1] ?? null, node);
    case 'issubclass':
      return m.deriveUnknown(`issubclass:${args.map(keyOf).join()}`, name);
    case 'callable':
      return isObj(first) && /^(function|method|class|partial|external)$/.test(first.kind)
        ? true
        : first instanceof Unknown
          ? m.deriveUnknown(`callable:${first.id}`, name)
          : false;
    case 'hasattr': {
      const attribute = args[1];
      if (first instanceof InstanceV && typeof attribute === 'string') {
        if (first.attributes.has(attribute) || lookup(first.cls, attribute) !== undefined) return true;
        if (!first.open) return false;
      }
      if (isThreadLocal(first)) return true;
      if (first instanceof ExternalV)
        return typeof attribute !== 'string' || hasTorchName(m, `${first.path}.${attribute}`, node);
      return m.deriveUnknown(`hasattr:${keyOf(first)}:${typeof attribute === 'string' ? attribute : ''}`, name);
    }
    case 'getattr': {
      const attribute = args[1] === undefined ? null : resolved(m, args[1]);
      if (typeof attribute === 'string') {
        if (args.length > 2 && first instanceof InstanceV) {
          if (!first.attributes.has(attribute) && lookup(first.cls, attribute) === undefined) {
            if (!first.open) return args[2]!;
            const known = first.attributes.get(attribute);
            if (known === undefined) {
              const value = new Unknown(`self.${attribute}`, 'attribute');
              value.hint = args[2]!;
              first.attributes.set(attribute, value);
              return value;
            }
          }
        }
        if (args.length > 2 && first === null) return args[2]!;
        const value = getAttribute(m, first, attribute);
        if (args.length > 2 && value instanceof Unknown && value.hint === undefined && !isObj(args[2]))
          value.hint = args[2]!;
        return value;
      }
      if (first instanceof ExternalV && first.path === 'torch') return new ExternalV(anyDevice);
      return m.deriveUnknown(`getattr:${keyOf(first)}:${keyOf(attribute)}`, 'attribute');
    }
    case 'setattr':
      if (typeof args[1] === 'string') setAttribute(m, first, args[1], args[2] ?? null, 'statement');
      else m.keep(args[2]);
      return null;
    case 'delattr':
      if (typeof args[1] === 'string') setAttribute(m, first, args[1], null, 'statement');
      return null;
    case 'type':
      if (first instanceof InstanceV) return first.cls;
      return m.deriveUnknown(`type:${keyOf(first)}`, name);
    case 'id':
    case 'hash':
    case 'ord':
    case 'chr':
    case 'hex':
    case 'bin':
    case 'dir':
    case 'vars':
    case 'input':
    case 'globals':
    case 'locals':
    case 'bytes':
    case 'bytearray':
    case 'memoryview': {
      for (const tensor of tensorsIn(m, args)) if (/^(bytes|bytearray)$/.test(name)) hostRead(m, tensor, name);
      const value = m.deriveUnknown(`${name}:${args.map(keyOf).join()}`, name);
      value.plain = true;
      return value;
    }
    case 'abs':
    case 'round':
    case 'pow':
    case 'divmod': {
      if (typeof first === 'number') {
        if (name === 'abs') return Math.abs(first);
        if (name === 'round' && args.length === 1) return Math.round(first);
        if (name === 'divmod' && typeof args[1] === 'number' && args[1] !== 0)
          return m.temp(new TupleV([Math.floor(first / args[1]), ((first % args[1]) + args[1]) % args[1]]));
      }
      if (first instanceof TensorV) return tensorOperator(m, name, [first]);
      return plain(name);
    }
    case 'slice':
      return args.length === 1 ? new SliceV(null, first, null) : new SliceV(first, args[1] ?? null, args[2] ?? null);
    case 'open':
      return m.temp(new ContextV(() => new Unknown('file', 'result'), () => {}, []));
    case 'object':
      return m.temp(new NativeV('object'));
    case 'property':
    case 'staticmethod':
    case 'classmethod':
      return first;
  }
  if (/(Error|Exception|Iteration|Interrupt)$/.test(name)) {
    for (const tensor of tensorsIn(m, args)) hostRead(m, tensor, name);
    return new ExceptionV(name);
  }
  return plain(name);
}

/** A container that was just made. An empty one of module code that runs by demand: others may have filled it since. */
export function newContainer<T extends ListV | DictV>(m: Machine, container: T): T {
  m.temp(container);
  const empty = container instanceof ListV ? container.items.length === 0 : container.entries.size === 0;
  if (m.before > 0 && empty && m.frame.scope.kind === 'module') container.open = true;
  return container;
}

function add(m: Machine, left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (left instanceof TensorV || right instanceof TensorV) {
    const made = tensorOperator(m, '+', [left, right]);
    m.hold(made);
    return made;
  }
  return plain('sum');
}

function* mapped(m: Machine, fn: Value, inner: readonly PyIterator[], node: Node): Generator<Value, void, Value> {
  for (let turn = 0; turn < mostItems && inner.length > 0; turn++) {
    const row: Value[] = [];
    for (const iterator of inner) {
      const item = iterator.next();
      if (item === undefined) return;
      row.push(item);
    }
    const made = call(m, fn, row, new Map(), node);
    m.frame.temps = [];
    yield made;
  }
}

function* filtered(m: Machine, fn: Value, inner: PyIterator, node: Node): Generator<Value, void, Value> {
  for (let turn = 0; turn < mostItems; turn++) {
    const item = inner.next();
    if (item === undefined) return;
    const passes = truth(m, fn === null ? item : call(m, fn, [item], new Map(), node), node);
    m.frame.temps = [];
    if (passes) yield item;
  }
}

const mostItems = 64;

/** What iterates over its parts only when somebody asks for them, and from the start for each who asks. */
export function lazy(
  m: Machine,
  source: readonly Value[],
  make: () => { next: () => Value | undefined; keep: Value },
): SequenceV {
  const length = undefined;
  return m.temp(
    new SequenceV(
      () => {
        const made = make();
        return new IteratorV(made.next, [made.keep]);
      },
      source,
      length,
    ),
  );
}

/**
 * Items of an iterator over what nobody knows, which are asked for one by one: what is taken ahead of its use, or lets go of
 * the one before, comes round in so many.
 */
const askedTurns = 4;

const concreteTurns = 12;
const shortTurns = 4;

/** Turns of a loop that tells its first or its last turn from the others: one between them, in which two buffers come round. */
const comparedTurns = 3;

/** By the argument that says how many turns there are: the same code is executed path by path. */
const compared = new WeakMap<Node, boolean>();

/** Whether the running function compares something with one of the texts that stand for what the argument says. */
function isCompared(m: Machine, argument: Node, texts: () => readonly string[]): boolean {
  let known = compared.get(argument);
  if (known === undefined) {
    known = texts().some((text) => isTextCompared(m, text));
    compared.set(argument, known);
  }
  return known;
}

function textOf(m: Machine, node: Node): string {
  return m.frame.module.syntax.text.slice(node.start, node.end);
}

function isTextCompared(m: Machine, text: string): boolean {
  const { fn } = m.frame;
  if (!fn) return false;
  const name = escaped(text);
  return new RegExp(`(?:[<>]=?|[=!]=) *\\(?${name}(?!\\w)|(?<!\\w)${name}(?: *- *1)?\\)? *(?:[<>]=?|[=!]=)`).test(
    textOf(m, fn.node),
  );
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}

/**
 * A loop over `enumerate(items)` that compares its index with `len(items)`, or with a name for that, does something else
 * in the last turn: how many turns there are says how long the sequence is.
 */
function settleLengths(m: Machine, sequence: Value, node: Node): void {
  const argument = (node as Partial<Call>).args?.[0];
  const { fn } = m.frame;
  if (!argument || !fn) return;
  const isZip = sequence instanceof SequenceV && argument.kind === 'Call';
  const given = isZip ? argument.args : [argument];
  const values = isZip ? sequence.source : [sequence];
  for (const [i, value] of values.entries()) {
    const item = resolved(m, value);
    const turns = turnsOf(m, item);
    if (turns === undefined || !given[i]) continue;
    const length = `len(${textOf(m, given[i])})`;
    const texts = (): string[] => {
      const named = new RegExp(`^[ \\t]*(\\w+) *= *${escaped(length)}(?: *- *1)? *$`, 'gm');
      return [length, ...[...textOf(m, fn.node).matchAll(named)].map(([, name]) => name!)];
    };
    if (isCompared(m, given[i], texts)) m.ranges.settle(lengthOf(m, item, node), turns);
  }
}

/** How many turns a loop over something of unknown length takes. */
function turnsOf(m: Machine, value: Value): number | undefined {
  if (value instanceof Unknown && !value.tensor) return value.loader ? m.turns : (value.elements?.length ?? m.turns);
  return isLoader(value) ? m.unknownLength : undefined;
}

export function range(m: Machine, args: readonly Value[], node: Node): Value {
  const values = args.map((arg) => resolved(m, arg));
  for (const value of values) readIndex(m, value);
  // `range(n)` and `range(0, n)`.
  if (values.length === 1 || (values.length === 2 && values[0] === 0)) {
    const count = values.at(-1)!;
    const said = (node as Partial<Call>).args?.at(-1);
    if (said && isCompared(m, said, () => [textOf(m, said)]))
      m.ranges.settle(count, Math.max(comparedTurns, m.unknownLength));
    m.ranges.settleBySum(count, m.unknownLength);
  }
  const numbers = values.map((value) => m.ranges.settled(value));
  const [start, end, step] =
    numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0] ?? 0, numbers[1] ?? null, numbers[2] ?? 1];
  const unknown = numbers.some((n) => typeof n !== 'number');
  if (typeof start === 'number' && typeof end === 'number' && typeof step === 'number' && step !== 0 && !unknown) {
    const length = Math.max(0, Math.ceil((end - start) / step));
    // A long count shows nothing new after a few turns; the last turns matter as little as those between.
    const turns =
      length > concreteTurns && !m.stack.some((f) => f.scope.kind === 'comprehension') && length > 64
        ? shortTurns
        : Math.min(length, 64);
    return new SequenceV(
      () => {
        let at = 0;
        return new IteratorV(() => (at < turns ? start + step * at++ : undefined), []);
      },
      [],
      length,
    );
  }
  // `range(max(0, …), min(k, …))` begins where it may, and does not go on beyond where it must end.
  const begin = start instanceof Unknown ? (m.ranges.least(start) ?? start) : start;
  const most = end instanceof Unknown ? m.ranges.most(end) : typeof end === 'number' ? end : undefined;
  return new SequenceV(
    () => {
      let at = 0;
      return new IteratorV(() => {
        if (at >= m.unknownLength) return undefined;
        if (typeof begin === 'number' && typeof step === 'number' && step > 0) {
          const index = begin + step * at++;
          return most === undefined || index < most ? index : undefined;
        }
        at++;
        return plain('index');
      }, []);
    },
    [],
    undefined,
  );
}

function lengthOf(m: Machine, value: Value, node: Node): Value {
  if (value instanceof TupleV) return value.items.length;
  if (value instanceof ListV && !value.open) return value.items.length;
  if (value instanceof DictV && !value.open) return value.entries.size;
  if (value instanceof SetV && !value.open) return value.items.size;
  if (value instanceof SequenceV && value.length !== undefined) return value.length;
  if (typeof value === 'string') return value.length;
  if (value instanceof TensorV && value.rows !== undefined) return value.rows;
  if (value instanceof InstanceV) {
    const method = lookup(value.cls, '__len__');
    if (method instanceof FunctionV) return call(m, new BoundMethodV(value, method), [], new Map(), node);
  }
  const made = m.deriveUnknown(`len:${keyOf(value)}`, 'len');
  made.plain = true;
  return made;
}

function next(m: Machine, value: Value, args: readonly Value[], node: Node): Value {
  const fallback = args.length > 1 ? args[1]! : undefined;
  const over = (): Value => {
    if (fallback !== undefined) return fallback;
    if (isCaught(m.stack, 'StopIteration') || m.stack.some((frame) => frame.fn?.name === '__next__')) stop();
    // Nobody knows how many batches a loader has: whoever asks for one more gets one.
    const loader = value instanceof IteratorV ? value.source.find(isLoader) : undefined;
    return loader ? loaderBatch(m, loader) : new Unknown('item', 'result');
  };
  if (value instanceof GeneratorV) {
    const item = resumeGenerator(m, value, null);
    return item === undefined ? over() : item;
  }
  if (value instanceof IteratorV) {
    const item = value.next();
    return item === undefined ? over() : item;
  }
  if (value instanceof InstanceV) {
    const method = lookup(value.cls, '__next__');
    if (method instanceof FunctionV) return call(m, new BoundMethodV(value, method), [], new Map(), node);
  }
  // An unknown iterator: it may be exhausted, which is worth a path where that is handled.
  if (fallback !== undefined || isCaught(m.stack, 'StopIteration')) {
    const count = (m.nextCounts.get(keyOf(value)) ?? 0) + 1;
    m.nextCounts.set(keyOf(value), count);
    if (count > m.turns + 1) return over();
    if (count > 1 && m.decide(`exhausted:${keyOf(value)}:${count}`, false, node)) return over();
  }
  const item = new Unknown(value instanceof Unknown ? `next(${value.name})` : 'item', 'result');
  return item;
}

function isInstance(m: Machine, value: Value, type: Value, node: Node): Value {
  const types = type instanceof TupleV ? type.items : [type];
  const answers = types.map((t) => instanceOf(value, t));
  if (answers.some((answer) => answer === true)) return true;
  if (answers.every((answer) => answer === false)) return false;
  const key = `isinstance:${keyOf(value)}:${types.map((t) => (isObj(t) ? keyOf(t) : '')).join()}`;
  // What picks modules by their class is written for those.
  const likely = types.some((t) => t instanceof ExternalV && /^torch\.(Tensor|nn\.[A-Z]\w*)$/.test(t.path));
  return m.decide(key, likely || !types.some((t) => t instanceof ExternalV), node);
}

function instanceOf(value: Value, type: Value): boolean | undefined {
  const path = type instanceof ExternalV ? type.path : type instanceof ClassV ? `class ${type.name}` : undefined;
  if (path === undefined) return undefined;
  if (value instanceof Unknown) {
    if (value.tensor)
      return path === 'torch.Tensor'
        ? true
        : /^(list|tuple|dict|str|int|float|set|bool)$/.test(path)
          ? false
          : undefined;
    if (value.stream) return /Stream$/.test(path);
    return undefined;
  }
  if (value instanceof TensorV)
    return value.numpy
      ? /ndarray$/.test(path)
      : path === 'torch.Tensor'
        ? true
        : /Parameter$/.test(path)
          ? // What an operator made is none.
            value.storage.stream === undefined || value.grads === 'yes'
            ? undefined
            : false
          : false;
  if (value instanceof ListV)
    return /^(list|typing\.(List|Sequence)|collections\.(abc\.)?(Sequence|Iterable|deque))$/.test(path);
  if (value instanceof TupleV)
    return /^(tuple|typing\.(Tuple|Sequence)|collections\.(abc\.)?(Sequence|Iterable))$/.test(path);
  if (value instanceof DictV)
    return /^(dict|typing\.(Dict|Mapping)|collections\.(abc\.)?(Mapping|MutableMapping|OrderedDict|Iterable))$/.test(
      path,
    );
  if (typeof value === 'string') return path === 'str';
  if (typeof value === 'number')
    return path === 'int' ? Number.isInteger(value) : path === 'float' || path === 'numbers.Number';
  if (typeof value === 'boolean') return path === 'bool' || path === 'int';
  if (value === null) return false;
  if (value instanceof StreamV) return /Stream$/.test(path);
  if (value instanceof EventV) return /Event$/.test(path);
  if (value instanceof WorkV) return /(^|\.)Work$/.test(path) ? true : path === 'torch.Tensor' ? false : undefined;
  if (value instanceof InstanceV) {
    if (type instanceof ClassV)
      return resolutionOrder(value.cls).includes(type) ? true : value.open ? undefined : false;
    const base = moduleLike(value.cls);
    if (base === path) return true;
    return base === undefined || (layerOfTorch.test(path) && isPlainModule(value.cls)) ? false : undefined;
  }
  if (value instanceof NativeV)
    return value.path === path
      ? true
      : path === 'torch.nn.Module' && value.path.startsWith('torch.nn.')
        ? true
        : layerOfTorch.test(path) && layerOfTorch.test(value.path) && !derivesFromLayer.test(value.path)
          ? false
          : undefined;
  return undefined;
}

const layerOfTorch = /^torch\.nn\.(?!Module$)[A-Z]\w*$/;

/** Layers of torch that are layers of another class of torch as well. */
const derivesFromLayer = /^torch\.nn\.(?:Lazy\w+|ReLU6|Parameter|Buffer)$/;

/** Whether the class and its bases derive from nothing of torch but `nn.Module`. */
function isPlainModule(cls: ClassV): boolean {
  return resolutionOrder(cls).every((c) =>
    c.bases.every((base) => base instanceof ClassV || (base instanceof ExternalV && base.path === 'torch.nn.Module')),
  );
}
