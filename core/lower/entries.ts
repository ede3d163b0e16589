/**
 * Where execution may start: module code, functions and methods that no known caller judges, and which of them can
 * reach anything that has to do with streams. Pure syntax.
 */
import type { ClassDef, FunctionDef, Module, Node, Statement } from '../python/ast.ts';
import { branchesOf } from '../python/branches.ts';
import { codeOfNode, moduleMentionsStreams, speaksOfStreams } from './words.ts';

/** What the text of a function tells, wherever it stands. */
interface Facts {
  /** It has a word of streams, if its module has to do with them at all. */
  readonly says: boolean;
  /** Names that it calls or passes on: plain names and attribute names. */
  readonly mentions: ReadonlySet<string>;
  /** Attributes of `self` that it uses. */
  readonly touches: readonly string[];
  /** Attributes that it sets, or whose contents it changes, outside of a constructor. */
  readonly stores: readonly string[];
}

const facts = new WeakMap<Node, Facts>();
/** By file, the facts of its latest text: an edit moves every function behind it, and changes one. */
const latest = new Map<string, ReadonlyMap<string, Facts>>();

function factsOf(node: FunctionDef, module: Module): Facts {
  let known = facts.get(node);
  if (!known) {
    readFacts(module);
    known = facts.get(node) ?? examine(node, module);
    facts.set(node, known);
  }
  return known;
}

function readFacts(module: Module): void {
  const before = latest.get(module.file);
  const now = new Map<string, Facts>();
  for (const { node } of functionsOf(module)) {
    const text = module.text.slice(node.start, node.end);
    const known = facts.get(node) ?? before?.get(text) ?? examine(node, module);
    facts.set(node, known);
    now.set(text, known);
  }
  latest.set(module.file, now);
}

function examine(node: FunctionDef, module: Module): Facts {
  const code = codeOfNode(node, module);
  const mentions = new Set(code.match(identifier));
  mentions.delete(node.name);
  return {
    says: speaksOfStreams(code),
    mentions,
    touches: [...new Set([...code.matchAll(/\bself\.(\w+)/g)].map((match) => match[1]!))],
    stores: storesOf(node, code),
  };
}

