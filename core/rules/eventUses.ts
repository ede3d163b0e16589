/**
 * Whether a function that records an event has a use for it in its text: a wait that no path came to (another turn of a
 * loop, a branch that the object's constructor decides), a callee that takes it, a caller who gets it. Knows syntax only.
 */
import { walk } from '../lower/names.ts';
import type { Expression, FunctionDef, Module, Node } from '../python/ast.ts';

const waits = /^(?:wait|synchronize|query|elapsed_time)$/;
/** Callees that keep what they are given, or make it: nothing is said of who looks at it later. */
const keeps = /^(?:record\w*|append|add|extend|insert|Event|isinstance|len|print|id|type)$/;

/** What a name, an attribute or an item is part of; the key where it is a constant. */
interface Part {
  readonly root: string;
  readonly key: string | undefined;
}

/** `self.done[i]` is some part of `self.done`, `done["a"]` that one of `done`. */
function partOf(node: Expression): Part | undefined {
  if (node.kind === 'Name') return { root: node.id, key: undefined };
  if (node.kind !== 'Attribute' && node.kind !== 'Subscript') return undefined;
  const owner = partOf(node.value);
  if (!owner) return undefined;
  if (node.kind === 'Attribute') return { root: `${owner.root}.${node.name}`, key: undefined };
  const key = node.index.kind === 'Constant' ? String(node.index.value) : undefined;
  return { root: owner.root, key: owner.key === undefined ? key : undefined };
}

function mayBeSame(a: Part, b: Part): boolean {
  return a.root === b.root && (a.key === undefined || b.key === undefined || a.key === b.key);
}

/** Whether code of `body` other than the record, which names the event so itself, waits for it, hands it on or returns it. */
export function usesEvent(
  body: FunctionDef | Module,
  record: { readonly start: number; readonly end: number },
  names: readonly string[],
): boolean {
  const recorded: Part[] = names.filter((name) => /^[\w.]+$/.test(name)).map((root) => ({ root, key: undefined }));
  const parts: readonly Node[] = body.body;
  const inside = (node: Node): boolean => record.start <= node.start && node.end <= record.end;
  for (const part of parts)
    walk(part, (node) => {
      if (node.kind !== 'Call' || !inside(node)) return true;
      const { callee } = node as unknown as { callee: Expression };
      const receiver = callee.kind === 'Attribute' && callee.name === 'record' ? partOf(callee.value) : undefined;
      if (receiver) recorded.push(receiver);
      return true;
    });
  const isIt = (node: Expression): boolean => {
    if (node.kind === 'Tuple' || node.kind === 'List') return node.elements.some(isIt);
    if (node.kind === 'Starred') return isIt(node.value);
    const part = partOf(node);
    return part !== undefined && recorded.some((one) => mayBeSame(one, part));
  };
  let used = false;
  for (const part of parts)
    walk(part, (node) => {
      if (used || inside(node)) return !used;
      const given = node as unknown as Expression | { readonly kind: 'Return'; readonly value?: Expression };
      if (given.kind === 'Return' || given.kind === 'Yield') used = given.value !== undefined && isIt(given.value);
      else if (given.kind === 'Call') {
        const { callee, args, keywords } = given;
        const called = callee.kind === 'Attribute' ? callee.name : callee.kind === 'Name' ? callee.id : '';
        used =
          (callee.kind === 'Attribute' && waits.test(called) && isIt(callee.value)) ||
          (!keeps.test(called) && (args.some(isIt) || keywords.some(({ value }) => isIt(value))));
      }
      return !used;
    });
  return used;
}
