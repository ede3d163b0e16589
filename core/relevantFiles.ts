/**
 * Which files of a workspace can matter to a check: those that mention streams, and what they import, directly or not. A
 * re-exporting `__init__.py` or a helper that only computes has no stream word in it and still carries tensors across.
 * Reads text by patterns, before any parse; too many files cost time, a missing one costs findings.
 */

const streamWords = /tream|non_blocking|async_op|cuda\.Event|CUDAGraph|cuda\.graph/;

export const mentionsStreams = (text: string) => streamWords.test(text);

interface Entry {
  readonly text: string;
  readonly streams: boolean;
  /** Names that it imports, with their leading dots; found when they are first asked for. */
  imports: readonly string[] | undefined;
}

export class RelevantFiles {
  readonly #entries = new Map<string, Entry>();
  /** Module path without suffix → file. */
  readonly #byModule = new Map<string, string>();

  set(file: string, text: string): void {
    const known = this.#entries.get(file);
    if (known?.text === text) return;
    this.#entries.set(file, { text, streams: mentionsStreams(text), imports: undefined });
    this.#byModule.set(modulePath(file), file);
  }

  delete(file: string): void {
    this.#entries.delete(file);
    if (this.#byModule.get(modulePath(file)) === file) this.#byModule.delete(modulePath(file));
  }

  clear(): void {
    this.#entries.clear();
    this.#byModule.clear();
  }

  /** The relevant files, sorted by name. `always`: files that count whatever is in them. */
  select(always: ReadonlySet<string>): { file: string; text: string }[] {
    const chosen = new Set<string>();
    const pending: string[] = [];
    const choose = (file: string | undefined) => {
      if (file === undefined || chosen.has(file)) return;
      chosen.add(file);
      pending.push(file);
    };
    for (const [file, { streams }] of this.#entries) if (streams || always.has(file)) choose(file);
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      const entry = this.#entries.get(file)!;
      entry.imports ??= importedNames(entry.text);
      for (const name of entry.imports) choose(this.#resolve(file, name));
    }
    return [...chosen].sort().map((file) => ({ file, text: this.#entries.get(file)!.text }));
  }

  /** The nearest file that the name can mean: upward from the importing file for an absolute one, by dots for a relative one. */
  #resolve(from: string, name: string): string | undefined {
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
