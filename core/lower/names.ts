/** Which names a piece of syntax binds or uses. Pure syntax; results are cached by node. */
import type { Expression, FunctionDef, Lambda, Module, Node, Statement } from '../python/ast.ts';
import { branchesOf } from '../python/branches.ts';

/** Every syntax node below `node`, itself included; `enter` answers false to leave a subtree out. */
export function walk(node: Node, enter: (node: Node & { readonly kind?: string }) => boolean | undefined): void {
  if (enter(node) === false) return;
  // Syntax nodes are plain records; going through their keys makes no array of each.
  for (const key in node) {
    const value = (node as unknown as Record<string, unknown>)[key];
    if (typeof value === 'object' && value !== null) walkValue(value, enter);
  }
}

function walkValue(value: object, enter: (node: Node & { readonly kind?: string }) => boolean | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) walkValue(item, enter);
    return;
  }
  if ('start' in value) walk(value as Node, enter);
  // Dict items and comprehension clauses are plain records of nodes.
  else for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) walkValue(part, enter);
}

/** How classes are named, other than constants. */
export const namesClass = /^_*[A-Z]\w*[a-z]/;

const used = new WeakMap<Node, ReadonlySet<string>>();

/** Names that a piece of code mentions, nested functions included. */
export function namesUsed(node: Node): ReadonlySet<string> {
  const known = used.get(node);
  if (known) return known;
  const names = new Set<string>();
  walk(node, (inner) => {
    if (inner.kind === 'Name') names.add((inner as unknown as { id: string }).id);
    // `super()` uses the enclosing class's cell.
    return true;
  });
  used.set(node, names);
  return names;
}

const raises = new WeakMap<Node, ReadonlySet<string>>();

/** Names whose value a function raises: `raise error`, `raise caught[0].with_traceback(caught[1])`. */
export function raisedNames(node: FunctionDef | Lambda): ReadonlySet<string> {
  const known = raises.get(node);
  if (known) return known;
  const names = new Set<string>();
  walk(node, (inner) => {
    if (inner.kind !== 'Raise') return true;
    let raised = (inner as unknown as { exception?: Expression }).exception;
    while (raised && raised.kind !== 'Name')
      raised =
        raised.kind === 'Call'
          ? raised.callee
          : raised.kind === 'Attribute' || raised.kind === 'Subscript'
            ? raised.value
            : undefined;
    if (raised) names.add(raised.id);
    return true;
  });
  raises.set(node, names);
  return names;
}

const yields = new WeakMap<Node, readonly Node[]>();

/** The `yield` and expressions directly inside a statement's expression, in source order, inner ones first. */
export function yieldsIn(node: Expression): readonly Node[] {
  const known = yields.get(node);
  if (known) return known;
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
      return;
    }
    const kind = (value as { kind?: string }).kind;
    if (kind === 'Lambda') return;
    for (const part of Object.values(value)) visit(part);
    if (kind === 'Yield') found.push(value as Node);
  };
  visit(node);
  yields.set(node, found);
  return found;
}

export function targetNames(target: Expression, into: (name: string) => void): void {
  switch (target.kind) {
    case 'Name':
      into(target.id);
      break;
    case 'Tuple':
    case 'List':
      for (const element of target.elements) targetNames(element, into);
      break;
    case 'Starred':
      targetNames(target.value, into);
      break;
  }
}

/** Names that a statement binds in its own scope. */
export function boundNames(statement: Statement, into: (name: string) => void): void {
  switch (statement.kind) {
    case 'FunctionDef':
    case 'ClassDef':
      into(statement.name);
      break;
    case 'Assign':
      for (const target of statement.targets) targetNames(target, into);
      break;
    case 'AugAssign':
    case 'AnnAssign':
      targetNames(statement.target, into);
      break;
    case 'For':
      targetNames(statement.target, into);
      for (const inner of [...statement.body, ...statement.orelse]) boundNames(inner, into);
      break;
    case 'If':
      for (const branch of branchesOf(statement)) for (const inner of branch) boundNames(inner, into);
      break;
    case 'While':
      for (const inner of [...statement.body, ...statement.orelse]) boundNames(inner, into);
      break;
    case 'With':
      for (const item of statement.items) if (item.target) targetNames(item.target, into);
      for (const inner of statement.body) boundNames(inner, into);
      break;
    case 'Try':
      for (const inner of [...statement.body, ...statement.orelse, ...statement.finalbody]) boundNames(inner, into);
      for (const handler of statement.handlers) for (const inner of handler.body) boundNames(inner, into);
      break;
    case 'Import':
      for (const alias of statement.names) into(alias.asname ?? alias.name.split('.')[0]!);
      break;
    case 'ImportFrom':
      for (const alias of statement.names) into(alias.asname ?? alias.name);
      break;
  }
}

const binders = new WeakMap<Module, ReadonlyMap<string, readonly Statement[]>>();

/** Top-level statements of a module by the names that they bind; `*` holds the star imports. */
export function moduleBinders(module: Module): ReadonlyMap<string, readonly Statement[]> {
  const known = binders.get(module);
  if (known) return known;
  const map = new Map<string, Statement[]>();
  for (const statement of module.body) {
    const names = new Set<string>();
    boundNames(statement, (name) => names.add(name));
    for (const name of names) {
      const list = map.get(name);
      if (list) list.push(statement);
      else map.set(name, [statement]);
    }
  }
  binders.set(module, map);
  return map;
}
