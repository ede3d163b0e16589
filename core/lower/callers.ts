/**
 * Who may call a function, or go on with what it did to their common object: found by its name, in the module itself and
 * in those that import it, before anything of them is parsed. A function is judged with its callers where its own run
 * leaves something to them: a tensor that is not joined yet, an order that depends on what they pass. Pure syntax; what a
 * run leaves open is not decided here.
 */
import type { ClassDef, FunctionDef, Module, Statement } from '../python/ast.ts';
import { type FunctionEntry, functionsOf, listOf, namesMentioned, sharesState, tooCommon } from './entries.ts';
import { handedOn } from './handedOn.ts';
import { type ImportGraph, longestBridge } from './importGraph.ts';
import { classNamed, classNames, inheritedCallers } from './inherited.ts';
import { codeOfNode } from './words.ts';

export interface Callers {
  /** The nearest first; searched for as they are asked for. */
  readonly functions: Iterable<FunctionEntry>;
  /** Modules whose own code may call it. */
  readonly modules: Iterable<Module>;
}

/** How code comes to an object of a class: by the class, by a function that gives it, or by a class that makes its holder. */
interface Way {
  readonly name: string;
  /** Modules that may call it by that name. */
  readonly users: readonly Module[];
  readonly gives: 'object' | 'holder';
  /** Classes of the holders. */
  readonly holders: readonly Holder[];
  /** Functions that give what they get to the constructor of another object. */
  readonly builders: readonly { readonly entry: FunctionEntry; readonly holders: readonly Holder[] }[];
}

/** A class whose constructor takes the object. */
type Holder = readonly [cls: ClassDef, module: Module];

/** From hand to hand so many times, and so many ways in all; functions that are looked into for one class. */
const longestWay = 3;
const mostWays = 8;
const mostLookedInto = 48;

export class CallerSearch {
  readonly #graph: ImportGraph;
  readonly #isTest: (module: Module) => boolean;
  readonly #users = new Map<Module, readonly Module[]>();
  readonly #mentions = new Map<Module, ReadonlyMap<string, readonly FunctionEntry[]>>();
  readonly #topLevel = new WeakMap<Module, string>();
  readonly #usersOfClass = new Map<ClassDef, readonly Module[]>();
  readonly #ways = new Map<ClassDef, readonly Way[]>();

  constructor(graph: ImportGraph, isTest: (module: Module) => boolean) {
    this.#graph = graph;
    this.#isTest = isTest;
  }

