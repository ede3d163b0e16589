/**
 * Host threads: the target runs as if at once, on a thread of its own, with the default stream current; and what threads
 * keep, and tell each other.
 */
import type { Node } from '../../python/ast.ts';
import { BoundMethodV, FunctionV, type InstanceV, NativeV, type Obj, ThreadV, Unknown, type Value } from '../values.ts';
import { call } from './calls.ts';
import { lookup, moduleLike } from './classes.ts';
import { Raised } from './frame.ts';
import type { Machine } from './machine.ts';
import { othersMayRecord } from './streams.ts';

/** The thread that an object of a class which derives from `threading.Thread` is. */
export function threadOf(self: InstanceV): ThreadV | undefined {
  if (!isThreadClass(self)) return undefined;
  const known = self.attributes.get(ownThread);
  if (known instanceof ThreadV) return known;
  const run = lookup(self.cls, 'run');
  if (!(run instanceof FunctionV)) return undefined;
  const thread = new ThreadV(new BoundMethodV(self, run), [], new Map());
  self.attributes.set(ownThread, thread);
  return thread;
}

const ownThread = '…thread';

/** The function of the program that the thread runs. */
export function threadTarget({ target }: ThreadV): FunctionV | undefined {
  const fn = target instanceof BoundMethodV ? target.target : target;
  return fn instanceof FunctionV ? fn : undefined;
}

export function isThreadClass({ cls }: InstanceV): boolean {
  return /^threading\.(?:Thread|Timer)$/.test(moduleLike(cls) ?? '');
}

export function threadMethod(m: Machine, self: ThreadV, name: string, node: Node): Value {
  switch (name) {
    case 'start':
      // Made for a method's sake, the object has its thread at work while the method runs.
      if (m.settled > 0 && m.before === 0 && goesOn(self)) m.startedThreads.add(self);
      else runThread(m, self, node);
      return null;
    case 'join':
      wakeThreads(m);
      if (self.thread !== undefined && !self.joined) {
        self.joined = true;
        m.emit({ kind: 'join', child: self.thread });
      }
      return null;
    case 'is_alive':
      // Who asks goes on when the thread has ended.
      wakeThreads(m);
      if (self.thread !== undefined) m.emit({ kind: 'join', child: self.thread });
      return new Unknown(name, 'result');
  }
  return null;
}

