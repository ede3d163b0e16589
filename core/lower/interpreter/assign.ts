/** Storing to names, attributes and items, and deleting them: where references begin and end. */
import type { Expression } from '../../python/ast.ts';
import { DictV, ListV, type Scope, TensorV, TupleV, Unknown, type Value } from '../values.ts';
import { deleteAttribute, setAttribute } from './attributes.ts';
import { deleteItem, getItem, setItem } from './containers.ts';
import { ev } from './expressions.ts';
import { iterate } from './iteration.ts';
import type { Machine } from './machine.ts';
import { selectedElsewhere } from './streams.ts';

/** How the former value goes: by a statement, or as a loop's target or a comprehension's variable does. */
export type StoreMode = 'statement' | 'loop';

export function assignTo(m: Machine, target: Expression, value: Value, mode: StoreMode): void {
  switch (target.kind) {
    case 'Name':
      storeName(m, target.id, value, mode);
      break;
    case 'Attribute': {
      const owner = ev(m, target.value);
      m.at(target, () => {
        setAttribute(m, owner, target.name, value, mode);
        m.bind(sourceOf(m, target), value);
      });
      break;
    }
    case 'Subscript': {
      const owner = ev(m, target.value);
      const index = ev(m, target.index);
      m.at(target, () => setItem(m, owner, index, value, target));
      break;
    }
    case 'Tuple':
    case 'List':
      unpack(m, target.elements, value, mode);
      break;
    case 'Starred':
      assignTo(m, target.value, value, mode);
      break;
    default:
      break;
  }
}

export function sourceOf(m: Machine, node: Expression): string {
  return m.frame.module.syntax.text.slice(node.start, node.end);
}

function homeOf(m: Machine, name: string): Scope {
  const scope = m.frame.scope;
  // A walrus inside a comprehension binds outside of it; a comprehension's own targets are stored directly.
  if (scope.globalNames?.has(name)) return m.frame.module.scope;
  if (scope.nonlocalNames?.has(name)) {
    let outer = scope.parent;
    while (outer && outer.kind !== 'module') {
      if (outer.kind === 'function' && outer.vars.has(name)) return outer;
      outer = outer.parent;
    }
  }
  return scope;
}

export function storeName(m: Machine, name: string, value: Value, mode: StoreMode): void {
  const scope = homeOf(m, name);
  const before = scope.vars.get(name);
  if (before !== value && mode === 'statement') m.drop(before, value);
  scope.vars.set(name, value);
  if (scope.kind === 'module' && value instanceof DictV && value.open)
    value.selected = selectedElsewhere(m.frame.module.syntax, name);
  m.bind(name, value);
}

function unpack(m: Machine, targets: readonly Expression[], value: Value, mode: StoreMode): void {
  const star = targets.findIndex((target) => target.kind === 'Starred');
  const items = itemsFor(m, value, targets.length, star);
  // One tensor stands for several results: what it is called last, and so shown as, is the first name of them.
  const one = star < 0 && (value instanceof TensorV || (value instanceof Unknown && value.tensor !== undefined));
  const last = targets.length - 1;
  for (let at = 0; at <= last; at++) {
    const i = one ? last - at : at;
    const target = targets[i]!;
    if (star < 0 || i < star) assignTo(m, target, items[i] ?? new Unknown('item', 'result'), mode);
    else if (i === star) {
      const end = items.length - (targets.length - star - 1);
      const rest = m.temp(new ListV(items.slice(star, Math.max(star, end))));
      if (value instanceof Unknown) rest.open = true;
      assignTo(m, target, rest, mode);
    } else assignTo(m, target, items[items.length - (targets.length - i)] ?? new Unknown('item', 'result'), mode);
  }
}

function itemsFor(m: Machine, value: Value, count: number, star: number): readonly Value[] {
  if (value instanceof TupleV) return value.items;
  if (value instanceof ListV && (!value.open || value.items.length >= count)) return value.items;
  if (value instanceof Unknown || value instanceof TensorV) {
    const items: Value[] = [];
    for (let i = 0; i < count; i++) items.push(getItem(m, value, i, m.frame.node));
    return items;
  }
  const items: Value[] = [];
  const iterator = iterate(m, value, m.frame.node);
  const limit = star < 0 ? count : 64;
  while (items.length < limit) {
    const item = iterator.next();
    if (item === undefined) break;
    items.push(item);
  }
  return items;
}

export function deleteTarget(m: Machine, target: Expression): void {
  switch (target.kind) {
    case 'Name': {
      const scope = homeOf(m, target.id);
      m.drop(scope.vars.get(target.id));
      scope.vars.delete(target.id);
      m.bind(target.id, undefined);
      break;
    }
    case 'Attribute':
      deleteAttribute(m, ev(m, target.value), target.name);
      m.bind(sourceOf(m, target), undefined);
      break;
    case 'Subscript':
      deleteItem(m, ev(m, target.value), ev(m, target.index));
      break;
    case 'Tuple':
    case 'List':
      for (const element of target.elements) deleteTarget(m, element);
      break;
    default:
      break;
  }
}
