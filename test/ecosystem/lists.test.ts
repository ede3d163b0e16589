/** The lists beside this file hold together: what they name is pinned, and each verdict bears its reason. Downloads nothing. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { rules } from '../../core/rules/index.ts';
import { linesOf } from '../../scripts/mutants/units.ts';

const folder = path.dirname(fileURLToPath(import.meta.url));
const read = <T>(name: string): T => JSON.parse(readFileSync(path.join(folder, name), 'utf8'));

interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly from: string;
}

interface Judged {
  readonly package: string;
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly verdict: string;
  readonly reason: string;
}

const pinned = new Set(read<Pinned[]>('packages.json').map(({ name }) => name));
const right = linesOf(path.join(folder, 'judged-right.txt'));

it('each package is pinned once, by an exact version', () => {
  const all = read<Pinned[]>('packages.json');
  expect(pinned.size).toBe(all.length);
  for (const one of all) {
    expect(one.version).toMatch(/^\d+(\.\w+)*$/);
    expect(['wheel', 'sdist']).toContain(one.from);
  }
});

it('each finding has a verdict and a reason, in the order of places', () => {
  const all = read<Judged[]>('findings.json');
  const codes = new Set<string>(rules.map(({ code }) => code));
  for (const one of all) {
    expect(pinned).toContain(one.package);
    expect(codes).toContain(one.code);
    expect(['right', 'wrong', 'arguable']).toContain(one.verdict);
    expect(one.reason).toMatch(/\.$/);
  }
  const keys = all.map((one) => `${one.package} ${one.file} ${String(one.line).padStart(7, '0')} ${one.code}`);
  expect(keys).toEqual([...keys].sort());
});

it('files judged right are of pinned packages, and each is named once', () => {
  for (const line of right) expect(pinned).toContain(line.split(' ')[0]);
  expect(right).toEqual([...new Set(right)].sort());
});

it('an exempt statement is in a file judged right', () => {
  for (const line of linesOf(path.join(folder, 'exempt.txt'))) {
    const [, file] = /^(.*\.py):\d+ \S/.exec(line) ?? [];
    expect(right).toContain(file);
  }
});
