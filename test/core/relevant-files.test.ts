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

it('takes what uses a file that mentions streams, by a name of it', () => {
  const files = {
    '/w/copies.py': 'def upload(x):\n    s = torch.cuda.Stream()\n',
    '/w/user.py': 'import copies\ncopies.upload(x)',
    '/w/importer.py': 'import copies',
  };
  expect(selected(files)).toEqual(['/w/copies.py', '/w/user.py']);

  const relevant = new RelevantFiles();
  for (const [file, text] of Object.entries(files)) relevant.set(file, text);
  const now = () => relevant.select(new Set()).map(({ file }) => file);
  relevant.set('/w/copies.py', 'def send(x):\n    s = torch.cuda.Stream()\n');
  expect(now()).toEqual(['/w/copies.py']);
  relevant.set('/w/user.py', 'import copies\ncopies.send(x)');
  expect(now()).toEqual(['/w/copies.py', '/w/user.py']);
  relevant.set('/w/copies.py', 'def send(x):\n    pass');
  expect(now()).toEqual([]);
});

it('takes the modules that hand a name on, and not what leads to no stream', () => {
  const files = {
    '/w/main.py': 'from pkg import upload\nimport config\nupload(x, torch.cuda.Stream())',
    '/w/config.py': 'import numbers',
    '/w/pkg/__init__.py': 'from .inner import *',
    '/w/pkg/inner/__init__.py': 'from .copies import upload',
    '/w/pkg/inner/copies.py': 'def upload(x, s):\n    with torch.cuda.stream(s): ...',
  };
  expect(selected(files)).toEqual(
    Object.keys(files)
      .filter((file) => file !== '/w/config.py')
      .sort(),
  );
});

it('takes an open file whatever is in it', () => {
  expect(selected({ '/w/a.py': 'x = 1', '/w/b.py': '' }, '/w/a.py')).toEqual(['/w/a.py']);
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
    '/w/pkg/__init__.py': 'import copies',
    '/w/pkg/other.py': 'import copies',
    '/w/pkg/deep/__init__.py': 'import copies',
    '/w/pkg/deep/mod.py': 'import copies',
    '/w/src/lib.py': 'import copies',
    '/w/copies.py': 's = torch.cuda.Stream()',
  };
  const others = selected(files, '/w/main.py').filter((file) => file !== '/w/main.py' && file !== '/w/copies.py');
  expect(others).toEqual(found);
});

it('follows relative imports by their dots, from a package too', () => {
  const files = {
    '/w/p/__init__.py': 'from .a import x',
    '/w/p/a.py': 'from . import b\nfrom .q.c import y',
    '/w/p/b.py': 's = torch.cuda.Stream()',
    '/w/p/q/__init__.py': 'from .. import b',
    '/w/p/q/c.py': 'from ..d import z',
    '/w/p/d.py': 'from .b import s',
    '/w/d.py': 'from p.b import s',
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
  relevant.set('/w/b.py', 'import s');
  relevant.set('/w/c.py', 'import s');
  relevant.set('/w/s.py', 'Stream()');
  const always = new Set(['/w/a.py']);
  expect(relevant.select(always).map(({ file }) => file)).toEqual(['/w/a.py', '/w/b.py', '/w/s.py']);
  relevant.set('/w/a.py', 'import c');
  expect(relevant.select(always).map(({ file }) => file)).toEqual(['/w/a.py', '/w/c.py', '/w/s.py']);
  relevant.delete('/w/c.py');
  expect(relevant.select(always).map(({ file }) => file)).toEqual(['/w/a.py', '/w/s.py']);
});

it('ends where modules import each other', () => {
  expect(selected({ '/w/a.py': 'import b # Stream()', '/w/b.py': 'import a' })).toEqual(['/w/a.py', '/w/b.py']);
});
