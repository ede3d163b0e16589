/** Runs annotated programs; fixtures.ts says how they are written. */
import { expect } from 'vitest';
import type { SourceChecker, SourceFile } from '../../core/checkSource.ts';
import { fixAll } from '../../core/fixAll.ts';
import type { Finding } from '../../core/rules/finding.ts';
import type { FixtureCase, Mark } from './fixtures.ts';

/** Fails with the words of the difference. */
export function checkCase(checker: SourceChecker, fixture: FixtureCase): void {
  const files = fixture.files.map(({ file, text }) => ({ file, text }));
  const { findings, problems } = checker.check(files, { fixes: false });
  expect(problems).toEqual([]);
  const expected: string[] = [];
  const found: string[] = [];
  for (const { file, text, marks } of fixture.files) {
    const own = findings.filter((finding) => finding.file === file);
    for (const mark of marks.filter((m) => m.kind === 'finding')) {
      expected.push(show(file, text, mark.line, mark.character, mark.code));
      const match = own.find((f) => f.code === mark.code && startsAt(f.range.start, mark));
      if (!match) continue;
      expect(match.message).toContain(mark.words);
      if (mark.endCharacter !== undefined)
        expect(match.range.end.character, 'end of the range').toBe(mark.endCharacter);
    }
    for (const finding of own) {
      const { line, character } = finding.range.start;
      found.push(show(file, text, line, character, finding.code));
    }
  }
  expect(found.sort()).toEqual(expected.sort());
  for (const { file, marks } of fixture.files)
    for (const mark of marks.filter((m) => m.kind === 'related')) checkRelated(findings, file, mark);
  checkTwin(checker, fixture, files, findings);
}

function checkRelated(findings: readonly Finding[], file: string, mark: Mark): void {
  const places = findings.flatMap((finding) => finding.related).filter((place) => place.file === file);
  const there = places.filter((place) => startsAt(place.range.start, mark));
  expect(
    there.map((place) => place.message),
    `related place at ${file}:${mark.line + 1}; there are ${JSON.stringify(places)}`,
  ).toContainEqual(expect.stringContaining(mark.words));
}

function checkTwin(
  checker: SourceChecker,
  fixture: FixtureCase,
  files: readonly SourceFile[],
  findings: readonly Finding[],
): void {
  if (!findings.length) return;
  expect(fixture.fixed.size > 0 || fixture.good.length > 0, 'a case with findings needs its repaired twin').toBe(true);
  if (fixture.fixed.size) {
    const { files: fixed, result } = fixAll(checker, files);
    for (const { file, text } of fixed) {
      const original = files.find((f) => f.file === file)!.text;
      expect(text).toBe(fixture.fixed.get(file) ?? original);
    }
    expect(result.findings).toEqual([]);
  }
  for (const text of fixture.good) {
    const twin = [{ file: 'case.py', text }, ...files.slice(1)];
    expect(checker.check(twin, { fixes: false }).findings).toEqual([]);
  }
}

function startsAt(start: { line: number; character: number }, mark: Mark): boolean {
  return start.line === mark.line && start.character === mark.character;
}

function show(file: string, text: string, line: number, character: number, code: string): string {
  return `${file}:${line + 1}:${character + 1} ${code} | ${text.split('\n')[line]?.trim()}`;
}
