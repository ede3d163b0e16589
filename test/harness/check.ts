/**
 * Runs annotated programs. A fixture file holds cases; in a case a comment marks what is found on the line above it:
 *
 *     #- case: a wait is missing
 *     def f(x):
 *         y = x * 2
 *         #   ^ missing-wait: `x` is read on …       a finding that starts here, and words of its message
 *         #   ~ `x` is written here                  a related place of some finding
 *         # | more words of the message above
 *     #- file: other.py                              another file of the case; the first one is `case.py`
 *     #- fixed                                       the text once all preferred fixes are applied, without findings
 *     #- fixed: other.py                             the same for another file
 *     #- good                                        instead of `fixed`: a repaired twin that no fix has to write
 *     #- todo: why                                   the case is known to fail; it must be taken out when it passes
 *
 * A finding without a mark fails. `^^^` with more than one caret also gives the end. `import torch` is put in front of
 * texts that lack it. A case without marks must be silent.
 */
import { expect } from 'vitest';
import type { SourceChecker, SourceFile } from '../../core/checkSource.ts';
import { fixAll } from '../../core/fixAll.ts';
import type { Finding } from '../../core/rules/finding.ts';

export interface FixtureCase {
  readonly name: string;
  readonly todo?: string;
  readonly files: readonly FixtureText[];
  readonly fixed: ReadonlyMap<string, string>;
  readonly good?: string;
}

interface FixtureText extends SourceFile {
  readonly marks: readonly Mark[];
}

interface Mark {
  readonly kind: 'finding' | 'related';
  readonly line: number;
  readonly character: number;
  readonly endCharacter?: number;
  readonly code: string;
  words: string;
}

export function readFixtures(text: string): FixtureCase[] {
  const cases: FixtureCase[] = [];
  for (const part of text.split(/^#- case: */m).slice(1)) {
    const name = /^.*/.exec(part)![0].trim();
    const sections = part.slice(part.indexOf('\n') + 1).split(/^#- (?=file:|fixed|good|todo:)/m);
    const files: FixtureText[] = [readText('case.py', sections[0]!)];
    const fixed = new Map<string, string>();
    let good: string | undefined;
    let todo: string | undefined;
    for (const section of sections.slice(1)) {
      const [heading = '', ...rest] = section.split('\n');
      const body = rest.join('\n');
      const [kind, argument = ''] = heading.split(/:\s*/, 2);
      if (kind === 'file') files.push(readText(argument.trim(), body));
      else if (kind === 'fixed') fixed.set(argument.trim() || 'case.py', withTorch(body));
      else if (kind === 'good') good = withTorch(body);
      else todo = heading.replace(/^todo:\s*/, '');
    }
    cases.push({ name, files, fixed, ...(good === undefined ? {} : { good }), ...(todo ? { todo } : {}) });
  }
  return cases;
}

const annotation = /^(\s*#\s*)(\^+|~+)(?:\s+(.*))?$/;
const continuation = /^\s*#\s*\|\s?(.*)$/;

function readText(file: string, body: string): FixtureText {
  const marks: Mark[] = [];
  const lines = withTorch('').split('\n').slice(0, -1);
  if (/^\s*(import torch\b(?!\.)|from torch )/m.test(body)) lines.length = 0;
  for (const line of body.split('\n')) {
    const mark = annotation.exec(line);
    const more = continuation.exec(line);
    if (mark) {
      const [, before = '', carets = '', rest = ''] = mark;
      const finding = carets[0] === '^';
      const code = finding ? (/^[a-z-]+/.exec(rest)?.[0] ?? '') : '';
      marks.push({
        kind: finding ? 'finding' : 'related',
        line: lines.length - 1,
        character: before.length,
        ...(carets.length > 1 ? { endCharacter: before.length + carets.length } : {}),
        code,
        words: finding ? rest.slice(code.length).replace(/^:\s*/, '') : rest,
      });
    } else if (more && marks.length) marks.at(-1)!.words += ` ${more[1]}`;
    else lines.push(line);
  }
  return { file, text: `${lines.join('\n').trimEnd()}\n`, marks };
}

function withTorch(body: string): string {
  const text = `${body.trimEnd()}\n`;
  return /^\s*(import torch\b(?!\.)|from torch )/m.test(body) ? text : `import torch\n${body.trim() ? text : ''}`;
}

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
  expect(fixture.fixed.size > 0 || fixture.good !== undefined, 'a case with findings needs its repaired twin').toBe(
    true,
  );
  if (fixture.fixed.size) {
    const { files: fixed, result } = fixAll(checker, files);
    for (const { file, text } of fixed) {
      const original = files.find((f) => f.file === file)!.text;
      expect(text).toBe(fixture.fixed.get(file) ?? original);
    }
    expect(result.findings).toEqual([]);
  }
  if (fixture.good !== undefined) {
    const twin = [{ file: 'case.py', text: fixture.good }, ...files.slice(1)];
    expect(checker.check(twin, { fixes: false }).findings).toEqual([]);
  }
}

function startsAt(start: { line: number; character: number }, mark: Mark): boolean {
  return start.line === mark.line && start.character === mark.character;
}

function show(file: string, text: string, line: number, character: number, code: string): string {
  return `${file}:${line + 1}:${character + 1} ${code} | ${text.split('\n')[line]?.trim()}`;
}
