import { beforeAll, describe, expect, it } from 'vitest';
import type { Expression, FunctionDef, Module, Statement } from '../../../core/python/ast.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { loadParser } from '../../harness/parser.ts';
import { dump } from './dump.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

function parse(text: string): Module {
  return parser.parse('a.py', text);
}
function statement(text: string): Statement {
  const { body, errors } = parse(text);
  expect(errors, text).toEqual([]);
  expect(body, text).toHaveLength(1);
  return body[0]!;
}
function expression(text: string): Expression {
  const only = statement(text);
  if (only.kind !== 'ExpressionStatement') throw new Error(`${text} is a ${only.kind}`);
  return only.value;
}
function func(text: string): FunctionDef {
  const only = statement(text);
  if (only.kind !== 'FunctionDef') throw new Error(`${text} is a ${only.kind}`);
  return only;
}

describe('expressions', () => {
  it.each([
    ['a.b.c', '(. (. a b) c)'],
    ['f(a, *b, k=1, **c)', '(call f a (* b) k=1 **c)'],
    ['f(i for i in x)', '(call f (generator i (for i x)))'],
    ['a, *(b,) * n', '(tuple a (* (* (tuple b) n)))'],
    ['*(a or b).c, d', '(tuple (* (. (or a b) c)) d)'],
    ['a, *[i for i in x], *b', '(tuple a (* (list i (for i x))) (* b))'],
    ['f(a, *(b, c))', '(call f a (* (tuple b c)))'],
    ['x[1]', '(sub x 1)'],
    ['x[1:2, ::3]', '(sub x (tuple (slice 1 2 _) (slice _ _ 3)))'],
    ['x[1,]', '(sub x (tuple 1))'],
    ['x[:]', '(sub x (slice _ _ _))'],
    ['-a ** b', '(- (** a b))'],
    ['a @ b + c', '(+ (@ a b) c)'],
    ['not a or b and c', '(or (not a) (and b c))'],
    ['a < b <= c', '(compare a < b <= c)'],
    ['a not in b', '(compare a not in b)'],
    ['a is not None', '(compare a is not None)'],
    ['a if b else c', '(if b a c)'],
    ['lambda x, *, y=1: x', '(lambda [x y=1!] x)'],
    ['lambda: (yield)', '(lambda [] (yield _))'],
    ['(a := f())', '(:= a (call f))'],
    ['((a))', 'a'],
    ['()', '(tuple)'],
    ['(a,)', '(tuple a)'],
    ['a, b', '(tuple a b)'],
    ['[a, *b.c()]', '(list a (* (call (. b c))))'],
    ['[*a[0], *b + c]', '(list (* (sub a 0)) (* (+ b c)))'],
    ['{a, b}', '(set a b)'],
    ['{a: b, **c}', '(dict a:b **c)'],
    ['{k: v for k, v in x if k if v}', '(dict k:v (for (tuple k v) x k v))'],
    ['[x async for x in y]', '(list x (async for x y))'],
    ['[a for a in b for c in d if c]', '(list a (for a b) (for c d c))'],
    ['...', '...'],
    ['0x1f + 1_000 + 1e3 + 2j', '(+ (+ (+ 31 1000) 1000) 2j)'],
    ['"a\\n\\x41\\u00e9\\101\\N{DASH}"', '"a\\nAéA\ufffd"'],
    ['b"a" b\'c\'', 'b"ac"'],
    ["r'\\d'", '"\\\\d"'],
    ['"a" \'b\'', '"ab"'],
    ['f"{a.b!r:>{w}} {c=}" "d"', '(f (. a b) w c)'],
    ['print(1)', '(call print 1)'],
    ['exec(code)', '(call exec code)'],
    ['match(x)', '(call match x)'],
    ['type(a)', '(call type a)'],
    ['await f()', '(await (call f))'],
    ['a \\\n  .b', '(. a b)'],
    ['(a  # why\n  .b)', '(. a b)'],
  ])('%s', (text, shape) => {
    expect(dump(expression(text))).toBe(shape);
  });

  it('has UTF-16 offsets', () => {
    const text = 's = "😀é"; value = f(x)';
    const assign = parse(text).body[1]!;
    expect(text.slice(assign.start, assign.end)).toBe('value = f(x)');
  });

  it('keeps offsets of names in attributes', () => {
    const text = 'self . copy';
    const value = expression(text);
    if (value.kind !== 'Attribute') throw new Error(value.kind);
    expect(text.slice(value.nameNode.start, value.nameNode.end)).toBe('copy');
  });
});

