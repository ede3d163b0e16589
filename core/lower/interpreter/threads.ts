/** Host threads: the target runs as if at once, on a thread of its own, with the default stream current; and what threads keep. */
import type { Node } from '../../python/ast.ts';
import { NativeV, type Obj, type ThreadV, Unknown, type Value } from '../values.ts';
import { call } from './calls.ts';
import { Raised } from './frame.ts';
import type { Machine } from './machine.ts';

export function threadMethod(m: Machine, self: ThreadV, name: string, node: Node): Value {
  switch (name) {
    case 'start':
      runThread(m, self, node);
      return null;
    case 'join':
      if (self.thread !== undefined && !self.joined) {
        self.joined = true;
        m.emit({ kind: 'join', child: self.thread });
      }
      return null;
    case 'is_alive':
      return new Unknown(name, 'result');
  }
  return null;
}

function runThread(m: Machine, self: ThreadV, node: Node): void {
  if (self.thread !== undefined || self.target === null) return;
  const parent = m.builder.thread;
  self.thread = m.builder.newThread('thread');
  m.emit({ kind: 'fork', child: self.thread });
  const currents = m.currents;
  const device = m.device;
  m.currents = new Map();
  m.device = 0;
  m.builder.thread = self.thread;
  try {
    call(m, self.target, self.args, self.keywords, node);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
  } finally {
    m.builder.thread = parent;
    m.currents = currents;
    m.device = device;
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
