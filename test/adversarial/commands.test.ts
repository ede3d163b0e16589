/** What nobody means to type, and names that were made to do harm: the command line says what is wrong and goes on. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { folder, raceline, racy } from '../cli/raceline.ts';

describe('words that are no command', () => {
  it.each([
    ['constructor', ''],
    ['toString', ''],
    ['__proto__', ''],
    ['chekc', "; did you mean 'check'?"],
  ])('%s', (word, hint) => {
    const { code, stderr } = raceline(folder({}), word);
    expect([code, stderr.split('\n', 1)[0]]).toEqual([2, `raceline: unknown command '${word}'${hint}`]);
  });

  it('a code that no rule has is an error, not a clean run', () => {
    const { code, stderr } = raceline(folder({ 'a.py': racy }), 'check', '--select', 'mising-wait', 'a.py');
    expect(code).toBe(2);
    expect(stderr).toMatch(/--select: there is no code 'mising-wait'; did you mean 'missing-wait'\?/);
  });

  it.each(['preview', 'view', 'trace', 'check'])('%s of a file that is not there names it', (command) => {
    const { code, stderr } = raceline(folder({}), command, 'gone.py');
    expect(code).toBe(2);
    expect(stderr).toMatch(/gone\.py/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('what lies in a folder', () => {
  it('links in a circle, a folder named like a module and an empty file stop nothing', () => {
    const at = folder({ 'dir.py/inner.py': racy, 'empty.py': '' });
    symlinkSync('.', path.join(at, 'loop'));
    symlinkSync('gone.py', path.join(at, 'broken.py'));
    mkdirSync(path.join(at, 'bare.py'));
    const { code, stdout, stderr } = raceline(at, 'check', '.');
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^dir\.py\/inner\.py:10:/m);
    expect(stdout).toMatch(/^2 files, 1 error,/m);
  });

  it.skipIf(process.platform === 'win32')('control characters of a name do not reach the terminal', () => {
    const at = folder({ 'evil\u001b[31m\nname.py': racy });
    for (const format of ['text', 'github'])
      expect(raceline(at, 'check', '--format', format, '.').stdout).toContain('evil?[31m?name.py');
  });

  it.each([
    ['carriage returns', racy.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${racy}`],
    [
      'another encoding',
      Buffer.from(racy.replace('import torch', '# coding: latin-1\n# \u00e9\nimport torch'), 'latin1'),
    ],
  ])('%s outlive a fix', (_, content) => {
    const at = folder({ 'a.py': content });
    const { code, stdout } = raceline(at, 'check', '--fix', 'a.py');
    expect([code, / 1 fixed/.test(stdout)]).toEqual([0, true]);
    const again = raceline(at, 'check', '--fix', '--diff', 'a.py');
    expect([again.code, again.stdout]).toEqual([0, '']);
  });
});

describe('recordings', () => {
  it('a preview without a name leaves nothing between the sources', () => {
    const at = folder({ 'racy.py': racy });
    expect(raceline(at, 'preview', 'racy.py').code).toBe(1);
    expect(readdirSync(at).sort()).toEqual(['.raceline', 'racy.py']);
    expect(readdirSync(path.join(at, '.raceline')).sort()).toEqual([
      '.gitignore',
      expect.stringMatching(/^racy-.*\.raceline$/),
    ]);
  });

  it('a packed file with a wrong checksum or with garbage behind it still gives what it holds', () => {
    const at = folder({ 'racy.py': racy });
    raceline(at, 'preview', 'racy.py', '-o', 'run.raceline');
    const packed = gzipSync(readFileSync(path.join(at, 'run.raceline')));
    const wrong = Buffer.from(packed);
    wrong.fill(0, wrong.length - 8, wrong.length - 4);
    const files = { 'sum.gz': wrong, 'tail.gz': Buffer.concat([packed, Buffer.from('garbage')]) };
    const { code, stdout } = raceline(folder(files), 'trace', ...Object.keys(files));
    expect([code, stdout.match(/: \w+ missing-wait/g)?.length]).toEqual([1, 2]);
  });
});
