/**
 * `.gitignore` patterns, as far as they decide which files are the user's own: names, globs, anchors, folders, negation.
 * Knows nothing of the global excludes file or of git's index: a tracked file that a pattern names counts as ignored.
 */
export interface IgnoreRules {
  /** Patterns of one file, matched against paths relative to the folder that the file lies in. */
  ignores(relativePath: string, isFolder: boolean): boolean | undefined;
}

interface Pattern {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  readonly expression: RegExp;
}

export function parseIgnoreFile(text: string): IgnoreRules {
  const patterns = text
    .split(/\r?\n/)
    .map(parsePattern)
    .filter((pattern) => pattern !== undefined);
  return {
    ignores(relativePath, isFolder) {
      // The last pattern that matches decides; undefined leaves it to the folder above.
      for (let i = patterns.length - 1; i >= 0; i--) {
        const pattern = patterns[i]!;
        if ((isFolder || !pattern.foldersOnly) && pattern.expression.test(relativePath)) return !pattern.negated;
      }
      return undefined;
    },
  };
}

function parsePattern(line: string): Pattern | undefined {
  let glob = line.replace(/(?<!\\)\s+$/, '');
  if (!glob || glob.startsWith('#')) return undefined;
  const negated = glob.startsWith('!');
  if (negated) glob = glob.slice(1);
  const foldersOnly = glob.endsWith('/');
  if (foldersOnly) glob = glob.slice(0, -1);
  // A slash inside binds the pattern to the folder of its file; without one it matches at any depth.
  const anchored = glob.includes('/');
  if (glob.startsWith('/')) glob = glob.slice(1);
  if (!glob) return undefined;
  try {
    return { negated, foldersOnly, expression: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${globSource(glob)}$`) };
  } catch {
    return undefined;
  }
}

function globSource(glob: string): string {
  let source = '';
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]!;
    if (glob.startsWith('**/', i) && (i === 0 || glob[i - 1] === '/')) {
      source += '(?:.*/)?';
      i += 2;
    } else if (glob.startsWith('**', i)) {
      source += '.*';
      i++;
    } else if (c === '*') source += '[^/]*';
    else if (c === '?') source += '[^/]';
    else if (c === '[') {
      const end = glob.indexOf(']', i + 2);
      if (end < 0) source += '\\[';
      else {
        source += `[${glob
          .slice(i + 1, end)
          .replace(/^!/, '^')
          .replaceAll('\\', '\\\\')}]`;
        i = end;
      }
    } else if (c === '\\' && i + 1 < glob.length) source += quoted(glob[++i]!);
    else source += quoted(c);
  }
  return source;
}

const quoted = (c: string) => c.replace(/[.*+?^${}()|[\]\\/]/, '\\$&');
