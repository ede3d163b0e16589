/**
 * The state in which a public method may find its object: the other methods that change it run once, in the order of
 * the source, before. Calls of two public methods are the caller's to order, so nothing of that may be accused, except
 * where the class itself hands data from one to the other and has no method that could order it in between.
 */
import type { FunctionEntry } from '../entries.ts';
import {
  BoundMethodV,
  type ClassV,
  DictV,
  EventV,
  FunctionV,
  InstanceV,
  isObj,
  ListV,
  SetV,
  Unknown,
  type Value,
} from '../values.ts';
import { call } from './calls.ts';
import { resolutionOrder } from './classes.ts';
import { GeneratorV, Raised } from './frame.ts';
import { functionOf, type Hook, runHook } from './hooks.ts';
import { type Machine, recordsEvents } from './machine.ts';
import { argumentValue } from './run.ts';
import { threadOf, threadTarget } from './threads.ts';

const stores =
  /self\.\w+(\[[^\]]*\])?\s*(=[^=]|[-+*/|]=)|self\.\w+(\[[^\]]*\])?\.(append|appendleft|put|put_nowait|add|extend|update|setdefault|insert|copy_|fill_|zero_|add_|narrow)\(/;
const orders = /\b(wait\w*|synchronize|sync\w*|join\w*|query|flush|barrier|finish\w*)\b/;
/** What is waited for, where it is a name of its own. */
const waits = /\bwait_(?:stream|event)\(\s*(\w+)\s*\)|(?<![\w.])(\w+)\.wait\(/g;
/** The host waits here: which of the work before is over then depends on the calls in between. */
const hostWaits = /\.synchronize\(/;
const replays = /\.replay\(/;
const ends = /^(close|stop|shutdown|clear|reset|free|release|remove|destroy|cleanup|terminate|finalize)/;
const mostMethods = 5;
const stepsPerMethod = 1_500;

/** What the text of a method says of itself. It is asked for on each path of each method of the class. */
interface Said {
  readonly stores: boolean;
  readonly orders: boolean;
  readonly hostWaits: boolean;
  /** It waits for a stream or an event of its caller's choice, which may be the one that another method was given. */
  readonly waitsForGiven: boolean;
  /** Methods of the object that it calls. */
  readonly calls: ReadonlySet<string>;
}

const known = new WeakMap<FunctionV['node'], Said>();

function saidBy({ node, parameters }: FunctionV, text: string): Said {
  let said = known.get(node);
  if (!said) {
    const body = text.slice(node.start, node.end);
    const calls = new Set([...body.matchAll(/\bself\.(\w+)\(/g)].map(([, name]) => name!));
    const given = parameters.map(({ name }) => name).filter((name) => name !== 'self');
    const waited = [...body.matchAll(waits)].map((match) => match[1] ?? match[2]!);
    said = {
      stores: stores.test(body),
      orders: orders.test(body),
      hostWaits: hostWaits.test(body),
      waitsForGiven: waited.some((name) => given.includes(name)),
      calls,
    };
    known.set(node, said);
  }
  return said;
}

/** The object and its class; what `fill` makes of them may be taken from an earlier path that has filled the same. */
export type Filled = readonly [self: InstanceV, cls: ClassV];
export type Fill = (methods: string, fill: () => Filled) => Filled;

/** Whether what the methods left unordered may be held against the entry. */
export function fillState(
  m: Machine,
  ofClass: ClassV,
  made: InstanceV,
  entry: FunctionEntry,
  filledBy: Fill,
): { readonly self: InstanceV; readonly cls: ClassV; readonly inOrder: boolean } {
  const text = entry.module.text;
  const isThread = threadOf(made);
  if (isThread) m.startedThreads.add(isThread);
  const ofThreads = new Set([...m.startedThreads].map((thread) => threadTarget(thread)?.node));
  const methods: FunctionV[] = [];
  let orderedElsewhere = false;
  const own = [...ofClass.attributes.values()].filter((value) => value instanceof FunctionV);
  const said = own.map((fn) => saidBy(fn, text));
  const calledByOthers = new Set(said.flatMap(({ calls }, i) => [...calls].filter((name) => name !== own[i]!.name)));
  /** Methods that change the object, and that others may call. */
  const parts = new Set(own.flatMap(({ name }, i) => (said[i]!.stores ? [name] : [])));
  /** Methods that order something and are not run here: when they are called nobody knows. */
  const ordering = new Set<FunctionV['node']>();
  for (const [i, fn] of own.entries()) {
    // What the others say decides, too.
    m.touched.add(`${entry.module.file}#${fn.node.start}`);
    if (fn.node === entry.node || fn.node.kind !== 'FunctionDef') continue;
    const { stores, orders, hostWaits, waitsForGiven, calls } = said[i]!;
    // The end of a `with` over the object lies between its methods, too.
    if (/^__a?exit__$/.test(fn.name) && orders) orderedElsewhere = true;
    if (fn.name.startsWith('__')) continue;
    // It is a thread that runs it.
    if (ofThreads.has(fn.node)) continue;
    if (hostWaits || waitsForGiven) orderedElsewhere = true;
    const changes = stores || [...calls].some((name) => parts.has(name));
    // What the others call is theirs to order.
    const isOpen = !fn.name.startsWith('_') && !calledByOthers.has(fn.name);
    if (isOpen && changes && !ends.test(fn.name) && methods.length < mostMethods) methods.push(fn);
    else if (orders) ordering.add(fn.node);
  }
  // A graph touches at each replay what it touched at the one before.
  const again = own.findIndex(({ node }) => node === entry.node);
  if (again >= 0 && replays.test(text.slice(entry.node.start, entry.node.end))) {
    methods.push(own[again]!);
    // What it calls itself, such as the capture, is run with it.
    for (const { name, node } of own) if (said[again]!.calls.has(name)) ordering.delete(node);
  }
  m.filling = true;
  const [self, cls] = filledBy(methods.map(({ node }) => node.start).join(), () => {
    for (const fn of methods) runMethod(m, made, fn);
    return [made, ofClass];
  });
  // What the object has registered with others is called by them, as its public methods are.
  const nodes = new Set(own.map(({ node }) => node));
  const inside = ({ node: fn, closure }: FunctionV): boolean =>
    closure.module === ofClass.module && !!ofClass.node && fn.start > ofClass.node.start && fn.end <= ofClass.node.end;
  const registered = new Map<FunctionV['node'], Hook>();
  for (const hook of m.hooks) {
    const fn = functionOf(hook);
    if (!fn || fn.node === entry.node || hook.caller === 'saved tensors') continue;
    if (nodes.has(fn.node) || inside(fn)) registered.set(fn.node, hook);
  }
  for (const [node, hook] of [...registered].slice(0, mostMethods)) {
    ordering.delete(node);
    run(m, () => runHook(m, hook));
  }
  m.filling = false;
  loosen(self, cls, text);
  forgetEvents(m, self);
  return { self, cls, inOrder: !orderedElsewhere && ordering.size === 0 };
}

function runMethod(m: Machine, self: InstanceV, fn: FunctionV): void {
  run(m, () => {
    const args: Value[] = [];
    for (const parameter of fn.parameters.slice(1)) {
      const value = argumentValue(m, fn, parameter);
      if (value !== undefined && parameter.kind !== 'keyword-only') args.push(value);
    }
    const result = call(m, new BoundMethodV(self, fn), args, new Map(), fn.node);
    if (result instanceof GeneratorV) m.roots.push(result);
  });
}

/** Runs a call that came before the entry. */
function run(m: Machine, action: () => void): void {
  m.within(stepsPerMethod, () => {
    try {
      action();
    } catch (error) {
      if (!(error instanceof Raised)) throw error;
      m.hostWaitAll();
    }
  });
}

/** Events that another call may have recorded since: a method of the object, or of one that it holds. */
function forgetEvents(m: Machine, self: InstanceV): void {
  for (const { event } of eventsOfOthers(self))
    if (!m.recordedEvents.has(event)) m.builder.events[event]!.unknown = true;
}

/** Before code that a framework calls later: whoever holds an event meanwhile may have recorded it. */
export function shareEvents(m: Machine): void {
  const share = ({ event }: EventV): void => {
    m.builder.events[event]!.shared = true;
  };
  for (const root of m.roots) if (root instanceof InstanceV) for (const event of eventsOfOthers(root)) share(event);
  visitParts(m.result, (part) => {
    if (part instanceof EventV) share(part);
  });
}

/** Events of an object whose class, or that of one which it holds, records events. */
function eventsOfOthers(self: InstanceV): EventV[] {
  const found: EventV[] = [];
  const recording = new Set<Value>();
  visitParts(self, (part, holder) => {
    if (recording.has(holder) || (part instanceof InstanceV && recordsInside(part.cls))) recording.add(part);
    if (part instanceof EventV && recording.has(holder)) found.push(part);
  });
  return found;
}

/** The value and all that can be reached from it, each with what it was reached from, from the outside inwards. */
function visitParts(whole: Value, visit: (part: Value, holder: Value) => void): void {
  const seen = new Set<Value>();
  const enter = (value: Value | undefined, holder: Value): void => {
    if (!isObj(value) || seen.has(value)) return;
    seen.add(value);
    visit(value, holder);
    value.children((part) => enter(part, value));
  };
  enter(whole, null);
}

function recordsInside({ node, module }: ClassV): boolean {
  return node !== undefined && module !== undefined && recordsEvents(module.syntax.text.slice(node.start, node.end));
}

/** What other calls may have changed since is not known to be what the constructor set. */
function loosen(self: InstanceV, cls: ClassV, text: string): void {
  const bodies = resolutionOrder(cls).flatMap((c) =>
    c.module?.syntax.text === text
      ? [...c.attributes.values()].flatMap((value) =>
          value instanceof FunctionV && !/^__(?:post_)?init__$/.test(value.name)
            ? [text.slice(value.node.start, value.node.end)]
            : [],
        )
      : [],
  );
  const elsewhere = bodies.join('\n');
  for (const [name, value] of self.attributes) {
    if (value === null || typeof value === 'boolean' || typeof value === 'number') {
      if (!new RegExp(`self\\.${name}\\s*([-+*/|]?=[^=]|,[^=\\n]*=)`).test(elsewhere)) continue;
      const unknown = new Unknown(`self.${name}`, 'attribute');
      unknown.hint = value;
      unknown.plain = value !== null;
      self.attributes.set(name, unknown);
    } else if (value instanceof ListV && value.items.length === 0) value.open = true;
    else if (value instanceof DictV && value.entries.size === 0) value.open = true;
    else if (value instanceof SetV && value.items.size === 0) value.open = true;
  }
}
