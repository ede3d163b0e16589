/**
 * Path patterns of settings: `tests`, `third_party/*`, `**` + `/generated_*.py`. A pattern without a slash names a file or a
 * folder at any depth; one with a slash is relative to the folder that the setting belongs to. `*` also crosses folders, as
 * it does in ruff. Works on file keys (paths of any system, or URIs); reads nothing.
 */

export interface PathPatterns {
  /** Whether the path itself matches. */
  matches(path: string): boolean;
  /** Whether the path or a folder that it lies in matches. */
  covers(path: string): boolean;
}

/** `base`: the folder that the setting belongs to; left out where there is none. Throws where a pattern is none. */
export function pathPatterns(patterns: readonly string[], base?: string): PathPatterns {
  const root = base === undefined ? undefined : slashes(base).replace(/\/$/, '');
  const compiled = patterns.map((pattern) => compile(pattern, root));
  return {
    matches(path) {
      const whole = slashes(path);
      return compiled.some(({ test, negated }) => test(whole) !== negated);
    },
    covers(path) {
      const parts = pathAndFolders(slashes(path), root);
      return compiled.some(({ test, negated }) => parts.some(test) !== negated);
    },
  };
}

/** The path and the folders that it lies in. Above its own folder a setting has no say. */
function pathAndFolders(path: string, root: string | undefined): string[] {
  const isBelow = root !== undefined && path.startsWith(`${root}/`);
  const parts: string[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const part = path.slice(0, end);
    if (isBelow && part.length <= root.length) break;
    parts.push(part);
  }
  return parts;
}

type Test = (path: string) => boolean;

function compile(pattern: string, root: string | undefined): { readonly test: Test; readonly negated: boolean } {
  const negated = pattern.startsWith('!');
  const glob = slashes(negated ? pattern.slice(1) : pattern)
    .replace(/^\.\//, '')
    .replace(/\/$/, '');
  return { test: positive(glob, root), negated };
}

function positive(glob: string, root: string | undefined): Test {
  const named = (prefix: Token[]): Test => {
    const all = alternatives(glob).map((one) => [...prefix, ...tokens(one)]);
    return (path) => all.some((one) => isMatch(one, path));
  };
  if (!glob.includes('/')) {
    const test = named([]);
    return (path) => test(path.slice(path.lastIndexOf('/') + 1));
  }
  if (/^(?:\/|[A-Za-z]:\/)/.test(glob)) return named([]);
  if (root !== undefined) return named([...root, '/'].map(literal));
  const whole = named([]);
  const below = named([anything, literal('/')]);
  return (path) => whole(path) || below(path);
}

/** So many ways to read one pattern are tried. */
const mostAlternatives = 64;

/** Without `{a,b}`, and with the folders of a double star there or not. Throws where there are too many. */
function alternatives(glob: string): string[] {
  const brace = /\{([^{}]*)\}/.exec(glob);
  const folders = glob.indexOf('**/');
  const split = brace
    ? brace[1]!.split(',').map((part) => glob.slice(0, brace.index) + part + glob.slice(brace.index + brace[0].length))
    : folders >= 0
      ? ['', '*/'].map((part) => glob.slice(0, folders) + part + glob.slice(folders + 3))
      : undefined;
  if (!split) return [glob];
  const all = split.flatMap(alternatives);
  if (all.length > mostAlternatives) throw new Error('too many alternatives');
  return all;
}

/** What one character has to be; `anything` is any number of any characters. */
type Token = ((c: string) => boolean) | undefined;
const anything: Token = undefined;
const literal =
  (expected: string): Token =>
  (c) =>
    c === expected;

function tokens(glob: string): Token[] {
  const found: Token[] = [];
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]!;
    const end = c === '[' ? glob.indexOf(']', i + 2) : -1;
    if (c === '*') {
      if (found.at(-1) !== anything || !found.length) found.push(anything);
    } else if (c === '?') found.push((one) => one !== '/');
    else if (end > 0) {
      found.push(set(glob.slice(i + 1, end)));
      i = end;
    } else if (c === '\\' && i + 1 < glob.length) found.push(literal(glob[++i]!));
    else found.push(literal(c));
  }
  return found;
}

/** `abc`, `a-z`, `!a`. */
function set(members: string): Token {
  const negated = /^[!^]/.test(members);
  const ranges = [...(negated ? members.slice(1) : members).matchAll(/(.)-(.)|(.)/g)].map(
    ([, from, to, one]) => [from ?? one!, to ?? one!] as const,
  );
  return (c) => c !== '/' && ranges.some(([from, to]) => from <= c && c <= to) !== negated;
}

/** At most the product of both lengths in steps: a pattern comes from a file that anybody may have written. */
function isMatch(pattern: readonly Token[], text: string): boolean {
  let at = 0;
  let star = -1;
  let from = 0;
  for (let i = 0; i < text.length; ) {
    if (at < pattern.length && pattern[at] === anything) {
      star = at++;
      from = i;
    } else if (at < pattern.length && pattern[at]!(text[i]!)) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++from;
    } else return false;
  }
  while (at < pattern.length && pattern[at] === anything) at++;
  return at === pattern.length;
}

const slashes = (path: string): string => path.replaceAll('\\', '/');
