/**
 * While a function does not parse, it keeps the findings that it had when it last did, moved along with the edit. A
 * finding whose own text was edited goes.
 */
import { LineMap, type Range } from '../base/text.ts';
import type { FunctionDef, Module, Statement } from '../python/ast.ts';
import type { Finding } from './finding.ts';

/** A text with the findings that are shown in it. */
export interface Shown {
  readonly module: Module;
  readonly findings: readonly Finding[];
}

/** `fresh` without what stands in broken functions, and with what these had before. */
export function keepLastGood(before: Shown | undefined, now: Module, fresh: readonly Finding[]): Finding[] {
  if (!now.errors.length) return [...fresh];
  const functions = topFunctions(now);
  const brokenNow = (finding: Finding, lines: LineMap) => {
    const offset = lines.offset(finding.range.start);
    return [...functions.values()].some((f) => f.broken && f.start <= offset && offset <= f.end);
  };
  const lines = new LineMap(now.text);
  const sound = fresh.filter((finding) => !brokenNow(finding, lines));
  return before ? [...sound, ...carried(before, now, functions, sound)] : sound;
}

function carried(
  before: Shown,
  now: Module,
  functions: ReadonlyMap<string, FunctionDef>,
  sound: readonly Finding[],
): Finding[] {
  const old = [...topFunctions(before.module)];
  const oldLines = new LineMap(before.module.text);
  const outsideOfFunctions = now.errors.some(
    (error) => ![...functions.values()].some((f) => f.start <= error.start && error.end <= f.end),
  );
  const move = mover(before.module.text, now.text);
  const kept: Finding[] = [];
  for (const finding of before.findings) {
    const offset = oldLines.offset(finding.range.start);
    const name = old.find(([, f]) => f.start <= offset && offset <= f.end)?.[0];
    const current = name === undefined ? undefined : functions.get(name);
    if (current ? !current.broken : !outsideOfFunctions) continue;
    const range = move(finding.range);
    if (!range) continue;
    // Module code that parsed again has its own finding already.
    if (sound.some((other) => other.code === finding.code && other.range.start.line === range.start.line)) continue;
    const related = finding.related.flatMap((place) => {
      const moved = place.file === finding.file ? move(place.range) : place.range;
      return moved ? [{ ...place, range: moved }] : [];
    });
    kept.push({ ...finding, range, related, fixes: [] });
  }
  return kept;
}

/** Functions and methods by their qualified names; functions inside of functions belong to the outer one. */
function topFunctions(module: Module): Map<string, FunctionDef> {
  const found = new Map<string, FunctionDef>();
  const visit = (body: readonly Statement[], prefix: string): void => {
    for (const statement of body) {
      if (statement.kind === 'FunctionDef') found.set(prefix + statement.name, statement);
      else if (statement.kind === 'ClassDef') visit(statement.body, `${prefix}${statement.name}.`);
      else if (statement.kind === 'If') {
        visit(statement.body, prefix);
        visit(statement.orelse, prefix);
      } else if (statement.kind === 'Try') visit(statement.body, prefix);
    }
  };
  visit(module.body, '');
  return found;
}

/** Where a range of the old text is in the new one; undefined if the edit touched it. */
function mover(old: string, text: string): (range: Range) => Range | undefined {
  let prefix = 0;
  const shorter = Math.min(old.length, text.length);
  while (prefix < shorter && old.charCodeAt(prefix) === text.charCodeAt(prefix)) prefix++;
  let suffix = 0;
  while (
    suffix < shorter - prefix &&
    old.charCodeAt(old.length - 1 - suffix) === text.charCodeAt(text.length - 1 - suffix)
  )
    suffix++;
  const oldLines = new LineMap(old);
  const lines = new LineMap(text);
  return (range) => {
    const start = oldLines.offset(range.start);
    const end = oldLines.offset(range.end);
    if (end <= prefix) return { start: lines.position(start), end: lines.position(end) };
    if (start < old.length - suffix) return undefined;
    const by = text.length - old.length;
    return { start: lines.position(start + by), end: lines.position(end + by) };
  };
}
