/**
 * Findings that a project knows and lives with. An entry is the code, the file and the text of the line, not its number, so
 * that edits elsewhere in the file do not bring the finding back; equal lines are counted.
 *
 *     {"version": 1, "findings": [{"file": "src/a.py", "code": "missing-wait", "line": "y = x.mul(2.0)", "count": 1}]}
 *
 * Paths are relative to the folder of the baseline file, with `/`. Reads and writes text; knows no disk.
 */
import type { Finding } from '../rules/finding.ts';

export interface Baseline {
  /** The folder that its paths are relative to. */
  readonly folder: string;
  /** How many findings of a kind are known, by `keyOf`. */
  readonly known: ReadonlyMap<string, number>;
}

export interface BaselineEntry {
  readonly file: string;
  readonly code: string;
  /** The text of the line, without the spaces around it and with single ones in it. */
  readonly line: string;
  readonly count: number;
}

interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** The lines of a file. */
export type LinesOf = (file: string) => readonly string[] | undefined;

export interface BaselineSplit {
  readonly fresh: readonly Finding[];
  readonly known: readonly Finding[];
}

/** Parses a baseline file; a string says what is wrong with it. */
export function parseBaseline(text: string, folder: string): Baseline | string {
  let root: { version?: unknown; findings?: unknown };
  try {
    root = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    return `is not a baseline: ${(error as Error).message}`;
  }
  if (root?.version !== 1 || !Array.isArray(root.findings))
    return 'is not a baseline of version 1; write it anew with raceline check --write-baseline FILE';
  const known = new Map<string, number>();
  for (const entry of root.findings as Partial<BaselineEntry>[]) {
    const { file, code, line, count = 1 } = entry ?? {};
    if (typeof file !== 'string' || typeof code !== 'string' || typeof line !== 'string' || !Number.isInteger(count))
      return 'has an entry without file, code and line; write it anew with raceline check --write-baseline FILE';
    const key = keyOf(file, code, line);
    known.set(key, (known.get(key) ?? 0) + count);
  }
  return { folder, known };
}

/** The text of a baseline file in `folder` that knows these findings; one entry a line, sorted, so that diffs stay small. */
export function baselineText(findings: readonly Finding[], linesOf: LinesOf, folder: string): string {
  const entries = new Map<string, BaselineEntry>();
  for (const finding of findings) {
    const file = relativePath(finding.file, folder);
    const line = lineText(finding, linesOf);
    const key = keyOf(file, finding.code, line);
    entries.set(key, { file, code: finding.code, line, count: (entries.get(key)?.count ?? 0) + 1 });
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => `    ${JSON.stringify(entry)}`);
  return `{\n  "version": 1,\n  "findings": [${sorted.length ? `\n${sorted.join(',\n')}\n  ` : ''}]\n}\n`;
}

/** Takes out what the baselines know: of equal lines as many as were counted, from the top. */
export function splitByBaseline(
  findings: readonly Finding[],
  baselineOf: (file: string) => Baseline | undefined,
  linesOf: LinesOf,
): BaselineSplit {
  const used = new Map<Baseline, Map<string, number>>();
  const fresh: Finding[] = [];
  const known: Finding[] = [];
  for (const finding of findings) {
    const baseline = baselineOf(finding.file);
    if (!baseline) {
      fresh.push(finding);
      continue;
    }
    const key = keyOf(relativePath(finding.file, baseline.folder), finding.code, lineText(finding, linesOf));
    let counts = used.get(baseline);
    if (!counts) {
      counts = new Map();
      used.set(baseline, counts);
    }
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    (before < (baseline.known.get(key) ?? 0) ? known : fresh).push(finding);
  }
  return { fresh, known };
}

/** `a/b.py` of `/w/a/b.py` in `/w`, `../c.py` of what lies beside it; a URI or another drive stays whole. */
export function relativePath(file: string, folder: string): string {
  const to = file.replaceAll('\\', '/').split('/');
  const from = folder.replaceAll('\\', '/').replace(/\/$/, '').split('/');
  let common = 0;
  while (common < from.length && common < to.length - 1 && from[common] === to[common]) common++;
  if (common === 0 || (common === 1 && from[0] === '' && from.length > 1)) return to.join('/');
  return [...Array(from.length - common).fill('..'), ...to.slice(common)].join('/');
}

/** The lines of these texts, each split when it is first asked for. */
export function linesIn(files: Iterable<SourceText>): LinesOf {
  const texts = new Map([...files].map(({ file, text }) => [file, text]));
  const lines = new Map<string, readonly string[]>();
  return (file) => {
    let known = lines.get(file);
    if (!known) {
      known = texts.get(file)?.split(/\r\n|\n|\r/) ?? [];
      lines.set(file, known);
    }
    return known;
  };
}

/** The text of the line that a finding starts on, by which it is known again after edits elsewhere. */
export function lineText({ file, range }: Pick<Finding, 'file' | 'range'>, linesOf: LinesOf): string {
  return (linesOf(file)?.[range.start.line] ?? '').trim().replace(/\s+/g, ' ');
}

function keyOf(file: string, code: string, line: string): string {
  return `${file}\n${code}\n${line}`;
}
