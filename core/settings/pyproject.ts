/**
 * `pyproject.toml`: the settings under `[tool.raceline]`, and the oldest PyTorch that the project requires. A wrong key or
 * value is told with its line. Works on text; which file it is and where the next one lies is the reader's business.
 */
import { parse, TomlError } from 'smol-toml';
import { readSection, type Section } from './section.ts';
import { lowestTorch } from './torchVersion.ts';

export interface PyprojectFault {
  /** From 0. */
  readonly line: number;
  readonly message: string;
}

export interface Pyproject {
  /** Undefined where there is no `[tool.raceline]`. */
  readonly section: Omit<Section, 'faults'> | undefined;
  /** What `torch>=…` among the requirements says. */
  readonly torchVersion: string | undefined;
  /** The file is no TOML: none of its settings is known. */
  readonly broken: boolean;
  readonly faults: readonly PyprojectFault[];
}

/** `base`: the folder of the file. */
export function readPyproject(text: string, base?: string): Pyproject {
  let root: Record<string, unknown>;
  try {
    // A byte order mark is no part of the text.
    root = parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    // What does not speak of us is somebody else's to mend.
    if (!text.includes('raceline')) return { section: undefined, torchVersion: undefined, broken: false, faults: [] };
    const line = error instanceof TomlError ? error.line - 1 : 0;
    return { section: undefined, torchVersion: undefined, broken: true, faults: [{ line, message: notToml(error) }] };
  }
  const torchVersion = lowestTorch(requirementsOf(root));
  const tool = tableAt(root, 'tool');
  if (!tool || !Object.hasOwn(tool, 'raceline')) return { section: undefined, torchVersion, broken: false, faults: [] };
  const { faults, ...section } = readSection(tool.raceline, { base, keys: 'kebab' });
  return {
    section,
    torchVersion,
    broken: false,
    faults: faults.map(({ at, message }) => ({ line: lineOf(text, at, message), message })),
  };
}

function notToml(error: unknown): string {
  const why =
    error instanceof Error ? error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '') : String(error);
  return `this is not valid TOML: ${why}; none of its settings is applied until that is mended`;
}

/** Where the program says what it needs. Groups that are not always installed count only if nothing else names torch. */
function requirementsOf(root: Record<string, unknown>): string[] {
  const project = tableAt(root, 'project');
  const poetry = tableAt(tableAt(root, 'tool'), 'poetry');
  const always = [...stringsIn(project?.dependencies), ...poetryRequirements(tableAt(poetry, 'dependencies'))];
  if (always.some((requirement) => /^\s*torch\b(?!-)/i.test(requirement))) return always;
  return [
    ...Object.values(tableAt(project, 'optional-dependencies') ?? {}).flatMap(stringsIn),
    ...Object.values(tableAt(root, 'dependency-groups') ?? {}).flatMap(stringsIn),
    ...stringsIn(tableAt(root, 'build-system')?.requires),
  ];
}

function poetryRequirements(dependencies: Record<string, unknown> | undefined): string[] {
  const torch = dependencies?.torch;
  const version = typeof torch === 'string' ? torch : (torch as { version?: unknown } | undefined)?.version;
  return typeof version === 'string' ? [`torch ${version}`] : [];
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function tableAt(table: Record<string, unknown> | undefined, key: string): Record<string, unknown> | undefined {
  const value = table && Object.hasOwn(table, key) ? table[key] : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The line where a key of `[tool.raceline]` stands. The parser keeps no places, so the text is searched for it. */
function lineOf(text: string, at: readonly string[], message: string): number {
  const lines = text.split(/\r\n|\n|\r/);
  let table: string[] = [];
  let header = 0;
  let best = -1;
  for (const [index, line] of lines.entries()) {
    const head = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line);
    if (head) {
      table = keyParts(head[1]!);
      if (table.join('\n') === 'tool\nraceline') header = index;
      // `[tool.raceline.severity]` is the key `severity`.
      if (startsWith(table, ['tool', 'raceline', ...at.slice(0, 1)]) && at.length) best = Math.max(best, index);
      continue;
    }
    const key = /^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(line);
    if (!key) continue;
    const path = [...table, ...keyParts(key[1]!)];
    if (path[0] !== 'tool' || path[1] !== 'raceline') continue;
    const whole = ['tool', 'raceline', ...at];
    if (path.join('\n') === whole.join('\n')) {
      best = index;
      break;
    }
    if (path.length < whole.length && startsWith(whole, path)) best = index;
  }
  if (best < 0) return header;
  // A list may run over lines; the value at fault is quoted in the message.
  const value = /'([^']+)'/.exec(message)?.[1];
  if (value)
    for (
      let i = best;
      i < lines.length &&
      (i === best || !/^\s*\[|^\s*[\w"'.-]+\s*=/.test(lines[i]!) || /["'][\])\s,]*$/.test(lines[i]!));
      i++
    )
      if (lines[i]!.includes(`"${value}"`) || lines[i]!.includes(`'${value}'`)) return i;
  return best;
}

function startsWith(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((part, i) => path[i] === part);
}

function keyParts(key: string): string[] {
  return [...key.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!);
}
