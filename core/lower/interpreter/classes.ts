/** Classes of the program: definition, lookup along the bases, making instances. */
import type { ClassDef, Expression, Node, Statement } from '../../python/ast.ts';
import {
  BoundMethodV,
  ClassV,
  DictV,
  ExceptionV,
  ExternalV,
  FunctionV,
  InstanceV,
  keyOf,
  LateV,
  Scope,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { boundNames, namesClass } from '../names.ts';
import { call } from './calls.ts';
import { ev } from './expressions.ts';
import { Raised } from './frame.ts';
import type { Machine } from './machine.ts';
import { runModuleStatements } from './modules.ts';
import { execBlock } from './statements.ts';

export function defineClass(m: Machine, node: ClassDef): Value {
  const bases = node.bases.map((base) => ev(m, base));
  const cls = new ClassV(node.name, node, bases, m.frame.module);
  const outer = m.frame.scope;
  const scope = new Scope(m.frame.module, outer, 'class');
  m.touched.add(`${m.frame.module.syntax.file}#${node.start}`);
  m.frame.scope = scope;
  const late = m.before > 0 ? lateIn(node) : noStatements;
  for (const [name, statement] of late) scope.vars.set(name, new LateV(statement, scope));
  const left = new Set(late.values());
  try {
    const steps = execBlock(m, left.size ? node.body.filter((statement) => !left.has(statement)) : node.body);
    while (!steps.next().done);
  } finally {
    m.frame.scope = outer;
  }
  for (const [name, value] of scope.vars) {
    cls.attributes.set(name, value);
    const fn = value instanceof FunctionV ? value : undefined;
    if (fn) fn.owner = cls;
    else ownerOf(value, cls);
  }
  const isNamed = bases.some((base) => base instanceof ExternalV && /(^|\.)NamedTuple$/.test(base.path));
  const decorated = node.decorators.some((decorator) => {
    const callee = decorator.kind === 'Call' ? decorator.callee : decorator;
    const name = callee.kind === 'Name' ? callee.id : callee.kind === 'Attribute' ? callee.name : '';
    return /^(dataclass|define|frozen|mutable|attrs|s)$/.test(name);
  });
  if (isNamed || decorated || isModel(bases)) {
    cls.named = isNamed;
    cls.fields = [];
    for (const base of bases) if (base instanceof ClassV && base.fields) cls.fields.push(...base.fields);
    cls.fields.push(...fieldsOf(node.body));
  }
  return cls;
}

const noStatements: ReadonlyMap<string, Statement> = new Map();
const lates = new WeakMap<ClassDef, ReadonlyMap<string, Statement>>();

/**
 * Objects that the body of a class makes, each by one statement of its own: `NAME = Setting(…)`. A class that keeps hundreds
 * of them is asked for a few.
 */
function lateIn(node: ClassDef): ReadonlyMap<string, Statement> {
  let late = lates.get(node);
  if (!late) {
    const found = new Map<string, Statement>();
    const twice = new Set<string>();
    for (const statement of node.body) {
      const isOne = makesObject(statement);
      boundNames(statement, (name) => {
        if (found.has(name) || !isOne) twice.add(name);
        else found.set(name, statement);
      });
    }
    for (const name of twice) found.delete(name);
    late = found;
    lates.set(node, late);
  }
  return late;
}

function makesObject(statement: Statement): boolean {
  const { value } = statement as { value?: Expression };
  if ((statement.kind !== 'Assign' && statement.kind !== 'AnnAssign') || value?.kind !== 'Call') return false;
  const { callee } = value;
  const name = callee.kind === 'Name' ? callee.id : callee.kind === 'Attribute' ? callee.name : '';
  return namesClass.test(name) && !/Stream|Event|Graph/.test(name);
}

/** `cls`: left out while its body runs. */
export function makeLate(m: Machine, late: LateV, name: string, cls?: ClassV): Value {
  const { scope, statement } = late;
  const unknown = new Unknown(name, 'external');
  // Whatever asks for it on the way to it finds this.
  for (const vars of [scope.vars, cls?.attributes]) vars?.set(name, unknown);
  runModuleStatements(m, scope.module, [statement], scope);
  const value = scope.vars.get(name) ?? unknown;
  cls?.attributes.set(name, value);
  return value;
}

/** Bases whose classes get a constructor from their annotations, and so do those that derive from them. */
function isModel(bases: readonly Value[]): boolean {
  return bases.some(
    (base) =>
      (base instanceof ExternalV && /(^|\.)(?:Struct|BaseModel)$/.test(base.path)) ||
      (base instanceof ClassV && isModel(base.bases)),
  );
}

function ownerOf(value: Value, cls: ClassV): void {
  const target =
    (value as { target?: Value; getter?: Value } | null)?.target ?? (value as { getter?: Value } | null)?.getter;
  if (target instanceof FunctionV) target.owner = cls;
}

function fieldsOf(body: readonly Statement[]): NonNullable<ClassV['fields']> {
  const fields: NonNullable<ClassV['fields']> = [];
  for (const statement of body)
    if (statement.kind === 'AnnAssign' && statement.target.kind === 'Name')
      fields.push({ name: statement.target.id, ...(statement.value ? { default: statement.value } : {}) });
  return fields;
}

const orders = new WeakMap<ClassV, readonly ClassV[]>();

/**
 * The class and its bases, in the order in which attributes are looked for: a class comes before its bases, and these in
 * the order in which they are named (Python's method resolution order, C3).
 */
export function resolutionOrder(cls: ClassV): readonly ClassV[] {
  let order = orders.get(cls);
  if (!order) {
    // A class among its own bases is one that the text does not give.
    orders.set(cls, [cls]);
    const bases = cls.bases.filter((base) => base instanceof ClassV);
    order = [cls, ...merged([...bases.map((base) => [...resolutionOrder(base)]), [...bases]])];
    orders.set(cls, order);
  }
  return order;
}

/** Of the heads of the lists always the first that stands behind no other; where Python refuses, the first one. */
function merged(lists: ClassV[][]): ClassV[] {
  const order: ClassV[] = [];
  for (;;) {
    const left = lists.filter((list) => list.length > 0);
    if (left.length === 0) return order;
    const heads = left.map((list) => list[0]!);
    const next = heads.find((head) => !left.some((list) => list.indexOf(head) > 0)) ?? heads[0]!;
    order.push(next);
    for (const list of left) {
      const at = list.indexOf(next);
      if (at >= 0) list.splice(at, 1);
    }
  }
}

export function lookup(cls: ClassV, name: string): Value | undefined {
  for (const c of resolutionOrder(cls)) {
    const value = c.attributes.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The attribute, which is made now if the body of the class has left it for later. `after`: of the bases behind this one. */
export function madeAttribute(m: Machine, cls: ClassV, name: string, after?: ClassV): Value | undefined {
  const order = resolutionOrder(cls);
  for (const c of after ? order.slice(order.indexOf(after) + 1) : order) {
    const value = c.attributes.get(name);
    if (value instanceof LateV) return makeLate(m, value, name, c);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The framework's class that this one derives from, if any. */
export function moduleLike(cls: ClassV): string | undefined {
  for (const c of resolutionOrder(cls))
    for (const base of c.bases)
      if (base instanceof ExternalV) {
        if (base.path === 'torch.nn.Module' || /^torch\.nn\.(modules\.)?/.test(base.path)) return 'torch.nn.Module';
        return base.path;
      }
  return undefined;
}

/** Whether a class of the program's own makes the instances of this one. */
function hasMetaclass(cls: ClassV): boolean {
  return resolutionOrder(cls).some((c) =>
    c.node?.keywords.some(({ name, value }) => {
      if (name !== 'metaclass') return false;
      const last = value.kind === 'Name' ? value.id : value.kind === 'Attribute' ? value.name : '';
      return !/^(?:ABCMeta|EnumMeta|type)$/.test(last);
    }),
  );
}

/** Whether a base of the class is not known: then anything may be missing here. */
export function openBases(cls: ClassV): boolean {
  return resolutionOrder(cls).some((c) =>
    c.bases.some((base) => base instanceof Unknown || (base instanceof ExternalV && base.path !== 'object')),
  );
}

/** Steps that the constructor of a method's object may take, and that of each of its parts. */
const stepsPerObject = 3_000;
const stepsPerPart = 1_000;

export function instantiate(
  m: Machine,
  cls: ClassV,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  node: Node,
): Value {
  if (cls.named && cls.fields) {
    const items = cls.fields.map((field, i) => args[i] ?? keywords.get(field.name) ?? defaultOf(m, field) ?? null);
    return m.temp(
      new TupleV(
        items,
        cls.fields.map((field) => field.name),
      ),
    );
  }
  const native = moduleLike(cls);
  if (native !== undefined && /(^|\.)TypedDict$/.test(native) && args.length === 0) {
    const dict = new DictV();
    for (const [name, value] of keywords) dict.entries.set(keyOf(name), { key: name, value });
    return m.temp(dict);
  }
  if (
    native !== undefined &&
    /^(Exception|BaseException|RuntimeError|ValueError|TypeError|KeyError|StopIteration)$/.test(native)
  )
    return new ExceptionV(cls.name);
  const self = m.temp(new InstanceV(cls));
  self.open = openBases(cls);
  // Its class may hand out one and the same object to all who ask.
  if (hasMetaclass(cls)) m.roots.push(self);
  const init = lookup(cls, '__init__');
  if (init instanceof FunctionV) {
    m.hold(self);
    if (m.settled > 0) prepare(m, () => call(m, new BoundMethodV(self, init), args, keywords, node));
    else call(m, new BoundMethodV(self, init), args, keywords, node);
    m.hold(self);
  } else if (cls.fields) {
    let at = 0;
    for (const field of cls.fields) {
      const value = at < args.length ? args[at++]! : (keywords.get(field.name) ?? defaultOf(m, field));
      self.attributes.set(field.name, value ?? new Unknown(`self.${field.name}`, 'attribute'));
    }
    const post = lookup(cls, '__post_init__');
    if (post instanceof FunctionV) {
      m.hold(self);
      call(m, new BoundMethodV(self, post), [], new Map(), node);
      m.hold(self);
    }
  } else if (self.open) for (const value of [...args, ...keywords.values()]) m.keep(value);
  return self;
}

/**
 * Constructs what is there for a method's sake: an object that takes too long stays as far as it has come, so that steps
 * are left for the method. It was made: what seems to forbid it is not known well enough.
 */
function prepare(m: Machine, construct: () => void): void {
  m.within(m.stack.length === 1 ? stepsPerObject : stepsPerPart, () => {
    try {
      construct();
    } catch (error) {
      if (!(error instanceof Raised)) throw error;
    }
  });
}

function defaultOf(m: Machine, field: NonNullable<ClassV['fields']>[number]): Value | undefined {
  if (!field.default) return undefined;
  const value = field.default;
  if (value.kind === 'Call') {
    // `field(default_factory=list)`
    const factory = value.keywords.find((k) => k.name === 'default_factory');
    if (factory) return call(m, ev(m, factory.value), [], new Map(), value);
    const plain = value.keywords.find((k) => k.name === 'default');
    if (plain) return ev(m, plain.value);
  }
  return ev(m, value);
}
