/** Evaluation of expressions. What `yield` gives was evaluated by the statement before. */
import type { Call, Compare, Comprehension, Expression, FString, Node } from '../../python/ast.ts';
import {
  ClassV,
  DeviceV,
  DictV,
  EventV,
  ExternalV,
  isObj,
  keyOf,
  LateV,
  ListV,
  Scope,
  SetV,
  SliceV,
  StreamV,
  SuperV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  VersionV,
} from '../values.ts';
import { assignTo, sourceOf, storeName } from './assign.ts';
import { awaited } from './concurrent.ts';
import { getAttribute } from './attributes.ts';
import { isBuiltin, newContainer } from './builtins.ts';
import { call, callMethod } from './calls.ts';
import { makeLate, resolutionOrder } from './classes.ts';
import { contains, getItem } from './containers.ts';
import { choosesHost, preferredDevice } from './deviceChoice.ts';
import { makeLambda } from './functions.ts';
import { iterate, itemsOf, type PyIterator } from './iteration.ts';
import { makeLazily } from './lazy.ts';
import type { Machine } from './machine.ts';
import { external, globalValue, unknownGlobal } from './modules.ts';
import { comparisonOf } from './ranges.ts';
import { inPlaceOperator, isCount, tensorCompare, tensorOf, tensorOperator } from './tensors.ts';
import { condition, isNone, resolved, truth } from './truth.ts';
import { compareSequences, compareVersionValues } from './versions.ts';

export function ev(m: Machine, node: Expression): Value {
  switch (node.kind) {
    case 'Constant':
      if (node.type === 'ellipsis') return external('Ellipsis');
      if (node.type === 'complex') return 0;
      return node.value;
    case 'Name': {
      const value = nameValue(m, node.id);
      if (isTracked(value)) m.bind(node.id, value, true);
      return value;
    }
    case 'FString':
      return formatted(m, node);
    case 'Tuple':
      return m.temp(new TupleV(elements(m, node.elements)));
    case 'List':
      return newContainer(m, new ListV(elements(m, node.elements)));
    case 'Set': {
      const set = m.temp(new SetV());
      for (const item of elements(m, node.elements)) set.items.set(keyOf(item), item);
      return set;
    }
    case 'Dict': {
      const dict = m.temp(new DictV());
      for (const item of node.items) {
        const value = ev(m, item.value);
        if (item.key) {
          const key = ev(m, item.key);
          dict.entries.set(keyOf(key), { key, value });
        } else if (value instanceof DictV)
          for (const [key, entry] of value.entries) dict.entries.set(key, { key: entry.key, value: entry.value });
        else dict.open = true;
      }
      return newContainer(m, dict);
    }
    case 'Attribute': {
      const owner = ev(m, node.value);
      m.frame.node = node;
      const value = getAttribute(m, owner, node.name);
      if (isTracked(value) && isPlace(node)) m.bind(sourceOf(m, node), value, true);
      return value;
    }
    case 'Subscript': {
      const owner = ev(m, node.value);
      if (owner instanceof ExternalV && !owner.path.startsWith('triton.')) {
        // A generic type, mostly.
        if (owner.path !== 'os.environ' && node.index.kind !== 'Constant') return owner;
      }
      const index = ev(m, node.index);
      const value = m.at(node, () => getItem(m, owner, index, node));
      if (isTracked(value) && node.index.kind === 'Constant') m.bind(sourceOf(m, node), value, true);
      return value;
    }
    case 'Slice':
      return new SliceV(
        node.lower ? ev(m, node.lower) : null,
        node.upper ? ev(m, node.upper) : null,
        node.step ? ev(m, node.step) : null,
      );
    case 'Call':
      return evCall(m, node);
    case 'Unary': {
      const value = ev(m, node.operand);
      if (node.operator === 'not') return not(m, value, node);
      if (typeof value === 'number') return node.operator === '-' ? -value : node.operator === '~' ? ~value : value;
      if (typeof value === 'boolean') return node.operator === '~' ? value : Number(value);
      const tensor = value instanceof TensorV ? value : value instanceof Unknown ? value.tensor : undefined;
      if (tensor) return m.at(node, () => tensorOperator(m, node.operator === '~' ? 'bitwise_not' : 'neg', [tensor]));
      const derived = m.deriveUnknown(`u:${node.operator}:${keyOf(value)}`, 'value');
      derived.plain = value instanceof Unknown && value.plain;
      derived.mask = value instanceof Unknown && value.mask;
      return derived;
    }
    case 'Binary': {
      const left = ev(m, node.left);
      m.hold(left);
      const right = ev(m, node.right);
      return m.at(node, () => binary(m, node.operator, left, right, node));
    }
    case 'Compare':
      return compare(m, node);
    case 'BoolOp': {
      const left = ev(m, node.left);
      const taken = truth(m, left, node.left);
      return node.operator === 'and' ? (taken ? ev(m, node.right) : left) : taken ? left : ev(m, node.right);
    }
    case 'Conditional': {
      const taken = condition(m, node.test, { open: true, ...preferredDevice(node) });
      if (choosesHost(node, taken)) m.withoutCuda = true;
      return ev(m, taken ? node.body : node.orelse);
    }
    case 'Lambda':
      return makeLambda(m, node);
    case 'Comprehension':
      return comprehension(m, node);
    case 'Starred':
      return ev(m, node.value);
    case 'Await':
      return awaited(m, ev(m, node.value));
    case 'Yield':
      return m.frame.yielded?.get(node) ?? null;
    case 'NamedExpr': {
      const value = ev(m, node.value);
      storeName(m, node.target.id, value, 'statement');
      return value;
    }
    case 'Opaque':
      for (const part of node.parts) ev(m, part);
      return new Unknown('expression', 'result');
  }
}

