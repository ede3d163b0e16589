/**
 * Where execution may start: module code, functions and methods that no known caller judges, and which of them can
 * reach anything that has to do with streams. Pure syntax.
 */
import type { ClassDef, Expression, FunctionDef, Module, Node, Statement } from '../python/ast.ts';
import { walk } from './names.ts';

/** A word without which a function has nothing to order. */
const words =
  /(?<![A-Za-z])streams?\b|_streams?\b|\bStreams?\b|[a-z]Stream\(|\bEvent\(|_event\b|non_blocking|async_op|CUDAGraph|cuda\.graph|pin_memory|isend|irecv|graphed_callables/;

export function mentionsStreams(text: string): boolean {
  return words.test(text);
}

/** Tests are no callers: what they do is not what a package's callers do. */
export function isTestFile(file: string, root: string): boolean {
  file = file.startsWith(root) ? file.slice(root.length) : file;
  return /(^|[/\\])(tests?|testing)[/\\]|(^|[/\\])(test_[^/\\]*|[^/\\]*_test|conftest)\.py$/.test(file);
}

/** The folder that all files lie in. */
export function commonFolder(files: readonly string[]): string {
  let root = files[0] ?? '';
  for (const file of files) while (!file.startsWith(root)) root = root.slice(0, -1);
  return root.slice(0, Math.max(root.lastIndexOf('/'), root.lastIndexOf('\\')) + 1);
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

/** Which functions can have anything to do with streams. */
export interface Reach {
  readonly functions: ReadonlySet<Node>;
  /** Whether a function, lambda or nested function of a module has. */
  concerns(node: Node, module: Module): boolean;
}

/**
 * A function has to do with streams if it says so itself, mentions a name of its module (or of one that the module
 * imports) that stands for a stream, or for a function that has.
 */
export function reaching(modules: readonly Module[], imports: (module: Module) => readonly Module[]): Reach {
  const functions = new Set<Node>();
  const own = new Map<Module, Set<string>>();
  const waiting: FunctionEntry[] = [];
  for (const module of modules) {
    const names = streamNames(module);
    own.set(module, names);
    for (const entry of functionsOf(module)) {
      if (mentionsStreams(module.text.slice(entry.node.start, entry.node.end))) {
        functions.add(entry.node);
        names.add(entry.node.name);
        if (entry.owner) names.add(entry.owner.name);
      } else waiting.push(entry);
    }
  }
  const seen = new Map(modules.map((module) => [module, [module, ...imports(module)]]));
  const isNamed = (names: ReadonlySet<string>, module: Module): boolean => {
    for (const other of seen.get(module) ?? [module]) {
      const known = own.get(other);
      if (known) for (const name of known) if (names.has(name)) return true;
    }
    return false;
  };
  // A method shares what it touches with the methods of its class that have to do with streams.
  const touchedBy = new Map<ClassDef, Set<string>>();
  for (const module of modules)
    for (const entry of functionsOf(module)) {
      if (!entry.owner || !functions.has(entry.node)) continue;
      const attributes = touchedBy.get(entry.owner) ?? new Set<string>();
      touchedBy.set(entry.owner, attributes);
      for (const name of attributesStored(entry)) attributes.add(name);
    }
  for (const entry of [...waiting]) {
    const shared = entry.owner && touchedBy.get(entry.owner);
    if (shared && attributesTouched(entry).some((name) => shared.has(name))) functions.add(entry.node);
  }
  for (let grown = true, turn = 0; grown && turn < 8; turn++) {
    grown = false;
    for (const entry of waiting) {
      if (functions.has(entry.node) || !isNamed(namesMentioned(entry.node), entry.module)) continue;
      functions.add(entry.node);
      grown = true;
      const names = own.get(entry.module);
      if (names && !tooCommon.has(entry.node.name)) names.add(entry.node.name);
    }
  }
  const nested = new Map<Node, boolean>();
  return {
    functions,
    concerns(node, module) {
      if (functions.has(node)) return true;
      let known = nested.get(node);
      if (known === undefined) {
        known = mentionsStreams(module.text.slice(node.start, node.end));
        nested.set(node, known);
      }
      return known;
    },
  };
}

function attributesTouched(entry: FunctionEntry): string[] {
  const text = entry.module.text.slice(entry.node.start, entry.node.end);
  return [...text.matchAll(/\bself\.(\w+)/g)].map((match) => match[1]!);
}

/** Attributes that a method sets, or whose contents it changes outside of its constructor. */
function attributesStored(entry: FunctionEntry): string[] {
  if (entry.node.name === '__init__') return [];
  const text = entry.module.text.slice(entry.node.start, entry.node.end);
  return [
    ...text.matchAll(
      /\bself\.(\w+)\s*(?:=[^=]|[-+*/|]=|\[|\.(?:append|put|add|extend|update|\w+_|narrow|view|chunk)\()/g,
    ),
  ].map((match) => match[1]!);
}

/** Method names that say nothing about whose they are. */
const tooCommon = new Set(
  (
    '__init__ __call__ __len__ __iter__ __next__ __getitem__ __repr__ __enter__ __exit__ forward backward get set add update ' +
    'to cuda cpu run step close reset append pop items keys values copy apply load save build create main train eval setup ' +
    'init start stop name size shape state_dict load_state_dict parameters'
  ).split(' '),
);

const holders = new WeakMap<Module, ReadonlySet<string>>();

/** Names and attributes that statements with a word of streams assign to. */
function streamNames(module: Module): Set<string> {
  let known = holders.get(module);
  if (!known) {
    const names = new Set<string>();
    if (mentionsStreams(module.text))
      walk(module, (node) => {
        if (node.kind !== 'Assign' && node.kind !== 'AnnAssign') return true;
        if (!mentionsStreams(module.text.slice(node.start, node.end))) return false;
        const assign = node as unknown as { targets?: readonly Expression[]; target?: Expression };
        for (const target of assign.targets ?? (assign.target ? [assign.target] : []))
          if (target.kind === 'Attribute') names.add(target.name);
          else if (target.kind === 'Name' && module.body.includes(node as never)) names.add(target.id);
        return false;
      });
    known = names;
    holders.set(module, known);
  }
  return new Set(known);
}
