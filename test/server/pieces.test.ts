/** The server's pieces without a connection: ignore rules, the workspace scan, line edits, the ignore comment, settings. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyEdits } from '../../core/base/text.ts';
import type { Finding } from '../../core/rules/finding.ts';
import { UriSpelling, fileKey, workspaceEdit } from '../../server/convert.ts';
import { parseIgnoreFile } from '../../server/ignore.ts';
import { lineEdits } from '../../server/lineEdits.ts';
import { ignoreEdit } from '../../server/requests/ignoreComment.ts';
import { defaults, readSettings } from '../../server/settings.ts';
import { isSkipped, scanWorkspace } from '../../server/workspaceFiles.ts';

describe('ignore files', () => {
  const ignores = (patterns: string, file: string, folder = false) =>
    parseIgnoreFile(patterns).ignores(file, folder) === true;

  it.each([
    ['*.log', 'deep/a.log', true],
    ['/a.py', 'a.py', true],
    ['/a.py', 'deep/a.py', false],
    ['docs/*.py', 'docs/a.py', true],
    ['docs/*.py', 'docs/deep/a.py', false],
    ['docs/**/x.py', 'docs/x.py', true],
    ['docs/**/x.py', 'docs/a/b/x.py', true],
    ['**/gen', 'a/gen', true],
    ['a?.py', 'ab.py', true],
    ['a[0-9].py', 'a7.py', true],
    ['a[!0-9].py', 'a7.py', false],
    ['\\#a.py', '#a.py', true],
    ['# a.py', '# a.py', false],
    ['a.py   ', 'a.py', true],
    ['a+b.py', 'a+b.py', true],
    ['a+b.py', 'aab.py', false],
  ])('%s matches %s: %s', (pattern, file, expected) => {
    expect(ignores(pattern, file)).toBe(expected);
  });

  it('binds a pattern that ends in a slash to folders', () => {
    expect(ignores('out/', 'out', true)).toBe(true);
    expect(ignores('out/', 'out')).toBe(false);
  });

  it('lets a later line take an earlier one back', () => {
    expect(parseIgnoreFile('*.py\n!keep.py').ignores('keep.py', false)).toBe(false);
    expect(parseIgnoreFile('*.py\n!keep.py').ignores('other.py', false)).toBe(true);
    expect(parseIgnoreFile('*.py').ignores('x.txt', false)).toBeUndefined();
  });
});

describe('the workspace scan', () => {
  let folder: string;
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const found = async (bounds?: Parameters<typeof scanWorkspace>[1]) =>
    (await scanWorkspace([folder], bounds)).files.map(({ file }) => path.relative(folder, file));
  const bounds = { files: 10, fileBytes: 500, streamBytes: 1000, otherBytes: 1000 };
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'raceline-scan-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('reads Python files, sorted, and no others', async () => {
    write('b.py', 's = torch.cuda.Stream()');
    write('a/x.py', 'x.to("cuda", non_blocking=True)');
    write('plain.py', 'print(1)');
    write('notes.txt', 'Stream()');
    expect(await found()).toEqual(['a/x.py', 'b.py', 'plain.py']);
    expect((await scanWorkspace([folder])).streams).toBe(2);
  });

  it('skips environments, caches, hidden and ignored folders', async () => {
    const text = 's = torch.cuda.Stream()';
    for (const name of ['node_modules/a.py', '.venv/a.py', '__pycache__/a.py', 'ours/pyvenv.cfg/../lib/a.py'])
      write(name, text);
    write('ours/pyvenv.cfg', '');
    write('.gitignore', 'made/\n');
    write('made/a.py', text);
    write('made2/a.py', text);
    write('sub/.gitignore', '/local.py\n');
    write('sub/local.py', text);
    write('sub/deep/local.py', text);
    expect(await found()).toEqual(['made2/a.py', 'sub/deep/local.py']);
  });

  it('does not follow links into cycles', async () => {
    write('a/x.py', 'Stream()');
    symlinkSync(folder, path.join(folder, 'a', 'loop'));
    expect(await found()).toEqual(['a/x.py']);
  });

  it('says what a bound left out', async () => {
    write('big.py', `Stream()${' '.repeat(98)}`);
    write('small.py', 'Stream()');
    const { files, notes } = await scanWorkspace([folder], { ...bounds, fileBytes: 50 });
    expect(files.map(({ file }) => path.basename(file))).toEqual(['small.py']);
    expect(notes.join()).toContain('big.py is not read: 106 bytes');
    const few = await scanWorkspace([folder], { ...bounds, files: 1 });
    expect(few.seen).toBe(1);
    expect(few.notes.join()).toContain('Only the first 1 Python files');
    write('a1.py', 'pass # 1');
    write('a2.py', 'pass # 2');
    const { files: kept } = await scanWorkspace([folder], { ...bounds, otherBytes: 5 });
    expect(kept.map(({ file }) => path.basename(file))).toEqual(['a1.py', 'big.py', 'small.py']);
  });

  it('is empty for a folder that is not there, and says so', async () => {
    const { files, notes } = await scanWorkspace([path.join(folder, 'gone')]);
    expect(files).toEqual([]);
    expect(notes).toHaveLength(1);
  });

  it('knows which changed paths lie where it would not look', () => {
    expect(isSkipped(path.join(folder, 'a.py'), [folder])).toBe(false);
    expect(isSkipped(path.join(folder, 'node_modules/a.py'), [folder])).toBe(true);
    expect(isSkipped(path.join(folder, '.venv/lib/a.py'), [folder])).toBe(true);
    expect(isSkipped('/elsewhere/a.py', [folder])).toBe(true);
  });
});

