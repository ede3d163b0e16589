/** Runs one entry on a fresh machine: module code, or a function or method called by somebody unknown. */
import type { FunctionEntry } from '../entries.ts';
import type { Module } from '../../python/ast.ts';
import {
  ClassMethodV,
  ClassV,
  ContextV,
  EventV,
  FunctionV,
  InstanceV,
  isObj,
  PartialV,
  PropertyV,
  StaticMethodV,
  StreamV,
  TensorV,
  Unknown,
  type Value,
  WorkV,
} from '../values.ts';
import { call } from './calls.ts';
import { instantiate, lookup } from './classes.ts';
import { GeneratorV } from './frame.ts';
import { resumeGenerator, unknownParameter } from './functions.ts';
import { type Filled, fillState } from './fill.ts';
import { leaveEntry, useByCaller, useOfDropped } from './handover.ts';
import { runHooks } from './hooks.ts';
import type { Machine } from './machine.ts';
import { globalValue, moduleFrame, moduleValue } from './modules.ts';
import { PreparedStates } from './prepared.ts';
import { execBlock } from './statements.ts';
import { runStartedThreads, wakeThreads } from './threads.ts';

/** What is taken from a place that every second turn comes to: `slots[turn % 2]`, `slot = turn % 2`, `self.at ^= 1`. */
const takesTurns = /(?:%\s*2|&\s*1)\s*\]|^[ \t]*\w+ *= *\w+ *(?:% *2|& *1)[ \t]*$|\[\s*1\s*-\s*[\w.]+\s*\]|\^=?\s*1\b/m;

/** The same of three places. */
const takesThree = /%\s*3\s*\]|^[ \t]*\w+ *= *\w+ *% *3[ \t]*$/m;
const usual = new WeakMap<Module, number>();

/** Turns of a sequence of unknown length: two, and one more than the buffers that come round. */
function usualTurns(module: Module): number {
  let turns = usual.get(module);
  if (turns === undefined) {
    turns = takesThree.test(module.text) ? 4 : takesTurns.test(module.text) ? 3 : 2;
    usual.set(module, turns);
  }
  return turns;
}

export function runModuleEntry(m: Machine, syntax: Module): void {
  m.turns = m.unknownLength = usualTurns(syntax);
  const module = moduleValue(m, syntax);
  module.main = true;
  const frame = moduleFrame(m, module);
  m.stack = [frame];
  const steps = execBlock(m, syntax.body);
  while (!steps.next().done);
  wakeThreads(m);
  runHooks(m);
}

/** What was prepared for the entries of one run: the objects of classes, and the state in which the latest entry begins. */
export class EntryStates {
  readonly objects: PreparedStates;
  readonly latest: PreparedStates;

  /** `least`: what took fewer steps is not kept. */
  constructor(least = worthKeeping) {
    this.objects = new PreparedStates(mostObjects, least);
    this.latest = new PreparedStates(1, least);
  }
}

/** To keep a state, and to go on from it once, takes as long as so many steps, or longer. */
const worthKeeping = 40;

const mostObjects = 256;

export function runFunctionEntry(m: Machine, entry: FunctionEntry, states = new EntryStates()): void {
  const [how, target, ...bound] = states.latest.prepared(m, entry.place, entry.node, () => begin(m, entry, states));
  if (how === 'none') return;
  if (how === 'make') makeInstance(m, target as ClassV);
  else if (target instanceof FunctionV) {
    if (how === 'turns') runTurns(m, target, bound[0]!);
    else runCall(m, target, bound, target);
  }
  wakeThreads(m);
  runHooks(m);
}

/** What comes after all that lies before the entry's own code: nothing, an object, the call of a function with values. */
type Begun = readonly [how: 'none' | 'make' | 'call' | 'turns', ...values: Value[]];

function begin(m: Machine, entry: FunctionEntry, states: EntryStates): Begun {
  m.turns = m.unknownLength = usualTurns(entry.module);
  const module = moduleValue(m, entry.module);
  const frame = moduleFrame(m, module);
  m.stack = [frame];
  m.entry = entry.node;
  frame.node = entry.node;
  frame.hidden = true;
  if (!entry.owner) {
    const value = globalValue(m, module, entry.node.name);
    return value instanceof FunctionV ? ['call', value] : ['call'];
  }
  const { receiver } = entry;
  const cls = receiver
    ? globalValue(m, moduleValue(m, receiver.module), receiver.cls.name)
    : globalValue(m, module, entry.owner.name);
  return cls instanceof ClassV ? beginMethod(m, cls, entry, states) : ['none'];
}

function beginMethod(m: Machine, cls: ClassV, entry: FunctionEntry, states: EntryStates): Begun {
  if (entry.node.name === '__init__') return ['make', cls];
  const found = methodOf(cls, entry);
  if (found instanceof StaticMethodV) return ['call', found.target];
  if (found instanceof ClassMethodV) return ['call', found.target, cls];
  const target = found instanceof PropertyV ? found.getter : found;
  if (!(target instanceof FunctionV)) return ['call'];
  if (isCalledUnbound(cls, entry)) return ['call', target];
  return beginWithObject(m, cls, entry, states);
}

