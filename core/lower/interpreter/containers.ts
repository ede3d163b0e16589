/** Items of containers and the methods of Python's own containers, strings and queues. */
import type { Node } from '../../python/ast.ts';
import {
  BoundMethodV,
  ClassV,
  DeviceV,
  DictV,
  EventV,
  type Entry,
  FunctionV,
  InstanceV,
  isObj,
  IteratorV,
  KernelV,
  keyOf,
  ListV,
  NativeV,
  type Obj,
  SequenceV,
  SetV,
  SliceV,
  StreamV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  VersionV,
} from '../values.ts';
import { call } from './calls.ts';
import { lookup } from './classes.ts';
import { dropHandles } from './collectives.ts';
import { Raised } from './frame.ts';
import { itemsOf, partOf } from './iteration.ts';
import { drained } from './lazy.ts';
import type { Machine } from './machine.ts';
import { leaveMessage, takeMessage, waitInThread, wakeThreads } from './threads.ts';
import { getTensorItem, isMask, maskUnknown, readBounds, readIndex, setTensorItem } from './tensorItems.ts';
import { resolved } from './truth.ts';
import { versionText } from './versions.ts';

export function getItem(m: Machine, owner: Value, index: Value, node: Node): Value {
  const value = resolved(m, owner);
  if (value instanceof ListV || value instanceof TupleV) {
    const items = value.items;
    readIndex(m, index);
    readBounds(m, index);
    if (typeof index === 'number') {
      const item = items[index < 0 ? items.length + index : index];
      if (item !== undefined) return item;
      return memo(m, value, index, value instanceof ListV && value.open ? 'element' : 'result');
    }
    if (index instanceof SliceV) {
      const part = slice(items, index);
      if (value instanceof TupleV) return m.temp(new TupleV(part));
      const list = m.temp(new ListV(part));
      list.open = value.open;
      return list;
    }
    if (items.length > 0 && !(value instanceof ListV && value.open)) return elementByIdentity(m, value, items, index);
    return memo(m, value, index, 'element');
  }
  if (value instanceof DictV) {
    const entry = value.entries.get(keyOf(index));
    if (entry) return entry.value;
    if (value.factory !== undefined && value.factory !== null) {
      const made = call(m, value.factory, [], new Map(), node);
      value.entries.set(keyOf(index), { key: index, value: made });
      if (index instanceof Unknown && made instanceof EventV) m.builder.events[made.event]!.picked = true;
      return made;
    }
    if (!value.open && isObj(index) && value.entries.size > 0)
      return elementByIdentity(
        m,
        value,
        [...value.entries.values()].map((e) => e.value),
        index,
      );
    return maybeItem(value, index);
  }
  if (value instanceof TensorV) return getTensorItem(m, value, index);
  if (value instanceof Unknown) {
    if (value.tensor) return getTensorItem(m, value.tensor, index);
    if (isMask(index) && !value.plain) maskUnknown(m);
    if (index instanceof SliceV) {
      readBounds(m, index);
      const key = `[${keyPart(index.lower)}:${keyPart(index.upper)}]`;
      return memoUnknown(value, key);
    }
    return memoUnknown(value, `[${isObj(index) ? keyOf(index) : String(index)}]`, isObj(index) ? '[…]' : undefined);
  }
  if (value instanceof InstanceV) {
    const method = lookup(value.cls, '__getitem__');
    if (method instanceof FunctionV) return call(m, new BoundMethodV(value, method), [index], new Map(), node);
    return memoIn(value.attributes, `[${keyOf(index)}]`);
  }
  if (value instanceof NativeV) {
    if (typeof index === 'number' && value.parts.length > 0)
      return value.parts[index < 0 ? value.parts.length + index : index] ?? memoIn(value.attributes, `[${index}]`);
    return memoIn(value.attributes, `[${keyOf(index)}]`);
  }
  if (typeof value === 'string') {
    if (index instanceof SliceV) {
      const bounds = [index.lower, index.upper].map((bound) => (bound === null ? undefined : bound));
      const known = index.step === null && bounds.every((bound) => bound === undefined || typeof bound === 'number');
      return known ? value.slice(...(bounds as number[])) : plain('part');
    }
    return typeof index === 'number' ? (value.at(index) ?? '') : value;
  }
  if (value instanceof VersionV) return getItem(m, versionText(m, value), index, node);
  if (value instanceof ClassV || value instanceof KernelV) return value;
  const made = m.deriveUnknown(`i:${isObj(value) ? value.id : String(value)}:${keyOf(index)}`, 'item');
  return made;
}