describe('line edits', () => {
  const cases: [string, string][] = [
    ['', ''],
    ['', 'a\n'],
    ['a\n', ''],
    ['a\nb\nc\n', 'a\nx\nb\nc\n'],
    ['a\nb\nc\n', 'a\nc\n'],
    ['a\nb\nc', 'a\nb\nd'],
    ['a\nb', 'a\nb\nc'],
    ['a\nb\n', 'a\nb'],
    ['a\r\nb\r\n', 'a\r\nx\r\nb\r\n'],
    ['x\na\nb\nc\ny\n', 'a\nq\nb\nc\nz\ny\n'],
    ['same\n'.repeat(30), `${'same\n'.repeat(10)}new\n${'same\n'.repeat(21)}`],
  ];
  it.each(cases)('turns %j into %j', (before, after) => {
    expect(applyEdits(before, lineEdits(before, after))).toBe(after);
  });

  it('leaves untouched lines out of every edit', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\n';
    const edits = lineEdits(before, 'zero\none\ntwo\nthree\nfour\n5\n');
    expect(edits.map(({ range, newText }) => [range.start.line, range.end.line, newText])).toEqual([
      [0, 0, 'zero\n'],
      [4, 5, '5\n'],
    ]);
  });
});

describe('the ignore comment', () => {
  const finding = (line: number): Finding => ({
    file: '/x.py',
    range: { start: { line, character: 4 }, end: { line, character: 5 } },
    code: 'missing-wait',
    severity: 'error',
    certainty: 'always',
    message: 'm',
    related: [],
    fixes: [],
  });
  const commented = (text: string, line: number) => {
    const edit = ignoreEdit(text, finding(line));
    return edit && applyEdits(text, [edit]);
  };

  it('goes to the end of the line', () => {
    expect(commented('a\n    y = x\nb\n', 1)).toBe('a\n    y = x  # raceline: ignore[missing-wait]\nb\n');
    expect(commented('    y = x', 0)).toBe('    y = x  # raceline: ignore[missing-wait]');
    expect(commented('    y = x\r\nb', 0)).toBe('    y = x  # raceline: ignore[missing-wait]\r\nb');
  });
  it('joins a comment that is there', () => {
    expect(commented('    y = x  # raceline: ignore[reversed-wait]', 0)).toBe(
      '    y = x  # raceline: ignore[reversed-wait, missing-wait]',
    );
  });
  it('is not offered where no comment may stand', () => {
    expect(commented('    y = x + \\\n  z', 0)).toBeUndefined();
  });
});

describe('settings', () => {
  it('takes a value of the wrong kind for not set', () => {
    expect(readSettings({ enable: 'no', diagnostics: { run: 3, scope: 'workspace' } })).toEqual({
      ...defaults,
      scope: 'workspace',
    });
    expect(readSettings(null)).toEqual(defaults);
    expect(readSettings('text')).toEqual(defaults);
  });
});

describe('URIs', () => {
  it('answers in the spelling that the client used', () => {
    const uris = new UriSpelling();
    const key = uris.seen('file:///home/a%20b/x%2By.py');
    expect(key).toBe('/home/a b/x+y.py');
    expect(uris.uri(key)).toBe('file:///home/a%20b/x%2By.py');
    expect(uris.uri('/home/a b/z.py')).toBe('file:///home/a%20b/z.py');
  });
  it('keeps a URI without a path as the key', () => {
    expect(fileKey('untitled:Untitled-1')).toBe('untitled:Untitled-1');
    expect(fileKey('file://%zz')).toBe('file://%zz');
  });
  it('makes versioned edits only for clients that take them', () => {
    const uris = new UriSpelling();
    const edit = {
      file: uris.seen('file:///a.py'),
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
      newText: 'x',
    };
    expect(workspaceEdit([edit], uris, () => 7, true).documentChanges).toEqual([
      { textDocument: { uri: 'file:///a.py', version: 7 }, edits: [{ range: edit.range, newText: 'x' }] },
    ]);
    expect(workspaceEdit([edit], uris, () => 7, false)).toEqual({
      changes: { 'file:///a.py': [{ range: edit.range, newText: 'x' }] },
    });
  });
});