describe('statements', () => {
  it.each([
    ['a = b = c', '(= [a b] c)'],
    ['a, *b = c', '(= [(tuple a (* b))] c)'],
    ['a.b[0]: int = 1', '(annotated (sub (. a b) 0) int 1)'],
    ['a: dict[str, int] | None', '(annotated a (| (sub dict (tuple str int)) None) _)'],
    ['a @= b', '(@= a b)'],
    ['del a, b[0]', '(del a (sub b 0))'],
    ['del (a, b)', '(del a b)'],
    ['raise E(x) from y', '(raise (call E x) y)'],
    ['assert a, "b"', '(assert a "b")'],
    ['import a.b as c, d', '(import a.b>c d)'],
    ['from ..a import (b as c, d,)', '(from 2 a b>c d)'],
    ['from . import *', '(from 1  *)'],
    ['from __future__ import annotations', '(from 0 __future__ annotations)'],
    ['global a, b', '(global a b)'],
    ['for i, (j) in x: pass\nelse: y', '(for (tuple i j) x {pass} {y})'],
    ['while a:\n  break\nelse:\n  continue', '(while a {break} {continue})'],
    ['if a: b\nelif c: d\nelse: e', '(if a {b} {(if c {d} {e})})'],
    ['with a as b, c: pass', '(with a>b c {pass})'],
    ['with (a as b, c as d,): pass', '(with a>b c>d {pass})'],
    ['with (a, b): pass', '(with a b {pass})'],
    ['with (a as b): pass', '(with a>b {pass})'],
    ['async def f():\n  async with a: pass', '(async def f [] {(async with a {pass})})'],
    [
      'try: a\nexcept (A, B) as e: b\nexcept: c\nelse: d\nfinally: e',
      '(try {a} (except (tuple A B) e {b}) (except _ _ {c}) {d} {e})',
    ],
    ['try: a\nexcept* A: b', '(try {a} (except A _ {b}) {} {})'],
    [
      'match x, y:\n  case [a, *b], {"k": c, **d} if e: pass\n  case P(f, g=h) | _ as i: pass\n  case A.B: pass',
      '(match (tuple x y) (case a,b,c,d e {pass}) (case f,h,i _ {pass}) (case  _ {pass}))',
    ],
    ['type A[T] = list[T]', '(= [A] ?)'],
    ['type(a).b = c', '(= [(. (call type a) b)] c)'],
    ['print >>f, x', '(? (? f) x)'],
    ['@a.b\n@c(1)\nclass D(E, metaclass=F):\n  x = 1', '(class D E metaclass=F {(= [x] 1)} @(. a b) @(call c 1))'],
    ['def f(a, /, b: int = 1, *c: str, d, e=2, **g) -> T: pass', '(def f [a/ b=1:int *c:str d! e=2! **g] {pass} T)'],
    ['def f[T: int](a: T, *, b): pass', '(def f [a:T b!] {pass})'],
  ])('%s', (text, shape) => {
    expect(dump(statement(text))).toBe(shape);
  });

  it('reads several statements on a line', () => {
    expect(parse('a; b = 1; del c\n').body.map(dump)).toEqual(['a', '(= [b] 1)', '(del c)']);
  });

  it('finds the yields of a function itself', () => {
    expect(func('def f():\n  yield 1').isGenerator).toBe(true);
    expect(func('def f():\n  x = yield\n  return x').isGenerator).toBe(true);
    expect(func('def f():\n  yield from g()').isGenerator).toBe(true);
    expect(func('def f():\n  def g(): yield\n  return g').isGenerator).toBe(false);
    expect(func('def f():\n  return lambda: (yield)').isGenerator).toBe(false);
  });
});

