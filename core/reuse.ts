/**
 * Keeps the entries of the last lowering, and hands out those that an edit cannot have changed: an edit inside of one
 * function's body changes only what ran through that function. Everything else of the result stands, moved along with
 * the text behind the edit. An edit outside of function bodies, of the set of files, or of which functions have to do
 * with streams starts afresh.
 */
import type { LoweredEntry } from './lower/lowered.ts';
import type { LowerOptions } from './lower/lower.ts';
import { type BodyEdit, fileOf, Move, movedEntry } from './movedEntry.ts';
import type { ClassDef, FunctionDef, If, Module, Node, Statement } from './python/ast.ts';
import { branchesOf } from './python/branches.ts';

type Lower = (modules: readonly Module[], options: LowerOptions) => readonly LoweredEntry[];

export class LoweringMemory {
  readonly #lower: Lower;
  #modules = new Map<string, Module>();
  #entries = new Map<string, LoweredEntry>();
  #reach: ReadonlySet<string> = new Set();

  constructor(lower: Lower) {
    this.#lower = lower;
  }

  /** The same memory, to try a text without forgetting this one. */
  fork(): LoweringMemory {
    const copy = new LoweringMemory(this.#lower);
    copy.#modules = this.#modules;
    copy.#entries = this.#entries;
    copy.#reach = this.#reach;
    return copy;
  }

  /** Whether anything would be kept: the modules differ from the last ones inside of function bodies only. */
  covers(modules: readonly Module[]): boolean {
    return this.#editsTo(modules) !== undefined;
  }

  lower(modules: readonly Module[], leavesOpen?: LowerOptions['leavesOpen']): readonly LoweredEntry[] {
    const edits = this.#editsTo(modules);
    const move = edits && new Move(edits);
    const known = this.#entries;
    let reachNow: ReadonlySet<string> | undefined;
    let news: readonly string[] | undefined;
    const now = new Map<string, LoweredEntry>();
    const ambiguous = new Set<string>();
    const entries = this.#lower(modules, {
      ...(leavesOpen ? { leavesOpen } : {}),
      ran: (entry) => {
        const key = `${entry.name}\n${entry.file}`;
        if (now.has(key)) ambiguous.add(key);
        now.set(key, entry);
      },
      reuse: (name, file, reach) => {
        if (reach !== reachNow) news = edits && this.#newNames(reach, edits);
        reachNow = reach;
        const entry = news && known.get(`${name}\n${file}`);
        if (!entry || (news!.length && mentions(entry, move!, news!))) return undefined;
        return movedEntry(entry, move!);
      },
    });
    for (const key of ambiguous) now.delete(key);
    this.#entries = now;
    this.#modules = new Map(modules.map((module) => [module.file, module]));
    this.#reach = reachNow ?? new Set();
    return entries;
  }

  /**
   * Functions that do something now and did not: the edited ones, since half-typed ones have nothing to do with anything. Their callers run again. Undefined if there are others, in or out.
   */
  #newNames(reach: ReadonlySet<string>, edits: ReadonlyMap<string, BodyEdit>): readonly string[] | undefined {
    const edited = new Set([...edits].map(([file, { name }]) => `${file}#${name}`));
    for (const name of this.#reach) if (!reach.has(name) && !edited.has(name)) return undefined;
    // Who calls a function that did not parse ran past it.
    const news = [...edits.values()].flatMap(({ wasBroken, name }) => (wasBroken ? name.split('.') : []));
    for (const name of reach)
      if (!this.#reach.has(name)) {
        if (!edited.has(name)) return undefined;
        news.push(name.replace(/^.*[#.]/, ''));
      }
    return news;
  }

  /** The edit of each changed file; undefined where what there is cannot be kept. */
  #editsTo(modules: readonly Module[]): ReadonlyMap<string, BodyEdit> | undefined {
    if (modules.length !== this.#modules.size) return undefined;
    const edits = new Map<string, BodyEdit>();
    for (const module of modules) {
      const old = this.#modules.get(module.file);
      if (!old) return undefined;
      if (old === module) continue;
      const edit = bodyEdit(old, module);
      if (!edit) return undefined;
      edits.set(module.file, edit);
    }
    return edits;
  }
}

function bodyEdit(old: Module, module: Module): BodyEdit | undefined {
  const a = old.text;
  const b = module.text;
  if (a === b)
    return {
      module,
      place: '',
      name: '',
      wasBroken: false,
      prefix: a.length,
      by: 0,
      definitions: definitionsIn(module),
    };
  const shorter = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < shorter && a.charCodeAt(prefix) === b.charCodeAt(prefix)) prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && a.charCodeAt(a.length - 1 - suffix) === b.charCodeAt(b.length - 1 - suffix))
    suffix++;
  const inOld = functionHolding(old, prefix, a.length - suffix);
  const inNew = functionHolding(module, prefix, b.length - suffix);
  if (!inOld || !inNew || inOld.name !== inNew.name) return undefined;
  const from = inOld.definition.start;
  if (from !== inNew.definition.start) return undefined;
  // What does not parse elsewhere may have hidden more than one function.
  if (!old.errors.every(within(inOld.definition)) || !module.errors.every(within(inNew.definition))) return undefined;
  return {
    module,
    place: `${module.file}#${from}`,
    name: inNew.name,
    wasBroken: inOld.definition.broken,
    prefix,
    by: b.length - a.length,
    definitions: definitionsIn(module),
  };
}