/** Known names and numbers give a known text, the same ones the same text. */
function formatted(m: Machine, node: FString): Value {
  const values: Value[] = [];
  for (const part of node.parts) {
    const value = ev(m, part);
    if (value instanceof TensorV) m.at(part, () => callMethod(m, value, '__format__', [], new Map(), part));
    values.push(resolved(m, value));
  }
  const { text } = m.frame.module.syntax;
  const whole = text.slice(node.start, node.end);
  const single = /^[fF](["'])(?!\1\1)/.exec(whole);
  const known: string[] = [];
  let at = node.start + 2;
  for (const [i, { start, end }] of node.parts.entries()) {
    const value = values[i]!;
    const isShown = typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value));
    if (!single || !isShown || text[start - 1] !== '{' || text[end] !== '}') break;
    known.push(text.slice(at, start - 1), String(value));
    at = end + 1;
  }
  known.push(text.slice(at, node.end - 1));
  // Escapes, doubled braces and strings that stand one after the other are left alone.
  const written = known.filter((_, i) => i % 2 === 0).join('');
  if (single && known.length === 2 * values.length + 1 && !/[\\{}"']/.test(written)) return known.join('');
  const made = m.deriveUnknown(`f:${whole}:${values.map(keyOf).join()}`, 'text');
  made.plain = true;
  return made;
}

function isTracked(value: Value): boolean {
  return (
    value instanceof StreamV ||
    value instanceof EventV ||
    value instanceof TensorV ||
    (value instanceof Unknown &&
      (value.stream !== undefined ||
        value.event !== undefined ||
        value.tensor !== undefined ||
        value.parameters !== undefined))
  );
}

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

function not(m: Machine, value: Value, node: Node): Value {
  if (value instanceof Unknown) return !truth(m, value, node);
  return !truth(m, value, node);
}

export function nameValue(m: Machine, name: string): Value {
  for (let scope: Scope | undefined = m.frame.scope; scope; scope = scope.parent) {
    if (scope.kind === 'module') break;
    const value = scope.vars.get(name);
    if (value instanceof LateV) return makeLate(m, value, name);
    if (value !== undefined) return value;
  }
  const module = m.frame.scope.module;
  const value = globalValue(m, module, name);
  if (value !== undefined) return value;
  if (isBuiltin(name)) return external(name);
  return unknownGlobal(m, `${module.syntax.file}:${name}`, name);
}

/** `a.b[0].c`: evaluating it again gives the same object, so it may stand for that object's name. */
export function isPlace(node: Expression): boolean {
  let inner = node;
  while (inner.kind === 'Attribute' || inner.kind === 'Subscript') inner = inner.value;
  return inner.kind === 'Name';
}

function elements(m: Machine, nodes: readonly Expression[]): Value[] {
  const values: Value[] = [];
  for (const node of nodes) {
    if (node.kind === 'Starred') values.push(...itemsOf(m, ev(m, node.value), node));
    else {
      const value = ev(m, node);
      m.hold(value);
      values.push(value);
    }
  }
  return values;
}

function evCall(m: Machine, node: Call): Value {
  m.spend();
  const callee = node.callee;
  if (callee.kind === 'Name' && callee.id === 'super') return superOf(m, node);
  let receiver: Value | undefined;
  let fn: Value = null;
  if (callee.kind === 'Attribute') {
    receiver = ev(m, callee.value);
    m.hold(receiver);
  } else fn = ev(m, callee);
  const args: Value[] = [];
  const spread = new Set<Value>();
  for (const arg of node.args) {
    if (arg.kind === 'Starred') {
      for (const item of itemsOf(m, ev(m, arg.value), arg)) {
        args.push(item);
        spread.add(item);
      }
    } else {
      const value = ev(m, arg);
      m.hold(value);
      args.push(value);
    }
  }
  const keywords = new Map<string, Value>();
  for (const keyword of node.keywords) {
    const value = ev(m, keyword.value);
    m.hold(value);
    if (keyword.name !== undefined) keywords.set(keyword.name, value);
    else if (value instanceof DictV)
      for (const entry of value.entries.values())
        if (typeof entry.key === 'string') keywords.set(entry.key, entry.value);
  }
  const frame = m.frame;
  frame.node = node;
  m.spread = spread;
  const result =
    receiver !== undefined && callee.kind === 'Attribute'
      ? callMethod(m, receiver, callee.name, args, keywords, node)
      : call(m, fn, args, keywords, node);
  frame.node = node;
  // What the call showed to be a tensor, a stream or an event has the name that it was passed by.
  for (const [i, arg] of node.args.entries()) {
    const value = args[i];
    if (arg.kind === 'Starred') break;
    if (value instanceof Unknown && (arg.kind === 'Attribute' || arg.kind === 'Subscript') && isTracked(value))
      if (isPlace(arg)) m.bind(sourceOf(m, arg), value, true);
  }
  m.hold(result);
  return result;
}

function superOf(m: Machine, node: Call): Value {
  const frame = m.frame;
  if (node.args.length >= 2) {
    const cls = ev(m, node.args[0]!);
    const self = ev(m, node.args[1]!);
    if (cls instanceof ClassV && isObj(self)) {
      const actual = self.kind === 'instance' ? (self as unknown as { cls: ClassV }).cls : cls;
      return m.temp(new SuperV(self, cls, actual));
    }
    return new Unknown('super', 'result');
  }
  const owner = frame.fn?.owner;
  const self = frame.firstArgument;
  if (owner && isObj(self) && self.kind === 'instance') {
    const actual = (self as unknown as { cls: ClassV }).cls;
    return m.temp(new SuperV(self, resolutionOrder(actual).includes(owner) ? owner : actual, actual));
  }
  if (owner && self instanceof ClassV) return m.temp(new SuperV(self, owner, self));
  return new Unknown('super', 'result');
}

export function binary(m: Machine, operator: string, left_: Value, right_: Value, _node: Node): Value {
  const left = m.ranges.settled(resolved(m, left_));
  const right = m.ranges.settled(resolved(m, right_));
  const a = typeof left === 'boolean' ? Number(left) : left;
  const b = typeof right === 'boolean' ? Number(right) : right;
  if (typeof a === 'number' && typeof b === 'number') {
    if (operator === '%') m.comesRound(a, b);
    else if (operator === '&') m.comesRound(a, b + 1);
    return arithmetic(operator, a, b);
  }
  if (typeof left === 'string' || typeof right === 'string') {
    if (operator === '+' && typeof left === 'string' && typeof right === 'string') return left + right;
    const joined = operator === '+' ? joinedTexts(m, left, right) : undefined;
    return joined ?? plain('text');
  }
  if (left instanceof TensorV || right instanceof TensorV || canBeTensors(left, right))
    return tensorOperator(m, operator, [left, right]);
  if (
    operator === '+' &&
    (left instanceof ListV || left instanceof TupleV) &&
    (right instanceof ListV || right instanceof TupleV)
  ) {
    const items = [...left.items, ...right.items];
    if (left instanceof TupleV) return m.temp(new TupleV(items));
    const list = m.temp(new ListV(items));
    list.open = left.open || (right instanceof ListV && right.open);
    return list;
  }
  if (operator === '*' && left instanceof ListV && typeof right === 'number') {
    const items: Value[] = [];
    for (let i = 0; i < Math.min(right, 64); i++) items.push(...left.items);
    return m.temp(new ListV(items.slice(0, 256)));
  }
  if (operator === '*' && left instanceof ListV) {
    const list = m.temp(new ListV([...left.items, ...left.items]));
    return list;
  }
  if (operator === '|' && left instanceof DictV && right instanceof DictV) {
    const dict = m.temp(new DictV());
    for (const source of [left, right])
      for (const [key, entry] of source.entries) dict.entries.set(key, { key: entry.key, value: entry.value });
    return dict;
  }
  const derived = m.deriveUnknown(`b:${operator}:${keyOf(left)}:${keyOf(right)}`, 'value');
  derived.plain = true;
  derived.computed = true;
  derived.mask =
    /^[&|^]$/.test(operator) && left instanceof Unknown && left.mask && right instanceof Unknown && right.mask;
  if (left instanceof Unknown && typeof b === 'number' && (operator === '+' || operator === '-'))
    m.ranges.sum(derived, left, operator === '+' ? b : -b);
  else if (right instanceof Unknown && typeof a === 'number' && operator === '+') m.ranges.sum(derived, right, a);
  return derived;
}

/** Operands of which nothing says that they are numbers: parameters and what comes from them. */
function canBeTensors(left: Value, right: Value): boolean {
  const l = left instanceof Unknown ? left : undefined;
  const r = right instanceof Unknown ? right : undefined;
  if (l?.tensor || r?.tensor) return true;
  const vague = (value: Unknown | undefined): boolean =>
    value !== undefined &&
    !value.plain &&
    value.hint === undefined &&
    !isCount(value) &&
    (value.origin === 'parameter' || value.origin === 'element');
  const fits = (value: Value): boolean =>
    typeof value === 'number' || (value instanceof Unknown && (!value.plain || typeof value.hint === 'number'));
  return (vague(l) && fits(right)) || (vague(r) && fits(left));
}

function arithmetic(operator: string, a: number, b: number): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? plain('value') : a / b;
    case '//':
      return b === 0 ? plain('value') : Math.floor(a / b);
    case '%':
      return b === 0 ? plain('value') : ((a % b) + b) % b;
    case '**':
      return a ** b;
    case '<<':
      return b >= 0 && b < 53 ? a * 2 ** b : 0;
    case '>>':
      return Math.floor(a / 2 ** b);
    case '&':
      return Number(BigInt(Math.trunc(a)) & BigInt(Math.trunc(b)));
    case '|':
      return Number(BigInt(Math.trunc(a)) | BigInt(Math.trunc(b)));
    case '^':
      return Number(BigInt(Math.trunc(a)) ^ BigInt(Math.trunc(b)));
  }
  return plain('value');
}

