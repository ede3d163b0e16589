/**
 * Which module of the run an import names. Files are matched by path: an absolute import by the nearest directory at or
 * above the importing file, a relative one by its dots. Knows no effects of importing.
 */
import type { Module, Node } from '../python/ast.ts';

/** Never taken from the workspace, even where the workspace is a copy of site-packages. */
const alwaysExternal = new Set(
  (
    'torch numpy triton contextlib functools itertools collections dataclasses typing abc os sys math time random ' +
    'threading queue logging copy types enum warnings weakref concurrent multiprocessing asyncio torchvision cupy'
  ).split(' '),
);

export class Workspace {
  readonly #byPath = new Map<string, Module>();
  readonly #firstNames = new Set<string>();
  /** Files that a file imports, as far as they are of this run. */
  readonly #cache = new Map<Module, Map<string, Module | undefined>>();

  constructor(
    readonly modules: readonly Module[],
    /** Whether a function has to do with streams. */
    readonly concerns: (node: Node, module: Module) => boolean = () => true,
  ) {
    for (const module of modules) {
      let parts = partsOf.get(module);
      if (!parts) {
        parts = pathOf(module.file).split('/');
        partsOf.set(module, parts);
      }
      this.#byPath.set(parts.join('/'), module);
      for (const part of parts) this.#firstNames.add(part);
    }
  }

  /** The module that `name` means in `from`, `level` dots deep (0: absolute). */
  find(from: Module, name: string, level: number): Module | undefined {
    const first = name.split('.', 1)[0]!;
    if (level === 0 && (alwaysExternal.has(first) || !this.#firstNames.has(first))) return undefined;
    let cache = this.#cache.get(from);
    if (!cache) {
      cache = new Map();
      this.#cache.set(from, cache);
    }
    const key = level === 0 ? name : `${level}.${name}`;
    const known = cache.get(key);
    if (known || cache.has(key)) return known;
    const found = this.#search(from, name, level);
    cache.set(key, found);
    return found;
  }

  #search(from: Module, name: string, level: number): Module | undefined {
    const parts = pathOf(from.file).split('/');
    // A package's `__init__` stands for the package, so one dot is the package itself.
    const isPackage = /(^|\/)__init__\.pyi?$/.test(from.file);
    let directory = isPackage ? parts : parts.slice(0, -1);
    const tail = name === '' ? [] : name.split('.');
    if (level > 0) {
      directory = directory.slice(0, directory.length - (level - 1));
      return this.#byPath.get([...directory, ...tail].join('/'));
    }
    for (let depth = directory.length; depth >= 0; depth--) {
      const base = directory.slice(0, depth);
      const found =
        this.#byPath.get([...base, ...tail].join('/')) ?? this.#byPath.get([...base, 'src', ...tail].join('/'));
      if (found) return found;
    }
    return undefined;
  }
}

/** Most modules of a run are the same as in the run before. */
const partsOf = new WeakMap<Module, readonly string[]>();

function pathOf(file: string): string {
  return file
    .replace(/\\/g, '/')
    .replace(/\.pyi?$/, '')
    .replace(/\/__init__$/, '');
}

/** A dotted name for messages and identity. */
export function moduleName(module: Module): string {
  const parts = pathOf(module.file).split('/');
  return parts[parts.length - 1] ?? module.file;
}
