/**
 * Execution of statements. A generator function of JavaScript, so that a `yield` of the program suspends it; each call
 * of the program's functions drives one of its own.
 */
import type { AugAssign, Expression, For, If, Node, Statement, Try, While, With } from '../../python/ast.ts';
import { codeOf } from '../../python/code.ts';
import { raisedNames, yieldsIn } from '../names.ts';
import { ExceptionV, ExternalV, isObj, ListV, ClassV, TupleV, Unknown, type Value, InstanceV } from '../values.ts';
import { speaksOfStreams } from '../words.ts';
import { assignTo, deleteTarget } from './assign.ts';
import { defineClass } from './classes.ts';
import { skipsWait } from './collectives.ts';
import { enterContext } from './contexts.ts';
import { assignsHost } from './deviceChoice.ts';
import { augmented, ev, testOf } from './expressions.ts';
import { catches, Raised } from './frame.ts';
import { makeFunction } from './functions.ts';
import { iterate, type PyIterator } from './iteration.ts';
import type { Machine } from './machine.ts';
import { runImport, runImportFrom } from './modules.ts';
import { condition, isNone, type TestOptions, truth } from './truth.ts';

export type Completion = 'normal' | 'break' | 'continue' | 'return';
export type Running = Generator<Value, Completion, Value>;

/** Turns of a loop whose test never becomes known. Two show what one turn leaves to the next. */
const unknownTurns = 2;
const endlessTurns = 3;
const knownTurns = 64;

export function* execBlock(m: Machine, statements: readonly Statement[]): Running {
  for (const statement of statements) {
    const completion = isSimple(m, statement) ? execSimple(m, statement) : yield* execStatement(m, statement);
    if (completion !== 'normal') return completion;
  }
  return 'normal';
}

/** Whether a statement holds no others and cannot suspend: most do not, and need no generator of their own. */
function isSimple(m: Machine, statement: Statement): statement is SimpleStatement {
  switch (statement.kind) {
    case 'AugAssign':
    case 'If':
    case 'For':
    case 'While':
    case 'With':
    case 'Try':
    case 'Match':
      return false;
    case 'ExpressionStatement':
    case 'Assign':
    case 'AnnAssign':
    case 'Return': {
      const node = m.frame.fn?.node;
      if (node?.kind !== 'FunctionDef' || !node.isGenerator) return true;
      return !statement.value || yieldsIn(statement.value).length === 0;
    }
    default:
      return true;
  }
}

type SimpleStatement = Exclude<
  Statement,
  { readonly kind: 'AugAssign' | 'If' | 'For' | 'While' | 'With' | 'Try' | 'Match' }
>;

function execSimple(m: Machine, statement: SimpleStatement): Completion {
  const frame = m.frame;
  frame.node = statement;
  m.spend();
  switch (statement.kind) {
    case 'ExpressionStatement':
    case 'Assign':
    case 'AnnAssign':
    case 'Return': {
      if (statement.kind === 'ExpressionStatement') m.discarded = statement.value;
      const completion = finish(m, statement, statement.value ? ev(m, statement.value) : null);
      frame.node = statement;
      m.settle(frame);
      return completion;
    }
    case 'FunctionDef':
      frame.scope.vars.set(statement.name, makeFunction(m, statement));
      break;
    case 'ClassDef':
      assignTo(m, nameOf(statement.name, statement.nameNode), defineClass(m, statement), 'statement');
      break;
    case 'Delete':
      for (const target of statement.targets) deleteTarget(m, target);
      break;
    case 'Raise': {
      const value = statement.exception ? ev(m, statement.exception) : null;
      throw new Raised(exceptionName(value), value);
    }
    case 'Assert': {
      const { refused } = m;
      m.require(() => condition(m, statement.test, { want: true, open: false }));
      // What fails by what is known alone may be known too roughly; `assert False` is not.
      if (m.refused !== refused || isFailure(statement)) throw new Raised('AssertionError', null);
      break;
    }
    case 'Import':
      runImport(m, statement);
      break;
    case 'ImportFrom':
      runImportFrom(m, statement);
      break;
    case 'Global':
      frame.scope.globalNames = new Set([...(frame.scope.globalNames ?? []), ...statement.names]);
      break;
    case 'Nonlocal':
      frame.scope.nonlocalNames = new Set([...(frame.scope.nonlocalNames ?? []), ...statement.names]);
      break;
    case 'Break':
      return 'break';
    case 'Continue':
      return 'continue';
    case 'Pass':
      return 'normal';
  }
  frame.node = statement;
  m.settle(frame);
  return 'normal';
}

