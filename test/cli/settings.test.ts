/** Settings on the command line: `[tool.raceline]` of the nearest pyproject.toml, flags over it, baselines. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, raceline, racy } from './raceline.ts';

/** A second finding of another code: an event that nobody waits for. */
const advice = `import torch

def product(host):
    a = host.cuda()
    begin = torch.cuda.Event(enable_timing=True)
    begin.record()
    b = a @ a
    return b.sum().item()
`;

const codes = (at: string, ...args: readonly string[]): string[] => {
  const { stdout } = raceline(at, 'check', '--format', 'json', ...args);
  return JSON.parse(stdout).findings.map(
    ({ file, code, severity }: { file: string; code: string; severity: string }) =>
      `${path.relative(at, file).split(path.sep).join('/')} ${severity} ${code}`,
  );
};
const project = (toml: string, more: Readonly<Record<string, string>> = {}) =>
  folder({ 'pyproject.toml': toml, 'racy.py': racy, 'advice.py': advice, ...more });

describe('[tool.raceline]', () => {
  it('selects, ignores, and sets severities', () => {
    expect(codes(project(''))).toEqual(['advice.py hint unused-event', 'racy.py error missing-wait']);
    expect(codes(project('[tool.raceline]\nselect = ["missing-*"]\n'))).toEqual(['racy.py error missing-wait']);
    expect(codes(project('[tool.raceline]\nignore = ["missing-wait"]\n'))).toEqual(['advice.py hint unused-event']);
    expect(codes(project('[tool.raceline.severity]\nmissing-wait = "warning"\n'))).toContain(
      'racy.py warning missing-wait',
    );
  });

  it('ignores by file, and leaves files out', () => {
    const more = { 'tests/deep/racy.py': racy, 'third_party/racy.py': racy };
    const at = project(
      '[tool.raceline]\nexclude = ["third_party", "adv*.py"]\nper-file-ignores = {"tests/*" = ["ALL"]}\n',
      more,
    );
    expect(codes(at)).toEqual(['racy.py error missing-wait']);
    // A path that is named is checked, unless a hook asks for the exclusion.
    expect(codes(at, 'third_party/racy.py')).toHaveLength(1);
    expect(codes(at, '--force-exclude', 'third_party/racy.py', 'racy.py')).toEqual(['racy.py error missing-wait']);
  });

  it('comes from the nearest file upward that has one, wherever it is run from', () => {
    const at = project('[tool.raceline]\nignore = ["ALL"]\n', {
      'a/pyproject.toml': '[tool.raceline]\nselect = ["missing-wait"]\n',
      'a/b/pyproject.toml': '[project]\nname = "b"\n',
      'a/b/racy.py': racy,
    });
    expect(codes(at)).toEqual(['a/b/racy.py error missing-wait']);
    expect(codes(path.join(at, 'a', 'b'), '../../racy.py')).toEqual([]);
  });

  it('gives way to flags; --isolated and --config take its place', () => {
    const at = project('[tool.raceline]\nignore = ["missing-wait"]\nselect = ["unused-event"]\n', {
      'other.toml': '[tool.raceline]\nselect = ["missing-wait"]\n',
    });
    expect(codes(at)).toEqual(['advice.py hint unused-event']);
    expect(codes(at, '--ignore', 'unused-event', '--select', 'ALL')).toEqual(['racy.py error missing-wait']);
    expect(codes(at, '--isolated')).toHaveLength(2);
    expect(codes(at, '--config', 'other.toml')).toEqual(['racy.py error missing-wait']);
  });

  it('with a fault in it: the line and what to do are told, the rest holds, and the check has failed', () => {
    const at = project('[tool.raceline]\nselct = ["missing-wait"]\nignore = ["unused-event"]\n');
    const { code, stdout, stderr } = raceline(at, 'check');
    expect(stderr).toMatch(/^pyproject\.toml:2: there is no setting 'selct'; did you mean 'select'\?/);
    expect(stdout).toMatch(/1 error, 0 warnings, 0 hints/);
    expect(code).toBe(2);
    const broken = project('[tool.raceline\n');
    expect(raceline(broken, 'check')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^pyproject\.toml:1: this is not valid TOML: .*until that is mended/),
      stdout: expect.stringMatching(/missing-wait/),
    });
  });
});

describe('a baseline', () => {
  it('is written, and then only what is new is reported', () => {
    const at = project('');
    const written = raceline(at, 'check', '--write-baseline', 'known.json');
    expect(written).toMatchObject({ code: 0, stdout: '2 findings written to known.json\n' });
    const then = raceline(at, 'check', '--baseline', 'known.json');
    expect(then).toMatchObject({ code: 0, stdout: expect.stringMatching(/0 hints, 2 in the baseline/) });
    writeFileSync(path.join(at, 'racy.py'), `# moved\n\n${racy}with torch.cuda.stream(compute):\n    z = x.mul(3.0)\n`);
    writeFileSync(path.join(at, 'more.py'), racy);
    expect(codes(at, '--baseline', 'known.json')).toEqual(['more.py error missing-wait']);
  });

  it('stands in the settings, beside the file that names it', () => {
    const at = project('[tool.raceline]\nbaseline = "known.json"\n');
    const missing = raceline(at, 'check');
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/known\.json: the baseline cannot be read.*--write-baseline/),
    });
    expect(missing.stdout).toMatch(/1 error/);
    expect(raceline(at, 'check', '--write-baseline', 'known.json').code).toBe(0);
    expect(codes(at)).toEqual([]);
    expect(raceline(at, 'check').code).toBe(0);
    // Written again it holds the same: what it knows is no reason to leave it out.
    const before = readFileSync(path.join(at, 'known.json'), 'utf8');
    expect(raceline(at, 'check', '--write-baseline', 'known.json').code).toBe(0);
    expect(readFileSync(path.join(at, 'known.json'), 'utf8')).toBe(before);
  });

  it('that is none fails, and everything is reported', () => {
    const at = folder({ 'racy.py': racy, 'known.json': '{}' });
    const { code, stdout, stderr } = raceline(at, 'check', '--baseline', 'known.json');
    expect(stderr).toMatch(/known\.json: is not a baseline/);
    expect(stdout).toMatch(/1 error/);
    expect(code).toBe(2);
  });
});
