import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../core/rules/finding.ts';
import { nearestOf } from '../../../core/settings/nearest.ts';
import { pathPatterns } from '../../../core/settings/pathPatterns.ts';
import { readPyproject } from '../../../core/settings/pyproject.ts';
import { readSection, sectionKeys } from '../../../core/settings/section.ts';
import { applySettings, layered } from '../../../core/settings/settings.ts';
import { lowestTorch, torchVersionOf } from '../../../core/settings/torchVersion.ts';

const finding = (code: string, file = '/w/src/a.py'): Finding => ({
  file,
  range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } },
  code,
  severity: 'error',
  certainty: 'always',
  message: code,
  related: [],
  fixes: [],
});

describe('[tool.raceline]', () => {
  const text = `
[project]
dependencies = ["numpy", "torch>=2.4"]

[tool.raceline]
select = ["missing-*", "unused-event"]
ignore = ["missing-record-stream"]
torch-version = "2.5"
exclude = ["third_party"]
baseline = "known.json"

[tool.raceline.per-file-ignores]
"tests/*" = ["ALL"]

[tool.raceline.severity]
missing-wait = "warning"
`;

  it('is read key by key', () => {
    const { section, torchVersion, faults } = readPyproject(text, '/w');
    expect(faults).toEqual([]);
    expect(torchVersion).toBe('2.4');
    const { settings, baseline } = section!;
    expect(baseline).toBe('known.json');
    expect([...settings.select!]).toEqual(['missing-wait', 'missing-record-stream', 'unused-event'].sort(byRegistry));
    expect([...settings.ignore!]).toEqual(['missing-record-stream']);
    expect(settings.torchVersion).toBe('2.5');
    expect(settings.exclude!.covers('/w/third_party/x/y.py')).toBe(true);
    expect(settings.exclude!.covers('/w/src/y.py')).toBe(false);
    expect(settings.severity!.get('missing-wait')).toBe('warning');
  });

  it('decides what is reported, and how severe it is', () => {
    const { settings } = readPyproject(text, '/w').section!;
    const reported = applySettings(
      [
        finding('missing-wait'),
        finding('missing-record-stream'),
        finding('write-after-read'),
        finding('unused-event'),
        finding('missing-wait', '/w/tests/deep/a.py'),
      ],
      () => settings,
    );
    expect(reported.map(({ code, severity, file }) => [code, severity, file])).toEqual([
      ['missing-wait', 'warning', '/w/src/a.py'],
      ['unused-event', 'error', '/w/src/a.py'],
    ]);
  });

  it.each([
    ['[tool.raceline]\nslect = ["missing-wait"]\n', 1, /there is no setting 'slect'; did you mean 'select'\?/],
    ['[tool.raceline]\ntorch_version = "2.4"\n', 1, /did you mean 'torch-version'\?/],
    [
      '[tool.raceline]\nselect = "missing-wait"\n',
      1,
      /select must be a list of strings, as in select = \["missing-wait"\]/,
    ],
    [
      '[tool.raceline]\n\nignore = [\n  "unused-event",\n  "mising-wait",\n]\n',
      4,
      /no code 'mising-wait'; did you mean 'missing-wait'\?/,
    ],
    [
      '[tool.raceline.severity]\nmissing-wait = "fatal"\n',
      1,
      /must be "error", "warning" or "hint", not "fatal"; to turn it off/,
    ],
    ['[tool.raceline]\ntorch-version = 2.4\n', 1, /must be a version in quotes, as in "2.4", not 2.4/],
    ['[tool.raceline.per-file-ignores]\n"tests/*" = "ALL"\n', 1, /the codes of 'tests\/\*' must be a list/],
    ['[tool]\nraceline = 7\n', 1, /must be a table/],
    ['[tool.raceline]\nselect = ["a" "b"]\n', 1, /not valid TOML: .*none of its settings/],
  ])('says what is wrong and where: %s', (broken, line, message) => {
    const { faults } = readPyproject(broken, '/w');
    expect(faults).toHaveLength(1);
    expect(faults[0]!.message).toMatch(message);
    expect(faults[0]!.line).toBe(line);
  });

  it('applies the rest of a section with a fault in it', () => {
    const { section, faults } = readPyproject('[tool.raceline]\nignore = ["unused-event", "no-such"]\nfoo = 1\n');
    expect(faults).toHaveLength(2);
    expect([...section!.settings.ignore!]).toEqual(['unused-event']);
  });

  it('does not turn everything off for a list of mistyped codes', () => {
    const { section } = readPyproject('[tool.raceline]\nselect = ["mising-wait"]\n');
    expect(section!.settings.select).toBeUndefined();
  });

  it('is not there in other files, which still say what torch they need', () => {
    expect(readPyproject('[project]\ndependencies = ["torch~=2.3"]\n')).toMatchObject({
      section: undefined,
      torchVersion: '2.3',
      broken: false,
    });
    expect(readPyproject('\ufeff').faults).toEqual([]);
    expect(readPyproject('[project\n')).toMatchObject({ broken: false, faults: [] });
  });

  function byRegistry(a: string, b: string): number {
    const order = ['missing-wait', 'missing-record-stream', 'unused-event'];
    return order.indexOf(a) - order.indexOf(b);
  }
});

