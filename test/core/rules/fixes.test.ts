/**
 * Every fix that is offered, of every bad fixture and every faulty labelled program, applied by itself: its finding is
 * gone, none is new, and the text parses. Fix-all ends, and has nothing left to do the second time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { applyFileEdits } from '../../../core/base/text.ts';
import { createSourceChecker, type SourceChecker, type SourceFile } from '../../../core/checkSource.ts';
import { fixAll } from '../../../core/fixAll.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import type { Finding } from '../../../core/rules/finding.ts';
import { readFixtures } from '../../harness/fixtures.ts';
import { loadParser } from '../../harness/parser.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const rules = path.resolve(here, '../../../core/rules');
const labelled = path.resolve(here, '../../labelled');

let parser: PythonParser;
let checker: SourceChecker;
beforeAll(async () => {
  parser = await loadParser();
  checker = createSourceChecker(parser);
});

function counts(findings: readonly Finding[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { code, file } of findings) found.set(`${code} ${file}`, (found.get(`${code} ${file}`) ?? 0) + 1);
  return found;
}

/** How many fixes there were. */
function checkFixes(files: readonly SourceFile[]): number {
  const { findings } = checker.check(files, { fixes: true });
  const before = counts(findings);
  const again = createSourceChecker(parser);
  let fixes = 0;
  for (const finding of findings) {
    expect(finding.fixes.filter(({ preferred }) => preferred).length).toBe(finding.fixes.length ? 1 : 0);
    expect(finding.fixes[0]?.preferred ?? true).toBe(true);
    for (const fix of finding.fixes) {
      fixes++;
      const what = `${finding.code} at line ${finding.range.start.line + 1}: ${fix.title}`;
      const fixed = applyFileEdits(files, fix.edits);
      for (const { file, text } of fixed) expect(parser.parse(file, text).errors, what).toEqual([]);
      const after = counts(again.check(fixed, { fixes: false }).findings);
      const key = `${finding.code} ${finding.file}`;
      expect(after.get(key) ?? 0, what).toBeLessThan(before.get(key)!);
      for (const [other, count] of after)
        expect(count, `${what}: ${other}`).toBeLessThanOrEqual(before.get(other) ?? 0);
    }
  }
  return fixes;
}

function checkFixAll(files: readonly SourceFile[]): void {
  const once = fixAll(createSourceChecker(parser), files);
  const twice = fixAll(createSourceChecker(parser), once.files);
  expect(twice.applied).toBe(0);
  expect(twice.files).toEqual(once.files);
  // One code at a time ends as well, and leaves the others.
  for (const code of new Set(once.result.findings.map((finding) => finding.code)))
    expect(fixAll(createSourceChecker(parser), once.files, { only: (finding) => finding.code === code }).applied).toBe(
      0,
    );
}

describe('fixtures', () => {
  const names = readdirSync(rules).filter((name) => name.endsWith('.fixtures.py'));
  it.each(names)('%s', (name) => {
    for (const { files, todo } of readFixtures(readFileSync(path.join(rules, name), 'utf8'))) {
      if (todo) continue;
      const texts = files.map(({ file, text }) => ({ file, text }));
      checkFixes(texts);
      checkFixAll(texts);
    }
  });
});

describe('faulty labelled programs', () => {
  const programs = readdirSync(labelled, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.bad.py'))
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort();
  const textOf = (name: string) =>
    readFileSync(path.join(labelled, name), 'utf8').replace(/[ \t]*#[ \t]*(expect|may):.*$/gm, '');

  it.each(programs)('%s', (name) => {
    const files = [{ file: 'program.py', text: textOf(name) }];
    checkFixes(files);
    checkFixAll(files);
  });

  it.each(programs)('%s with other line ends and tabs', (name) => {
    const text = textOf(name)
      .replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
      .replaceAll('\n', '\r\n');
    const { files, applied } = fixAll(createSourceChecker(parser), [{ file: 'program.py', text }]);
    const { text: fixed } = files[0]!;
    expect(fixed.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    if (applied) expect(fixed).not.toMatch(/^ {4}(?=\S.*(?:wait|record|synchronize))/m);
    const spaced = fixAll(createSourceChecker(parser), [{ file: 'program.py', text: textOf(name) }]);
    expect(spaced.applied).toBe(applied);
  });
});