type ValueStatement = Extract<Statement, { readonly kind: 'ExpressionStatement' | 'Assign' | 'AnnAssign' | 'Return' }>;

/** What a statement does with its value. */
function finish(m: Machine, statement: ValueStatement, value: Value): Completion {
  const frame = m.frame;
  switch (statement.kind) {
    case 'ExpressionStatement':
      // A result that nobody takes goes at the end of the statement: `items.pop(0)`.
      if (isPop(statement.value)) m.drop(value);
      return 'normal';
    case 'Assign':
      for (const target of statement.targets) {
        frame.node = statement;
        assignTo(m, target, value, 'statement');
      }
      return 'normal';
    case 'AnnAssign':
      if (statement.value) {
        frame.node = statement;
        assignTo(m, statement.target, value, 'statement');
      }
      return 'normal';
    case 'Return':
      frame.node = statement;
      frame.returned = value;
      frame.returnedAt = statement;
      return 'return';
  }
}

function* execStatement(m: Machine, statement: Statement): Running {
  const frame = m.frame;
  frame.node = statement;
  m.spend();
  switch (statement.kind) {
    case 'ExpressionStatement':
    case 'Assign':
    case 'AnnAssign':
    case 'Return': {
      const completion = finish(m, statement, statement.value ? yield* evaluate(m, statement.value) : null);
      frame.node = statement;
      m.settle(frame);
      return completion;
    }
    case 'AugAssign':
      yield* execAugAssign(m, statement);
      frame.node = statement;
      m.settle(frame);
      return 'normal';
    case 'If':
      return yield* execIf(m, statement);
    case 'For':
      return yield* execFor(m, statement);
    case 'While':
      return yield* execWhile(m, statement);
    case 'With':
      return yield* execWith(m, statement, 0);
    case 'Try':
      return yield* execTry(m, statement);
    case 'Match':
      return yield* execMatch(m, statement);
    default:
      return execSimple(m, statement);
  }
}

function nameOf(id: string, node: Node): Expression {
  return { kind: 'Name', id, start: node.start, end: node.end };
}

function isPop(node: Expression): boolean {
  return node.kind === 'Call' && node.callee.kind === 'Attribute' && /^pop(left|item)?$/.test(node.callee.name);
}

/** Evaluates an expression of a statement, its `yield`s first. */
function* evaluate(m: Machine, node: Expression): Generator<Value, Value, Value> {
  const yields = yieldsIn(node);
  if (yields.length === 0) return ev(m, node);
  const frame = m.frame;
  frame.yielded = new Map();
  for (const inner of yields as readonly Extract<Expression, { kind: 'Yield' }>[]) {
    const value = inner.value ? ev(m, inner.value) : null;
    frame.node = inner;
    let sent: Value = null;
    if (inner.isFrom) {
      const iterator = iterate(m, value, inner);
      frame.held.push(value);
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        m.spend();
        yield item;
      }
      frame.held.pop();
      sent = iterator.result?.() ?? null;
    } else {
      m.hold(value);
      sent = yield value;
    }
    frame.yielded?.set(inner, sent);
  }
  return ev(m, node);
}

function* execAugAssign(m: Machine, statement: AugAssign): Running {
  const value = yield* evaluate(m, statement.value);
  const before = ev(m, statement.target);
  m.frame.node = statement;
  const after = augmented(m, statement.operator, before, value, statement);
  if (after !== before || statement.target.kind !== 'Name') assignTo(m, statement.target, after, 'statement');
  return 'normal';
}

/** A statement by which the program says that it does not go on: `raise`, `assert False`. */
function isFailure(statement: Statement | undefined): boolean {
  if (statement?.kind === 'Assert') return statement.test.kind === 'Constant' && !statement.test.value;
  return statement?.kind === 'Raise';
}

/** `if bad: raise …` says what must not be; it is taken as not being. */
function isGuard(statement: If): boolean {
  const last = statement.body[statement.body.length - 1];
  return statement.orelse.length === 0 && isFailure(last);
}

/** `if not ok: error = …`, where the function raises that error later: as little taken as being as the `raise` itself. */
function keepsFailure(m: Machine, { body }: If): boolean {
  const { fn } = m.frame;
  if (!fn) return false;
  const raised = raisedNames(fn.node);
  if (raised.size === 0) return false;
  return body.some(
    (inner) => inner.kind === 'Assign' && inner.targets.some((t) => t.kind === 'Name' && raised.has(t.id)),
  );
}

const preferences = new WeakMap<If, boolean | 'neither'>();

