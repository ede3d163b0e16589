/** Streams and events: what each call of theirs asks of the device. */
import type { Call, Module, Node } from '../../python/ast.ts';
import { functionsOf } from '../entries.ts';
import { ContextV, DeviceV, EventV, InstanceV, StreamV, Unknown, type Value } from '../values.ts';
import { sourceOf } from './assign.ts';
import type { Keywords } from './calls.ts';
import { resolutionOrder } from './classes.ts';
import { isPlace } from './expressions.ts';
import type { Machine } from './machine.ts';
import { resolved, truth } from './truth.ts';

/** The stream that a value is, or turns out to be by this use. */
export function streamOf(m: Machine, value_: Value | undefined): StreamV | undefined {
  const value = value_ === undefined ? undefined : resolved(m, value_);
  if (value instanceof StreamV) return value;
  if (!(value instanceof Unknown)) return undefined;
  if (!value.stream) {
    if (value.setUnder !== undefined && !isSet(m, value.setUnder)) return undefined;
    const kept = value.heldAs !== undefined && value.origin === 'result' && isOrdered(m, value.heldAs);
    const unordered = value.origin === 'attribute' && !isOrderedAtAll(m, value);
    const foreign =
      unordered || (!kept && !startsHere(m, value) && (value.origin === 'result' || value.origin === 'external'));
    value.stream = m.newStream(value.heldAs ?? value.name, m.device, foreign);
    if (!kept) m.builder.streams[value.stream.stream]!.given = true;
    // A stream that an object keeps is not the one that its caller's tensors were made on, unless others see to that.
    const own = kept || value.origin === 'attribute';
    if (!foreign && (!own || waitsElsewhere(m, value.heldAs ?? value.name))) m.readyBefore(value.stream);
    if (value.origin === 'parameter' || value.origin === 'element') m.builder.streams[value.stream.stream]!.lent = true;
    if (value.hint === null) m.optionalStreams.add(value.stream.stream);
  }
  return value.stream;
}

/** Whether the object whose method runs has this flag on; without it the global that goes with it is None. */
function isSet(m: Machine, flag: string): boolean {
  const self = m.stack.findLast(({ firstArgument: one }) => one instanceof InstanceV && one.attributes.has(flag));
  const value = self?.firstArgument instanceof InstanceV ? self.firstArgument.attributes.get(flag) : undefined;
  return value === undefined || truth(m, value, m.frame.node);
}

/**
 * Whether the function that asked for the stream lets it wait and selects it then: where it begins is seen, and so that it is
 * not the stream that goes on meanwhile.
 */
function startsHere(m: Machine, value: Unknown): boolean {
  const { fn, module, scope } = m.frame;
  if (!fn || value.origin !== 'result' || value.picked) return false;
  for (const [name, held] of scope.vars)
    if (held === value)
      return new RegExp(`\\b${name}\\.wait_(?:stream|event)\\([^]*\\bstream\\(\\s*${name}\\s*\\)`).test(
        module.syntax.text.slice(fn.node.start, fn.node.end),
      );
  return false;
}

/**
 * Whether the module selects the stream of this name and has it wait, or waits for it: whatever gave it to the object long
 * ago, it is then neither the current stream nor one that is always in order with it.
 */
function isOrdered(m: Machine, name: string): boolean {
  const { text } = m.frame.module.syntax;
  return (
    new RegExp(`\\bstream\\([^()\\n]*\\b${name}\\b|\\bwith \\w*\\.?${name}\\b`).test(text) &&
    new RegExp(`\\b${name}\\.wait_(?:stream|event)\\(|\\.wait_stream\\([^()\\n]*\\b${name}\\b`).test(text)
  );
}

/** Where nothing in a module orders a stream that its objects are given, that may be the current stream itself. */
function isOrderedAtAll(m: Machine, value: Unknown): boolean {
  const attribute = /\w+$/.exec(value.heldAs ?? value.name)?.[0];
  if (attribute === undefined) return true;
  const names = [attribute, ...[...m.frame.scope.vars].flatMap(([name, held]) => (held === value ? [name] : []))];
  const name = `(?:${names.join('|')})`;
  return new RegExp(
    `\\b${name}\\.(?:wait_|synchronize|record_event|query)|\\.(?:wait\\w*|record\\w*|synchronize)\\([^()\\n]*\\b${name}\\b`,
  ).test(m.frame.module.syntax.text);
}

/**
 * Whether a function of the module that does not run here lets a stream of this name wait, and for others: not one that goes
 * on to select the stream itself, nor one of another class with a stream of the same name. Whoever sets the stream later
 * can have let it wait under another name.
 */
