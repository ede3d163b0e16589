/** Settings around a checker that finds what it is told to find: one finding a file, named after the version. */
import { expect, it } from 'vitest';
import type { CheckOptions, CheckResult, SourceChecker, SourceFile } from '../../core/checkSource.ts';
import { createProjectChecker } from '../../core/projectChecker.ts';
import type { Finding, Fix } from '../../core/rules/finding.ts';
import { parseBaseline, type Baseline } from '../../core/settings/baseline.ts';
import type { Settings } from '../../core/settings/settings.ts';

class Fake implements SourceChecker {
  readonly versions: (string | undefined)[] = [];

  check(files: readonly SourceFile[], { torchVersion }: CheckOptions): CheckResult {
    this.versions.push(torchVersion);
    return {
      findings: files.map(({ file }): Finding => {
        const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
        const message = `as of ${torchVersion}`;
        return {
          file,
          range,
          code: 'missing-wait',
          severity: 'error',
          certainty: 'always',
          message,
          related: [],
          fixes: [],
        };
      }),
      problems: files.map(({ file }) => ({ file, message: `as of ${torchVersion}` })),
    };
  }

  fixesFor(finding: Finding): readonly Fix[] {
    return [{ title: `${finding.message} by ${this.versions.at(-1)}`, edits: [] }];
  }
}

function checkerOf(settings: Readonly<Record<string, Settings>>) {
  const made: Fake[] = [];
  const checker = createProjectChecker(
    () => {
      const fake = new Fake();
      made.push(fake);
      return fake;
    },
    (file) => settings[file] ?? {},
    (file) => file.startsWith('/out/'),
  );
  return { checker, made };
}
const files = (...names: string[]): SourceFile[] => names.map((file) => ({ file, text: 'x = 1\n' }));

it('checks each file as of the version that its project targets, and asks that checker for its fixes', () => {
  const { checker, made } = checkerOf({ '/a.py': { torchVersion: '2.4' }, '/c.py': { torchVersion: '2.4' } });
  const { findings, problems } = checker.check(files('/a.py', '/b.py', '/c.py'), { fixes: true });
  expect(findings.map(({ file, message }) => [file, message])).toEqual([
    ['/a.py', 'as of 2.4'],
    ['/b.py', 'as of undefined'],
    ['/c.py', 'as of 2.4'],
  ]);
  expect(findings.map(({ fixes }) => fixes[0]!.title)).toEqual([
    'as of 2.4 by 2.4',
    'as of undefined by undefined',
    'as of 2.4 by 2.4',
  ]);
  expect(problems).toHaveLength(3);
  // Each remembers what it executed.
  checker.check(files('/a.py', '/b.py'), { fixes: false });
  expect(made.map(({ versions }) => versions)).toEqual([
    ['2.4', '2.4'],
    [undefined, undefined],
  ]);
});

it('leaves excluded files out of the check', () => {
  const { checker } = checkerOf({});
  expect(checker.check(files('/a.py', '/out/b.py'), { fixes: false }).findings.map(({ file }) => file)).toEqual([
    '/a.py',
  ]);
  expect(checker.check(files('/out/b.py'), { fixes: false }).findings).toEqual([]);
});

it('counts what a baseline knows, after codes and severities were decided', () => {
  const baseline = parseBaseline(
    '{"version":1,"findings":[{"file":"a.py","code":"missing-wait","line":"x = 1"},{"file":"b.py","code":"missing-wait","line":"x = 1"}]}',
    '/',
  ) as Baseline;
  const settings = { baseline, severity: new Map([['missing-wait', 'hint' as const]]) };
  const { checker } = checkerOf({
    '/a.py': settings,
    '/b.py': { ...settings, ignore: new Set(['missing-wait']) },
    '/c.py': settings,
  });
  const { findings, known } = checker.check(files('/a.py', '/b.py', '/c.py'), { fixes: false });
  expect(findings.map(({ file, severity }) => [file, severity])).toEqual([['/c.py', 'hint']]);
  expect(known).toBe(1);
});
