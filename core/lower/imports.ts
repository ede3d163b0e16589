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
  /** What a name means in a file, by the file's directory: all files of one find the same. */
  readonly #cache = new Map<string, Map<string, Module | undefined>>();
  readonly #directories = new Map<Module, string>();

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
    const directory = this.#directoryOf(from);
    let cache = this.#cache.get(directory);
    if (!cache) {
      cache = new Map();
      this.#cache.set(directory, cache);
    }
    const key = level === 0 ? name : `${level}.${name}`;
    const known = cache.get(key);
    if (known || cache.has(key)) return known;
    const found = this.#search(directory, name, level);
    cache.set(key, found);
    return found;
  }

  /** The path of what one dot means, ending in `/` unless it is empty: a package's `__init__` stands for the package. */
  #directoryOf(from: Module): string {
    let directory = this.#directories.get(from);
    if (directory === undefined) {
      const path = pathOf(from.file);
      directory = /(^|\/)__init__\.pyi?$/.test(from.file) ? `${path}/` : path.slice(0, path.lastIndexOf('/') + 1);
      this.#directories.set(from, directory);
    }
    return directory;
  }

  #search(directory: string, name: string, level: number): Module | undefined {
    const tail = name.replaceAll('.', '/');
    if (level > 0) {
      let base = directory;
      for (let up = 1; up < level; up++) base = parentOf(base);
      return this.#byPath.get(tail ? base + tail : base.slice(0, -1));
    }
    for (let base = directory; ; base = parentOf(base)) {
      const found = this.#byPath.get(base + tail) ?? this.#byPath.get(`${base}src/${tail}`);
      if (found || base === '') return found;
    }
  }
}

/** Of a path that ends in `/`. */
function parentOf(directory: string): string {
  return directory.length < 2 ? '' : directory.slice(0, directory.lastIndexOf('/', directory.length - 2) + 1);
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
