import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../core/rules/finding.ts';
import {
  type Baseline,
  baselineText,
  parseBaseline,
  relativePath,
  splitByBaseline,
} from '../../../core/settings/baseline.ts';

const at = (line: number, code = 'missing-wait', file = '/w/src/a.py'): Finding => ({
  file,
  range: { start: { line, character: 0 }, end: { line, character: 3 } },
  code,
  severity: 'error',
  certainty: 'always',
  message: '',
  related: [],
  fixes: [],
});
const split = (findings: readonly Finding[], baseline: Baseline, text: string) =>
  splitByBaseline(
    findings,
    () => baseline,
    () => text.split('\n'),
  );
const written = (findings: readonly Finding[], text: string, folder = '/w'): Baseline => {
  const baseline = parseBaseline(
    baselineText(findings, () => text.split('\n'), folder),
    folder,
  );
  if (typeof baseline === 'string') throw new Error(baseline);
  return baseline;
};

describe('a baseline', () => {
  const text = 'a = 1\n    y = x * 2\n    y = x * 2\n';

  it('knows a finding by code, file and text of the line', () => {
    const baseline = written([at(1)], text);
    expect(split([at(1)], baseline, text).fresh).toEqual([]);
    expect(split([at(1, 'unused-event')], baseline, text).fresh).toHaveLength(1);
    expect(split([at(1, 'missing-wait', '/w/src/b.py')], baseline, text).fresh).toHaveLength(1);
  });

  it('survives edits elsewhere, and other spaces', () => {
    const baseline = written([at(1)], text);
    expect(split([at(4)], baseline, '#\n#\n#\n\nif a:\n\t\ty = x  *  2').fresh).toHaveLength(1);
    expect(split([at(5)], baseline, '#\n#\n#\n\nif a:\n\t\ty = x  *  2').fresh).toEqual([]);
  });

  it('counts equal lines: one more is new', () => {
    const baseline = written([at(1), at(2)], text);
    expect(split([at(1), at(2)], baseline, text).known).toHaveLength(2);
    const more = `${text}    y = x * 2\n`;
    expect(split([at(1), at(2), at(3)], baseline, more).fresh).toEqual([at(3)]);
  });

  it('is sorted text with an entry a line', () => {
    const findings = [at(1, 'unused-event'), at(1), at(2)];
    const once = baselineText(findings, () => text.split('\n'), '/w');
    expect(baselineText([...findings].reverse(), () => text.split('\n'), '/w')).toBe(once);
    expect(once.split('\n')).toHaveLength(8);
    expect(JSON.parse(once).findings[0]).toEqual({
      file: 'src/a.py',
      code: 'missing-wait',
      line: 'y = x * 2',
      count: 2,
    });
    expect(baselineText([], () => [], '/w')).toContain('"findings": []');
  });

  it.each([
    '',
    '7',
    'null',
    '{"version":2,"findings":[]}',
    '{"version":1,"findings":[{}]}',
    '{"version":1,"findings":[null]}',
  ])('says so if it is none: %j', (text) => {
    expect(parseBaseline(text, '/w')).toMatch(/^(is not a baseline|has an entry)/);
  });
});

it.each([
  ['/w/a/b.py', '/w', 'a/b.py'],
  ['/w/b.py', '/w/sub', '../b.py'],
  ['C:\\w\\a.py', 'C:\\w\\', 'a.py'],
  ['D:\\a.py', 'C:\\w', 'D:/a.py'],
  ['untitled:x', '/w', 'untitled:x'],
  ['/etc/x.py', '/w', '/etc/x.py'],
  ['/x.py', '/', 'x.py'],
])('%s in %s is %s', (file, folder, relative) => {
  expect(relativePath(file, folder)).toBe(relative);
});
