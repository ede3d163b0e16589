/** Notes which tensors a followed function hands to its followed caller, and which leave the entry for good. */
import {
  BuiltinMethodV,
  DictV,
  EventV,
  FunctionV,
  InstanceV,
  isObj,
  ListV,
  NativeV,
  SetV,
  type Storage,
  StreamV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  WorkV,
  whole,
} from '../values.ts';
import { access } from '../builder.ts';
import { lookup, moduleLike, resolutionOrder } from './classes.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';

/** Storages of the tensors in a value that a receiver would look at first. */
export function storagesIn(value: Value, into = new Set<Storage>(), depth = 0): Set<Storage> {
  if (!isObj(value) || depth > 3) return into;
  // What waits by itself where it is first used needs no order of its caller.
  if (value instanceof TensorV && value.pending) return into;
  if (value instanceof TensorV) into.add(value.storage);
  else if (value instanceof Unknown) {
    if (value.tensor) into.add(value.tensor.storage);
    // A batch of which nobody knows what it is holds what the program has put into it.
    if (!value.empty) value.children((part) => part instanceof TensorV && into.add(part.storage));
  } else if (value instanceof ListV || value instanceof TupleV)
    for (const item of value.items) storagesIn(item, into, depth + 1);
  else if (value instanceof DictV) for (const entry of value.entries.values()) storagesIn(entry.value, into, depth + 1);
  else if (value instanceof SetV) for (const item of value.items.values()) storagesIn(item, into, depth + 1);
  else if (value instanceof InstanceV && value.cls.fields)
    for (const item of value.attributes.values()) storagesIn(item, into, depth + 1);
  return into;
}

/**
 * An event, a collective's handle or the stream itself that goes with the tensors, beside them or as an attribute of one:
 * whoever gets them is given the order to wait for.
 */
function carriesOrder(value: Value, depth = 0): boolean {
  if (!isObj(value) || depth > 3) return false;
  if (value instanceof EventV || value instanceof WorkV || (value instanceof Unknown && value.event)) return true;
  if (value instanceof NativeV && value.parts.some((part) => part instanceof WorkV)) return true;
  // `work.wait`, to be called by whoever uses the tensors.
  if (value instanceof BuiltinMethodV) return value.self instanceof StreamV || carriesOrder(value.self, depth + 1);
  const inside = (items: Iterable<Value>) => {
    for (const item of items) if (carriesOrder(item, depth + 1)) return true;
    return false;
  };
  if (value instanceof ListV || value instanceof TupleV) return inside(value.items);
  if (value instanceof DictV) return inside([...value.entries.values()].map((entry) => entry.value));
  if (value instanceof TensorV) return value.attributes !== undefined && inside(value.attributes.values());
  if (depth > 0 && (value instanceof StreamV || (value instanceof Unknown && value.stream))) return true;
  if (value instanceof InstanceV)
    return lookup(value.cls, 'wait') !== undefined || (!!value.cls.fields && inside(value.attributes.values()));
  return false;
}

/** An event that was recorded here stands in a registry of the module: who uses the tensors can wait for it. */
function leavesOrder(m: Machine): boolean {
  for (const module of m.modules.values())
    for (const value of module.scope.vars.values()) {
      const items =
        value instanceof DictV
          ? [...value.entries.values()].map((entry) => entry.value)
          : value instanceof ListV
            ? value.items
            : [];
      for (const item of items)
        for (const part of item instanceof TupleV ? item.items : [item])
          if (part instanceof EventV && m.recordedEvents.has(part.event)) return true;
    }
  return false;
}

/**
 * Memory whose collective has a handle that somebody still holds when the entry returns, an object, a registry of the module
 * or a hook: a later call waits for it. A handle that nobody holds is waited for by nobody.
 */
function heldByHandles(m: Machine, storages: Iterable<Storage>): Set<Storage> {
  if (![...storages].some((storage) => storage.kept)) return new Set();
  return new Set([...heldHandles(m)].flatMap(({ tensors }) => tensors.map(({ storage }) => storage)));
}