it('is documented key by key, in an example that holds', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const example = /```toml\n([\s\S]*?)```/.exec(page)![1]!;
  const { section, faults } = readPyproject(example, '/w');
  expect(faults).toEqual([]);
  for (const key of sectionKeys) {
    expect(example).toMatch(new RegExp(`^(${key} = |\\[tool\\.raceline\\.${key}\\])`, 'm'));
    expect(page).toContain(`\`${key}\``);
  }
  expect(section!.settings.severity!.size).toBe(2);
  const json = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!) as Record<string, unknown>;
  const settings = Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key.replace('raceline.', ''), value]),
  );
  expect(readSection(settings, { keys: 'camel' }).faults).toEqual([]);
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const contributed = manifest.contributes.configuration.flatMap((group: { properties: object }) =>
    Object.keys(group.properties),
  );
  for (const key of Object.keys(json)) expect(contributed).toContain(key);
});

it('reads the same keys of an editor, and leaves open what is not set there', () => {
  const { settings, faults } = readSection(
    {
      enable: true,
      select: [],
      severity: {},
      exclude: [],
      baseline: '',
      ignore: ['unused-event'],
      perFileIgnores: { 'a.py': ['ALL'] },
      torchVersion: '',
    },
    { keys: 'camel', base: '/w' },
  );
  expect(faults).toEqual([]);
  expect(settings).toMatchObject({ select: undefined, torchVersion: undefined });
  expect(settings.perFileIgnores![0]!.files.covers('/w/deep/a.py')).toBe(true);
  expect(layered(settings, { ignore: new Set(), select: undefined })).toMatchObject({ ignore: new Set() });
});

