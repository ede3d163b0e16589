/** An `if` with its `elif` as one list: each is an `if` inside of the one before, and there may be thousands. */
import type { If, Statement } from './ast.ts';

/** The bodies from `if` to `else`, in order. */
export function branchesOf(first: If): (readonly Statement[])[] {
  const bodies: (readonly Statement[])[] = [];
  let statement = first;
  for (;;) {
    bodies.push(statement.body);
    const [next] = statement.orelse;
    if (statement.orelse.length !== 1 || next?.kind !== 'If') break;
    statement = next;
  }
  bodies.push(statement.orelse);
  return bodies;
}