/** Handles that somebody outside can still come to, also by what the entry gives its caller. */
function heldHandles(m: Machine): Set<WorkV> {
  const held = new Set<WorkV>();
  const seen = new Set<Value>();
  const look = (value: Value | undefined): void => {
    if (!isObj(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof WorkV) held.add(value);
    else value.children(look);
  };
  m.visitOutside(look);
  // A callback leaves it in a list around it: whoever made both goes through that later.
  for (const value of m.givenToPools) look(value);
  look(m.result);
  return held;
}

/**
 * The entry is over: of handles that it took out of its lists and left to nobody, nobody can wait any more, and whoever comes
 * next works with their tensors. It shows where they were let go of.
 */
export function useOfDropped(m: Machine): void {
  const dropped = m.droppedHandles.splice(0);
  if (dropped.length === 0) return;
  const held = heldHandles(m);
  const { stream } = m.current().stream;
  for (const { work, origin } of dropped) {
    if (held.has(work)) continue;
    const accesses = work.tensors.flatMap(({ storage, start, end }) =>
      storage.memory === 'device' ? access(storage.block, false, start, end, whole) : [],
    );
    if (accesses.length > 0) m.builder.add({ kind: 'launch', stream, name: "the caller's work", accesses }, origin);
  }
}

/** Below a Function's backward the missing order is reported where it shows; what itself returns is autograd's. */
function isBackward(frame: Frame): boolean {
  const { fn } = frame;
  return fn?.name === 'backward' && fn.owner !== undefined && /(^|\.)Function$/.test(moduleLike(fn.owner) ?? '');
}

export function handOver(m: Machine, frame: Frame, value: Value, how: 'return' | 'yield'): void {
  if (!isObj(value) || m.before > 0 || carriesOrder(value)) return;
  if (m.stack.some((other) => other !== frame && isBackward(other))) return;
  for (const storage of storagesIn(value)) {
    if (storage.memory !== 'device') continue;
    m.handOvers.push({
      block: storage.block,
      step: m.builder.length,
      activation: frame.activation,
      how,
      file: frame.module.syntax.file,
      node: frame.node,
      stream: m.current(m.deviceIndexOf(storage.device)).stream.stream,
    });
  }
}

/** Functions that were made by what ran: whoever gets them calls them. */
function closuresIn(value: Value): FunctionV[] {
  if (value instanceof FunctionV) return value.closure.kind === 'module' ? [] : [value];
  return value instanceof TupleV ? value.items.flatMap(closuresIn) : [];
}

/**
 * Streams that an object keeps, and that another of its methods waits for, or on which an event that it keeps was recorded:
 * the work left on them is joined elsewhere.
 */
function noteJoinedStreams(m: Machine): void {
  const events = new Set<number>();
  const running = new Set(m.stack.map(({ fn }) => fn?.node));
  for (const root of m.roots) {
    if (!(root instanceof InstanceV)) continue;
    for (const [name, value] of root.attributes) {
      const stream = value instanceof StreamV ? value : value instanceof Unknown ? value.stream : undefined;
      // What lies in a container that threads share goes with other tensors.
      if (!(isObj(value) && m.messages.has(value))) eventsIn(value, events);
      if (!stream) continue;
      const waits = new RegExp(`\\bwait_stream\\(\\s*self\\.${name}\\b|\\bself\\.${name}\\.synchronize\\(`);
      const selects = new RegExp(`\\bstream\\(\\s*self\\.${name}\\b|\\bwith self\\.${name}\\b`);
      const joins = resolutionOrder(root.cls).some((cls) =>
        [...cls.attributes.values()].some((method) => {
          if (!(method instanceof FunctionV) || running.has(method.node)) return false;
          const text = method.closure.module.syntax.text.slice(method.node.start, method.node.end);
          const at = text.search(waits);
          // Who waits for what it has begun itself does so for nobody else.
          return at >= 0 && !selects.test(text.slice(0, at));
        }),
      );
      if (joins) m.builder.streams[stream.stream]!.joinedElsewhere = true;
    }
  }
  if (events.size > 0)
    for (const step of m.builder.emitted)
      if (step.kind === 'record' && events.has(step.event)) m.builder.streams[step.stream]!.joinedElsewhere = true;
}

function eventsIn(value: Value, into: Set<number>, depth = 0): void {
  if (value instanceof EventV) into.add(value.event);
  else if (value instanceof Unknown) {
    if (value.event) into.add(value.event.event);
  } else if (depth < 2 && (value instanceof ListV || value instanceof TupleV))
    for (const item of value.items) eventsIn(item, into, depth + 1);
  else if (depth < 2 && value instanceof DictV)
    for (const entry of value.entries.values()) eventsIn(entry.value, into, depth + 1);
}

/** The entry's own result goes to a caller that nobody knows. */
export function leaveEntry(m: Machine, value: Value, how: 'return' | 'yield'): void {
  m.loseEvents(value);
  for (const fn of closuresIn(value)) if (m.concerned(fn)) m.hooks.push({ caller: 'somebody', fn });
  if (carriesOrder(value) || leavesOrder(m)) {
    // It is theirs to wait before they let go of it.
    for (const storage of storagesIn(value)) storage.kept = true;
    return;
  }
  const leaving = storagesIn(value);
  const held = heldByHandles(m, leaving);
  noteJoinedStreams(m);
  for (const storage of leaving) {
    if (storage.memory !== 'device' || held.has(storage)) continue;
    const selection = m.current(m.deviceIndexOf(storage.device));
    m.watch(storage);
    m.emit({ kind: 'escape', block: storage.block, stream: selection.stream.stream, how }, selection);
  }
}

/** The caller works with what it got, on the stream that is current; the order of that is the escape's business. */
export function useByCaller(m: Machine, value: Value): void {
  for (const storage of storagesIn(value)) {
    if (storage.memory !== 'device') continue;
    const selection = m.current(m.deviceIndexOf(storage.device));
    m.emit(
      {
        kind: 'launch',
        stream: selection.stream.stream,
        name: "the caller's work",
        accesses: [{ block: storage.block, write: false, unknownRange: true }],
      },
      selection,
    );
  }
}