describe('the oldest PyTorch', () => {
  it.each([
    [['torch>=2.4'], '2.4'],
    [['torch >=2.1, <3'], '2.1'],
    [['torch==2.5.1'], '2.5.1'],
    [['torch[opt]~=2.3; python_version > "3.9"'], '2.3'],
    [['torch>2'], '2.0'],
    [['torch==2.4.*'], '2.4'],
    [['torch (>=2.2)'], '2.2'],
    [['torch ^2.6'], '2.6'],
    [['torch>=2.4; python_version < "3.10"', 'torch>=2.10; python_version >= "3.10"'], '2.4'],
    [['torch<2.4'], undefined],
    [['torch'], undefined],
    [['torch>=2.4', 'torch; sys_platform == "darwin"'], undefined],
    [['torchvision>=0.15', 'torch-geometric>=2.4'], undefined],
    [['torch @ https://example.org/torch.whl'], undefined],
    [[], undefined],
  ])('of %j is %s', (requirements, version) => {
    expect(lowestTorch(requirements)).toBe(version);
  });

  it.each([
    ['[project]\ndependencies = ["numpy"]\n[dependency-groups]\ndev = ["torch>=2.2", {include-group = "x"}]\n', '2.2'],
    ['[tool.poetry.dependencies]\ntorch = "^2.3"\n', '2.3'],
    ['[tool.poetry.dependencies]\ntorch = {version = ">=2.1", optional = true}\n', '2.1'],
    ['[build-system]\nrequires = ["setuptools", "torch>=2.0"]\n', '2.0'],
    ['[project]\ndependencies = ["torch>=2.6"]\n[build-system]\nrequires = ["torch>=2.0"]\n', '2.6'],
    ['[project]\ndependencies = "torch>=2.6"\n', undefined],
  ])('of %j is %s', (text, version) => {
    expect(readPyproject(text).torchVersion).toBe(version);
  });

  it('is a version, whatever its build', () => {
    expect(['2.4', '2.4.1+cu121', 'v2.5', '2.6.0a0+git1', '2', 'new', '>=2.4'].map(torchVersionOf)).toEqual([
      '2.4',
      '2.4.1',
      '2.5',
      '2.6.0',
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('path patterns', () => {
  it.each([
    ['tests', '/w/a/tests/x.py', true],
    ['tests', '/w/my_tests/x.py', false],
    ['tests/*', '/w/tests/a/b.py', true],
    ['tests/*', '/w/src/tests/b.py', false],
    ['**/tests/*', '/w/src/tests/b.py', true],
    ['./src/', '/w/src/b.py', true],
    ['gen_*.py', '/w/deep/gen_a.py', true],
    ['*.py', '/w/a.pyc', false],
    ['{a,b}/*.py', '/w/b/x.py', true],
    ['[!a]x.py', '/w/ax.py', false],
    ['[!a]x.py', '/w/bx.py', true],
    ['/w/src/a.py', '/w/src/a.py', true],
    ['w', '/w/src/a.py', false],
    ['!src/*', '/w/lib/a.py', true],
    ['!src/*', '/w/src/a.py', false],
    ['src', '/other/src/a.py', true],
    ['src', 'C:\\w\\src\\a.py', true],
    ['a(b', '/w/a(b', true],
    ['**/a/**/b.py', '/w/a/b.py', true],
    ['**/a/**/b.py', '/w/x/a/y/z/b.py', true],
    ['**/a/**/b.py', '/w/x/b.py', false],
    ['src/**', '/w/src/deep/b.py', true],
    ['{src,lib}/{a,b}*.py', '/w/lib/b1.py', true],
    ['[a-c]?.py', '/w/bx.py', true],
    ['[a-c]?.py', '/w/dx.py', false],
    ['*', '/w/a.py', true],
  ])('%s covers %s: %s', (pattern, file, expected) => {
    expect(pathPatterns([pattern], file.startsWith('C:') ? 'C:\\w' : '/w').covers(file)).toBe(expected);
  });
});

it('a pattern that was written to take for ever does not', () => {
  const path = `/w/${'a'.repeat(4000)}/${'a'.repeat(4000)}`;
  expect(pathPatterns([`${'*a'.repeat(40)}*b`, `x/${'*a'.repeat(40)}*b`], '/w').covers(path)).toBe(false);
  const { faults } = readPyproject(`[tool.raceline]\nexclude = ["${'**/a/'.repeat(20)}x", "${'{a,b}'.repeat(20)}"]\n`);
  expect(faults.map(({ message }) => /is not a path pattern/.test(message))).toEqual([true, true]);
});

it('offers the words that were probably meant', () => {
  const codes = ['missing-wait', 'missing-record-stream', 'late-record-stream', 'unused-event'];
  expect(nearestOf('mising-wait', codes, 2)).toEqual(['missing-wait']);
  expect(nearestOf('record-stream', codes, 3)).toEqual(['late-record-stream', 'missing-record-stream']);
  expect(nearestOf('zzz', codes, 3)).toEqual([]);
});