/** `target op= value`: in place where the target's type does it in place. */
export function augmented(m: Machine, operator: string, before_: Value, value: Value, node: Node): Value {
  const before = resolved(m, before_);
  if (before instanceof ListV && operator === '+') {
    before.items.push(...itemsOf(m, value, node));
    return before;
  }
  const tensor = before instanceof TensorV ? before : before instanceof Unknown ? before.tensor : undefined;
  if (tensor) {
    inPlaceOperator(m, operator, tensor, value);
    return before;
  }
  if (
    before instanceof Unknown &&
    !before.plain &&
    (value instanceof TensorV || (value instanceof Unknown && value.tensor))
  ) {
    const made = tensorOf(m, before);
    if (made) {
      inPlaceOperator(m, operator, made, value);
      return before;
    }
  }
  return binary(m, operator, before, value, node);
}

/** `"d" + kind`, where `kind` is one of a few. */
function joinedTexts(m: Machine, left: Value, right: Value): Value | undefined {
  const unknown = left instanceof Unknown ? left : right instanceof Unknown ? right : undefined;
  if (!unknown?.oneOf) return undefined;
  const joined = m.deriveUnknown(`b:+:${keyOf(left)}:${keyOf(right)}`, 'text');
  joined.plain = true;
  joined.oneOf = unknown.oneOf.map((text) => (unknown === left ? `${text}${right}` : `${left}${text}`));
  return joined;
}