function methodOf(cls: ClassV, { receiver, node }: FunctionEntry): Value | undefined {
  return receiver ? lookup(cls, node.name) : cls.attributes.get(node.name);
}

function beginWithObject(m: Machine, ofClass: ClassV, entry: FunctionEntry, states: EntryStates): Begun {
  const { receiver } = entry;
  const key = [entry.module.file, receiver?.module.file ?? '', ofClass.name].join('\n');
  m.settled++;
  let [self, cls] = states.objects.prepared(m, key, entry.node, () => {
    const made = makeInstance(m, ofClass);
    m.hostWaitAll();
    return [made, ofClass];
  }) as [Value, ClassV];
  const home = receiver ? { ...entry, module: receiver.module, owner: receiver.cls } : entry;
  if (self instanceof InstanceV) {
    const filled = fillState(m, cls, self, home, (methods, fill) =>
      methods === '' ? fill() : (states.objects.prepared(m, `${key}\n${methods}`, entry.node, fill) as Filled),
    );
    ({ self, cls } = filled);
    if (!filled.inOrder) m.hostWaitAll();
    runStartedThreads(m, entry.node);
  }
  m.settled--;
  // Hooks that the constructor registers are judged with the constructor, where that is an entry.
  const init = lookup(cls, '__init__');
  if (init instanceof FunctionV && m.concerned(init)) m.hooks.length = 0;
  age(self);
  if (self instanceof InstanceV)
    for (const [name, value] of self.attributes)
      if (value instanceof StreamV && !receiver && forkedBefore(cls, name, entry)) m.givenStreams.push(value);
  // Made the current one for good, it is the one that callers work on as well.
  if (m.explicit()) m.givenStreams.push(m.current().stream);
  m.self = self;
  const found = methodOf(cls, entry);
  const target = found instanceof PropertyV ? found.getter : found!;
  return [asksAgain(entry) ? 'turns' : 'call', target, self];
}

/**
 * Whether a method that does nothing else with the stream lets it wait, and the entry does not call it: whoever calls the
 * entry has called that one before.
 */
function forkedBefore(cls: ClassV, attribute: string, entry: FunctionEntry): boolean {
  const waits = new RegExp(`\\bself\\.${attribute}\\.wait_(?:stream|event)\\(`);
  const selects = new RegExp(`\\bstream\\(\\s*self\\.${attribute}\\b`);
  const { text } = entry.module;
  const own = text.slice(entry.node.start, entry.node.end);
  return [...cls.attributes.values()].some((value) => {
    if (!(value instanceof FunctionV) || value.node === entry.node) return false;
    const body = text.slice(value.node.start, value.node.end);
    return waits.test(body) && !selects.test(body) && !own.includes(`.${value.name}(`);
  });
}

/** `next`: the next item of an object that goes on by itself. */
function asksAgain({ node }: FunctionEntry): boolean {
  return /^(?:__next__|next)$/.test(node.name) && node.parameters.length === 1;
}

/** Whoever asks for one item after the other uses each, and lets go of it when it has the next one. */
function runTurns(m: Machine, target: FunctionV, self: Value): void {
  const { turns } = m;
  m.usedAtOnce = true;
  m.turns = 2 * generatorTurns;
  // What holds of one item holds of the others: a batch has the keys that the one before had.
  m.sameTurns++;
  for (let turn = 0; turn < generatorTurns; turn++) {
    m.consumer = runCall(m, target, [self], target);
    m.stack[0]!.temps = [];
    m.collect('scope');
  }
  m.turns = turns;
  m.sameTurns--;
  m.usedAtOnce = false;
}

/** A function that the class only keeps: called by the class's name, with something else than an object of it. */
function isCalledUnbound(cls: ClassV, { node, module }: FunctionEntry): boolean {
  const first = node.parameters[0]?.name;
  return first !== 'self' && first !== 'cls' && new RegExp(`\\b${cls.name}\\.${node.name}\\(`, 'u').test(module.text);
}