function waitsElsewhere(m: Machine, name: string): boolean {
  const { syntax } = m.frame.module;
  const last = /\w+$/.exec(name)?.[0];
  if (last === undefined) return true;
  const running = m.stack.flatMap(({ fn, module }) => (fn && module.syntax === syntax ? [fn.node] : []));
  const classes = m.stack.flatMap(({ firstArgument: self }) =>
    self instanceof InstanceV ? resolutionOrder(self.cls).map(({ node }) => node) : [],
  );
  const selects = new RegExp(`\\bstream\\([^()\\n]*\\b${last}\\b`);
  for (const { 0: found, index } of syntax.text.matchAll(
    new RegExp(`(?:\\bself\\.)?\\b${last}(?:\\.wait_(?:stream|event)\\(|[ \\t]*=(?!=))`, 'g'),
  )) {
    const around = (node: Node): boolean => node.start <= index && index < node.end;
    const sets = found.endsWith('=');
    if (running.some(around) || (sets && !found.startsWith('self.'))) continue;
    const at = functionsOf(syntax).findLast(({ node }) => around(node));
    if (sets && (!at || at.node.name === '__init__')) continue;
    if (at?.owner && found.startsWith('self.') && classes.length > 0 && !classes.includes(at.owner)) continue;
    if (at && selects.test(syntax.text.slice(index, at.node.end))) continue;
    return true;
  }
  return false;
}

/** Whether a function of the module that names this container makes a stream the current one for good. */
export function selectedElsewhere(syntax: Module, name: string): boolean {
  const mentions = new RegExp(`\\b${name}\\b`);
  return functionsOf(syntax).some(({ node }) => {
    const body = syntax.text.slice(node.start, node.end);
    return body.includes('set_stream(') && mentions.test(body);
  });
}

export function eventOf(m: Machine, value_: Value | undefined): EventV | undefined {
  const value = value_ === undefined ? undefined : resolved(m, value_);
  if (value instanceof EventV) return value;
  if (!(value instanceof Unknown)) return undefined;
  value.event ??= m.newEvent(value.name, false, true);
  return value.event;
}

/** Makes `stream` current and gives what undoes it. */
export function selectStream(m: Machine, stream: StreamV): () => void {
  m.act();
  const device = stream.deviceIndex;
  const before = m.current(device);
  const deviceBefore = m.device;
  const activation = m.stack.length ? m.frame.activation : -1;
  m.currents.set(device, { stream, activation });
  m.device = device;
  m.selectedStreams.add(stream.stream);
  return () => {
    m.currents.set(device, before);
    m.device = deviceBefore;
  };
}

export function streamContext(m: Machine, value: Value): ContextV {
  let restore: (() => void) | undefined;
  const { frame } = m;
  const { node: asked } = frame;
  return m.temp(
    new ContextV(() => {
      const stream = streamOf(m, value);
      restore = stream ? selectStream(m, stream) : undefined;
      // That it is a stream shows only now: it has the name that it was passed by.
      if (stream && m.frame === frame) bindPassed(m, asked, value);
      return value;
    }, () => {
      restore?.();
      restore = undefined;
    }, [value]),
  );
}

function bindPassed(m: Machine, asked: Node, value: Value): void {
  const call = asked as Partial<Call>;
  const passed = call.kind === 'Call' ? call.args?.[0] : undefined;
  if (passed && isPlace(passed)) m.bind(sourceOf(m, passed), value, true);
}

/** Whether nobody knows which stream or event this is. */
function foreignStream(m: Machine, stream: StreamV): boolean {
  return m.builder.streams[stream.stream]!.unknown === true;
}
/** Whether a caller that nobody knows may have made the stream that it hands over the current one: nobody selects it here. */
function mayBeCurrent(m: Machine, stream: StreamV): boolean {
  return m.builder.streams[stream.stream]!.lent === true && !m.selectedStreams.has(stream.stream);
}
function foreignEvent(m: Machine, event: EventV): boolean {
  return m.builder.events[event.event]!.unknown === true;
}

/** `stream` waits for something unknown: it may be after all work of all streams. */
export function joinAll(m: Machine, stream: StreamV): void {
  for (let other = 0; other < m.builder.streams.length; other++) {
    if (other === stream.stream) continue;
    const event = m.builder.event('unknown', true);
    m.emit({ kind: 'record', event, stream: other });
    m.emit({ kind: 'wait', event, stream: stream.stream, implicit: true });
  }
}