function keyPart(value: Value): string {
  return value === null ? '' : isObj(value) ? keyOf(value) : String(value);
}

/** `shown`: the index as messages write it, where the key is no word of the program's. */
function memoUnknown(owner: Unknown, key: string, shown = key): Value {
  let item = owner.items.get(key);
  if (item === undefined) {
    item = partOf(owner, owner.name + shown);
    owner.items.set(key, item);
  }
  return item;
}

function memoIn(attributes: Map<string, Value>, key: string): Value {
  let item = attributes.get(key);
  if (item === undefined) {
    item = new Unknown(key, 'element');
    attributes.set(key, item);
  }
  return item;
}

function memo(m: Machine, owner: ListV | TupleV, index: Value, _origin: string): Value {
  const made = m.deriveUnknown(`i:${owner.id}:${isObj(index) ? keyOf(index) : String(index)}`, 'item');
  return made;
}

/** An unknown index is one of the elements: the first such index met takes the first one. */
function elementByIdentity(m: Machine, owner: ListV | TupleV | DictV, items: readonly Value[], index: Value): Value {
  if (index instanceof Unknown && items.length > 1)
    for (const item of items) if (item instanceof EventV) m.builder.events[item.event]!.picked = true;
  if (index instanceof Unknown && index.computed && items.length > 1 && items.some(isObj))
    return someElement(m, owner, items, index);
  const key = `e:${owner.id}`;
  let order = m.indexOrder.get(key);
  if (!order) {
    order = new Map();
    m.indexOrder.set(key, order);
  }
  const name = keyOf(index);
  let place = order.get(name);
  if (place === undefined) {
    place = order.size;
    order.set(name, place);
  }
  // How several unknown places lie to each other is not known.
  if (place > 0 && items.length > 1 && isObj(items[0])) return someElement(m, owner, items, index);
  const item = items[place % items.length]!;
  if (item instanceof StreamV && index instanceof Unknown && items.length > 1)
    m.builder.streams[item.stream]!.picked = true;
  return item;
}

/** One of the elements, nobody knows which; the same index gives the same. */
function someElement(m: Machine, owner: Obj, items: readonly Value[], index: Value): Unknown {
  const element = m.deriveUnknown(`e:${owner.id}:${keyOf(index)}`, 'item');
  element.picked = true;
  const sample = items[0];
  if (sample instanceof TensorV) element.device.unite(sample.storage.device);
  else if (sample instanceof EventV) element.event ??= m.newEvent(element.name, sample.timing, true);
  return element;
}

export function maybeItem(dict: DictV, index: Value): Value {
  const key = keyOf(index);
  let item = dict.maybe.get(key);
  if (item === undefined) {
    item = new Unknown('item', dict.selected ? 'external' : 'element');
    dict.maybe.set(key, item);
  }
  return item;
}

function slice<T>(items: readonly T[], index: SliceV): T[] {
  const step = typeof index.step === 'number' ? index.step : 1;
  const lower = typeof index.lower === 'number' ? index.lower : undefined;
  const upper = typeof index.upper === 'number' ? index.upper : undefined;
  if (step < 0) return [...items].reverse();
  const part = items.slice(lower ?? 0, upper ?? items.length);
  return step === 1 ? part : part.filter((_, i) => i % step === 0);
}