/** What the constructor was given is no longer the caller's latest work. */
function age(self: Value): void {
  const seen = new Set<Value>();
  const visit = (value: Value | undefined): void => {
    if (!isObj(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Unknown && (value.origin === 'parameter' || value.origin === 'element'))
      value.origin = 'attribute';
    value.children(visit);
  };
  visit(self);
}

function makeInstance(m: Machine, cls: ClassV): Value {
  const init = lookup(cls, '__init__');
  const parameters = init instanceof FunctionV ? init.parameters.slice(1) : [];
  const args: Value[] = [];
  const keywords = new Map<string, Value>();
  for (const parameter of parameters) {
    const value = parameterValue(m, init as FunctionV, parameter);
    if (value === undefined) continue;
    if (parameter.kind === 'keyword-only') keywords.set(parameter.name, value);
    else args.push(value);
  }
  const self = instantiate(m, cls, args, keywords, m.frame.node);
  m.roots.push(self);
  return self;
}

type Parameter = FunctionV['parameters'][number];

export function parameterValue(m: Machine, fn: FunctionV, parameter: Parameter): Value | undefined {
  if (parameter.kind === 'star' || parameter.kind === 'double-star') return undefined;
  const value: Unknown = unknownParameter(parameter);
  const fallback = fn.defaults.get(parameter.name);
  if (fallback !== undefined) {
    value.hint = fallback;
    if (typeof fallback === 'number' || typeof fallback === 'string' || typeof fallback === 'boolean')
      value.plain = true;
  }
  m.roots.push(value);
  return value;
}

/** What says of which of several things a method is to do something. */
const tellsWhich = /^(?:i|idx|index|key|name|slot|layer|\w+_(?:i|idx|index|id|key|name))$/;

/** What a caller gives a method: methods of one object that are told which of its things they work on are told the same. */
export function argumentValue(m: Machine, fn: FunctionV, parameter: Parameter): Value | undefined {
  if (!tellsWhich.test(parameter.name) || fn.defaults.has(parameter.name)) return parameterValue(m, fn, parameter);
  const known = m.toldWhich.get(parameter.name) ?? parameterValue(m, fn, parameter);
  if (known !== undefined) m.toldWhich.set(parameter.name, known);
  return known;
}

/** What a caller gives for `*name`: as many as a sequence of unknown length has. */
function manyArguments(m: Machine, parameter: Parameter): Value[] {
  const values = Array.from({ length: m.unknownLength }, (_, i) => new Unknown(`${parameter.name}[${i}]`, 'parameter'));
  m.roots.push(...values);
  return values;
}

/** Whether a function looks at each of the keywords that it collects: what these are called is all the same to it. */
function goesThrough({ node, closure }: FunctionV, keywords: string): boolean {
  return new RegExp(`\\b${keywords}\\.(?:items|values)\\(`, 'u').test(
    closure.module.syntax.text.slice(node.start, node.end),
  );
}

function runCall(m: Machine, target: FunctionV, bound: readonly Value[], callee: Value): Value {
  const args: Value[] = [...bound];
  const keywords = new Map<string, Value>();
  for (const parameter of target.parameters.slice(bound.length)) {
    if (parameter.kind === 'star' && parameter.name !== '') args.push(...manyArguments(m, parameter));
    if (parameter.kind === 'double-star' && goesThrough(target, parameter.name))
      for (const [i, value] of manyArguments(m, parameter).entries()) keywords.set(`${parameter.name}_${i}`, value);
    const value = bound.length > 0 ? argumentValue(m, target, parameter) : parameterValue(m, target, parameter);
    if (value === undefined) continue;
    if (parameter.kind === 'keyword-only') keywords.set(parameter.name, value);
    else args.push(value);
  }
  m.entryCall = true;
  m.arrive();
  const result = call(m, callee, args, keywords, target.node);
  m.result = result;
  wakeThreads(m);
  if (m.explicit() || changesCallers(result)) m.changesCallers = true;
  leaveGenerator(m, result);
  useOfDropped(m);
  m.goOnOutside();
  return result;
}

/** Code runs inside of it, or what it holds is for the caller to order by. */
function changesCallers(value: Value, depth = 0): boolean {
  if (!isObj(value) || depth > 3) return false;
  if (
    value instanceof GeneratorV ||
    value instanceof ContextV ||
    value instanceof FunctionV ||
    value instanceof PartialV ||
    value instanceof StreamV ||
    value instanceof EventV ||
    value instanceof WorkV
  )
    return true;
  let changes = false;
  if (!(value instanceof TensorV) && !(value instanceof Unknown))
    value.children((part) => {
      changes ||= part !== undefined && changesCallers(part, depth + 1);
    });
  return changes;
}

const generatorTurns = 4;

/** A generator's items go to an unknown caller, who uses each until it asks for the next one. */
export function leaveGenerator(m: Machine, result: Value): void {
  if (!(result instanceof GeneratorV)) return;
  m.roots.push(result);
  const { turns } = m;
  m.turns = generatorTurns;
  for (let turn = 0; turn < 2 * generatorTurns; turn++) {
    const item = resumeGenerator(m, result, null);
    if (item === undefined) break;
    m.stack.push(result.frame);
    m.consumer = item;
    m.stack[0]!.temps = [];
    m.collect('scope');
    leaveEntry(m, item, 'yield');
    useByCaller(m, item);
    m.emit({ kind: 'outside', stream: m.current().stream.stream });
    m.stack.pop();
  }
  m.turns = turns;
}
