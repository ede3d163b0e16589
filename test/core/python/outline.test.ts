/** What is read late is what is read at once: the same syntax, with the same places, whatever a text is written like. */
import { describe, expect, it } from 'vitest';
import type { Module } from '../../../core/python/ast.ts';
import { outlineOf } from '../../../core/python/outline.ts';
import { loadParser } from '../../harness/parser.ts';

const parser = await loadParser();

/** Long enough that its body is left out; the last line is the one given. */
const body = (last: string, indent = '    ', newline = '\n'): string =>
  [
    `${indent}first = torch.ones(4, device="cuda") * 2 + 1`,
    `${indent}second = first.to("cpu", non_blocking=True)`,
    `${indent}${last}`,
  ].join(newline);

const filler = body('return second');

/** The enumerable properties of the tree, all of them read. */
const syntaxOf = ({ body, errors }: Module): unknown =>
  JSON.parse(
    JSON.stringify({ body, errors }, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  );

const texts: readonly (readonly [string, string, bodies: number])[] = [
  ['two functions', `def f(x):\n${filler}\n\n\ndef g(x):\n${filler}\n`, 2],
  ['no newline at the end', `def f(x):\n${filler}`, 1],
  ['a short body', 'def f(x):\n    return x\n', 0],
  ['a one-line suite', `def f(x): return x\ndef g(x):\n${filler}\n`, 1],
  ['methods', `class A:\n    a = 1\n    def f(self):\n${body('return 1', '        ')}\n    b = 2\n`, 1],
  ['tabs', `class A:\n\tdef f(self):\n${body('return 1', '\t\t')}\n\tb = 2\n`, 1],
  ['tabs that count as eight', `if a:\n        def f(x):\n${body('return x', '\t    ')}\n\tb = 2\n`, 1],
  [
    'CRLF',
    `def f(x):\r\n${body('return x', '    ', '\r\n')}\r\n\r\ndef g(x):\r\n${body('return 2', '  ', '\r\n')}\r\n`,
    2,
  ],
  ['CRLF after a backslash', `def f(x):\r\n${body('y = 1 + \\\r\n  2', '    ', '\r\n')}\r\nz = 1\r\n`, 1],
  [
    'decorators',
    `@a.b(1)\n@c\ndef f(x):\n${filler}\n\n@d\nclass A:\n    @property\n    def g(self):\n${body('return 1', '        ')}\n`,
    2,
  ],
  ['a decorator behind', `def f(x):\n${filler}\n@d\ndef g(x):\n${filler}\n`, 2],
  [
    'nested functions',
    `def f(x):\n    def g(y):\n${body('return y', '        ')}\n    @d\n    async def h(y):\n        yield y\n    return g, h\nz = f\n`,
    1,
  ],
  [
    'a class in a function',
    `def f(x):\n    class A:\n        def g(self):\n${body('return self', '            ')}\n    return A\n`,
    1,
  ],
  ['async functions', `async def f(x):\n${body('await x')}\nasync  def g(x):\n${body('yield x')}\n`, 2],
  ['a generator', `def f(x):\n${body('yield x')}\ndef g(x):\n${body('return (yield)')}\n`, 2],
  ['a lambda at the end', `def f(x):\n${body('return lambda y: y')}\ng = lambda x: (\n  x)\n`, 1],
  [
    'parameters on lines of their own',
    `def f(\n    x: int = 3,\n    *,\n    y=(1,\n2),\n) -> dict[str, int]:\n${filler}\n`,
    1,
  ],
  ['a header continued by a backslash', `def f(x, \\\n  y):\n${filler}\n`, 1],
  ['lines continued by a backslash', `def f(x):\n${body('y = x + \\\n1')}\nz = 2 + \\\n    3\n`, 1],
  ['a backslash before less indentation', `def f(x):\n    y = \\\nx\n${filler}\nz = 2\n`, 1],
  ['brackets that hang', `def f(x):\n${body('y = [\n1,\n  2,\n]')}\nz = 1\n`, 1],
  [
    'strings with brackets and colons',
    `def f(x):\n${body('y = "([{" + \')\' + "def g():"')}\ndef g(x):\n${filler}\n`,
    2,
  ],
  [
    'strings over lines',
    `def f(x):\n    """Says\ndef g():\n  '''no''' # ( \\"\n    """\n${filler}\n\ndef g(x):\n${filler}\n`,
    2,
  ],
  ['strings with escapes', `def f(x):\n${body('y = "\\"(" + r"\\\\" + \'\\\\\\\'\'')}\ndef g(x):\n${filler}\n`, 2],
  ['a string continued by a backslash', `def f(x):\n${body('y = "a(\\\nb"')}\nz = 1\n`, 1],
  ['f-strings', `def f(x):\n${body('y = f"{x!r:>{10}} {{(" f\'{x["a"]}\'')}\nz = 1\n`, 1],
  ['comments with brackets and quotes', `def f(x):  # (\n    # don't [\n${filler}\n    # "\ndef g(x):\n${filler}\n`, 2],
  ['comments beside the end', `def f(x):\n${filler}  # type: ignore\n\n\ndef g(x):\n${filler} # noqa`, 2],
  ['comments below the end', `def f(x):\n${filler}\n    # one\n\n    # two  \n# three\nz = 1\n`, 1],
  [
    'comments below that hang out',
    `class A:\n    def f(self):\n${body('return 1', '        ')}\n      # here\n    # there\n    z = 1\n`,
    1,
  ],
  [
    'comments with CRLF',
    `def f(x):\r\n${body('return x', '    ', '\r\n')}  # beside \r\n    # one\r\n  # two\r\nz = 1\r\n`,
    1,
  ],
  [
    'comments below nested blocks',
    `def f(x):\n${body('if x:\n        y = 1\n        # in\n    # at\n  # out\n    # out')}\nz = 1\n`,
    1,
  ],
  ['comments at the end of the text', `def f(x):\n${filler}\n    # one\n  # two`, 1],
  ['a comment before the body', `def f(x):\n# here\n    # there\n${filler}\n`, 1],
  ['form feeds', `def f(x):\n${filler}\n\f\ndef g(x):\n${filler}\n\f\n`, 2],
  ['blank lines with blanks', `def f(x):\n${body('y = 1\n  \n\t\n    z = 2')}\n   \nz = 1\n`, 1],
  [
    'match',
    `match a:\n    case [b, *c] if b:\n        def f(x):\n${body('return x', '            ')}\n    case {"k": v}:\n        pass\nmatch(a)\n`,
    1,
  ],
  [
    'a match in a body',
    `def f(x):\n${body('match x:\n        case 1: y = 2\n        case _:\n            y = 3')}\nz = 1\n`,
    1,
  ],
  [
    'branches',
    `if a:\n    def f(x):\n${body('return 1', '        ')}\nelif b:\n    def f(x):\n${body('return 2', '        ')}\nelse:\n    f = None\n`,
    2,
  ],
  [
    'the last function of each branch',
    `try:\n    def f(x):\n${body('return 1', '        ')}\nexcept A:\n    def f(x):\n${body('return 2', '        ')}\nelse:\n    def g(x):\n${body('return 3', '        ')}\nfinally:\n    def h(x):\n${body('return 4', '        ')}\n`,
    4,
  ],
  [
    'loops and with',
    `for a in b:\n    with c:\n        def f(x):\n${body('return 1', '            ')}\nwhile d:\n    def g(x):\n${body('return 2', '        ')}\nelse:\n    def h(x):\n${body('return 3', '        ')}\n`,
    3,
  ],
  ['type parameters', `def f[T: (int, str)](x: T) -> T:\n${filler}\n`, 1],
  ['names that begin with def', `define = 1\ndefault: int = 2\ndef f(x):\n${filler}\nasync_def = 3\n`, 1],
  ['characters beyond 16 bits', `def f(x):\n${body('y = "😀"  # 👩‍👧')}\nz = "😀"\n`, 1],
  ['a text without functions', 'import torch\nx = 1\n', 0],
  ['an empty text', '', 0],
];

describe('a text read late is the text read at once', () => {
  it.each(texts)('%s', (_, text, bodies) => {
    const outline = outlineOf(text)!;
    expect(outline.bodies).toHaveLength(bodies);
    expect(outline.text).toHaveLength(text.length);
    const whole = parser.parse('whole.py', text);
    expect(whole.errors).toEqual([]);
    expect(syntaxOf(parser.outline('late.py', text))).toEqual(syntaxOf(whole));
  });

  it.each([
    ['an unterminated string', `def f(x):\n${body('y = "half')}\ndef g(x):\n${filler}\n`],
    ['an unterminated triple quote', `def f(x):\n${filler}\n    """half\ndef g(x):\n${filler}\n`],
    ['an open bracket', `def f(x):\n${body('y = call(')}\ndef g(x):\n${filler}\n`],
    ['an open bracket at the top', `a = (\ndef f(x):\n${filler}\n`],
    ['a header without a colon', `def f(x)\n${filler}\ndef g(x):\n${filler}\n`],
    ['a header without a body', `def f(x):\n\ndef g(x):\n${filler}\n`],
    ['a with without a body', `def f(x):\n${body('with a:')}\ndef g(x):\n${filler}\n`],
    ['indentation that fits nothing', `class A:\n    def f(x):\n${body('y', '        ')}\n   z = 1\n`],
    ['a lone carriage return', `def f(x):\n${body('y = 1\r    z = 2')}\nz = 1\n`],
    ['a backslash at the end', `def f(x):\n${filler} \\`],
  ])('the same functions are broken, and the others sound: %s', (_, text) => {
    const broken = (module: Module) =>
      module.body.flatMap((one) => (one.kind === 'FunctionDef' ? [`${one.name} ${one.broken}`] : []));
    const late = parser.outline('late.py', text);
    const sound = parser.parse('whole.py', text).errors.length === 0;
    expect(late.errors.length === 0).toBe(sound);
    if (sound) expect(syntaxOf(late)).toEqual(syntaxOf(parser.parse('whole.py', text)));
    // A string without an end takes less along where each body is read alone.
    else expect(broken(late)).toEqual(expect.arrayContaining(broken(parser.parse('whole.py', text))));
  });
});

describe('outline', () => {
  it('puts a 0 in the place of a body', () => {
    const text = `def f(x):\n${filler}  # beside\n    # below\n# outside\nz = 1\n`;
    const { text: rest, bodies } = outlineOf(text)!;
    const [only] = bodies;
    expect(text.slice(only!.start, only!.first)).toBe('def f(x):\n    ');
    expect(text.slice(only!.first, only!.end)).toMatch(/^first = [\s\S]*# below$/);
    expect(rest.replace(/0 +/, '0')).toBe('def f(x):\n    0\n# outside\nz = 1\n');
  });

  it('there is none where a bracket is open at the beginning of a statement', () => {
    expect(outlineOf(`def f(x):\n${filler}\na = (\ndef g(x):\n${filler}\n`)).toBeUndefined();
    expect(outlineOf(`def f(x):\n${filler}\na = (\n    x if y\n    else z)\n`)?.bodies).toHaveLength(1);
  });

  it('none lies inside of another, and all are in order', () => {
    for (const [, text] of texts) {
      let behind = 0;
      for (const { start, first, end } of outlineOf(text)!.bodies) {
        expect(start).toBeGreaterThanOrEqual(behind);
        expect(first).toBeGreaterThan(start);
        expect(end).toBeGreaterThan(first);
        behind = end;
      }
    }
  });
});
