/** Which files a check reads: streams and what is imported by files with streams. */
import { expect, it } from 'vitest';
import { RelevantFiles } from '../../core/relevantFiles.ts';

function selected(files: Record<string, string>, ...always: string[]): string[] {
  const relevant = new RelevantFiles();
  for (const [file, text] of Object.entries(files)) relevant.set(file, text);
  return relevant.select(new Set(always)).map(({ file }) => file);
}

it('takes files that mention streams, and no others', () => {
  expect(selected({ '/w/a.py': 's = torch.cuda.Stream()', '/w/b.py': 'x = 1' })).toEqual(['/w/a.py']);
});

it('takes what an open file imports', () => {
  expect(selected({ '/w/a.py': 'import b', '/w/b.py': '', '/w/c.py': '' }, '/w/a.py')).toEqual(['/w/a.py', '/w/b.py']);
});

it.each([
  ['import pkg.deep.mod', ['/w/pkg/__init__.py', '/w/pkg/deep/__init__.py', '/w/pkg/deep/mod.py']],
  ['import os, pkg.other as o', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
  ['from pkg import other', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
  ['from pkg import (\n  thing,  # why\n  other,\n)', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
  ['from pkg.deep.mod import f as g, h', ['/w/pkg/__init__.py', '/w/pkg/deep/__init__.py', '/w/pkg/deep/mod.py']],
  ['    from pkg.other import x', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
  ['from lib import x', ['/w/src/lib.py']],
  ['x = "import pkg"', []],
  ['from torch import nn', []],
])('follows %j', (text, found) => {
  const files = {
    '/w/main.py': text,
    '/w/pkg/__init__.py': '',
    '/w/pkg/other.py': '',
    '/w/pkg/deep/__init__.py': '',
    '/w/pkg/deep/mod.py': '',
    '/w/src/lib.py': '',
  };
  expect(selected(files, '/w/main.py').filter((file) => file !== '/w/main.py')).toEqual(found);
});

it('follows relative imports by their dots, from a package too', () => {
  const files = {
    '/w/p/__init__.py': 'from .a import x',
    '/w/p/a.py': 'from . import b\nfrom .q.c import y',
    '/w/p/b.py': '',
    '/w/p/q/__init__.py': '',
    '/w/p/q/c.py': 'from ..d import z',
    '/w/p/d.py': '',
    '/w/d.py': '',
  };
  expect(selected(files, '/w/p/__init__.py')).toEqual([
    '/w/p/__init__.py',
    '/w/p/a.py',
    '/w/p/b.py',
    '/w/p/d.py',
    '/w/p/q/__init__.py',
    '/w/p/q/c.py',
  ]);
});

it('forgets a deleted file, and reads a changed one again', () => {
  const relevant = new RelevantFiles();
  relevant.set('/w/a.py', 'import b');
  relevant.set('/w/b.py', '');
  relevant.set('/w/c.py', '');
  relevant.set('/w/a.py', 'import c');
  const always = new Set(['/w/a.py']);
  expect(relevant.select(always).map(({ file }) => file)).toEqual(['/w/a.py', '/w/c.py']);
  relevant.delete('/w/c.py');
  expect(relevant.select(always).map(({ file }) => file)).toEqual(['/w/a.py']);
});

it('ends where modules import each other', () => {
  expect(selected({ '/w/a.py': 'import b # Stream', '/w/b.py': 'import a' })).toEqual(['/w/a.py', '/w/b.py']);
});
