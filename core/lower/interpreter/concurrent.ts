/**
 * Pools of threads, and asyncio: what is handed to them runs as if at once, a coroutine on its caller's streams, a thread with
 * the default stream current. A future gives what came out.
 */
import type { Node } from '../../python/ast.ts';
import { ListV, NativeV, TupleV, Unknown, type Value } from '../values.ts';
import { call, type Keywords, noKeywords } from './calls.ts';
import { plainContext } from './contexts.ts';
import { Raised } from './frame.ts';
import { itemsOf } from './iteration.ts';
import type { Machine } from './machine.ts';
import { resolved } from './truth.ts';

const pool = 'concurrent.futures.ThreadPoolExecutor';
const future = 'concurrent.futures.Future';

/** A function of these modules; undefined: not one that is known. */
export function concurrentCall(
  m: Machine,
  path: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value | undefined {
  const first = args[0] ?? null;
  switch (path) {
    case 'concurrent.futures.ThreadPoolExecutor':
    case 'concurrent.futures.thread.ThreadPoolExecutor':
      // Its threads may have been given a stream of their own.
      return keywords.has('initializer') || args.length > 2 ? undefined : m.temp(new NativeV(pool));
    case 'concurrent.futures.as_completed':
      return m.temp(new ListV(itemsOf(m, first, node)));
    case 'concurrent.futures.wait':
      return m.temp(
        new TupleV([m.temp(new ListV(itemsOf(m, first, node))), m.temp(new ListV([]))], ['done', 'not_done']),
      );
    case 'asyncio.run':
    case 'asyncio.wait_for':
    case 'asyncio.shield':
      return awaited(m, first);
    case 'asyncio.create_task':
    case 'asyncio.ensure_future':
      return futureOf(m, awaited(m, first));
    case 'asyncio.gather':
      if (args.some((arg) => arg instanceof Unknown && m.spread.has(arg))) return undefined;
      return m.temp(new ListV(args.map((arg) => awaited(m, arg))));
    case 'asyncio.to_thread':
      return runInPool(m, first, args.slice(1), keywords, node);
    case 'asyncio.sleep':
      return null;
    case 'asyncio.Lock':
    case 'asyncio.Semaphore':
    case 'asyncio.Condition':
    case 'asyncio.timeout':
      return plainContext(m);
  }
  return undefined;
}

/** A method of a pool or of its futures; undefined: the object is neither. */
export function concurrentMethod(
  m: Machine,
  self: NativeV,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value | undefined {
  if (self.path === pool)
    switch (name) {
      case 'submit':
        return futureOf(m, runInPool(m, args[0] ?? null, args.slice(1), keywords, node));
      case 'map': {
        const rows = args.slice(1).map((arg) => itemsOf(m, arg, node));
        const turns = rows[0]?.map((_, i) => rows.map((row) => row[i] ?? null)) ?? [];
        return m.temp(new ListV(turns.map((turn) => runInPool(m, args[0] ?? null, turn, noKeywords, node))));
      }
      case 'shutdown':
        return null;
    }
  if (self.path === future)
    switch (name) {
      case 'result':
        return awaited(m, self);
      case 'exception':
        return null;
      case 'add_done_callback':
        runInPool(m, args[0] ?? null, [self], noKeywords, node);
        return null;
      case 'done':
      case 'running':
      case 'cancel':
      case 'cancelled': {
        const value = new Unknown(name, 'result');
        value.plain = true;
        return value;
      }
    }
  return undefined;
}

function futureOf(m: Machine, value: Value): NativeV {
  const made = m.temp(new NativeV(future));
  made.attributes.set('value', value);
  return made;
}

/** `await value`, `value.result()`. */
export function awaited(m: Machine, given: Value): Value {
  const value = resolved(m, given);
  return value instanceof NativeV && value.path === future ? (value.attributes.get('value') ?? null) : given;
}

function runInPool(m: Machine, target: Value, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const { currents, device, chosenDevice } = m;
  m.currents = new Map();
  m.device = 0;
  m.chosenDevice = undefined;
  // When it runs nobody knows, so nothing that the host does beside it is called needless.
  m.builder.unseen();
  m.pooled++;
  m.givenToPools.push(target, ...args, ...keywords.values());
  try {
    return call(m, target, args, keywords, node);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
    return new Unknown('result', 'result');
  } finally {
    m.pooled--;
    m.builder.unseen();
    m.currents = currents;
    m.device = device;
    m.chosenDevice = chosenDevice;
  }
}