/** Where one way has to do with streams and the other has not: that one. */
function preferred(m: Machine, statement: If): boolean | undefined {
  let known = preferences.get(statement);
  if (known === undefined) {
    const { text } = m.frame.module.syntax;
    const says = (start: number, end: number): boolean => speaksOfStreams(codeOf(text.slice(start, end)));
    const { body, orelse } = statement;
    const first = body[0];
    const last = body[body.length - 1];
    // A half-typed branch.
    if (!first || !last) return undefined;
    const here = says(first.start, last.end);
    const end = m.frame.fn?.node.end ?? statement.end;
    const there =
      orelse.length > 0
        ? says(orelse[0]!.start, orelse[orelse.length - 1]!.end)
        : /^(Return|Continue)$/.test(last.kind) && says(statement.end, end);
    known = here === there ? 'neither' : here;
    preferences.set(statement, known);
  }
  return known === 'neither' ? undefined : known;
}

/**
 * Whether the test asks a flag of an unknown caller for an order: `if wait: …` with `wait=True` by default. Who switches
 * it off takes the order upon itself.
 */
function asksForOrder(m: Machine, { test, body }: If): boolean {
  const flag = test.kind === 'Unary' && test.operator === 'not' ? test.operand : test;
  if (flag.kind !== 'Name') return false;
  const { fn, scope } = m.frame;
  const parameter = fn?.parameters.find(({ name }) => name === flag.id);
  if (parameter?.default?.kind !== 'Constant' || parameter.default.type !== 'bool') return false;
  if (!(scope.vars.get(flag.id) instanceof Unknown)) return false;
  const { text } = m.frame.module.syntax;
  const first = body[0];
  return first !== undefined && orders.test(codeOf(text.slice(first.start, body[body.length - 1]!.end)));
}