function within(definition: FunctionDef): (error: Node) => boolean {
  return ({ start, end }) => definition.start <= start && end <= definition.end;
}

interface Held {
  readonly definition: FunctionDef;
  readonly name: string;
}

/** The top-level function or method in whose body, or in the gap behind it, the range lies. */
function functionHolding(module: Module, start: number, end: number): Held | undefined {
  let found: Held | undefined;
  const visit = (body: readonly Statement[], limit: number, prefix: string): void => {
    body.forEach((statement, i) => {
      const next = body[i + 1];
      const until = next ? startOf(next) : limit;
      if (statement.kind === 'ClassDef') visit(statement.body, until, `${prefix}${statement.name}.`);
      else if (statement.kind === 'FunctionDef') {
        const first = statement.body[0];
        if (first && first.start <= start && end < until)
          found = { definition: statement, name: prefix + statement.name };
      }
    });
  };
  visit(module.body, module.text.length + 1, '');
  return found;
}

function startOf(statement: Statement): number {
  if (statement.kind !== 'FunctionDef' && statement.kind !== 'ClassDef') return statement.start;
  const first = statement.decorators[0];
  // The `@` stands before the decorator's expression.
  return first ? first.start - 1 : statement.start;
}

function definitionsIn(module: Module): Map<number, FunctionDef | ClassDef> {
  const found = new Map<number, FunctionDef | ClassDef>();
  const visit = (node: unknown): void => {
    if (!node || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const element of node) visit(element);
      return;
    }
    const { kind } = node as { kind?: string };
    if (kind === 'FunctionDef' || kind === 'ClassDef') {
      const definition = node as FunctionDef | ClassDef;
      found.set(definition.start, definition);
      visit(definition.body);
    } else if (kind === 'If') visit(branchesOf(node as If));
    else if (kind === 'For' || kind === 'While' || kind === 'With' || kind === 'Try' || kind === 'Match')
      for (const value of Object.values(node))
        if (Array.isArray(value)) visit(value);
        else if (kind === undefined) visit((node as { body?: unknown }).body);
  };
  visit(module.body);
  return found;
}

/** Whether a function that the entry ran through, or module code, may call one of these names. */
function mentions(entry: LoweredEntry, move: Move, names: readonly string[]): boolean {
  if (entry.name === '<module>') return true;
  const word = new RegExp(`\\b(?:${names.join('|')})\\b`, 'u');
  return (entry.dependsOn ?? []).some((place) => {
    const file = fileOf(place);
    if (file === place) return false;
    const edit = move.editOf(file);
    // A function of another file imports the name from this one.
    if (!edit) return true;
    const definition = move.definition(file, Number(place.slice(file.length + 1)));
    return !definition || word.test(edit.module.text.slice(definition.start, definition.end));
  });
}
