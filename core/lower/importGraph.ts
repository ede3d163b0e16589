/**
 * Which modules of a run import which others, read from their texts: nothing is parsed for it. Only module code and its
 * blocks are looked through line by line; an import inside of a string would be taken for one, which costs time and
 * changes nothing.
 */
import type { Module } from '../python/ast.ts';
import { Workspace } from './imports.ts';

const importLine = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))/gm;

interface Imported {
  readonly name: string;
  readonly level: number;
}

/** By the module: what an edit of another file leaves as it was is not read again. */
const written = new WeakMap<Module, readonly Imported[]>();

function importsIn(module: Module): readonly Imported[] {
  let names = written.get(module);
  if (!names) {
    const found: Imported[] = [];
    for (const [, from, imported, plain] of module.text.matchAll(importLine)) {
      if (from !== undefined) {
        const level = /^\.*/.exec(from)![0].length;
        const base = from.slice(level);
        found.push({ name: base, level });
        // `from package import module`.
        for (const name of namesIn(imported ?? '')) found.push({ name: base ? `${base}.${name}` : name, level });
      } else for (const name of namesIn(plain ?? '')) found.push({ name, level: 0 });
    }
    names = found;
    written.set(module, names);
  }
  return names;
}

function namesIn(list: string): string[] {
  return list
    .replace(/[()\\]|#.*/g, ' ')
    .split(',')
    .map((name) => name.trim().split(/\s+/)[0] ?? '')
    .filter((name) => /^[\w.]+$/.test(name));
}

/** A name is handed on through so many modules at most: a package in a package in a package. */
export const longestBridge = 3;

export class ImportGraph {
  readonly #modules: readonly Module[];
  readonly #workspace: Workspace;
  readonly #imports = new Map<Module, readonly Module[]>();
  #importers: Map<Module, Module[]> | undefined;

  constructor(modules: readonly Module[], workspace = new Workspace(modules)) {
    this.#modules = modules;
    this.#workspace = workspace;
  }

  /** Modules of the run that it imports. */
  of(module: Module): readonly Module[] {
    let known = this.#imports.get(module);
    if (!known) {
      const found = new Set<Module>();
      for (const { name, level } of importsIn(module)) {
        const target = this.#workspace.find(module, name, level);
        if (target && target !== module) found.add(target);
      }
      known = [...found];
      this.#imports.set(module, known);
    }
    return known;
  }

  /** Modules of the run that import it. */
  importersOf(module: Module): readonly Module[] {
    if (!this.#importers) {
      this.#importers = new Map();
      for (const importer of this.#modules)
        for (const imported of this.of(importer)) {
          const list = this.#importers.get(imported);
          if (list) list.push(importer);
          else this.#importers.set(imported, [importer]);
        }
    }
    return this.#importers.get(module) ?? [];
  }
}
