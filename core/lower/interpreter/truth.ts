/** Tests: what is known decides, the rest is decided once per value and operator and kept. */
import type { Expression, Node } from '../../python/ast.ts';
import {
  DictV,
  ExternalV,
  isObj,
  ListV,
  NativeV,
  SequenceV,
  SetV,
  StreamV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { ev, testOf } from './expressions.ts';
import type { Machine } from './machine.ts';
import { hostRead } from './memory.ts';

export interface TestOptions {
  /** The outcome that a guard asks for where it is not known. */
  readonly want?: boolean;
  /** The outcome to try first where nothing speaks for either. */
  readonly prefer?: boolean;
  /** Whether another path may try the other outcome. */
  readonly open: boolean;
  /** The test says the opposite of what is decided: what is told of the decision is told of the test. */
  readonly negated?: boolean;
}

export function condition(m: Machine, test: Expression, options: TestOptions): boolean {
  switch (test.kind) {
    case 'Unary':
      if (test.operator === 'not')
        return !condition(m, test.operand, {
          open: options.open,
          ...(options.want === undefined ? {} : { want: !options.want }),
          ...(options.prefer === undefined ? {} : { prefer: !options.prefer }),
        });
      break;
    case 'BoolOp': {
      const and = test.operator === 'and';
      // Of `a and b` that must not be, `b` is what fails; of `a or b`, neither is.
      const both = options.want === and;
      const left = condition(
        m,
        test.left,
        options.want === undefined
          ? options.prefer === and
            ? options
            : { open: options.open }
          : both
            ? options
            : { open: false },
      );
      if (and ? !left : left) return left;
      return condition(m, test.right, options);
    }
    case 'Compare':
      if (test.operators.length === 1) {
        const operator = test.operators[0]!;
        const left = ev(m, test.left);
        const right = ev(m, test.comparators[0]!);
        if ((operator === 'is' || operator === 'is not') && (right === null || left === null)) {
          const negated = operator === 'is not';
          return isNone(m, right === null ? left : right, test, negated ? opposite(options) : options) !== negated;
        }
        m.frame.node = test;
        const { value, negated } = testOf(m, operator, left, right, test);
        return truth(m, value, test, negated ? opposite(options) : options) !== negated;
      }
      break;
    default:
      break;
  }
  const value = ev(m, test);
  return truth(m, value, test, options);
}

function opposite({ open, want, prefer, negated }: TestOptions): TestOptions {
  return {
    open,
    ...(want === undefined ? {} : { want: !want }),
    ...(prefer === undefined ? {} : { prefer: !prefer }),
    negated: !negated,
  };
}

export function truth(m: Machine, value: Value, node: Node, options: TestOptions = { open: true }): boolean {
  if (value === null) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') return value !== '';
  if (value instanceof TupleV) return value.items.length > 0;
  if (value instanceof ListV) {
    if (value.items.length > 0) return true;
    return value.open
      ? m.decide(`t:${value.id}`, options.want ?? options.prefer ?? true, node, options.open, options.negated)
      : false;
  }
  if (value instanceof DictV) {
    if (value.entries.size > 0) return true;
    return value.open
      ? m.decide(`t:${value.id}`, options.want ?? options.prefer ?? true, node, options.open, options.negated)
      : false;
  }
  if (value instanceof SetV) {
    if (value.items.size > 0) return true;
    return value.open
      ? m.decide(`t:${value.id}`, options.want ?? options.prefer ?? true, node, options.open, options.negated)
      : false;
  }
  if (value instanceof SequenceV && value.length !== undefined) return value.length > 0;
  if (value instanceof TensorV) {
    hostRead(m, value, 'bool');
    return m.decide(`t:${value.id}`, options.want ?? options.prefer ?? true, node, options.open, options.negated);
  }
  if (value instanceof Unknown) {
    if (value.tensor) hostRead(m, value.tensor, 'bool');
    if (m.decisions.known(`n:${value.id}`) === true) return false;
    const { comparison } = value;
    const implied = comparison && m.ranges.implied(comparison);
    if (implied !== undefined) {
      // It follows from a decision, and so is none that the program makes.
      m.consulted++;
      m.decisions.implied();
      return implied;
    }
    const fallback =
      options.want ??
      (value.hint === undefined
        ? (options.prefer ?? true)
        : isObj(value.hint)
          ? true
          : truth(m, value.hint, node, options));
    const taken = m.decide(`t:${value.id}`, fallback, node, options.open, options.negated, ownFlag(m, value));
    if (comparison) m.ranges.decided(comparison, taken);
    if (taken && value.membership) value.membership.of.restrict(value.membership.among);
    if (taken && value.poll) m.emit({ kind: 'poll', on: value.poll });
    return taken;
  }
  if (value instanceof StreamV || value instanceof NativeV || value instanceof ExternalV) return true;
  return true;
}

/** The parameter of the entry that it is, if that is off, or on, where the caller says nothing of it. */
function ownFlag(m: Machine, value: Unknown): string | undefined {
  if (value.origin !== 'parameter' || typeof value.hint !== 'boolean') return undefined;
  return m.stack.some(({ fn, scope }) => fn?.node === m.entry && scope.vars.get(value.name) === value)
    ? value.name
    : undefined;
}

/** Whether the value is None; linked with its truth. */
export function isNone(m: Machine, value: Value, node: Node, options: TestOptions = { open: true }): boolean {
  if (value === null) return true;
  if (!(value instanceof Unknown)) return false;
  if (value.tensor || value.stream || value.event || value.present) return false;
  if (m.decisions.known(`t:${value.id}`) === true) return false;
  if (m.decisions.known(`t:${value.id}`) === false && value.hint === null) return true;
  const fallback = options.want ?? options.prefer ?? value.hint === null;
  return m.decide(`n:${value.id}`, fallback, node, options.open, options.negated);
}

/** What a value that was decided to be None stands for. */
export function resolved(m: Machine, value: Value): Value {
  if (value instanceof Unknown && m.decisions.known(`n:${value.id}`) === true) return null;
  if (value instanceof Unknown && value.hint === null && m.decisions.known(`t:${value.id}`) === false) return null;
  return value;
}
