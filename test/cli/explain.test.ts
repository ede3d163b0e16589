import { describe, expect, it } from 'vitest';
import { terminalPage } from '../../cli/terminal-page.ts';
import pages from '../../core/rules/pages.json' with { type: 'json' };
import { rules } from '../../core/rules/index.ts';
import { folder, raceline } from './raceline.ts';

describe('raceline explain', () => {
  it('prints the page of each rule', () => {
    const { code, stdout } = raceline(folder({}), 'explain', ...rules.map((rule) => rule.code));
    expect(code).toBe(0);
    for (const rule of rules) expect(stdout).toContain(`${rule.code}\n\n${rule.title.slice(0, 20)}`);
    expect(stdout).toMatch(/^WHAT HAPPENS ON THE GPU$/m);
    expect(stdout).toMatch(/^WHEN NOT TO FIX IT$/m);
    expect(stdout).toMatch(/^ {4}copy = torch\.cuda\.Stream\(\)$/m);
    expect(stdout).not.toMatch(/```|^## /m);
    expect(stdout).not.toContain('\u001b');
  });

  it('lists all codes', () => {
    const { stdout } = raceline(folder({}), 'explain', '--list');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(rules.map((rule) => rule.code));
  });

  it('names the nearest codes for an unknown one', () => {
    const { code, stderr } = raceline(folder({}), 'explain', 'mising-wait');
    expect(code).toBe(2);
    expect(stderr).toMatch(/no code 'mising-wait'; did you mean 'missing-wait'\?/);
    expect(raceline(folder({}), 'explain', 'nothing-like-it').stderr).toMatch(/no code 'nothing-like-it'; 'raceline/);
  });
});

it('fills paragraphs, and leaves code alone', () => {
  const page = terminalPage('# a-b\n\none two `three four` five\nsix\n\n```python\n  x = 1\n\ny = 2\n```\n', {
    width: 16,
    bold: false,
  });
  expect(page).toBe('a-b\n\none two\n`three four`\nfive six\n\n      x = 1\n\n    y = 2');
});

it('has a page for every rule', () => {
  expect(Object.keys(pages)).toEqual(rules.map((rule) => rule.code));
});