describe('broken text', () => {
  const names = (module: Module) =>
    module.body.flatMap((s) => (s.kind === 'FunctionDef' ? [`${s.name}${s.broken ? ' (broken)' : ''}`] : []));

  it('marks the function that holds the error, and no other', () => {
    const module = parse('def a():\n    x = f(\n\ndef b():\n    return 1\n');
    expect(module.errors.length).toBeGreaterThan(0);
    expect(names(module)).not.toContain('a');
    expect(names(parse('def a():\n    x = torch.\n    return x\n\ndef b():\n    return 1\n'))).toContain('b');
  });

  it('a bracket that is open where a statement begins is an error, and takes no definition along', () => {
    const names = (text: string) =>
      parse(text).body.map((one) => (one.kind === 'FunctionDef' || one.kind === 'ClassDef' ? one.name : one.kind));
    const text =
      'def a():\n    x = f(g(1)\n\n\nclass B:\n    y = [1, {2\n\n    def c(self):\n        return self\n\n\ndef d():\n    pass\n';
    expect(names(text)).toEqual(['a', 'B', 'd']);
    expect(parse(text).errors.map(({ start }) => text.slice(0, start).split('\n').length)).toEqual([2, 2, 6, 6]);
    const fine = 'x = f(\n    a if b\n    else c,\n    *[i\n      for i in d],\n)\n';
    expect(parse(fine).errors).toEqual([]);
  });

  it('marks a half-typed statement', () => {
    const module = parse('def a(x):\n    y = x.\n    return y\n\n\ndef b():\n    return 1\n');
    expect(names(module)).toEqual(['a (broken)', 'b']);
  });

  it.each([
    ['', 0],
    ['\0\0', undefined],
    ['def', undefined],
    ['((((((', undefined],
    [')', undefined],
    ['if x:\n', undefined],
    ['\ufeffx = 1\n', undefined],
    ['"""', undefined],
    ['f"{', undefined],
    ['\ud800 = 1', undefined],
    [`${'('.repeat(5000)}${')'.repeat(5000)}`, undefined],
    [`x = ${Array.from({ length: 20000 }, (_, i) => i).join(' + ')}`, undefined],
    [`${Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}if x:`).join('\n')}\n${' '.repeat(200)}y`, undefined],
    [`x = ${'not '.repeat(5000)}y`, undefined],
    [`x = ${'-'.repeat(5000)}y`, undefined],
    [`x = ${'a.b('.repeat(3000)}${')'.repeat(3000)}`, undefined],
  ])('never throws: %.20j', (text, errors) => {
    const module = parse(text);
    expect(module.text).toBe(text);
    if (errors !== undefined) expect(module.errors).toHaveLength(errors);
    // The parser is as good as new afterwards.
    expect(parse('x = 1').errors).toEqual([]);
  });
});

describe('after an edit', () => {
  const program = [
    'import torch',
    '',
    ...Array.from({ length: 12 }, (_, i) => `def f${i}(x, y=${i}):\n    """é😀"""\n    return [x, f"{y}"]\n`),
  ].join('\n');

  it('is the same as a fresh parse, and keeps what stands before the edit', async () => {
    let seed = 3;
    const random = (n: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % n;
    };
    let text = program;
    for (let i = 0; i < 200; i++) {
      const at = random(text.length + 1);
      const insert = ['x', '\n', '    ', '(', ')', '"', '#', ':\n', 'é', '😀'][random(10)]!;
      text = random(2) ? text.slice(0, at) + insert + text.slice(at) : text.slice(0, at) + text.slice(at + random(6));
      if (random(6) === 0) text = program;
      const edited = parser.parse('edited.py', text);
      expect(edited).toEqual({ ...parser.parse(`fresh ${i}.py`, text), file: 'edited.py' });
    }
  });

  it('keeps the statements before the edit as they are', () => {
    const first = parser.parse('kept.py', `${program}x = 1\n`);
    const second = parser.parse('kept.py', `${program}x = 2\n`);
    const third = parser.parse('kept.py', `${program}x = 3\n`);
    expect(third.body[3]).toBe(second.body[3]);
    expect(third.body.at(-1)).not.toBe(second.body.at(-1));
    expect(second.body[3]).toEqual(first.body[3]);
  });

  it('moves the statements behind the edit, and those of the former text stay where they are', () => {
    const former = parser.parse('moved.py', `a = 1\n${program}`);
    const places = JSON.stringify(former.body);
    const edited = parser.parse('moved.py', `a = 100\n${program}`);
    const moved = parser.parse('moved.py', `a = 1\n${program}`);
    expect(JSON.stringify(former.body)).toBe(places);
    expect(edited.body[3]!.start).toBe(former.body[3]!.start + 2);
    expect(edited.body[3]).toEqual(parser.parse('fresh.py', `a = 100\n${program}`).body[3]);
    expect(moved.body).toEqual(former.body);
  });
});
