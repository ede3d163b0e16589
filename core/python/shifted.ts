/** Syntax that stands elsewhere in a text: a copy, so that whoever holds the former one keeps its places. */
import type { Node } from './ast.ts';

/** A node with all that is below it, `by` characters further on. */
export function shifted<T extends Node>(node: T, by: number): T {
  return by === 0 ? node : (copyOf(node, by) as T);
}

/** A node, a list, or what groups nodes and has no place of its own. */
function copyOf(value: object, by: number): object {
  if (Array.isArray(value))
    return value.map((element: unknown) => (typeof element === 'object' && element ? copyOf(element, by) : element));
  // A spread keeps the shape of the object, and is many times faster than key by key.
  const copy: Record<string, unknown> = { ...value };
  for (const key in copy) {
    const part = copy[key];
    if (typeof part === 'object') {
      if (part) copy[key] = copyOf(part, by);
    } else if (key === 'start' || key === 'end') copy[key] = (part as number) + by;
  }
  return copy;
}
