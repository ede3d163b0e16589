import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, racy, raceline } from './raceline.ts';

const safe = racy
  .replace('    x.fill_(1.0)\n', '    x.fill_(1.0)\ncompute.wait_stream(copy)\n')
  .replace('compute.wait_stream(copy)\n', 'compute.wait_stream(copy)\ncompute.wait_stream(copy)\n');

describe('raceline conservative', () => {
  it('prints a diff, and writes only when told to', () => {
    const root = folder({ 'a.py': racy, 'plain.py': 'print(1)\n' });
    const shown = raceline(root, 'conservative', '.');
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/^--- a\.py$/m);
    expect(shown.stdout).toMatch(/^\+.*wait_(event|stream)\(/m);
    expect(shown.stderr).toMatch(/1 order to insert in 1 file; --write applies them/);
    expect(readFileSync(path.join(root, 'a.py'), 'utf8')).toBe(racy);

    const written = raceline(root, 'conservative', '--write', '.');
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(written.stderr).toMatch(/1 order inserted in 1 file/);
    expect(raceline(root, 'check', '.').stdout).toMatch(/0 errors, 0 warnings/);
    expect(raceline(root, 'conservative', '.')).toMatchObject({ code: 0, stdout: '' });
  });

  it('says what it needs', () => {
    expect(raceline(folder({}), 'conservative')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('conservative needs a file or a folder'),
    });
  });
});

describe('raceline lean', () => {
  it('lists the calls that can go, with the order that remains', () => {
    const { code, stdout } = raceline(folder({ 'a.py': safe }), 'lean', 'a.py');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^a\.py:10:1: `compute\.wait_stream\(copy\)` can go$/m);
    expect(stdout).toMatch(/after the same work already: `compute\.wait_stream\(copy\)` at line 9/);
  });

  it('gives JSON', () => {
    const { stdout } = raceline(folder({ 'a.py': safe }), 'lean', '--format', 'json', 'a.py');
    const { version, calls, problems } = JSON.parse(stdout);
    expect({
      version,
      problems,
      lines: calls.map((call: { range: { start: { line: number } } }) => call.range.start.line),
    }).toEqual({
      version: 1,
      problems: [],
      lines: [9],
    });
  });

  it('finds nothing in a program that needs all it has', () => {
    expect(raceline(folder({ 'a.py': racy }), 'lean', '.')).toMatchObject({
      code: 0,
      stdout: 'no call is known to be needless\n',
    });
  });
});
