/**
 * Generator expressions, `map` and `filter`: nothing of theirs runs where they are written. Each item is made when it is
 * asked for, on whatever stream is current there.
 */
import type { Node } from '../../python/ast.ts';
import { ListV, Scope, type Value } from '../values.ts';
import type { Keywords } from './calls.ts';
import { GeneratorV } from './frame.ts';
import { itemsOf } from './iteration.ts';
import type { Machine } from './machine.ts';

/** Items that `make` gives one by one, in a frame of their own: whoever asks for one may be another function, of another file. */
export function makeLazily(
  m: Machine,
  node: Node,
  held: readonly Value[],
  make: () => Generator<Value, void, Value>,
  scope = new Scope(m.frame.scope.module, undefined, 'comprehension'),
): GeneratorV {
  const { module, fn, firstArgument } = m.frame;
  const frame = m.newFrame(module, fn, scope, node, firstArgument);
  frame.inside = node;
  frame.held.push(...held);
  return m.temp(new GeneratorV(frame, make()));
}

/** Callees that are not of the program go through all that such an argument gives, as far as anybody can tell. */
export function drained(m: Machine, args: readonly Value[]): readonly Value[] {
  return args.some(isLazy) ? args.map((arg) => drainedOne(m, arg)) : args;
}

export function drainedKeywords(m: Machine, keywords: Keywords): Keywords {
  if (keywords.size === 0 || ![...keywords.values()].some(isLazy)) return keywords;
  return new Map([...keywords].map(([name, value]) => [name, drainedOne(m, value)]));
}

function isLazy(value: Value): boolean {
  return value instanceof GeneratorV && value.frame.inside !== undefined;
}

function drainedOne(m: Machine, value: Value): Value {
  return isLazy(value) ? m.temp(new ListV(itemsOf(m, value, m.frame.node))) : value;
}