function compare(m: Machine, node: Compare): Value {
  let left = ev(m, node.left);
  let result: Value = true;
  for (const [i, operator] of node.operators.entries()) {
    const right = ev(m, node.comparators[i]!);
    if ((operator === 'is' || operator === 'is not') && (right === null || left === null)) {
      const negated = operator === 'is not';
      result = isNone(m, right === null ? left : right, node, { open: true, negated }) !== negated;
    } else result = m.at(node, () => compareValues(m, operator, left, right, node));
    if (node.operators.length > 1 && !truth(m, result, node)) return false;
    left = right;
  }
  return result;
}

export function compareValues(m: Machine, operator: string, left: Value, right: Value, node: Node): Value {
  const { value, negated } = testOf(m, operator, left, right, node);
  return negated ? !truth(m, value, node, { open: true, negated }) : value;
}

/** What a comparison decides: `a != b` whether they are equal, `flag is False` the flag. `negated`: it says the opposite. */
interface Test {
  readonly value: Value;
  readonly negated: boolean;
}

export function testOf(m: Machine, operator: string, left_: Value, right_: Value, node: Node): Test {
  const left = m.ranges.settled(asStream(resolved(m, left_)));
  const right = m.ranges.settled(asStream(resolved(m, right_)));
  const negative = operator === '!=' || operator === 'is not';
  const isTensor = left instanceof TensorV || right instanceof TensorV;
  if (!negative && operator !== '==' && operator !== 'is')
    return {
      value:
        isTensor && !/in$/.test(operator) ? tensorCompare(m, left, right) : related(m, operator, left, right, node),
      negated: false,
    };
  const known = (same: boolean): Test => ({ value: same !== negative, negated: false });
  if (isTensor) {
    if (operator === 'is' || operator === 'is not') return known(left === right);
    return { value: tensorCompare(m, left, right), negated: false };
  }
  if (left instanceof VersionV || right instanceof VersionV) {
    const answer = compareVersionValues(m, operator, left, right, node);
    if (answer !== undefined) return { value: answer, negated: false };
  }
  const alone = right === 1 && countsRanks(left) ? false : undefined;
  const same = sameValue(left, right) ?? namesDevice(left, right) ?? namesDevice(right, left) ?? alone;
  if (same !== undefined) return known(same);
  const text = typeof right === 'string' ? right : typeof left === 'string' ? left : undefined;
  const named = left instanceof Unknown ? left : right instanceof Unknown ? right : undefined;
  if (text !== undefined && named?.oneOf) {
    if (!named.oneOf.includes(text)) return known(false);
    if (named.oneOf.length === 1) return known(true);
  }
  const flag = typeof right === 'boolean' ? left : typeof left === 'boolean' ? right : undefined;
  if (flag instanceof Unknown && !flag.tensor)
    return { value: flag, negated: (left === false || right === false) !== negative };
  const [a, b] = [keyOf(left), keyOf(right)].sort();
  const hinted = left instanceof Unknown && left.hint !== undefined ? sameValue(left.hint, right) : undefined;
  const derived = m.deriveUnknown(`eq:${a}:${b}`, 'test');
  derived.plain = true;
  derived.mask = true;
  derived.comparison = comparisonOf('==', left, right);
  if (text !== undefined && named) derived.membership = { of: named, among: [text] };
  derived.hint ??= hinted ?? (isCudaTest(left, right) ? true : m.equalElsewhere(left, right) ? false : undefined);
  return { value: derived, negated: negative };
}

