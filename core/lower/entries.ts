/**
 * Where execution may start: module code, functions and methods that no known caller judges, and which of them can
 * reach anything that has to do with streams. Pure syntax.
 */
import type { ClassDef, FunctionDef, Module, Statement } from '../python/ast.ts';
import { walk } from './names.ts';

/** A word without which a function has nothing to order. */
const words =
  /[sS]tream|[eE]vent\b|Event\(|non_blocking|async_op|CUDAGraph|cuda\.graph|pin_memory|isend|irecv|graphed_callables|cudagraph/;

export function mentionsStreams(text: string): boolean {
  return words.test(text);
}

export function isTestFile(file: string): boolean {
  return /(^|[/\\])(tests?|testing)[/\\]|(^|[/\\])(test_[^/\\]*|[^/\\]*_test|conftest)\.py$/.test(file);
}

export interface FunctionEntry {
  readonly kind: 'function';
  readonly module: Module;
  readonly node: FunctionDef;
  readonly owner?: ClassDef;
  readonly name: string;
}

const cache = new WeakMap<Module, readonly FunctionEntry[]>();

/** Functions and methods of a module that a caller from outside can reach by name. */
export function functionsOf(module: Module): readonly FunctionEntry[] {
  const known = cache.get(module);
  if (known) return known;
  const entries: FunctionEntry[] = [];
  const visit = (statements: readonly Statement[], owner: ClassDef | undefined, prefix: string): void => {
    for (const statement of statements) {
      if (statement.kind === 'FunctionDef') {
        if (!statement.broken)
          entries.push({
            kind: 'function',
            module,
            node: statement,
            name: prefix + statement.name,
            ...(owner ? { owner } : {}),
          });
      } else if (statement.kind === 'ClassDef') {
        if (!owner) visit(statement.body, statement, `${prefix}${statement.name}.`);
      } else if (statement.kind === 'If') {
        visit(statement.body, owner, prefix);
        visit(statement.orelse, owner, prefix);
      } else if (statement.kind === 'Try') {
        visit(statement.body, owner, prefix);
        visit(statement.orelse, owner, prefix);
      }
    }
  };
  visit(module.body, undefined, '');
  cache.set(module, entries);
  return entries;
}

const mentioned = new WeakMap<FunctionDef, ReadonlySet<string>>();

/** Names that a function calls or passes on: plain names and attribute names. */
export function namesMentioned(node: FunctionDef): ReadonlySet<string> {
  const known = mentioned.get(node);
  if (known) return known;
  const names = new Set<string>();
  walk(node, (inner) => {
    if (inner.kind === 'Name') names.add((inner as unknown as { id: string }).id);
    else if (inner.kind === 'Attribute') names.add((inner as unknown as { name: string }).name);
    return true;
  });
  names.delete(node.name);
  mentioned.set(node, names);
  return names;
}

/** Whether running the function can have anything to do with streams: itself, its class, or what it calls. */
export function reaching(entries: readonly FunctionEntry[]): ReadonlySet<FunctionDef> {
  const reach = new Set<FunctionDef>();
  const names = new Set<string>();
  for (const entry of entries) {
    const place = entry.owner ?? entry.node;
    if (mentionsStreams(entry.module.text.slice(place.start, place.end))) {
      reach.add(entry.node);
      names.add(entry.node.name);
      if (entry.owner) names.add(entry.owner.name);
    }
  }
  for (let grown = true; grown; ) {
    grown = false;
    for (const entry of entries) {
      if (reach.has(entry.node)) continue;
      for (const name of namesMentioned(entry.node))
        if (names.has(name)) {
          reach.add(entry.node);
          if (!names.has(entry.node.name)) {
            names.add(entry.node.name);
          }
          grown = true;
          break;
        }
    }
  }
  return reach;
}