export function setItem(m: Machine, owner: Value, index: Value, value: Value, node: Node): void {
  const target = resolved(m, owner);
  if (target instanceof ListV) {
    readIndex(m, index);
    readBounds(m, index);
    if (typeof index === 'number') {
      const at = index < 0 ? target.items.length + index : index;
      m.drop(target.items[at], value);
      if (at >= 0 && at < 4096) {
        while (target.items.length < at) target.items.push(null);
        target.items[at] = value;
        // What is there on this path is too little: the list is not as it was made.
      } else if (at < 0) target.items.push(value);
    } else if (index instanceof SliceV) {
      const lower = typeof index.lower === 'number' ? index.lower : 0;
      const upper = typeof index.upper === 'number' ? index.upper : target.items.length;
      for (const item of target.items.slice(lower, upper)) m.drop(item);
      target.items.splice(lower, Math.max(0, upper - lower), ...itemsOf(m, value, node));
    } else {
      const at = slotOf(m, target, index);
      // Whoever reads another place may find it there.
      m.loseEvents(value);
      m.drop(target.items[at]);
      target.items[at] = value;
    }
  } else if (target instanceof DictV) {
    const key = keyOf(index);
    const before = target.entries.get(key);
    if (before) {
      m.drop(before.value, value);
      before.value = value;
    } else target.entries.set(key, { key: index, value });
  } else if (target instanceof TensorV) setTensorItem(m, target, index, value);
  else if (target instanceof Unknown) {
    if (target.tensor) setTensorItem(m, target.tensor, index, value);
    else {
      readBounds(m, index);
      const key = `[${isObj(index) ? keyOf(index) : String(index)}]`;
      m.drop(target.items.get(key));
      target.items.set(key, value);
    }
  } else if (target instanceof InstanceV) {
    const method = lookup(target.cls, '__setitem__');
    if (method instanceof FunctionV) call(m, new BoundMethodV(target, method), [index, value], new Map(), node);
    else target.attributes.set(`[${keyOf(index)}]`, value);
  } else if (target instanceof NativeV) target.attributes.set(`[${keyOf(index)}]`, value);
}

function slotOf(m: Machine, list: ListV, index: Value): number {
  if (list.items.length === 0) return 0;
  const item = elementByIdentity(
    m,
    list,
    list.items.map((_, i) => i),
    index,
  );
  return typeof item === 'number' ? item : 0;
}

export function deleteItem(m: Machine, owner: Value, index: Value): void {
  const target = resolved(m, owner);
  if (target instanceof ListV) {
    if (typeof index === 'number') {
      const at = index < 0 ? target.items.length + index : index;
      m.drop(target.items[at]);
      target.items.splice(at, 1);
    } else if (index instanceof SliceV) {
      const gone = slice(target.items, index);
      for (const item of gone) m.drop(item);
      target.items = target.items.filter((item) => !gone.includes(item));
    }
  } else if (target instanceof DictV) {
    const key = keyOf(index);
    const entry = target.entries.get(key) ?? (isObj(index) ? [...target.entries.values()][0] : undefined);
    if (entry) {
      m.drop(entry.value);
      target.entries.delete(keyOf(entry.key));
    }
  } else if (target instanceof Unknown) {
    const key = `[${isObj(index) ? keyOf(index) : String(index)}]`;
    m.drop(target.items.get(key));
    target.items.delete(key);
  } else if (target instanceof InstanceV) {
    const key = `[${keyOf(index)}]`;
    m.drop(target.attributes.get(key));
    target.attributes.delete(key);
  }
}

export function contains(m: Machine, item: Value, container: Value, node: Node): boolean | undefined {
  const value = drained(m, [resolved(m, container)])[0]!;
  if (value instanceof DictV) {
    if (value.entries.has(keyOf(item))) return true;
    if (value.open) return m.decide(`in:${value.id}:${keyOf(item)}`, false, node);
    if (isObj(item) && value.entries.size > 0 && !(item instanceof TupleV))
      return m.decide(`in:${value.id}:${keyOf(item)}`, true, node);
    return false;
  }
  if (value instanceof SetV) {
    if (value.items.has(keyOf(item))) return true;
    return value.open || isObj(item) ? m.decide(`in:${value.id}:${keyOf(item)}`, false, node) : false;
  }
  if (value instanceof ListV || value instanceof TupleV) {
    const key = keyOf(item);
    if (value.items.some((other) => keyOf(other) === key)) return true;
    const texts = textsOf(value);
    if (texts && item instanceof Unknown) return isOneOf(m, item, texts, node);
    const vague =
      (value instanceof ListV && value.open) || isObj(item) || value.items.some((i) => i instanceof Unknown);
    if (vague && !(item instanceof DeviceV)) return m.decide(`in:${value.id}:${key}`, false, node);
    return false;
  }
  if (typeof value === 'string' && typeof item === 'string') return value.includes(item);
  return undefined;
}

