/**
 * While a function does not parse, it keeps the findings that it had when it last did, moved along with the edit. A
 * finding whose own text was edited goes. So do functions that run through it: to them it is as it was when it last did.
 */
import { LineMap, type Range } from '../base/text.ts';
import type { FunctionDef, Module, Statement } from '../python/ast.ts';
import { branchesOf } from '../python/branches.ts';
import type { Finding } from './finding.ts';

/** A text with the findings that are shown in it. */
export interface Shown {
  readonly module: Module;
  readonly findings: readonly Finding[];
}

/** A function that a finding's path ran through; undefined: module code. */
export interface RanThrough {
  readonly file: string;
  readonly name: string | undefined;
}

export interface LastGood {
  readonly before: Shown | undefined;
  readonly now: Module;
  readonly fresh: readonly Finding[];
  /** What the paths of a finding that was shown before ran through. */
  ranThrough(finding: Finding): readonly RanThrough[];
  isBroken(place: RanThrough): boolean;
  /** Told of each finding that is shown in the place of an earlier one. */
  carried(now: Finding, before: Finding): void;
}

/**
 * `fresh` without what stands in broken functions, and with what these had before. What does not parse does nothing, so
 * that functions beside it which did not change keep what they had by it, and get nothing new.
 */
export function keepLastGood(given: LastGood): Finding[] {
  const { before, now, fresh } = given;
  if (!before) return now.errors.length ? soundIn(now, fresh) : [...fresh];
  if (!now.errors.length) {
    // What does not parse may be in another file.
    const findings = before.findings.filter((finding) =>
      given.ranThrough(finding).some((place) => given.isBroken(place)),
    );
    if (!findings.length) return [...fresh];
    const units = new Units(before.module, now);
    return [...fresh, ...carriedTo(given, { ...before, findings }, units, fresh)];
  }
  const units = new Units(before.module, now);
  const expected = before.findings.flatMap((finding) => {
    const range = units.move(finding.range);
    return range ? [{ ...finding, range }] : [];
  });
  const sound = soundIn(now, fresh).filter(
    (finding) => !units.isUnchanged(finding) || expected.some((other) => isSame(other, finding)),
  );
  return [...sound, ...carriedTo(given, before, units, sound)];
}

function isSame(a: Finding, b: Finding): boolean {
  return a.code === b.code && a.range.start.line === b.range.start.line;
}

function soundIn(now: Module, fresh: readonly Finding[]): Finding[] {
  const broken = [...topFunctions(now).values()].filter((f) => f.broken);
  const lines = new LineMap(now.text);
  return fresh.filter((finding) => {
    const offset = lines.offset(finding.range.start);
    return !broken.some((f) => f.start <= offset && offset <= f.end);
  });
}

function carriedTo(given: LastGood, before: Shown, units: Units, sound: readonly Finding[]): Finding[] {
  const kept: Finding[] = [];
  for (const finding of before.findings) {
    const throughBroken = () => given.ranThrough(finding).some((place) => given.isBroken(place));
    if (!units.isBroken(finding) && !(units.wasUnchanged(finding) && throughBroken())) continue;
    const range = units.move(finding.range);
    if (!range) continue;
    // Code that parsed again has its own finding already.
    if (sound.some((other) => isSame(other, { ...finding, range }))) continue;
    const related = finding.related.flatMap((place) => {
      const moved = place.file === finding.file ? units.move(place.range) : place.range;
      return moved ? [{ ...place, range: moved }] : [];
    });
    const now = { ...finding, range, related, fixes: [] };
    given.carried(now, finding);
    kept.push(now);
  }
  return kept;
}

/** Whether a function does not parse, is gone with what does not, or is module code beside what does not. */
export function isBrokenIn(module: Module, name: string | undefined): boolean {
  if (!module.errors.length) return false;
  if (name === undefined) return hasErrorsOutside(module);
  const current = topFunctions(module).get(name);
  return !current || current.broken;
}

/** The name of the top-level function or method that an offset lies in. */
export function functionNameAt(module: Module, offset: number): string | undefined {
  for (const [name, f] of topFunctions(module)) if (f.start <= offset && offset <= f.end) return name;
  return undefined;
}

function hasErrorsOutside(module: Module): boolean {
  const functions = [...topFunctions(module).values()];
  return module.errors.some((error) => !functions.some((f) => f.start <= error.start && error.end <= f.end));
}

/** Functions of two texts, one an edit of the other. */
class Units {
  readonly move: (range: Range) => Range | undefined;
  readonly #before: Module;
  readonly #now: Module;
  readonly #linesBefore: LineMap;
  readonly #linesNow: LineMap;

  constructor(before: Module, now: Module) {
    this.#before = before;
    this.#now = now;
    this.#linesBefore = new LineMap(before.text);
    this.#linesNow = new LineMap(now.text);
    this.move = mover(before.text, now.text);
  }

  /** Whether the function of a finding of the earlier text is broken now. */
  isBroken(finding: Finding): boolean {
    return isBrokenIn(this.#now, this.#nameBefore(finding));
  }

  wasUnchanged(finding: Finding): boolean {
    return this.#same(this.#nameBefore(finding));
  }

  isUnchanged(finding: Finding): boolean {
    return this.#same(functionNameAt(this.#now, this.#linesNow.offset(finding.range.start)));
  }

  #nameBefore(finding: Finding): string | undefined {
    return functionNameAt(this.#before, this.#linesBefore.offset(finding.range.start));
  }

  #same(name: string | undefined): boolean {
    // Module code is all around the functions: what of it changed is not asked.
    if (name === undefined) return true;
    const before = topFunctions(this.#before).get(name);
    const now = topFunctions(this.#now).get(name);
    // A function whose class or branch is gone has another name.
    if (!before || !now) return true;
    return this.#before.text.slice(before.start, before.end) === this.#now.text.slice(now.start, now.end);
  }
}

const functionsOf = new WeakMap<Module, Map<string, FunctionDef>>();

/** Functions and methods by their qualified names; functions inside of functions belong to the outer one. */
function topFunctions(module: Module): Map<string, FunctionDef> {
  const known = functionsOf.get(module);
  if (known) return known;
  const found = new Map<string, FunctionDef>();
  const visit = (body: readonly Statement[], prefix: string): void => {
    for (const statement of body) {
      if (statement.kind === 'FunctionDef') found.set(prefix + statement.name, statement);
      else if (statement.kind === 'ClassDef') visit(statement.body, `${prefix}${statement.name}.`);
      else if (statement.kind === 'If') for (const branch of branchesOf(statement)) visit(branch, prefix);
      else if (statement.kind === 'Try') visit(statement.body, prefix);
    }
  };
  visit(module.body, '');
  functionsOf.set(module, found);
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
