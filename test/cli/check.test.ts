import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, folder, raceline, racelineWith, racy } from './raceline.ts';

const clean = racy.replace(
  'with torch.cuda.stream(compute)',
  'compute.wait_stream(copy)\nwith torch.cuda.stream(compute)',
);

describe('raceline check', () => {
  it('prints a finding with its code frame and exits with 1', () => {
    const at = folder({ 'racy.py': racy });
    const { code, stdout } = raceline(at, 'check', 'racy.py');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^racy\.py:10:\d+: error missing-wait/m);
    expect(stdout).toMatch(/> 10 \| {5}y = x\.mul\(2\.0\)/);
    expect(stdout).toMatch(/1 file, 1 error, 0 warnings, 0 hints/);
  });

  it('exits with 0 when there is nothing to find', () => {
    const { code, stdout } = raceline(folder({ 'clean.py': clean }), 'check', '.');
    expect([code, stdout.trim().split('\n').length]).toEqual([0, 1]);
  });

  it('prints the JSON that other tools read', () => {
    const at = folder({ 'racy.py': racy, 'sub/clean.py': clean });
    const { code, stdout } = raceline(at, 'check', '--format', 'json', '.');
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(Object.keys(report)).toEqual(['version', 'files', 'milliseconds', 'findings', 'problems']);
    expect(report).toMatchObject({ version: 1, files: 2, problems: [] });
    expect(report.findings).toHaveLength(1);
    const [finding] = report.findings;
    expect(Object.keys(finding)).toEqual([
      'file',
      'range',
      'code',
      'severity',
      'certainty',
      'message',
      'related',
      'fixes',
    ]);
    expect(path.basename(finding.file)).toBe('racy.py');
    expect(finding).toMatchObject({ code: 'missing-wait', severity: 'error', certainty: 'always' });
    expect(finding.range.start.line).toBe(9);
    expect(finding.related[0].range.start.line).toBe(7);
    expect(finding.fixes.length).toBeGreaterThan(0);
    expect(
      finding.fixes.flatMap((fix: { edits: { newText: string }[] }) => fix.edits.map((e) => e.newText)).join(),
    ).toMatch(/wait_(event|stream)\(/);
  });

  it('gives the same bytes for the same input, but for the time', () => {
    const at = folder({ 'a.py': racy, 'b.py': racy });
    const once = () => raceline(at, 'check', '--format', 'json', '.').stdout.replace(/"milliseconds":\d+/, '');
    expect(once()).toBe(once());
  });

  it('prints annotations for GitHub', () => {
    const { stdout } = raceline(folder({ 'racy.py': racy }), 'check', '--format=github', '.');
    expect(stdout).toMatch(
      /^::error file=racy\.py,line=10,endLine=10,col=9,endColumn=19,title=raceline missing-wait::/,
    );
  });

  it('--diff leaves the file alone, --fix writes it, and then nothing is found', () => {
    const at = folder({ 'racy.py': racy });
    const diff = raceline(at, 'check', '--diff', 'racy.py');
    expect(diff.stdout).toMatch(/^\+\+\+ racy\.py \(fixed\)$/m);
    expect(diff.stdout).toMatch(/^\+.*wait_/m);
    expect(readFileSync(path.join(at, 'racy.py'), 'utf8')).toBe(racy);
    const fixed = raceline(at, 'check', '--fix', 'racy.py');
    expect(fixed.code).toBe(0);
    expect(fixed.stdout).toMatch(/1 fixed/);
    expect(readFileSync(path.join(at, 'racy.py'), 'utf8')).toMatch(/wait_(stream|event)\(/);
    expect(raceline(at, 'check', 'racy.py').code).toBe(0);
  });

  it('keeps line ends and a byte order mark when it fixes', () => {
    const text = `\ufeff${racy.replaceAll('\n', '\r\n')}`;
    const at = folder({ 'racy.py': text });
    expect(raceline(at, 'check', '--fix', 'racy.py').code).toBe(0);
    const after = readFileSync(path.join(at, 'racy.py'), 'utf8');
    expect(after.startsWith('\ufeff')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('--select narrows to the named codes', () => {
    const at = folder({ 'racy.py': racy });
    expect(raceline(at, 'check', '--select', 'unjoined-output', '.').code).toBe(0);
    expect(raceline(at, 'check', '--select', 'unjoined-output,missing-wait', '.').code).toBe(1);
  });

  it('skips environments and caches, but reads a path that is named', () => {
    const at = folder({
      '.venv/lib/racy.py': racy,
      'node_modules/racy.py': racy,
      'tools/pyvenv.cfg': '',
      'tools/lib/racy.py': racy,
    });
    expect(raceline(at, 'check', '.').stdout).toMatch(/^0 files/);
    expect(raceline(at, 'check', 'tools').code).toBe(1);
    expect(raceline(at, 'check', '.venv/lib').code).toBe(1);
  });

  it('one bad file never stops the rest', () => {
    const at = folder({
      'binary.py': new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
      'broken.py': 'def f(:\n  x = (\n',
      'racy.py': racy,
    });
    const { code, stdout } = raceline(at, 'check', '--format', 'json', '.');
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report.findings).toHaveLength(1);
    expect(report.problems.map((p: { file: string }) => path.basename(p.file))).toContain('binary.py');
  });

  it('fails with 2 where something could not be read, and still tells what it found', () => {
    const at = folder({ 'racy.py': racy });
    const { code, stdout, stderr } = raceline(at, 'check', 'nowhere.py', 'racy.py');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^nowhere\.py: there is no such file or folder$/m);
    expect(stdout).toMatch(/error missing-wait/);
    const { problems, findings } = JSON.parse(
      raceline(at, 'check', '--format', 'json', 'nowhere.py', 'racy.py').stdout,
    );
    expect([problems.length, findings.length]).toEqual([1, 1]);
  });

  it('says where a file does not parse, and fails where none of it does', () => {
    const at = folder({ 'racy.py': `${racy}\ndef half(:\n    pass\n` });
    const { code, stdout, stderr } = raceline(at, 'check');
    expect(code).toBe(1);
    expect(stdout).toMatch(/error missing-wait/);
    expect(stderr).toMatch(/^racy\.py:\d+: does not parse here/);
    const other = folder({ 'none.py': '<<< Stream( >>>\n', 'racy.py': racy });
    const failed = raceline(other, 'check');
    expect(failed).toMatchObject({ code: 2, stdout: expect.stringMatching(/error missing-wait/) });
    expect(failed.stderr).toMatch(/^none\.py:1: could not be analysed: this is not Python/);
  });

  it('checks the current folder where no path is given; --exit-zero makes findings no failure', () => {
    const at = folder({ 'racy.py': racy });
    expect(raceline(at, 'check')).toMatchObject({ code: 1, stdout: expect.stringMatching(/1 error/) });
    expect(raceline(at, 'check', '--exit-zero')).toMatchObject({ code: 0, stdout: expect.stringMatching(/1 error/) });
    expect(raceline(at, 'check', '--exit-zero', 'nowhere').code).toBe(2);
  });

  it('--diff exits with 1 where a fix would change something', () => {
    expect(raceline(folder({ 'racy.py': racy }), 'check', '--diff').code).toBe(1);
    expect(raceline(folder({ 'clean.py': clean }), 'check', '--diff')).toMatchObject({ code: 0, stdout: '' });
  });

  it('leaves a finding that holds on some paths to the reader, unless --unsafe-fixes', () => {
    const maybe = racy
      .replace('compute = torch', 'import sys\ncompute = torch')
      .replace(
        'with torch.cuda.stream(compute)',
        'if len(sys.argv) > 1:\n    compute.wait_stream(copy)\nwith torch.cuda.stream(compute)',
      );
    const at = folder({ 'maybe.py': maybe });
    const { stdout } = raceline(at, 'check', '--fix');
    expect(stdout).toMatch(/missing-wait \(on some paths\)/);
    expect(readFileSync(path.join(at, 'maybe.py'), 'utf8')).toBe(maybe);
    expect(raceline(at, 'check', '--fix', '--unsafe-fixes').stdout).toMatch(/0 errors.*1 fixed/);
  });

  it('reads standard input under a name, and gives the fixed text back', () => {
    const at = folder({ 'pyproject.toml': '[tool.raceline.per-file-ignores]\n"quiet/*" = ["ALL"]\n' });
    expect(racelineWith(racy, at, 'check', '-')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^-:10:9: error/),
    });
    const named = racelineWith(racy, at, 'check', '--stdin-filename', 'loud/a.py', '-');
    expect(named).toMatchObject({ code: 1, stdout: expect.stringMatching(/^loud.a\.py:10:9: error/) });
    expect(racelineWith(racy, at, 'check', '--stdin-filename=quiet/a.py', '-').code).toBe(0);
    const fixed = racelineWith(racy, at, 'check', '--fix', '-');
    expect(fixed).toMatchObject({ code: 0, stderr: expect.stringMatching(/1 fixed/) });
    expect(racelineWith(fixed.stdout, at, 'check', '-').code).toBe(0);
    // What has nothing to do with streams comes back as it went in.
    expect(racelineWith('x = 1\n', at, 'check', '--fix', '-').stdout).toBe('x = 1\n');
    const excluded = ['--exclude', 'loud', '--force-exclude', '--stdin-filename', 'loud/a.py', '-'];
    expect(racelineWith(racy, at, 'check', '--fix', ...excluded)).toMatchObject({ code: 0, stdout: racy });
    expect(racelineWith(racy, at, 'check', '--diff', '-')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^--- -$/m),
    });
  });

  it('a reader of its output may stop', () => {
    const at = folder({ 'racy.py': racy });
    const { stderr } = spawnSync('sh', ['-c', `'${process.execPath}' '${cli}' check --format sarif . | head -n 1`], {
      cwd: at,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
  });

  it('a missing path, an unknown option and an unknown command fail with 2 and say so', () => {
    const at = folder({});
    expect(raceline(at, 'check', 'nowhere')).toMatchObject({ code: 2, stderr: expect.stringMatching(/nowhere/) });
    expect(raceline(at, 'check', '--fast', '.')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--fast/) });
    expect(raceline(at, 'check', '--selct', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/did you mean '--select'/),
    });
    expect(raceline(at, 'chekc')).toMatchObject({ code: 2, stderr: expect.stringMatching(/chekc.*'check'/) });
    expect(raceline(at, 'check', '--format', 'xml', '.')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/xml/),
    });
  });
});