/** What a sequence of nothing but texts holds. */
function textsOf(value: ListV | TupleV): string[] | undefined {
  if (value.items.length === 0 || (value instanceof ListV && value.open)) return undefined;
  const texts: string[] = [];
  for (const item of value.items) {
    if (typeof item !== 'string') return undefined;
    texts.push(item);
  }
  return texts;
}

/** `kind in ("q", "k")`: the same wherever it is asked, and the end of other questions about `kind`. */
function isOneOf(m: Machine, item: Unknown, texts: readonly string[], node: Node): boolean {
  const { oneOf } = item;
  if (oneOf?.every((text) => texts.includes(text))) return true;
  if (oneOf && !oneOf.some((text) => texts.includes(text))) return false;
  const taken = m.decide(`in:${[...texts].sort().join()}:${item.id}`, false, node);
  if (taken) item.restrict(texts);
  return taken;
}

function pairs(entries: Iterable<Entry>): TupleV[] {
  return [...entries].map((entry) => new TupleV([entry.key, entry.value]));
}

/** A method of a built-in container; undefined when there is no such method. */
export function containerMethod(
  m: Machine,
  self: Value,
  name: string,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value | undefined {
  if (self instanceof ListV) return listMethod(m, self, name, args, keywords, node);
  if (self instanceof DictV) return dictMethod(m, self, name, args, keywords, node);
  if (self instanceof SetV) return setMethod(m, self, name, args, node);
  if (self instanceof TupleV) {
    if (name === '_replace' && self.fields)
      return m.temp(
        new TupleV(
          self.items.map((item, i) => keywords.get(self.fields![i]!) ?? item),
          self.fields,
        ),
      );
    if (name === '_asdict' && self.fields) {
      const dict = m.temp(new DictV());
      for (const [i, item] of self.items.entries())
        dict.entries.set(keyOf(self.fields[i]!), { key: self.fields[i]!, value: item });
      return dict;
    }
    if (name === 'index' || name === 'count') return plain('count');
    return undefined;
  }
  if (typeof self === 'string') return stringMethod(m, self, name, args, node);
  if (self instanceof IteratorV || self instanceof SequenceV) {
    if (name === '__next__' && self instanceof IteratorV) return self.next() ?? null;
    return undefined;
  }
  return undefined;
}

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

function listMethod(
  m: Machine,
  self: ListV,
  name: string,
  args: readonly Value[],
  _keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value | undefined {
  const first = args[0] ?? null;
  switch (name) {
    case 'append':
    case 'put':
    case 'put_nowait':
      if (self.items.length < 4096) self.items.push(first);
      keepLongest(m, self, 'front');
      leaveMessage(m, self);
      return null;
    case 'appendleft':
      leaveMessage(m, self);
      self.items.unshift(first);
      keepLongest(m, self, 'back');
      return null;
    case 'extend':
      self.items.push(...itemsOf(m, first, node));
      if (first instanceof Unknown) self.open = true;
      keepLongest(m, self, 'front');
      return null;
    case 'insert':
      self.items.splice(typeof first === 'number' ? first : 0, 0, args[1] ?? null);
      return null;
    case 'pop':
    case 'popleft':
    case 'get':
    case 'get_nowait': {
      const front = name !== 'pop';
      if (name === 'get' && self.items.length === 0 && !self.open) {
        waitInThread(m, self);
        wakeThreads(m);
      }
      takeMessage(m, self, front || typeof first === 'number' ? 'first' : 'last', self.items.length);
      if (self.items.length === 0) {
        if (name === 'get') m.awaitOthers();
        return self.open ? new Unknown('item', 'element') : new Unknown('item', 'result');
      }
      let value: Value;
      if (!front && typeof first === 'number')
        value = self.items.splice(first < 0 ? self.items.length + first : first, 1)[0] ?? null;
      else if (front) value = self.items.shift()!;
      else value = self.items.pop()!;
      m.hold(value);
      return value;
    }
    case 'remove': {
      const at = self.items.indexOf(first);
      if (at >= 0) m.drop(self.items.splice(at, 1)[0]);
      return null;
    }
    case 'clear':
      dropHandles(m, self.items);
      for (const item of self.items) m.drop(item);
      self.items = [];
      self.open = false;
      return null;
    case 'copy': {
      const copy = m.temp(new ListV([...self.items]));
      copy.open = self.open;
      return copy;
    }
    case 'sort':
    case 'rotate':
      if (name === 'rotate') {
        const by = typeof first === 'number' ? first : 1;
        for (let i = 0; i < Math.abs(by) % Math.max(1, self.items.length); i++)
          if (by > 0) self.items.unshift(self.items.pop()!);
          else self.items.push(self.items.shift()!);
      }
      return null;
    case 'reverse':
      self.items.reverse();
      return null;
    case 'index':
    case 'count': {
      const at = self.items.findIndex((item) => keyOf(item) === keyOf(first));
      return name === 'index' && at >= 0 ? at : plain(name);
    }
    case 'qsize':
    case '__len__':
      return self.open ? plain('length') : self.items.length;
    case 'empty':
      return self.open ? plain('empty') : self.items.length === 0;
    case 'full':
      return plain('full');
    case 'task_done':
    case 'join':
      return null;
  }
  return undefined;
}

/** A bounded deque lets go at one end of what was pushed out at the other. */
function keepLongest(m: Machine, { items, longest }: ListV, from: 'front' | 'back'): void {
  if (longest === undefined) return;
  while (items.length > longest) m.hold(from === 'front' ? items.shift() : items.pop());
}

function dictMethod(
  m: Machine,
  self: DictV,
  name: string,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value | undefined {
  const first = args[0] ?? null;
  switch (name) {
    case 'get': {
      const entry = self.entries.get(keyOf(first));
      if (entry) return entry.value;
      if (self.open) {
        const item = maybeItem(self, first);
        if (item instanceof Unknown && args[1] === undefined) item.hint ??= null;
        return item;
      }
      if (isObj(first) && !(first instanceof TupleV) && self.entries.size > 0)
        return m.decide(`in:${self.id}:${keyOf(first)}`, true, node)
          ? getItem(m, self, first, node)
          : (args[1] ?? null);
      return args[1] ?? keywords.get('default') ?? null;
    }
    case 'setdefault': {
      const entry = self.entries.get(keyOf(first));
      if (entry) return entry.value;
      const value = args[1] ?? null;
      self.entries.set(keyOf(first), { key: first, value });
      return value;
    }
    case 'pop': {
      const entry = self.entries.get(keyOf(first));
      if (entry) {
        self.entries.delete(keyOf(first));
        m.hold(entry.value);
        return entry.value;
      }
      if (self.open) return maybeItem(self, first);
      if (isObj(first) && !(first instanceof TupleV) && self.entries.size > 0) {
        const value = getItem(m, self, first, node);
        for (const [key, other] of self.entries)
          if (other.value === value) {
            self.entries.delete(key);
            break;
          }
        m.hold(value);
        return value;
      }
      return args.length > 1 ? args[1]! : new Unknown('item', 'result');
    }
    case 'popitem': {
      const last = [...self.entries.entries()].pop();
      if (!last) return new Unknown('item', 'result');
      self.entries.delete(last[0]);
      return m.temp(new TupleV([last[1].key, last[1].value]));
    }
    case 'move_to_end':
      return null;
    case 'items':
      if (self.open && self.entries.size === 0) openEntries(self);
      return m.temp(new ListV(pairs(self.entries.values())));
    case 'keys':
      if (self.open && self.entries.size === 0) openEntries(self);
      return m.temp(new ListV([...self.entries.values()].map((entry) => entry.key)));
    case 'values':
      if (self.open && self.entries.size === 0) openEntries(self);
      return m.temp(new ListV([...self.entries.values()].map((entry) => entry.value)));
    case 'update': {
      if (first instanceof DictV)
        for (const entry of first.entries.values()) setItem(m, self, entry.key, entry.value, node);
      else if (first instanceof Unknown) self.open = true;
      else if (isObj(first))
        for (const pair of itemsOf(m, first, node))
          if (pair instanceof TupleV) setItem(m, self, pair.items[0] ?? null, pair.items[1] ?? null, node);
      for (const [key, value] of keywords) setItem(m, self, key, value, node);
      return null;
    }
    case 'clear':
      for (const entry of self.entries.values()) m.drop(entry.value);
      self.entries.clear();
      self.maybe.clear();
      self.open = false;
      return null;
    case 'copy': {
      const copy = m.temp(new DictV());
      for (const [key, entry] of self.entries) copy.entries.set(key, { key: entry.key, value: entry.value });
      copy.open = self.open;
      copy.factory = self.factory;
      return copy;
    }
    case '__len__':
      return self.open ? plain('length') : self.entries.size;
    case '__contains__':
      return contains(m, first, self, node) ?? plain('contains');
  }
  return undefined;
}

/** Gives an open dict its two unknown items. */
function openEntries(self: DictV): void {
  for (let i = 0; i < 2; i++) {
    const key = new Unknown('key', 'element');
    self.entries.set(keyOf(key), { key, value: maybeItem(self, key) });
  }
}

function setMethod(m: Machine, self: SetV, name: string, args: readonly Value[], node: Node): Value | undefined {
  const first = args[0] ?? null;
  switch (name) {
    case 'add':
      self.items.set(keyOf(first), first);
      return null;
    case 'discard':
    case 'remove':
      m.drop(self.items.get(keyOf(first)));
      self.items.delete(keyOf(first));
      return null;
    case 'pop': {
      const item = [...self.items.entries()][0];
      if (!item) return new Unknown('item', 'result');
      self.items.delete(item[0]);
      m.hold(item[1]);
      return item[1];
    }
    case 'clear':
      for (const item of self.items.values()) m.drop(item);
      self.items.clear();
      self.open = false;
      return null;
    case 'update':
      for (const item of itemsOf(m, first, node)) self.items.set(keyOf(item), item);
      return null;
    case 'copy':
    case 'union':
    case 'difference':
    case 'intersection': {
      const copy = m.temp(new SetV());
      const others = args.length > 0 ? itemsOf(m, first, node) : [];
      const keys = new Set(others.map(keyOf));
      for (const [key, item] of self.items)
        if (name === 'copy' || name === 'union' || keys.has(key) === (name === 'intersection'))
          copy.items.set(key, item);
      if (name === 'union') for (const item of others) copy.items.set(keyOf(item), item);
      return copy;
    }
  }
  return undefined;
}

function stringMethod(m: Machine, self: string, name: string, args: readonly Value[], node: Node): Value | undefined {
  const first = args[0] ?? null;
  switch (name) {
    case 'startswith':
    case 'endswith':
      return typeof first === 'string'
        ? name === 'startswith'
          ? self.startsWith(first)
          : self.endsWith(first)
        : plain(name);
    case 'lower':
      return self.toLowerCase();
    case 'upper':
      return self.toUpperCase();
    case 'strip':
      return self.trim();
    case 'replace':
      return typeof first === 'string' && typeof args[1] === 'string' ? self.replaceAll(first, args[1]) : plain(name);
    case 'split':
      if (first === null || typeof first === 'string')
        return m.temp(new ListV(first === null ? self.trim().split(/\s+/) : self.split(first || ' ')));
      return plain(name);
    case 'join':
      itemsOf(m, first, node);
      return plain(name);
    case 'format':
      return plain(name);
    case 'encode':
      return plain(name);
    case 'isdigit':
      return /^\d+$/.test(self);
  }
  return undefined;
}

export function stop(): never {
  throw new Raised('StopIteration', null);
}