/** Who works with collectives has more than one rank. */
function countsRanks(value: Value): boolean {
  return value instanceof Unknown && /(?:world|group|parallel)_size(?:\(\))?$/.test(value.name);
}

/** `<` and its like, `in`. */
function related(m: Machine, operator: string, left: Value, right: Value, node: Node): Value {
  if (operator === 'in' || operator === 'not in') {
    const found = contains(m, left, right, node);
    if (found !== undefined) return operator === 'in' ? found : !found;
    return m.deriveUnknown(`${operator}:${keyOf(left)}:${keyOf(right)}`, 'test');
  }
  if (left instanceof VersionV || right instanceof VersionV) {
    const answer = compareVersionValues(m, operator, left, right, node);
    if (answer !== undefined) return answer;
  }
  if ((left instanceof TupleV && right instanceof TupleV) || (left instanceof ListV && right instanceof ListV)) {
    const answer = compareSequences(operator, left.items, right.items);
    if (answer !== undefined) return answer;
  }
  const a = typeof left === 'boolean' ? Number(left) : left;
  const b = typeof right === 'boolean' ? Number(right) : right;
  if (typeof a === 'number' && typeof b === 'number')
    return operator === '<' ? a < b : operator === '>' ? a > b : operator === '<=' ? a <= b : a >= b;
  if (typeof a === 'string' && typeof b === 'string')
    return operator === '<' ? a < b : operator === '>' ? a > b : operator === '<=' ? a <= b : a >= b;
  const derived = m.deriveUnknown(`${operator}:${keyOf(left)}:${keyOf(right)}`, 'test');
  derived.plain = true;
  derived.mask = true;
  derived.comparison = comparisonOf(operator, left, right);
  return derived;
}

