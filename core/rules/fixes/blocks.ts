/**
 * Where a piece of source stands: the blocks around it, from a function's body inwards, and which names are surely bound
 * there. Knows no torch.
 */
import type {
  ClassDef,
  Comprehension,
  Expression,
  For,
  FunctionDef,
  Module,
  Node,
  Statement,
} from '../../python/ast.ts';

/** One block on the way in, and the statement of it that leads on. */
export interface Link {
  readonly block: readonly Statement[];
  readonly index: number;
  /** The statement that the block belongs to; undefined for the body of the function or module. */
  readonly parent?: Statement;
}

/** The blocks around `place` below `root`, outermost first; the last link's statement holds it directly. */
export function blocksAround(root: Module | FunctionDef, place: Node): Link[] {
  const links: Link[] = [];
  let block: readonly Statement[] | undefined = root.body;
  let parent: Statement | undefined;
  while (block) {
    const index = block.findIndex((s) => s.start <= place.start && place.end <= s.end);
    if (index < 0) break;
    const statement: Statement = block[index]!;
    links.push({ block, index, parent });
    parent = statement;
    block = childBlocks(statement).find(
      (child) => child.length && child[0]!.start <= place.start && place.end <= child.at(-1)!.end,
    );
  }
  return links;
}

export function statementOf(link: Link): Statement {
  return link.block[link.index]!;
}

/** Blocks that run as part of the statement; bodies of nested functions and classes do not. */
export function childBlocks(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.kind) {
    case 'If':
    case 'For':
    case 'While':
      return [statement.body, statement.orelse];
    case 'With':
      return [statement.body];
    case 'Try':
      return [statement.body, ...statement.handlers.map((h) => h.body), statement.orelse, statement.finalbody];
    case 'Match':
      return statement.cases.map((c) => c.body);
    default:
      return [];
  }
}

/**
 * Whether a use of `name` before statement `index` of the innermost block cannot be a NameError: it is a parameter, it
 * comes from outside of the function, or a statement that surely ran before binds it.
 */
export function isBound(root: Module | FunctionDef, links: readonly Link[], name: string): boolean {
  if (root.kind === 'FunctionDef' && root.parameters.some((p) => p.name === name)) return true;
  for (const link of links) {
    for (let i = 0; i < link.index; i++) if (binds(link.block[i]!, name)) return true;
    const { parent } = link;
    if (parent?.kind === 'For' && parent.body === link.block && inTarget(parent.target, name)) return true;
    if (parent?.kind === 'With' && parent.items.some((item) => item.target && inTarget(item.target, name))) return true;
  }
  // Never bound here: a name of an outer scope.
  return root.kind === 'FunctionDef' && !bindsAnywhere(root.body, name);
}

/** Whether the statement, once done, has surely bound the name. */
function binds(statement: Statement, name: string): boolean {
  switch (statement.kind) {
    case 'Assign':
      return statement.targets.some((target) => inTarget(target, name));
    case 'AnnAssign':
      return statement.value !== undefined && inTarget(statement.target, name);
    case 'With':
      return (
        statement.items.some((item) => item.target && inTarget(item.target, name)) ||
        statement.body.some((inner) => binds(inner, name))
      );
    case 'If':
      return (
        statement.orelse.length > 0 &&
        statement.body.some((inner) => binds(inner, name)) &&
        statement.orelse.some((inner) => binds(inner, name))
      );
    case 'FunctionDef':
    case 'ClassDef':
      return statement.name === name;
    case 'Import':
      return statement.names.some((alias) => (alias.asname ?? alias.name.split('.')[0]) === name);
    case 'ImportFrom':
      return statement.names.some((alias) => (alias.asname ?? alias.name) === name);
    default:
      return false;
  }
}

/** Whether any statement of a block, or of those below it, gives the name a value. */
export function bindsAnywhere(block: readonly Statement[], name: string): boolean {
  return block.some((statement) => {
    if (binds(statement, name)) return true;
    if (statement.kind === 'For' && inTarget(statement.target, name)) return true;
    if (statement.kind === 'AugAssign' && inTarget(statement.target, name)) return true;
    if (statement.kind === 'Try' && statement.handlers.some((handler) => handler.name === name)) return true;
    return childBlocks(statement).some((child) => bindsAnywhere(child, name));
  });
}

function inTarget(target: Expression, name: string): boolean {
  switch (target.kind) {
    case 'Name':
      return target.id === name;
    case 'Tuple':
    case 'List':
      return target.elements.some((element) => inTarget(element, name));
    case 'Starred':
      return inTarget(target.value, name);
    default:
      return false;
  }
}

/** The innermost class whose body holds the function. */
export function classAround(module: Module, definition: FunctionDef): ClassDef | undefined {
  let found: ClassDef | undefined;
  const visit = (block: readonly Statement[]): void => {
    for (const statement of block) {
      if (statement.start > definition.start || statement.end < definition.end) continue;
      if (statement.kind === 'ClassDef') found = statement;
      if (statement === definition) return;
      if (statement.kind === 'ClassDef' || statement.kind === 'FunctionDef') visit(statement.body);
      else childBlocks(statement).forEach(visit);
    }
  };
  visit(module.body);
  return found;
}

/** A loop or comprehension variable, and the source of what it runs over. */
export interface LoopVariable {
  readonly name: string;
  readonly container: string;
}

/** The loop variables of a body, with the container that each one's values come from. */
export function loopVariables(root: Module | FunctionDef, text: string): LoopVariable[] {
  const found: LoopVariable[] = [];
  const pair = (target: Expression, iterable: Expression): void => {
    const container = (node: Expression) => text.slice(node.start, node.end);
    if (iterable.kind === 'Call' && iterable.callee.kind === 'Name' && target.kind === 'Tuple') {
      const { id } = iterable.callee;
      if (id === 'zip')
        for (const [i, element] of target.elements.entries()) {
          const argument = iterable.args[i];
          if (argument) pair(element, argument);
        }
      else if (id === 'enumerate' && target.elements[1] && iterable.args[0]) pair(target.elements[1], iterable.args[0]);
    } else if (iterable.kind === 'Call' && iterable.callee.kind === 'Attribute' && !iterable.args.length) {
      const { name, value } = iterable.callee;
      const second = target.kind === 'Tuple' && name === 'items' ? target.elements[1] : undefined;
      const named = second ?? (name === 'values' ? target : undefined);
      if (named?.kind === 'Name') found.push({ name: named.id, container: `${container(value)}.values()` });
    } else if (target.kind === 'Name' && (iterable.kind === 'Name' || iterable.kind === 'Attribute'))
      found.push({ name: target.id, container: container(iterable) });
  };
  const inExpression = (node: unknown): void => {
    if (!node || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const element of node) inExpression(element);
      return;
    }
    const { kind } = node as { kind?: string };
    if (kind === 'FunctionDef' || kind === 'ClassDef' || kind === 'Lambda') return;
    if (kind === 'For') pair((node as For).target, (node as For).iterable);
    if (kind === 'Comprehension')
      for (const clause of (node as Comprehension).clauses) pair(clause.target, clause.iterable);
    for (const value of Object.values(node)) inExpression(value);
  };
  inExpression(root.body);
  return found;
}
