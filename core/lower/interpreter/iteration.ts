/** Iteration over every kind of object. Sequences of unknown length give two elements of stable identity. */
import type { Node } from '../../python/ast.ts';
import {
  DictV,
  ExternalV,
  InstanceV,
  IteratorV,
  ListV,
  NativeV,
  partOrigin,
  SequenceV,
  SetV,
  StaticMethodV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { saysStreams } from '../entries.ts';
import { call } from './calls.ts';
import { lookup } from './classes.ts';
import { getItem } from './containers.ts';
import { GeneratorV, Raised } from './frame.ts';
import { resumeGenerator } from './functions.ts';
import type { Machine } from './machine.ts';
import { isLoader, loaderBatch } from './loaders.ts';
import { resolved } from './truth.ts';

export interface PyIterator {
  next(): Value | undefined;
  /** What the iterator itself keeps alive. */
  readonly keep?: Value;
  readonly limit?: number;
  result?(): Value;
}

/** The module with hooks that a callee which nobody knows was given: what it gives may run that module. */
export const ranModel = '…model';

/** A new part of an unknown value: what is known of where that comes from holds for it, too. */
export function partOf(owner: Unknown, name: string): Unknown {
  const part = new Unknown(name, partOrigin(owner.origin));
  part.madeBy = owner.madeBy;
  part.bornAt = owner.bornAt;
  part.givenBy = owner.givenBy;
  part.batch = owner.batch;
  part.plain = owner.plain && isSizes(owner.name);
  const model = owner.attributes.get(ranModel);
  if (model !== undefined) part.attributes.set(ranModel, model);
  return part;
}

export function iterate(m: Machine, iterable: Value, node: Node): PyIterator {
  const value = resolved(m, iterable);
  if (value instanceof ListV) {
    let at = 0;
    return {
      next: () => {
        if (at < value.items.length) return value.items[at++]!;
        if (value.open && at < m.unknownLength) {
          const item = new Unknown('item', 'element');
          value.items.push(item);
          at++;
          return item;
        }
        return undefined;
      },
    };
  }
  if (value instanceof TupleV) return over(value.items);
  if (value instanceof DictV) {
    if (value.open && value.entries.size === 0)
      return over([new Unknown('key', 'element'), new Unknown('key', 'element')]);
    return over([...value.entries.values()].map((entry) => entry.key));
  }
  if (value instanceof SetV) return over([...value.items.values()]);
  if (value instanceof SequenceV) {
    const iterator = value.make();
    return { next: iterator.next, keep: iterator };
  }
  if (value instanceof IteratorV) return { next: value.next, keep: value };
  if (value instanceof GeneratorV)
    return { next: () => resumeGenerator(m, value, null), keep: value, result: () => value.returned };
  if (value instanceof TensorV) {
    const length = Math.min(value.rows ?? m.unknownLength, 16);
    let at = 0;
    return { next: () => (at < length ? getItem(m, value, at++, node) : undefined), keep: value };
  }
  if (value instanceof InstanceV) {
    const iter = lookup(value.cls, '__iter__');
    if (iter !== undefined && !(iter instanceof StaticMethodV)) {
      const made = call(m, iter, [value], new Map(), node);
      if (made !== value) return { ...iterate(m, made, node), keep: made };
    }
    const next = lookup(value.cls, '__next__');
    if (next !== undefined) {
      return {
        keep: value,
        limit: 6,
        next: () => {
          try {
            return call(m, next, [value], new Map(), node);
          } catch (error) {
            if (error instanceof Raised && error.name === 'StopIteration') return undefined;
            throw error;
          }
        },
      };
    }
    const item = lookup(value.cls, '__getitem__');
    if (item !== undefined) {
      let at = 0;
      return {
        keep: value,
        next: () => (at < m.unknownLength ? call(m, item, [value, at++], new Map(), node) : undefined),
      };
    }
    return unknownElements(m, value.attributes, 'item');
  }
  if (isLoader(value)) {
    const turns = m.unknownLength + turnsAhead(m);
    let at = 0;
    return { keep: value, next: () => (at++ < turns ? loaderBatch(m, value) : undefined) };
  }
  if (value instanceof NativeV) {
    if (value.parts.length > 0) return over(value.parts);
    let at = 0;
    return { keep: value, next: () => (at++ < m.unknownLength ? new Unknown('item', 'result') : undefined) };
  }
  if (value instanceof Unknown) {
    if (value.tensor) return iterate(m, value.tensor, node);
    if (value.loader) {
      const turns = m.turns + turnsAhead(m);
      let at = 0;
      return { keep: value, next: () => (at++ < turns ? loaderElement(value) : undefined) };
    }
    value.elements ??= Array.from({ length: m.turns }, (_, i) => itemAt(value, i));
    return over(value.elements, value);
  }
  if (value instanceof ExternalV) return over([new Unknown('item', 'result'), new Unknown('item', 'result')]);
  if (typeof value === 'string') return over([...value].slice(0, 16));
  return over([new Unknown('item', 'element'), new Unknown('item', 'element')]);
}

/** A generator that copies ahead lets go of its first item in the third turn: one more shows who gets that memory. */
function turnsAhead({ frame: { fn, module } }: Machine): number {
  return fn?.node.kind === 'FunctionDef' && fn.node.isGenerator && saysStreams(fn.node, module.syntax) ? 2 : 0;
}

/** Whether it is a loader of data, by its name or by what it was made of. */
export function givesBatches(loader: Unknown): boolean {
  return loader.batch || /loader|dataset|batches/i.test(loader.name);
}

function loaderElement(loader: Unknown): Unknown {
  const item = new Unknown(`${loader.name}[…]`, 'result');
  item.loader = false;
  item.batch = givesBatches(loader);
  return item;
}

/** Sizes and strides of a tensor: numbers, all of them. */
function isSizes(name: string): boolean {
  return /shape|size|stride/.test(name);
}

/** The same as `owner[i]`. */
export function itemAt(owner: Unknown, i: number): Value {
  let item = owner.items.get(`[${i}]`);
  if (item === undefined) {
    item = elementOf(owner, `${owner.name}[${i}]`);
    owner.items.set(`[${i}]`, item);
  }
  return item;
}

export function elementOf(owner: Unknown, name: string): Unknown {
  const item = partOf(owner, name);
  if (owner.origin !== 'result') item.device.unite(owner.device);
  return item;
}

function over(items: readonly Value[], keep?: Value): PyIterator {
  let at = 0;
  return { next: () => (at < items.length ? items[at++]! : undefined), ...(keep === undefined ? {} : { keep }) };
}

function unknownElements(m: Machine, memo: Map<string, Value>, name: string): PyIterator {
  let elements = memo.get('…elements');
  if (!(elements instanceof ListV)) {
    elements = new ListV([new Unknown(name, 'element'), new Unknown(name, 'element')]);
    memo.set('…elements', elements);
  }
  return iterate(m, elements, m.frame.node);
}

/** All items, at most `limit`. */
export function itemsOf(m: Machine, iterable: Value, node: Node, limit = 64): Value[] {
  const iterator = iterate(m, iterable, node);
  const items: Value[] = [];
  m.hold(iterator.keep);
  while (items.length < Math.min(limit, iterator.limit ?? limit)) {
    const item = iterator.next();
    if (item === undefined) break;
    m.spend();
    m.hold(item);
    items.push(item);
  }
  return items;
}
