/** Host threads: the target runs as if at once, on a thread of its own, with the default stream current; and what threads keep. */
import type { Node } from '../../python/ast.ts';
import { NativeV, type ThreadV, Unknown, type Value } from '../values.ts';
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
