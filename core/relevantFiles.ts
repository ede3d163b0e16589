/**
 * Which files of a workspace can matter to a check: those that mention streams, those that use what such a file defines,
 * and the modules that hand names on between them, such as a re-exporting `__init__.py` without any stream word. What has
 * nothing to do with streams is not entered by the analysis, so it is not read either. Works on text by patterns, before
 * any parse; too many files cost time, a missing one costs findings.
 */
import { mentionsStreams } from './lower/entries.ts';

/** A name is handed on through so many modules at most: a package in a package in a package. */
const longestBridge = 3;

interface Entry {
  readonly text: string;
  readonly streams: boolean;
  /** Names that it imports, with their leading dots; found when they are first asked for. */
  imports: readonly string[] | undefined;
  /** Names of its functions and classes, likewise. */
  defines: readonly string[] | undefined;
  /** Whether it uses a file that mentions streams, as of a state of the set. */
  uses: { readonly state: number; readonly is: boolean } | undefined;
}

export class RelevantFiles {
  readonly #entries = new Map<string, Entry>();
  /** Module path without suffix → file. */
  readonly #byModule = new Map<string, string>();

  /** Every part of a module path: an import whose first name is none of them is somebody else's. */
  readonly #parts = new Set<string>();
  /** Grows when a file comes or goes, or defines other names: only then can other files use other streams. */
  #state = 0;

  #selection: { readonly always: string; readonly files: readonly string[] } | undefined;