/** What turned out to be a stream is one of its own from then on. */
function asStream(value: Value): Value {
  return value instanceof Unknown && value.stream ? value.stream : value;
}

/** `device.type == 'cpu'` of a device that the program was given: what runs without CUDA has no streams. */
function namesDevice(type: Value, name: Value): boolean | undefined {
  if (name !== 'cuda' && name !== 'cpu') return undefined;
  const given = type instanceof Unknown ? type.receiver : undefined;
  const isDevice =
    type instanceof Unknown &&
    given instanceof Unknown &&
    /(?:^|[._])dev(?:ice)?$/i.test(given.name) &&
    type.name.endsWith('type');
  return isDevice ? name === 'cuda' : undefined;
}

/** `device.type == 'cuda'`: the case that this analysis is about. */
function isCudaTest(left: Value, right: Value): boolean {
  return (right === 'cuda' && left instanceof Unknown) || (left === 'cuda' && right instanceof Unknown);
}

function sameValue(left: Value, right: Value): boolean | undefined {
  if (left === right) return true;
  if (left instanceof Unknown || right instanceof Unknown) return undefined;
  if (left instanceof StreamV && right instanceof StreamV) return left.stream === right.stream;
  if (left instanceof DeviceV || right instanceof DeviceV) {
    if (left instanceof DeviceV && right instanceof DeviceV) {
      if (left.device.find() === right.device.find()) return true;
      if (left.type !== undefined && right.type !== undefined && left.type !== right.type) return false;
    }
    return undefined;
  }
  if (left instanceof TupleV && right instanceof TupleV) {
    if (left.items.length !== right.items.length) return false;
    let all: boolean | undefined = true;
    left.items.forEach((item, i) => {
      const same = sameValue(item, right.items[i]!);
      if (same === false) all = false;
      else if (same === undefined && all) all = undefined;
    });
    return all;
  }
  if (left instanceof ListV || right instanceof ListV || left instanceof DictV || right instanceof DictV)
    return undefined;
  if (left instanceof ExternalV && right instanceof ExternalV) return left.path === right.path;
  if (left instanceof ExternalV || right instanceof ExternalV) return undefined;
  if (isObj(left) !== isObj(right)) return false;
  if (isObj(left)) return false;
  return typeof left === typeof right || (typeof left !== 'string' && typeof right !== 'string')
    ? Number(left) === Number(right) && typeof left !== 'string'
    : false;
}