/** Whether a thread does something over and over for others: it takes things from them, or gives them some. */
function goesOn(thread: ThreadV): boolean {
  const fn = threadTarget(thread);
  if (!fn) return false;
  const text = fn.closure.module.syntax.text.slice(fn.node.start, fn.node.end);
  return /^[ \t]+(?:while|for)\b[\s\S]*\.(?:get|get_nowait|put|put_nowait|append|popleft|wait|set|acquire|release)\(/m.test(
    text,
  );
}

/**
 * What threads that go on do lies beside the entry, not before it: nobody has waited for the work that they have just
 * issued. What they tell nobody is known all the same, or nobody could use what they leave behind.
 */
export function runStartedThreads(m: Machine, node: Node): void {
  // What the entry itself does the thread need not do before.
  const started = [...m.startedThreads].filter((thread) => threadTarget(thread)?.node !== node);
  m.startedThreads.clear();
  m.filling = true;
  for (const thread of started) {
    runThread(m, thread, node);
    if (thread.thread === undefined) continue;
    const told = [...m.messages.values()].some((left) => left.some(({ from }) => from === thread.thread));
    if (!told) m.emit({ kind: 'join', child: thread.thread });
  }
  m.filling = false;
}

function runThread(m: Machine, self: ThreadV, node: Node): void {
  if (self.thread !== undefined || self.target === null) return;
  self.thread = m.builder.newThread('thread');
  m.emit({ kind: 'fork', child: self.thread });
  goThrough(m, self, node, m.settled === 0 && m.before === 0 && !m.filling);
}

/** `mayWait`: where it waits for somebody before it does anything, it goes on when it is told. */
function goThrough(m: Machine, self: ThreadV, node: Node, mayWait: boolean): void {
  const parent = m.builder.thread;
  const { currents, device, chosenDevice, idle } = m;
  const stack = [...m.stack];
  m.currents = new Map();
  m.device = 0;
  m.chosenDevice = undefined;
  m.builder.thread = self.thread!;
  m.idle = mayWait ? { thread: self.thread!, since: m.builder.length } : undefined;
  try {
    call(m, self.target, self.args, self.keywords, node);
  } catch (error) {
    if (error instanceof Waiting) {
      m.stack = stack;
      m.waitingThreads.push({ thread: self, on: error.on, node });
      m.roots.push(self);
    } else if (!(error instanceof Raised)) throw error;
  } finally {
    m.builder.thread = parent;
    m.currents = currents;
    m.device = device;
    m.chosenDevice = chosenDevice;
    m.idle = idle;
  }
}

/** Ends the run of a thread that has done nothing yet. */
class Waiting {
  constructor(readonly on: Obj) {}
}

/** A thread that has done nothing yet comes to a place where it waits for what somebody is to tell it, or put there. */
export function waitInThread(m: Machine, on: Obj): void {
  if (m.idle && m.idle.thread === m.builder.thread && m.idle.since === m.builder.length) throw new Waiting(on);
}

/** Threads that wait, for this where it is given, go on: from their beginning, for they have done nothing yet. */
export function wakeThreads(m: Machine, on?: Obj): void {
  for (;;) {
    const at = m.waitingThreads.findIndex((waiting) => on === undefined || waiting.on === on);
    if (at < 0) return;
    const { thread, node } = m.waitingThreads[at]!;
    m.waitingThreads.splice(at, 1);
    m.roots.splice(m.roots.indexOf(thread), 1);
    goThrough(m, thread, node, false);
  }
}

/** Something is put into a container that threads share: whoever takes it comes after all that is known here. */
export function leaveMessage(m: Machine, shared: Obj): void {
  const { builder } = m;
  if (builder.threads.length === 1 || m.before > 0) return;
  const knows = builder.newThread('message');
  m.emit({ kind: 'fork', child: knows });
  const left = m.messages.get(shared) ?? [];
  m.messages.set(shared, left);
  left.push({ from: builder.thread, knows });
  wakeThreads(m, shared);
}

/**
 * The first or the last of its `items` is taken out, which another thread may have put there. Items that went in another way
 * have left their messages behind: they count, too.
 */
export function takeMessage(m: Machine, shared: Obj, which: 'first' | 'last', items: number): void {
  const left = m.messages.get(shared);
  if (!left) return;
  const taken = which === 'last' ? left.splice(-1) : left.splice(0, Math.max(1, left.length - items + 1));
  for (const { from, knows } of taken) if (from !== m.builder.thread) m.emit({ kind: 'join', child: knows });
}

/** What other threads have left there is known from now on; whether any has. */
function hear(m: Machine, shared: Obj): boolean {
  const told = (m.messages.get(shared) ?? []).filter(({ from }) => from !== m.builder.thread);
  for (const { knows } of told) m.emit({ kind: 'join', child: knows });
  return told.length > 0;
}

/** What threads tell each other by: who waits knows what was known to whoever has told it; of somebody unknown, all there is. */
export function signalMethod(m: Machine, self: NativeV, name: string, args: readonly Value[]): Value {
  switch (name) {
    case 'set':
    case 'notify':
    case 'notify_all':
      leaveMessage(m, self);
      return null;
    case 'release':
      release(m, self);
      return null;
    case 'clear':
      m.messages.delete(self);
      return null;
    case 'is_set':
    case 'locked':
      // Who asks goes on when somebody has told it.
      hear(m, self);
      break;
    case 'acquire':
      acquire(m, self);
      break;
    case 'wait':
    case 'wait_for':
      waitForOthers(m, self, args.length > (name === 'wait_for' ? 1 : 0));
  }
  const answer = new Unknown(name, 'result');
  answer.plain = true;
  return answer;
}

function waitForOthers(m: Machine, self: NativeV, isTimed = false): void {
  let told = hear(m, self);
  if (!told && !isTimed) waitInThread(m, self);
  if (!told && m.waitingThreads.length > 0) {
    wakeThreads(m);
    told = hear(m, self);
  }
  if (!told && m.builder.thread === 0) m.hostWaitDevice(m.device, true);
  else if (!told) m.awaitOthers();
  othersMayRecord(m);
}

const left = '…left';
const holder = '…holder';

/** A lock, which has one place, or a semaphore, which has `places` of them as far as that is known. */
export function newLock(m: Machine, path: string, places: Value): NativeV {
  const lock = m.temp(new NativeV(path));
  if (typeof places === 'number') lock.attributes.set(left, places);
  return lock;
}

/**
 * Entering it as a context, where that is of interest: whoever is inside of a condition reads what those have set who
 * told of it, whether it had to wait for them or not.
 */
export function enterLock(m: Machine, value: Value): (() => void) | undefined {
  if (isLock(value)) {
    acquire(m, value);
    return () => release(m, value);
  }
  if (!(value instanceof NativeV) || value.path !== 'threading.Condition') return undefined;
  hear(m, value);
  return () => {};
}

function isLock(value: Value): value is NativeV {
  return value instanceof NativeV && value.path === 'threading.Lock';
}

/** Where no place is left, it is somebody else's release that lets the thread go on: it waits as for a signal. */
function acquire(m: Machine, self: NativeV): void {
  const places = self.attributes.get(left);
  if (places === 0) waitForOthers(m, self);
  else hear(m, self);
  if (typeof places === 'number') self.attributes.set(left, Math.max(0, places - 1));
  self.attributes.set(holder, m.builder.thread);
}

/** A lock that its own holder gives back keeps others out, and tells none but those who wait for it: others may have been there before. */
function release(m: Machine, self: NativeV): void {
  const places = self.attributes.get(left);
  if (typeof places === 'number') self.attributes.set(left, isLock(self) ? 1 : places + 1);
  const isAwaited = m.waitingThreads.some(({ on }) => on === self);
  if (!isLock(self) || isAwaited || self.attributes.get(holder) !== m.builder.thread) leaveMessage(m, self);
}

/** `threading.local()`: what a thread keeps for itself is set when it is first asked for, which an earlier call has done. */
export function isThreadLocal(value: Value): boolean {
  return value instanceof NativeV && value.path === 'threading.local';
}

/** What an earlier call has put there: it is something, and nobody knows what. */
export function keptByThread(local: NativeV, name: string): Unknown {
  const kept = new Unknown(name, 'external');
  kept.present = true;
  local.attributes.set(name, kept);
  return kept;
}