/** Whoever holds the memory can do what `record_stream` does by keeping it; memory that is gone here nobody holds. */
const orders = /\b\w*(?:wait|synchronize)\w*\(/;

function* execIf(m: Machine, first: If): Running {
  let statement = first;
  for (;;) {
    const guard = isGuard(statement);
    const failed = guard || keepsFailure(m, statement);
    // `else: raise …` is the same, the other way round.
    const must = !failed && isFailure(statement.orelse.at(-1));
    const prefer = failed || must ? undefined : preferred(m, statement);
    const { test } = statement;
    const options =
      failed || must
        ? { want: must, open: false }
        : { open: !asksForOrder(m, statement), ...(prefer === undefined ? {} : { prefer }) };
    const ask = (): boolean => condition(m, test, options);
    const { refused, decided } = m;
    const taken = guard || must ? m.require(ask, must) : ask();
    m.settle(m.frame);
    if (m.relays.length > 0 && m.decided > decided) skipsWait(m, statement, taken);
    // What is known alone may be known too roughly to fail by it.
    const fails = guard ? taken : must && !taken && statement.orelse.at(-1)?.kind === 'Assert';
    if (fails && m.refused === refused && test.kind !== 'Constant') return 'normal';
    const [next] = statement.orelse;
    // In turn, not each inside of the one before: chains of `elif` may be as long as they like.
    if (taken || statement.orelse.length !== 1 || next?.kind !== 'If') {
      const chosen = taken ? statement.body : statement.orelse;
      if (assignsHost(first, test, chosen)) m.withoutCuda = true;
      return yield* execBlock(m, chosen);
    }
    statement = next;
    m.frame.node = statement;
    m.spend();
  }
}

function* execFor(m: Machine, statement: For): Running {
  const frame = m.frame;
  const sequence = ev(m, statement.iterable);
  frame.held.push(sequence);
  try {
    const iterator: PyIterator = iterate(m, sequence, statement.iterable);
    if (iterator.keep) frame.held.push(iterator.keep);
    m.settle(frame);
    try {
      for (let turn = 0; turn < (iterator.limit ?? knownTurns); turn++) {
        frame.node = statement.iterable;
        const item = iterator.next();
        if (item === undefined) break;
        frame.node = statement;
        assignTo(m, statement.target, item, 'loop');
        // The former value of a loop's target goes as a scope's would.
        m.settle(frame);
        m.collectLoop();
        const completion = yield* execBlock(m, statement.body);
        if (completion === 'break') return 'normal';
        if (completion === 'return') return completion;
      }
    } finally {
      if (iterator.keep) frame.held.pop();
    }
  } finally {
    frame.held.pop();
  }
  return yield* execBlock(m, statement.orelse);
}

function* execWhile(m: Machine, statement: While): Running {
  const frame = m.frame;
  for (let turn = 0; ; turn++) {
    frame.node = statement;
    const consulted = m.consulted;
    const taken = condition(m, statement.test, { open: true });
    m.settle(frame);
    if (!taken) break;
    const unknown = m.consulted !== consulted;
    const constant = statement.test.kind === 'Constant';
    if (turn >= (unknown ? unknownTurns : constant ? endlessTurns : knownTurns)) return 'normal';
    const completion = yield* execBlock(m, statement.body);
    if (completion === 'break') return 'normal';
    if (completion === 'return') return completion;
  }
  return yield* execBlock(m, statement.orelse);
}

function* execWith(m: Machine, statement: With, index: number): Running {
  if (index === statement.items.length) return yield* execBlock(m, statement.body);
  const frame = m.frame;
  const item = statement.items[index]!;
  const manager = ev(m, item.context);
  frame.held.push(manager);
  frame.node = item.context;
  const context = enterContext(m, manager, item.context);
  if (context.keep !== undefined) frame.held.push(context.keep);
  if (item.target) assignTo(m, item.target, context.value, 'statement');
  frame.node = statement;
  m.settle(frame);
  const leave = (): void => {
    if (context.keep !== undefined) frame.held.pop();
    frame.held.pop();
  };
  let completion: Completion;
  try {
    completion = yield* execWith(m, statement, index + 1);
  } catch (error) {
    if (error instanceof Raised) {
      frame.node = item.context;
      context.exit();
      leave();
      if (context.suppresses) return 'normal';
    }
    throw error;
  }
  const before = frame.returned;
  frame.node = item.context;
  context.exit();
  frame.returned = before;
  leave();
  m.settle(frame);
  return completion;
}

function* execTry(m: Machine, statement: Try): Running {
  const frame = m.frame;
  let completion: Completion = 'normal';
  let pending: Raised | undefined;
  const depth = m.stack.length;
  try {
    frame.tries.push(statement);
    try {
      completion = yield* execBlock(m, statement.body);
    } finally {
      frame.tries.pop();
    }
    if (completion === 'normal') completion = yield* execBlock(m, statement.orelse);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
    m.stack.length = depth;
    pending = error;
    const handler = statement.handlers.find((h) => catches(h, error.name));
    if (handler) {
      pending = undefined;
      if (handler.name) frame.scope.vars.set(handler.name, error.value);
      try {
        completion = yield* execBlock(m, handler.body);
      } catch (again) {
        if (!(again instanceof Raised)) throw again;
        m.stack.length = depth;
        pending = again;
      }
      if (handler.name) frame.scope.vars.delete(handler.name);
    }
  }
  const returned = frame.returned;
  // What raised, and how much of the body ran before it, this path does not show.
  if (statement.finalbody.length > 0) m.builder.unseen();
  const last = yield* execBlock(m, statement.finalbody);
  if (last !== 'normal') return last;
  frame.returned = returned;
  if (pending) throw pending;
  return completion;
}

function exceptionName(value: Value): string {
  if (value instanceof ExceptionV) return value.name;
  if (value instanceof ExternalV) return value.path.split('.').pop()!;
  if (value instanceof ClassV) return value.name;
  if (value instanceof InstanceV) return value.cls.name;
  return 'Exception';
}

function* execMatch(m: Machine, statement: Extract<Statement, { kind: 'Match' }>): Running {
  const subject = ev(m, statement.subject);
  m.settle(m.frame);
  for (const [index, branch] of statement.cases.entries()) {
    const last = index === statement.cases.length - 1;
    if (branch.literals) {
      // The last one of a subject that nobody knows is taken for what is left.
      const want = last ? { want: true, open: false } : { open: true };
      if (!branch.literals.some((literal) => equals(m, subject, literal, want))) continue;
      if (branch.guard && !condition(m, branch.guard, { open: true })) continue;
      return yield* execBlock(m, branch.body);
    }
    const key = `m:${isObj(subject) ? subject.id : String(subject)}:${statement.start}:${index}`;
    if (!last && !m.decide(key, true, statement.subject)) continue;
    for (const name of branch.binds) m.frame.scope.vars.set(name, new Unknown(name, 'result'));
    if (branch.guard) condition(m, branch.guard, { want: true, open: false });
    return yield* execBlock(m, branch.body);
  }
  return 'normal';
}

function equals(m: Machine, subject: Value, literal: Expression, options: TestOptions): boolean {
  m.frame.node = literal;
  const expected = ev(m, literal);
  if (expected === null) return isNone(m, subject, literal, options);
  const { value, negated } = testOf(m, '==', subject, expected, literal);
  return truth(m, value, literal, options) !== negated;
}

/** Whether a value is a sequence whose items are all known. */
export function isKnownSequence(value: Value): value is ListV | TupleV {
  return value instanceof TupleV || (value instanceof ListV && !value.open);
}
