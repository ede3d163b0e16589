/**
 * Who may call a function, or go on with what it did to their common object: found by its name, in the module itself and
 * in those that import it, before anything of them is parsed. A function is judged with its callers where its own run
 * leaves something to them: a tensor that is not joined yet, an order that depends on what they pass. Pure syntax; what a
 * run leaves open is not decided here.
 */
import type { ClassDef, Module, Statement } from '../python/ast.ts';
import { type FunctionEntry, functionsOf, namesMentioned, sharesState, tooCommon } from './entries.ts';
import type { ImportGraph } from './importGraph.ts';
import { codeOfNode } from './words.ts';

/** A name is handed on through so many modules at most: a package in a package in a package. */
const longestBridge = 3;

export interface Callers {
  readonly functions: readonly FunctionEntry[];
  /** Modules whose own code may call it. */
  readonly modules: readonly Module[];
}

export class CallerSearch {
  readonly #graph: ImportGraph;
  readonly #isTest: (module: Module) => boolean;
  readonly #users = new Map<Module, readonly Module[]>();
  readonly #topLevel = new WeakMap<Module, string>();

  constructor(graph: ImportGraph, isTest: (module: Module) => boolean) {
    this.#graph = graph;
    this.#isTest = isTest;
  }

  of({ module, node, owner }: FunctionEntry): Callers {
    // What Python or a module calls by itself is called through the object.
    const special = owner !== undefined && /^(__\w+__|forward)$/.test(node.name);
    const word = special ? owner.name : node.name;
    const functions: FunctionEntry[] = [];
    const modules: Module[] = [];
    for (const user of this.#usersOf(module)) {
      if (!user.text.includes(word) || (owner && user !== module && !user.text.includes(owner.name))) continue;
      const said = special ? [word, ...this.#heldAs(owner.name, user)] : [word];
      for (const candidate of functionsOf(user)) {
        if (candidate.node === node) continue;
        if (owner && candidate.owner === owner && sharesState(candidate.node, node, user)) {
          functions.push(candidate);
          continue;
        }
        const mentioned = namesMentioned(candidate.node, user);
        if (!said.some((name) => mentioned.has(name))) continue;
        if (!owner || special || candidate.owner === owner || !tooCommon.has(word) || names(candidate, owner))
          functions.push(candidate);
      }
      if (new RegExp(`\\b${word}\\b`, 'u').test(this.topLevelCode(user))) modules.push(user);
    }
    return { functions, modules };
  }

  /** The code of a module outside of functions, classes and imports. */
  topLevelCode(module: Module): string {
    let code = this.#topLevel.get(module);
    if (code === undefined) {
      code = module.body
        .filter((statement) => !isDeclaration(statement))
        .map((statement) => codeOfNode(statement, module))
        .join('\n');
      this.#topLevel.set(module, code);
    }
    return code;
  }

  /** Names and attributes under which a module keeps objects of a class. */
  #heldAs(cls: string, module: Module): readonly string[] {
    const assigned = new RegExp(`(\\w+)[ \\t]*(?::[^=\\n]+)?=[^=\\n][^\\n]*\\b${cls}\\b`, 'gu');
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

function isDeclaration({ kind }: Statement): boolean {
  return kind === 'FunctionDef' || kind === 'ClassDef' || kind === 'Import' || kind === 'ImportFrom';
}

function names(candidate: FunctionEntry, owner: ClassDef): boolean {
  const unit = candidate.owner ?? candidate.node;
  return new RegExp(`\\b${owner.name}\\b`, 'u').test(codeOfNode(unit, candidate.module));
}