  /** `leftIn`: the attributes of its object in which it leaves what others have to order; left out: any. */
  of(entry: FunctionEntry, leftIn?: readonly string[]): Callers {
    // What is called with an object of a subclass is called by its base.
    if (entry.receiver) return { functions: [], modules: [] };
    const users = this.#usersOf(entry.module);
    const { owner } = entry;
    if (!owner) return { functions: this.#functions(entry, users), modules: this.#modules(entry, users) };
    return {
      functions: chain(this.#functions(entry, users, leftIn), this.#functionsAlong(entry, owner)),
      modules: chain(this.#modules(entry, users), this.#modulesAlong(entry, owner)),
    };
  }

  /** Those that are programs: code of modules that calls it, or calls a function that does. */
  programsOf(entry: FunctionEntry): Callers {
    if (entry.receiver) return { functions: [], modules: [] };
    const users = this.#usersOf(entry.module).filter((user) => user === entry.module || user.text.includes('__main__'));
    const functions = [...this.#functions(entry, users)].filter(({ node, module }) =>
      word(node.name).test(this.topLevelCode(module)),
    );
    return { functions, modules: this.#modules(entry, users) };
  }

  *#functions(
    entry: FunctionEntry,
    users: readonly Module[],
    leftIn?: readonly string[],
  ): Generator<FunctionEntry, void, undefined> {
    const { module, node, owner } = entry;
    const name = nameOf(entry);
    const special = name !== node.name;
    for (const user of users) {
      if (!mayName(user, entry, name)) continue;
      const said = special ? [name, ...this.#heldAs(owner!.name, user)] : [name];
      const found = this.#mentioning(user, said).filter(
        (candidate) =>
          candidate.node !== node &&
          (!owner || special || candidate.owner === owner || !tooCommon.has(name) || names(candidate, owner)),
      );
      if (owner && user === module) addSharers(found, entry, leftIn);
      yield* found;
    }
    yield* inheritedCallers(entry, (user) => this.#graph.of(user));
  }

  *#modules(entry: FunctionEntry, users: readonly Module[]): Generator<Module, void, undefined> {
    const name = nameOf(entry);
    const whole = word(name);
    for (const user of users) if (mayName(user, entry, name) && whole.test(this.topLevelCode(user))) yield user;
  }

  /** Those who get the object of a method from somebody, or have it run by one that they give it to. */
  *#functionsAlong(entry: FunctionEntry, owner: ClassDef): Generator<FunctionEntry, void, undefined> {
    const name = nameOf(entry);
    const special = name !== entry.node.name;
    const calls = this.#calling(entry);
    for (const [i, { name: way, users, gives, holders, builders }] of this.#waysTo(owner, entry.module).entries()) {
      for (const builder of builders)
        if (!isConstructor(builder.entry.node) && calls(builder.holders)) yield builder.entry;
      if (i === 0 || (gives === 'holder' && !calls(holders))) continue;
      for (const user of users) {
        if (!namesIt(user, way)) continue;
        const said = special ? [way, ...this.#heldAs(way, user, true)] : gives === 'holder' ? [way] : [name];
        yield* this.#mentioning(user, said).filter(({ node, owner: of }) => of !== owner && !isConstructor(node));
      }
    }
  }

  *#modulesAlong(entry: FunctionEntry, owner: ClassDef): Generator<Module, void, undefined> {
    const name = nameOf(entry);
    const special = name !== entry.node.name;
    const calls = this.#calling(entry);
    for (const [i, { name: way, users, gives, holders }] of this.#waysTo(owner, entry.module).entries())
      for (const user of users) {
        const code = namesIt(user, way) ? this.topLevelCode(user) : '';
        if (!word(way).test(code)) continue;
        const runs = i > 0 && (gives === 'holder' ? calls(holders) : special || word(name).test(code));
        if (runs || calls(this.#holders(handedOn(ownCode(user), way, gives).into, user))) yield user;
      }
  }

  /** Whether one of the classes has a method that calls the entry. */
  #calling({ node }: FunctionEntry): (holders: readonly Holder[]) => boolean {
    const imports = (module: Module): readonly Module[] => this.#graph.of(module);
    return (holders) => holders.some(([cls, module]) => classNames(node.name, cls, module, imports));
  }

  /** Those of the classes that are the program's own. */
  #holders(names: ReadonlySet<string>, user: Module): readonly Holder[] {
    return [...names].flatMap((name) => {
      const holder = classNamed(name, undefined, user, (module) => this.#graph.of(module));
      return holder ? [holder] : [];
    });
  }

  /** The nearest first; the class itself before all. */
  #waysTo(cls: ClassDef, home: Module): readonly Way[] {
    const known = this.#ways.get(cls);
    if (known) return known;
    const ways: Way[] = [];
    this.#ways.set(cls, ways);
    let round: Omit<Way, 'builders'>[] = [{ name: cls.name, users: this.#usersOf(home), gives: 'object', holders: [] }];
    let lookedInto = 0;
    for (let step = 0; step <= longestWay && round.length > 0; step++) {
      const next: typeof round = [];
      for (const way of round) {
        const builders: Way['builders'][number][] = [];
        ways.push({ ...way, builders });
        for (const user of way.users)
          for (const candidate of namesIt(user, way.name) ? this.#mentioning(user, [way.name]) : []) {
            const { node, owner } = candidate;
            if (owner === cls) continue;
            if (ways.length > mostWays || lookedInto++ === mostLookedInto) return ways;
            const { gives, into } = handedOn([node], way.name, way.gives);
            const holders = this.#holders(into, user);
            if (holders.length > 0) builders.push({ entry: candidate, holders });
            const holds = holders.length > 0 && owner && isConstructor(node);
            const name = holds ? owner.name : node.name;
            if (!(holds || gives) || tooCommon.has(name)) continue;
            // Who calls a method by its name alone may mean that of another class.
            const users = owner ? this.#usersNaming(owner, user) : this.#usersOf(user);
            if ([...ways, ...next].some((one) => one.name === name && one.users === users)) continue;
            const kept = [...way.holders, ...holders];
            next.push({ name, users, gives: holds ? 'holder' : gives!, holders: kept });
          }
      }
      round = next;
    }
    return ways;
  }

  #usersNaming(cls: ClassDef, home: Module): readonly Module[] {
    let users = this.#usersOfClass.get(cls);
    if (!users) {
      users = this.#usersOf(home).filter((user) => namesIt(user, cls.name));
      this.#usersOfClass.set(cls, users);
    }
    return users;
  }

  /** Functions of a module that call or pass on one of these names, as they stand in it. */
  #mentioning(module: Module, said: readonly string[]): readonly FunctionEntry[] {
    let index = this.#mentions.get(module);
    if (!index) {
      index = byMention(module);
      this.#mentions.set(module, index);
    }
    const [only] = said;
    if (only !== undefined && said.length === 1) return index.get(only) ?? [];
    return [...new Set(said.flatMap((name) => index.get(name) ?? []))].sort(byPlace);
  }

  /** The code of a module outside of functions, classes and imports. */
  topLevelCode(module: Module): string {
    let code = this.#topLevel.get(module);
    if (code === undefined) {
      code = outermost(codeOfNode(module, module));
      this.#topLevel.set(module, code);
    }
    return code;
  }

  /**
   * Names and attributes under which a module keeps what a class, or a function that gives its objects, makes. `isSeen`:
   * only those that other functions see.
   */
  #heldAs(maker: string, module: Module, isSeen = false): readonly string[] {
    const from = isSeen ? '(?:^|\\.)' : '';
    const assigned = new RegExp(`${from}(\\w+)[ \\t]*(?::[^=\\n]+)?=[^=\\n][^\\n]*\\b${maker}\\b`, 'gmu');
    return [...codeOfNode(module, module).matchAll(assigned)].map(([, name]) => name!);
  }

  /** The module, and those that import it, or a module that hands its names on. */
  #usersOf(module: Module): readonly Module[] {
    let users = this.#users.get(module);
    if (!users) {
      const found = new Set([module]);
      let round = [module];
      for (let step = 0; step < longestBridge && round.length; step++) {
        const next: Module[] = [];
        for (const user of round.flatMap((target) => this.#graph.importersOf(target))) {
          if (found.has(user) || this.#isTest(user)) continue;
          found.add(user);
          // Packages hand on what they import.
          if (/__init__\.py$/.test(user.file)) next.push(user);
        }
        round = next;
      }
      users = [...found];
      this.#users.set(module, users);
    }
    return users;
  }
}

function byMention(module: Module): ReadonlyMap<string, readonly FunctionEntry[]> {
  const index = new Map<string, FunctionEntry[]>();
  for (const entry of functionsOf(module))
    for (const name of namesMentioned(entry.node, module)) listOf(index, name).push(entry);
  return index;
}

/** Methods of the same class go on with what it stored, also where they do not call it. */
function addSharers(
  functions: FunctionEntry[],
  { module, node, owner }: FunctionEntry,
  leftIn: readonly string[] | undefined,
): void {
  const known = new Set(functions);
  const before = functions.length;
  for (const other of functionsOf(module))
    if (
      other.owner === owner &&
      other.node !== node &&
      !known.has(other) &&
      sharesState(other.node, node, module, leftIn)
    )
      functions.push(other);
  if (before > 0 && functions.length > before) functions.sort(byPlace);
}

function byPlace(a: FunctionEntry, b: FunctionEntry): number {
  return a.node.start - b.node.start;
}

/** What its callers write: what Python or a module calls by itself is called through the object. */
function nameOf({ node, owner }: FunctionEntry): string {
  return owner !== undefined && /^(__\w+__|forward)$/.test(node.name) ? owner.name : node.name;
}

/** Known before anything of the module is parsed; the function's own is parsed, and names it. */
function mayName(user: Module, { module, owner }: FunctionEntry, name: string): boolean {
  return user === module || [name, ...(owner ? [owner.name] : [])].every((each) => namesIt(user, each));
}

function namesIt(user: Module, name: string): boolean {
  return user.text.includes(name) && word(name).test(codeOfNode(user, user));
}

function isConstructor({ name }: FunctionDef): boolean {
  return name === '__init__';
}

/** What a module runs by itself. */
function ownCode({ body }: Module): readonly Statement[] {
  return body.filter(({ kind }) => kind !== 'FunctionDef' && kind !== 'ClassDef');
}

function* chain<T>(...parts: readonly Iterable<T>[]): Generator<T, void, undefined> {
  for (const part of parts) yield* part;
}

/** What stands outside of functions, classes and imports, as the first characters of lines tell: nothing is parsed for it. */
function outermost(code: string): string {
  let isRun = true;
  return code
    .split(beginsLine)
    .filter((part) => {
      if (!continues.test(part)) isRun = !declares.test(part);
      return isRun;
    })
    .join('');
}

const beginsLine = /^(?=\S)/m;
const continues = /^[)\]}]/;
const declares = /^(?:@|(?:async[ \t]+)?def\b|class\b|(?:import|from)\b[^;]*$)/;

function word(name: string): RegExp {
  return new RegExp(`\\b${name}\\b`, 'u');
}

function names(candidate: FunctionEntry, owner: ClassDef): boolean {
  const unit = candidate.owner ?? candidate.node;
  return word(owner.name).test(codeOfNode(unit, candidate.module));
}