/** The host has waited for another thread, which may have recorded any event that nobody has recorded here. */
export function othersMayRecord(m: Machine): void {
  m.builder.events.forEach((entry, event) => {
    if (!m.recordedEvents.has(event)) entry.unknown = true;
  });
}

function recordOn(m: Machine, event: EventV, stream: StreamV): void {
  if (foreignStream(m, stream)) m.foreignRecords.add(event.event);
  else m.foreignRecords.delete(event.event);
  m.act();
  m.recordedEvents.add(event.event);
  m.emit({ kind: 'record', event: event.event, stream: stream.stream });
}

function waitFor(m: Machine, stream: StreamV, event: EventV): void {
  m.act();
  m.emit({ kind: 'wait', event: event.event, stream: stream.stream }, m.chosen(stream, event));
  // Recorded on a stream of which nobody knows which one it is, it stands for work of any.
  if (foreignEvent(m, event) || m.foreignRecords.has(event.event)) joinAll(m, stream);
}

function pollResult(m: Machine, on: NonNullable<Unknown['poll']>): Unknown {
  const value = new Unknown('query', 'result');
  value.plain = true;
  value.poll = on;
  m.temp(value);
  return value;
}

export function streamMethod(
  m: Machine,
  self: StreamV,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
): Value {
  switch (name) {
    case 'wait_stream': {
      const other = streamOf(m, args[0] ?? keywords.get('stream'));
      if (!other) return null;
      const event = m.newEvent('wait_stream');
      recordOn(m, event, other);
      m.emit({ kind: 'wait', event: event.event, stream: self.stream }, m.chosen(self, other));
      if (foreignStream(m, other)) joinAll(m, self);
      return null;
    }
    case 'wait_event': {
      const event = eventOf(m, args[0] ?? keywords.get('event'));
      if (event) waitFor(m, self, event);
      return null;
    }
    case 'record_event': {
      const event = eventOf(m, args[0] ?? keywords.get('event')) ?? m.temp(m.followEvent(m.newEvent('?event')));
      recordOn(m, event, self);
      return event;
    }
    case 'synchronize':
      m.hostWaitStream(self.stream, false);
      if (foreignStream(m, self)) m.hostWaitDevice(self.deviceIndex, true);
      else if (mayBeCurrent(m, self)) m.hostWaitStream(m.current(self.deviceIndex).stream.stream, true);
      return null;
    case 'query':
      return pollResult(m, { kind: 'stream', stream: self.stream });
    case '__enter__':
      m.streamEntries.push(selectStream(m, self));
      return self;
    case '__exit__':
      m.streamEntries.pop()?.();
      return null;
    case '__eq__':
      return args[0] instanceof StreamV && args[0].stream === self.stream;
  }
  return new Unknown(name, 'result');
}

export function eventMethod(
  m: Machine,
  self: EventV | undefined,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
): Value {
  if (!self) return null;
  const stream = (): StreamV => streamOf(m, args[0] ?? keywords.get('stream')) ?? m.current().stream;
  switch (name) {
    case 'record': {
      recordOn(m, self, stream());
      return null;
    }
    case 'wait': {
      waitFor(m, stream(), self);
      return null;
    }
    case 'synchronize':
      m.emit({ kind: 'hostWait', on: { kind: 'event', event: self.event } });
      if (foreignEvent(m, self)) m.hostWaitDevice(m.device, true);
      return null;
    case 'query':
      m.loseEvents(self);
      return pollResult(m, { kind: 'event', event: self.event });
    case 'elapsed_time': {
      for (const event of [self, eventOf(m, args[0])]) if (event) m.builder.events[event.event]!.timed = true;
      const value = new Unknown('elapsed_time', 'result');
      value.plain = true;
      return value;
    }
  }
  m.loseEvents(self);
  return new Unknown(name, 'result');
}

/** Device index that a device argument names; undefined where it names none. */
export function deviceIndexOf(m: Machine, value_: Value | undefined): number | undefined {
  const value = value_ === undefined ? null : resolved(m, value_);
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const match = /^(?:cuda|hip|xpu|npu)(?::(\d+))?$/.exec(value);
    return match ? (match[1] === undefined ? undefined : Number(match[1])) : undefined;
  }
  if (value instanceof DeviceV) return value.index;
  return undefined;
}

/** A device that a stream is made for, or asked about, is CUDA. */
export function proveDevice(m: Machine, value_: Value | undefined): void {
  const value = value_ === undefined ? undefined : resolved(m, value_);
  if (value instanceof DeviceV) value.device.prove();
  else if (value instanceof Unknown) value.device.prove();
}
