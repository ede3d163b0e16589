import { beforeAll, describe, expect, it } from 'vitest';
import { applyEdits, LineMap } from '../../../core/base/text.ts';
import type { FunctionDef, Module } from '../../../core/python/ast.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { blocksAround, isBound, loopVariables } from '../../../core/rules/fixes/blocks.ts';
import { importTorch, insertAfter, insertBefore, type OffsetEdit, remove } from '../../../core/rules/fixes/edits.ts';
import { differences } from '../../../core/rules/fixes/lines.ts';
import { loadParser } from '../../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

/** The module and the blocks around the `target(…)` call in it. */
function at(text: string, target = 'target()') {
  const module = parser.parse('a.py', text);
  expect(module.errors).toEqual([]);
  const start = text.indexOf(target);
  const first = module.body.find((s): s is FunctionDef => s.kind === 'FunctionDef');
  const root: Module | FunctionDef = first ?? module;
  const links = blocksAround(root, { start, end: start + target.length });
  return { module, root, links, link: links.at(-1)! };
}

function apply(text: string, edit: OffsetEdit): string {
  const lines = new LineMap(text);
  return applyEdits(text, [
    { range: { start: lines.position(edit.start), end: lines.position(edit.end) }, newText: edit.newText },
  ]);
}

describe('a statement before another', () => {
  it.each([
    ['target()\n', 'new()\ntarget()\n'],
    ['if a:\n    b\n    target()\n', 'if a:\n    b\n    new()\n    target()\n'],
    ['if a:\n\ttarget()\n', 'if a:\n\tnew()\n\ttarget()\n'],
    ['if a:\r\n  target()\r\n', 'if a:\r\n  new()\r\n  target()\r\n'],
    ['if a: target()\n', 'if a: new(); target()\n'],
    ['a; target()\n', 'a; new(); target()\n'],
    ['x = [\n  target(),\n]\n', 'new()\nx = [\n  target(),\n]\n'],
  ])('%j', (text, fixed) => {
    const { module, link } = at(text);
    expect(apply(text, insertBefore(module, link, ['new()']))).toBe(fixed);
  });
});

it('a line end of two characters is never split, not after a block that ends in a comment either', () => {
  const text = 'with a:\r\n    target()  # why\r\nb\r\n';
  const module = parser.parse('a.py', text);
  const [link] = blocksAround(module, { start: text.indexOf('target'), end: text.indexOf('target') + 8 });
  const fixed = apply(text, insertAfter(module, link!, ['new()']));
  expect(fixed).toBe('with a:\r\n    target()  # why\r\nnew()\r\nb\r\n');
});

describe('a statement after another', () => {
  it.each([
    ['target()\n', 'target()\nnew()\n'],
    ['target()', 'target()\nnew()'],
    ['if a:\n    target()  # why\n    b\n', 'if a:\n    target()  # why\n    new()\n    b\n'],
    ['if a:\r\n\ttarget()\r\n', 'if a:\r\n\ttarget()\r\n\tnew()\r\n'],
    ['if a: target()\n', 'if a: target(); new()\n'],
    ['target(); b\n', 'target(); new(); b\n'],
    ['  # c\nx = f(\n  target(),\n)\n', '  # c\nx = f(\n  target(),\n)\nnew()\n'],
    ['if a:\n    b; target()\n', 'if a:\n    b; target()\n    new()\n'],
  ])('%j', (text, fixed) => {
    const { module, link } = at(text);
    expect(apply(text, insertAfter(module, link, ['new()']))).toBe(fixed);
  });
});

describe('a statement removed', () => {
  it.each([
    ['a\ntarget()\nb\n', 'a\nb\n'],
    ['a\ntarget()', 'a\n'],
    ['if a:\n    target()\n', 'if a:\n    pass\n'],
    ['if a:\r\n    b\r\n    target()  # why\r\n', 'if a:\r\n    b\r\n'],
    ['a; target(); b\n', 'a; b\n'],
    ['a; target()\n', 'a\n'],
    ['target(); a\n', 'a\n'],
    ['if a: target()\n', 'if a: pass\n'],
  ])('%j', (text, fixed) => {
    const { module, link } = at(text);
    expect(apply(text, remove(module, link))).toBe(fixed);
  });
});

describe('the import of torch', () => {
  it.each([
    ['x\n', 'import torch\nx\n'],
    ['#!/usr/bin/env python\n# coding: utf-8\nx\n', '#!/usr/bin/env python\n# coding: utf-8\nimport torch\nx\n'],
    [
      '"""Words."""\nfrom __future__ import annotations\nx\n',
      '"""Words."""\nfrom __future__ import annotations\nimport torch\nx\n',
    ],
    ['import os\r\nx\r\n', 'import os\r\nimport torch\r\nx\r\n'],
  ])('%j', (text, fixed) => {
    expect(apply(text, importTorch(parser.parse('a.py', text)))).toBe(fixed);
  });
});

describe('names that are surely bound', () => {
  it.each([
    ['def f(n):\n  target()', 'n', true],
    ['def f():\n  n = 1\n  target()', 'n', true],
    ['def f():\n  target()\n  n = 1', 'n', false],
    ['def f():\n  if a:\n    n = 1\n  target()', 'n', false],
    ['def f():\n  if a:\n    n = 1\n  else:\n    n = 2\n  target()', 'n', true],
    ['def f():\n  with a as n:\n    target()', 'n', true],
    ['def f():\n  with a:\n    n = 1\n  target()', 'n', true],
    ['def f():\n  for n in a:\n    target()', 'n', true],
    ['def f():\n  for n in a:\n    pass\n  target()', 'n', false],
    ['def f():\n  for i in a:\n    target()\n    n = 1', 'n', false],
    ['def f():\n  m, (n, *o) = a\n  target()', 'o', true],
    ['def f():\n  target()', 'n', true],
    ['n = 1\ntarget()', 'n', true],
    ['target()\nn = 1', 'n', false],
  ])('%j: %s', (text, name, bound) => {
    const { root, links } = at(text);
    expect(isBound(root, links, name)).toBe(bound);
  });
});

describe('what a loop variable comes from', () => {
  it.each([
    ['for a in b.c: target()', [['a', 'b.c']]],
    ['for i, a in enumerate(b): target()', [['a', 'b']]],
    [
      'for a, (k, c) in zip(b, d.items()): target()',
      [
        ['a', 'b'],
        ['c', 'd.values()'],
      ],
    ],
    ['x = [target() for a in b]', [['a', 'b']]],
    ['for a in f(): target()', []],
  ])('%s', (text, found) => {
    const { root } = at(text);
    expect(loopVariables(root, text).map(({ name, container }) => [name, container])).toEqual(found);
  });
});

describe('differing lines', () => {
  it.each([
    ['', '', []],
    ['a\nb\n', 'a\nx\nb\n', [[1, 1, 'x\n']]],
    ['a\nb\nc\n', 'a\nc\n', [[1, 2, '']]],
    [
      'a\nb\nc\nd\n',
      'x\na\nb\nc\ny\nd\n',
      [
        [0, 0, 'x\n'],
        [3, 3, 'y\n'],
      ],
    ],
    ['a\nb', 'a\nb\nc', [[1, 2, 'b\nc']]],
    ['a\r\nb\r\n', 'a\r\nc\r\n', [[1, 2, 'c\r\n']]],
  ])('%j → %j', (old, text, changes) => {
    expect(differences(old, text).map((c) => [c.oldStart, c.oldEnd, c.newText])).toEqual(changes);
  });
});