  set(file: string, text: string): void {
    const known = this.#entries.get(file);
    if (known?.text === text) return;
    const streams = mentionsStreams(text);
    const entry: Entry = { text, streams, imports: undefined, defines: undefined, uses: undefined };
    const sameNames = known?.streams === streams && (!streams || same(defines(known), defines(entry)));
    if (!sameNames) this.#state++;
    this.#entries.set(file, entry);
    if (!known) this.#addModule(file);
    // Typing inside of a function changes none of this, and then the selection stands.
    if (!sameNames || !same(imports(known), imports(entry)) || known.uses?.is !== this.#usesOf(file, entry, known))
      this.#selection = undefined;
  }

  delete(file: string): void {
    if (!this.#entries.delete(file)) return;
    this.#state++;
    this.#selection = undefined;
    if (this.#byModule.get(modulePath(file)) === file) this.#byModule.delete(modulePath(file));
  }

  clear(): void {
    this.#state++;
    this.#selection = undefined;
    this.#entries.clear();
    this.#byModule.clear();
    this.#parts.clear();
  }

  /** The relevant files, sorted by name. `always`: files that count whatever is in them. */
  select(always: ReadonlySet<string>): { file: string; text: string }[] {
    const key = [...always].sort().join('\n');
    if (this.#selection?.always !== key) this.#selection = { always: key, files: this.#choose(always) };
    return this.#selection.files.map((file) => ({ file, text: this.#entries.get(file)!.text }));
  }

  #choose(always: ReadonlySet<string>): string[] {
    const chosen = new Set<string>();
    const streams: string[] = [];
    for (const [file, entry] of this.#entries) {
      if (entry.streams) streams.push(file);
      if (entry.streams || always.has(file) || this.#usesStreams(file, entry)) chosen.add(file);
    }
    for (const bridge of this.#bridges(chosen, streams)) chosen.add(bridge);
    return [...chosen].sort();
  }

  /** Files on the way of imports from a chosen file to one that mentions streams, a few steps before it. */
  #bridges(chosen: ReadonlySet<string>, streams: readonly string[]): Set<string> {
    const importers = new Map<string, string[]>();
    const seen = new Set(chosen);
    const pending = [...chosen];
    for (let file = pending.pop(); file !== undefined; file = pending.pop())
      for (const name of imports(this.#entries.get(file)!)) {
        const target = this.#resolve(file, name);
        if (target === undefined) continue;
        const list = importers.get(target);
        if (list) list.push(file);
        else importers.set(target, [file]);
        if (seen.has(target)) continue;
        seen.add(target);
        pending.push(target);
      }
    const bridges = new Set<string>();
    let round: readonly string[] = streams;
    for (let step = 0; step < longestBridge && round.length; step++) {
      const next = round.flatMap((file) => importers.get(file) ?? []).filter((file) => !bridges.has(file));
      for (const file of next) bridges.add(file);
      round = [...new Set(next)];
    }
    return bridges;
  }

  #addModule(file: string): void {
    const path = modulePath(file);
    this.#byModule.set(path, file);
    for (const part of path.split('/')) this.#parts.add(part);
  }

  #usesOf(file: string, entry: Entry, known: Entry): boolean | undefined {
    return known.uses && this.#usesStreams(file, entry);
  }

  /** Whether it imports a file that mentions streams, and names something of it. */
  #usesStreams(file: string, entry: Entry): boolean {
    if (entry.uses?.state !== this.#state) {
      const is = imports(entry).some((name) => {
        const target = this.#resolve(file, name);
        const other = target === undefined ? undefined : this.#entries.get(target);
        return other?.streams === true && defines(other).some((defined) => entry.text.includes(defined));
      });
      entry.uses = { state: this.#state, is };
    }
    return entry.uses.is;
  }

  /** The nearest file that the name can mean: upward from the importing file for an absolute one, by dots for a relative one. */
  #resolve(from: string, name: string): string | undefined {
    const first = /^\w*/.exec(name)![0];
    if (first && !this.#parts.has(first)) return undefined;
    const parts = modulePath(from).split('/');
    const isPackage = /(?:^|[\\/])__init__\.py$/.test(from);
    const folder = isPackage ? parts : parts.slice(0, -1);
    const dots = /^\.*/.exec(name)![0].length;
    const tail = name.slice(dots).split('.').filter(Boolean);
    if (dots) return this.#byModule.get([...folder.slice(0, folder.length - dots + 1), ...tail].join('/'));
    for (let depth = folder.length; depth >= 0; depth--) {
      const base = folder.slice(0, depth);
      const found =
        this.#byModule.get([...base, ...tail].join('/')) ?? this.#byModule.get([...base, 'src', ...tail].join('/'));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const same = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((name, i) => name === b[i]);

const imports = (entry: Entry): readonly string[] => {
  entry.imports ??= importedNames(entry.text);
  return entry.imports;
};

const defines = (entry: Entry): readonly string[] => {
  entry.defines ??= [...entry.text.matchAll(definition)].map(([, name]) => name!);
  return entry.defines;
};

const definition = /^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)/gm;
const importLine = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#]+))/gm;

/** `a.b` for `import a.b`; `a`, `a.x` and `a.y` for `from a import x, y`, since either may be a module. */
function importedNames(text: string): string[] {
  const names = new Set<string>();
  for (const [, module, imported, plain] of text.matchAll(importLine)) {
    if (plain) for (const name of listed(plain)) for (const prefix of prefixes(name)) names.add(prefix);
    if (!module) continue;
    for (const prefix of prefixes(module)) names.add(prefix);
    for (const name of listed(imported!)) names.add(/[^.]$/.test(module) ? `${module}.${name}` : module + name);
  }
  return [...names];
}

/** Importing `a.b.c` runs `a` and `a.b` too. */
function prefixes(name: string): string[] {
  const dots = /^\.*/.exec(name)![0];
  const parts = name.slice(dots.length).split('.').filter(Boolean);
  if (!parts.length) return [dots];
  return parts.map((_, i) => dots + parts.slice(0, i + 1).join('.'));
}

const listed = (text: string) =>
  text
    .replace(/#[^\n]*/g, '')
    .split(/[(),\\\s]*[,(\n][(),\\\s]*|[(),\\]+/)
    .map((part) => /^\s*([.\w]+)/.exec(part)?.[1] ?? '')
    .filter((name) => name !== '' && name !== 'as');

const modulePath = (file: string) =>
  file
    .replaceAll('\\', '/')
    .replace(/\.py$/, '')
    .replace(/\/__init__$/, '');
