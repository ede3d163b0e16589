/** Syntax that stands elsewhere in a text: a copy, so that whoever holds the former one keeps its places. */
import type { Node } from './ast.ts';

/** A node with all that is below it, `by` characters further on. */
export function shifted<T extends Node>(node: T, by: number): T {
  return by === 0 ? node : (copyOf(node, by) as T);
}

function copyOf(value: unknown, by: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => copyOf(element, by));
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value))
    copy[key] = key === 'start' || key === 'end' ? (part as number) + by : copyOf(part, by);
  return copy;
}
