/** Programs as they are while somebody types, and shapes that nobody types: no throw, and the neighbours keep their findings. */
import { describe, expect, it } from 'vitest';
import { createSourceChecker } from '../../core/checkSource.ts';
import { loadParser } from '../harness/parser.ts';

const racy = `import torch
side = torch.cuda.Stream()
def racy():
    with torch.cuda.stream(side):
        y = torch.ones(4, device="cuda")
    return y + 1

`;

const typed = `class Pool:
    def step(self, i: int, *args, **kw):
        with torch.cuda.stream(self.s):
            self.bufs[i % 2].copy_(args[0], non_blocking=True)
        match i:
            case [a, *b] if a: z = b
            case {"k": v, **r}: z = f"{i!r:>{10}} {v}"
        try: return (lambda q: q @ z)(self.bufs[0])
        finally: del z
async def go(p):
    async with p as q, torch.cuda.stream(side):
        r = [await w async for w in q if (n := w)]
`;

const parser = await loadParser();
const codes = (text: string): string[] =>
  createSourceChecker(parser)
    .check([{ file: '/a.py', text }], { fixes: false })
    .findings.filter((finding) => finding.range.start.line < 7)
    .map((finding) => finding.code);

it('a function keeps its finding at every cut of what is typed below it', () => {
  const checker = createSourceChecker(parser);
  for (let at = 0; at <= typed.length; at += 3)
    for (const text of [racy + typed.slice(0, at), racy + typed.slice(0, at) + typed.slice(at + 5)]) {
      const { findings } = checker.check([{ file: '/a.py', text }], { fixes: false });
      expect(
        findings.map((finding) => finding.code),
        JSON.stringify(text.slice(racy.length)),
      ).toContain('missing-wait');
    }
});

describe('a function keeps its finding beside', () => {
  it.each([
    ['brackets without end', `y = ${'('.repeat(10_000)}`],
    ['brackets in brackets', `y = ${'['.repeat(5_000)}${']'.repeat(5_000)}\n`],
    ['a long sum', `y = ${'1+'.repeat(10_000)}1\n`],
    ['a long chain of calls', `y = a${'()'.repeat(10_000)}\n`],
    ['functions that call each other for ever', 'def f(x):\n    return g(f(x))\ndef g(x): return f(g(x))\nf(racy())\n'],
    ['a loop that never ends', 'for i in range(10**18):\n    q = racy()\n'],
    ['five thousand `elif`', `if a: pass\n${'elif a: pass\n'.repeat(5_000)}`],
    ['numbers that fill the memory', 'a = [0] * 10**12\nb = "a" * 10**12\nc = 2**10**10\nd = 1 << 10**12\n'],
    ['classes that derive from each other', 'class A(B): pass\nclass B(A): pass\nB().m()\n'],
  ])('%s', (_, below) => expect(codes(racy + below)).toContain('missing-wait'));
});

it('columns count UTF-16 units', () => {
  const text = racy.replace('return y + 1', '"😀👩‍👧"; return y + 1');
  const [finding] = createSourceChecker(parser).check([{ file: '/a.py', text }], { fixes: false }).findings;
  const { start, end } = finding!.range;
  expect(text.split('\n')[start.line]!.slice(start.character, end.character)).toBe('y + 1');
});
