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

/** `base`: the folder that the setting belongs to; left out where there is none. */
export function pathPatterns(patterns: readonly string[], base?: string): PathPatterns {
  const root = base === undefined ? undefined : slashes(base).replace(/\/$/, '');
  const expressions = patterns.map((pattern) => compile(pattern, root));
  const matches = (path: string): boolean => expressions.some((test) => test(slashes(path)));
  return {
    matches,
    covers(path) {
      const whole = slashes(path);
      for (let end = whole.length; end > 0; end = whole.lastIndexOf('/', end - 1)) {
        const part = whole.slice(0, end);
        // Above its own folder a setting has no say.
        if (part === root || (root && !part.startsWith(`${root}/`) && whole.startsWith(`${root}/`))) return false;
        if (matches(part)) return true;
      }
      return false;
    },
  };
}

function compile(pattern: string, root: string | undefined): (path: string) => boolean {
  const negated = pattern.startsWith('!');
  const glob = slashes(negated ? pattern.slice(1) : pattern)
    .replace(/^\.\//, '')
    .replace(/\/$/, '');
  const test = positive(glob, root);
  return negated ? (path) => !test(path) : test;
}

function positive(glob: string, root: string | undefined): (path: string) => boolean {
  if (!glob.includes('/')) {
    const name = new RegExp(`^${globSource(glob)}$`);
    return (path) => name.test(path.slice(path.lastIndexOf('/') + 1));
  }
  const isAbsolute = /^(?:\/|[A-Za-z]:\/)/.test(glob);
  const prefix = isAbsolute || root === undefined ? (isAbsolute ? '' : '(?:.*/)?') : `${quoted(root)}/`;
  const whole = new RegExp(`^${prefix}${globSource(glob)}$`);
  return (path) => whole.test(path);
}

function globSource(glob: string): string {
  let source = '';
  let open = 0;
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]!;
    if (glob.startsWith('**/', i)) {
      source += '(?:.*/)?';
      i += 2;
    } else if (c === '*') {
      source += '.*';
      while (glob[i + 1] === '*') i++;
    } else if (c === '?') source += '[^/]';
    else if (c === '[') {
      const end = glob.indexOf(']', i + 2);
      if (end < 0) source += '\\[';
      else {
        const set = glob.slice(i + 1, end).replace(/[\\\]^]/g, '\\$&');
        source += `[${set.replace(/^(?:!|\\\^)/, '^')}]`;
        i = end;
      }
    } else if (c === '{' && glob.indexOf('}', i) > 0) {
      source += '(?:';
      open++;
    } else if (c === '}' && open) {
      source += ')';
      open--;
    } else if (c === ',' && open) source += '|';
    else source += quoted(c);
  }
  return source + ')'.repeat(open);
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

const slashes = (path: string): string => path.replaceAll('\\', '/');