const identifier = /[A-Za-z_]\w*/g;
const stored = /\bself\.(\w+)\s*(?:=[^=]|[-+*/|]=|\[|\.(?:append|put|add|extend|update|\w+_|narrow|view|chunk)\()/g;

const added = /\bself\.(\w+)\.(?:append|put|add|extend|update)\(/g;

/** What a constructor sets is there from the start; hooks inside of it add to lists when they are called. */
function storesOf({ name }: FunctionDef, code: string): string[] {
  if (name === '__init__' && !/\.register_\w*hook\(/.test(code)) return [];
  return [...code.matchAll(name === '__init__' ? added : stored)].map((match) => match[1]!);
}

const said = new WeakMap<Node, boolean>();

/**
 * Whether the text of a function, a lambda or a module has a word of streams. What is kept holds for the text alone: whether
 * its module has to do with them may change with an edit elsewhere.
 */
export function saysStreams(node: Node, module: Module): boolean {
  if (!moduleMentionsStreams(module)) return false;
  let known = facts.get(node)?.says ?? said.get(node);
  if (known === undefined) {
    known = speaksOfStreams(codeOfNode(node, module));
    said.set(node, known);
  }
  return known;
}

/** Names that a function calls or passes on. */
export function namesMentioned(node: FunctionDef, module: Module): ReadonlySet<string> {
  return factsOf(node, module).mentions;
}

/** Whether a method uses an attribute that another one sets, or whose contents the other changes: one of `among`, if given. */
export function sharesState(
  method: FunctionDef,
  writer: FunctionDef,
  module: Module,
  among?: readonly string[],
): boolean {
  const stores = factsOf(writer, module).stores.filter((name) => among === undefined || among.includes(name));
  return stores.length > 0 && factsOf(method, module).touches.some((name) => stores.includes(name));
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
  /** The file and the offset of the function in it: `a.py#120`. */
  readonly place: string;
  /** The class of the object that it runs with, where that inherits it. */
  readonly receiver?: { readonly module: Module; readonly cls: ClassDef };
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
        entries.push({
          kind: 'function',
          module,
          node: statement,
          name: prefix + statement.name,
          place: `${module.file}#${statement.start}`,
          ...(owner ? { owner } : {}),
        });
      } else if (statement.kind === 'ClassDef') {
        if (!owner) visit(statement.body, statement, `${prefix}${statement.name}.`);
      } else if (statement.kind === 'If') {
        for (const branch of branchesOf(statement)) visit(branch, owner, prefix);
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
      if (saysStreams(entry.node, module)) {
        functions.add(entry.node);
        names.add(entry.node.name);
        if (entry.owner) names.add(entry.owner.name);
      } else waiting.push(entry);
    }
  }
  // A method shares what it touches with the methods of its class that have to do with streams.
  const touchedBy = new Map<ClassDef, Set<string>>();
  for (const module of modules)
    for (const entry of functionsOf(module)) {
      if (!entry.owner || !functions.has(entry.node)) continue;
      const attributes = touchedBy.get(entry.owner) ?? new Set<string>();
      touchedBy.set(entry.owner, attributes);
      for (const name of factsOf(entry.node, entry.module).stores) attributes.add(name);
    }
  for (const entry of [...waiting]) {
    const shared = entry.owner && touchedBy.get(entry.owner);
    if (shared && factsOf(entry.node, entry.module).touches.some((name) => shared.has(name))) functions.add(entry.node);
  }
  spread(waiting, functions, own, imports);
  return {
    functions,
    concerns(node, module) {
      return functions.has(node) || saysStreams(node, module);
    },
  };
}

/**
 * Adds the functions that mention a name of their module, or of one that it imports, which stands for a stream or for a
 * function that was reached before; their own names then stand for one as well.
 */
function spread(
  waiting: readonly FunctionEntry[],
  functions: Set<Node>,
  own: ReadonlyMap<Module, Set<string>>,
  imports: (module: Module) => readonly Module[],
): void {
  /** Modules that see the names of a module. */
  const seeing = new Map<Module, Module[]>();
  const inModule = new Map<Module, FunctionEntry[]>();
  for (const entry of waiting) listOf(inModule, entry.module).push(entry);
  for (const module of inModule.keys())
    for (const other of [module, ...imports(module)]) if (own.has(other)) listOf(seeing, other).push(module);
  const mentioning = new Map<Module, Map<string, FunctionEntry[]>>();
  const mentioningIn = (module: Module): Map<string, FunctionEntry[]> => {
    let index = mentioning.get(module);
    if (!index) {
      index = new Map();
      for (const entry of inModule.get(module) ?? [])
        for (const name of namesMentioned(entry.node, module)) listOf(index, name).push(entry);
      mentioning.set(module, index);
    }
    return index;
  };
  const fresh: [Module, string][] = [];
  for (const [module, names] of own) for (const name of names) fresh.push([module, name]);
  for (let next = fresh.pop(); next; next = fresh.pop()) {
    const [module, name] = next;
    for (const reader of seeing.get(module) ?? [])
      for (const entry of mentioningIn(reader).get(name) ?? []) {
        if (functions.has(entry.node)) continue;
        functions.add(entry.node);
        const names = own.get(reader);
        const stands = !tooCommon.has(entry.node.name)
          ? entry.node.name
          : entry.owner && isStaticForward(entry.node)
            ? entry.owner.name
            : undefined;
        if (!names || stands === undefined || names.has(stands)) continue;
        names.add(stands);
        fresh.push([reader, stands]);
      }
  }
}

/** The list of a key, a new one where there is none. */
export function listOf<K, V>(map: Map<K, V[]>, key: K): V[] {
  let list = map.get(key);
  if (!list) {
    list = [];
    map.set(key, list);
  }
  return list;
}

/** An autograd Function's: run by what names the class. */
export function isStaticForward({ name, decorators }: FunctionDef): boolean {
  return name === 'forward' && decorators.some((one) => one.kind === 'Name' && one.id === 'staticmethod');
}

/** Method names that say nothing about whose they are. */
export const tooCommon: ReadonlySet<string> = new Set(
  (
    '__init__ __call__ __len__ __iter__ __next__ __getitem__ __repr__ __enter__ __exit__ forward backward get set add update ' +
    'to cuda cpu run step close reset append pop items keys values copy apply load save build create main train eval setup ' +
    'init start stop name size shape state_dict load_state_dict parameters'
  ).split(' '),
);

const holders = new WeakMap<Statement, readonly string[]>();
const latestHolders = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** Names and attributes that statements with a word of streams assign to. */
function streamNames(module: Module): Set<string> {
  const names = new Set<string>();
  if (!moduleMentionsStreams(module)) return names;
  const before = latestHolders.get(module.file);
  const now = new Map<string, readonly string[]>();
  for (const statement of module.body) {
    const text = module.text.slice(statement.start, statement.end);
    const known = holders.get(statement) ?? before?.get(text) ?? holdersIn(statement, module);
    holders.set(statement, known);
    now.set(text, known);
    for (const name of known) names.add(name);
  }
  latestHolders.set(module.file, now);
  return names;
}

function holdersIn(statement: Statement, module: Module): readonly string[] {
  if (!saysStreams(statement, module)) return [];
  const names = new Set<string>();
  for (const [line, indent, owner, name] of codeOfNode(statement, module).matchAll(assignment))
    if (speaksOfStreams(line) && (owner || indent === '')) names.add(name!);
  return [...names];
}

/** A name at the top of the module, or an attribute, that is given a value. */
const assignment = /^([ \t]*)((?:\w+\.)*)(\w+)[ \t]*(?::[^=\n]+)?=[^=\n][^\n]*/gm;
