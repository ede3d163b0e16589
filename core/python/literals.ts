/** Values of Python's number and string literals. Knows nothing of where they stand. */

export function numberValue(source: string, kind: 'integer' | 'float'): ['int' | 'float' | 'complex', number] {
  const digits = source.replaceAll('_', '');
  const last = digits[digits.length - 1];
  if (last === 'j' || last === 'J') return ['complex', Number(digits.slice(0, -1))];
  // `10L` and `0777` are Python 2's.
  if (last === 'l' || last === 'L') return ['int', Number(digits.slice(0, -1))];
  return [kind === 'integer' ? 'int' : 'float', Number(digits)];
}

export type StringLiteral =
  | { readonly formatted: true }
  | { readonly formatted: false; readonly type: 'str' | 'bytes'; readonly value: string };

/** The literal at `start`; a formatted one (`f'…'`, `t'…'`) has no constant value. */
export function stringLiteral(text: string, start: number, end: number): StringLiteral {
  let at = start;
  let raw = false;
  let bytes = false;
  for (; at < end; at++) {
    const c = text[at]!;
    if (c === '"' || c === "'") break;
    if (c === 'f' || c === 'F' || c === 't' || c === 'T') return { formatted: true };
    if (c === 'r' || c === 'R') raw = true;
    else if (c === 'b' || c === 'B') bytes = true;
  }
  const quote = text[at] ?? '';
  const width = text.startsWith(quote.repeat(3), at) && end - at >= 6 ? 3 : 1;
  const body = text.slice(at + width, Math.max(at + width, end - width));
  return {
    formatted: false,
    type: bytes ? 'bytes' : 'str',
    value: raw || !body.includes('\\') ? body : decodeEscapes(body),
  };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function decodeEscapes(body: string): string {
  return body.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{[^}]*\}|(\r\n|[\s\S]))/g,
    (whole, x, u, long, octal, other) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) {
        const code = Number.parseInt(hex, 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      }
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      // A character by its Unicode name: one unit, whichever.
      if (other === undefined) return '\ufffd';
      if (other === '\n' || other === '\r\n' || other === '\r') return '';
      return simpleEscapes[other] ?? whole;
    },
  );
}
