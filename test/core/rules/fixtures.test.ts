import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSourceChecker, type SourceChecker } from '../../../core/checkSource.ts';
import { rules } from '../../../core/rules/index.ts';
import { checkCase } from '../../harness/check.ts';
import { readFixtures } from '../../harness/fixtures.ts';
import { loadParser } from '../../harness/parser.ts';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../core/rules');
const fixtureFiles = readdirSync(folder).filter((name) => name.endsWith('.fixtures.py'));

let checker: SourceChecker;
beforeAll(async () => {
  checker = createSourceChecker(await loadParser());
});

it.each(rules.map(({ code }) => code))('%s has fixtures', (code) => {
  expect(fixtureFiles).toContain(`${code}.fixtures.py`);
});

describe.each(fixtureFiles)('%s', (name) => {
  for (const fixture of readFixtures(readFileSync(path.join(folder, name), 'utf8')))
    (fixture.todo ? it.fails : it)(fixture.todo ? `${fixture.name} (todo: ${fixture.todo})` : fixture.name, () =>
      checkCase(checker, fixture),
    );
});

describe('examples of the documentation', () => {
  it.each(rules.map(({ code }) => code))('%s', (code) => {
    const source = readFileSync(path.join(folder, `${code}.ts`), 'utf8');
    const check = (heading: string) => {
      const text = `import torch\n\n${example(source, heading)}`;
      return checker.check([{ file: 'example.py', text }], { fixes: true }).findings;
    };
    const bad = check('Example');
    expect(bad.map((finding) => finding.code)).toEqual([code, ...(beside[code] ?? [])]);
    expect(check('Use instead')).toEqual([]);
  });
});

/** What a fault of this kind shows as well, further down. */
const beside: Readonly<Record<string, readonly string[]>> = { 'late-record-stream': ['missing-record-stream'] };

/** The Python block below a heading of the rule's doc comment. */
function example(source: string, heading: string): string {
  const comment = source.slice(0, source.indexOf('*/')).replace(/^ \* ?/gm, '');
  const section = comment.split(`## ${heading}\n`)[1] ?? '';
  return /```python\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
}