function comprehension(m: Machine, node: Comprehension): Value {
  const frame = m.frame;
  const outer = frame.scope;
  // Where it is written only its outermost iterable is evaluated.
  const first = ev(m, node.clauses[0]!.iterable);
  m.hold(first);
  const iterator = iterate(m, first, node.clauses[0]!.iterable);
  const scope = new Scope(outer.module, outer, 'comprehension');
  if (node.type === 'generator') {
    const held = [first, iterator.keep ?? null];
    return makeLazily(m, node, held, () => generatedItems(m, node, iterator), scope);
  }
  const list: Value[] = [];
  const dict = new DictV();
  const result: Value = node.type === 'dict' ? dict : new ListV(list);
  m.temp(result);
  frame.scope = scope;
  try {
    for (const _ of turnsOf(m, node, 0, iterator)) {
      m.spend();
      const value = ev(m, node.element);
      if (node.type === 'dict' && node.key) {
        const key = ev(m, node.key);
        dict.entries.set(keyOf(key), { key, value });
      } else list.push(value);
    }
  } finally {
    frame.scope = outer;
  }
  if (node.type === 'set') {
    const set = m.temp(new SetV());
    for (const item of list) set.items.set(keyOf(item), item);
    return set;
  }
  return result;
}

/** Binds the targets of all clauses, from the one at `index` inwards, to one combination of items after the other. */
function* turnsOf(m: Machine, node: Comprehension, index: number, iterator: PyIterator): Generator<void> {
  const { frame } = m;
  const clause = node.clauses[index]!;
  const inner = node.clauses[index + 1];
  m.hold(iterator.keep);
  for (let turn = 0; turn < (iterator.limit ?? 64); turn++) {
    const item = iterator.next();
    if (item === undefined) break;
    const held = frame.temps.length;
    assignTo(m, clause.target, item, 'loop');
    if (clause.conditions.every((test) => condition(m, test, { open: true }))) {
      if (inner) {
        const sequence = ev(m, inner.iterable);
        m.hold(sequence);
        yield* turnsOf(m, node, index + 1, iterate(m, sequence, inner.iterable));
      } else yield;
    }
    // Temporaries of one turn go with it; the results are in the list.
    if (frame.temps.length > held) frame.temps.length = held;
  }
}

/** What a generator expression gives, and lets go of: whoever asked has it then. */
function* generatedItems(m: Machine, node: Comprehension, iterator: PyIterator): Generator<Value, void, Value> {
  const { frame } = m;
  for (const _ of turnsOf(m, node, 0, iterator)) {
    m.spend();
    const held = frame.temps.length;
    const value = ev(m, node.element);
    frame.temps.length = held;
    frame.node = node.element;
    yield value;
  }
}
