/**
 * Which files of a set a change of one file can touch: those connected with it by imports, a few steps each way. Fixes
 * are tried on these alone, so that one fix in a large workspace does not cost an analysis of all of it.
 */
import { Workspace } from './lower/imports.ts';
import type { Module } from './python/ast.ts';

interface TextFile {
  readonly file: string;
  readonly text: string;
}

/** Imports followed, and importers of it. */
const importDepth = 3;
const importerDepth = 3;

export function connectedFiles(files: readonly TextFile[], file: string): Set<string> {
  const graph = new ImportGraph(files);
  const found = new Set([file]);
  let round = found;
  for (let depth = 0; depth < importerDepth && round.size; depth++) round = spread(round, found, graph.importersOf());
  round = found;
  for (let depth = 0; depth < importDepth && round.size; depth++) round = spread(round, found, graph);
  return found;
}

interface Edges {
  of(file: string): Iterable<string>;
}

function spread(from: ReadonlySet<string>, found: Set<string>, edges: Edges): Set<string> {
  const added = new Set<string>();
  for (const file of [...from])
    for (const other of edges.of(file))
      if (!found.has(other)) {
        found.add(other);
        added.add(other);
      }
  return added;
}

const importLine = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))/gm;

class ImportGraph implements Edges {
  readonly #modules = new Map<string, Module>();
  readonly #workspace: Workspace;
  readonly #imports = new Map<string, readonly string[]>();
  #importers: Map<string, string[]> | undefined;

  constructor(files: readonly TextFile[]) {
    for (const { file, text } of files)
      this.#modules.set(file, { kind: 'Module', file, text, body: [], errors: [], start: 0, end: text.length });
    this.#workspace = new Workspace([...this.#modules.values()]);
  }

  of(file: string): readonly string[] {
    let known = this.#imports.get(file);
    if (!known) {
      const module = this.#modules.get(file);
      known = module ? this.#read(module) : [];
      this.#imports.set(file, known);
    }
    return known;
  }

  importersOf(): Edges {
    if (!this.#importers) {
      this.#importers = new Map();
      for (const file of this.#modules.keys())
        for (const imported of this.of(file)) {
          const list = this.#importers.get(imported);
          if (list) list.push(file);
          else this.#importers.set(imported, [file]);
        }
    }
    const importers = this.#importers;
    return { of: (file) => importers.get(file) ?? [] };
  }

  #read(module: Module): string[] {
    const found = new Set<string>();
    const add = (name: string, level: number) => {
      const target = this.#workspace.find(module, name, level);
      if (target && target !== module) found.add(target.file);
    };
    for (const [, from, names, plain] of module.text.matchAll(importLine)) {
      if (from !== undefined) {
        const level = /^\.*/.exec(from)![0].length;
        const base = from.slice(level);
        add(base, level);
        // `from package import module`.
        for (const name of namesIn(names ?? '')) add(base ? `${base}.${name}` : name, level);
      } else for (const name of namesIn(plain ?? '')) add(name, 0);
    }
    return [...found];
  }
}

function namesIn(list: string): string[] {
  return list
    .replace(/[()\\]|#.*/g, ' ')
    .split(',')
    .map((name) => name.trim().split(/\s+/)[0] ?? '')
    .filter((name) => /^[\w.]+$/.test(name));
}
