/**
 * What is typed into the search field, as conditions: free words are looked for in names and places, `stream:`, `thread:`,
 * `kind:`, `file:`, `code:`, `over:` and `under:` narrow them down, and a number in hexadecimal is an address.
 */

export interface Query {
  /** What is left without the words below, in lower case; '': nothing. */
  readonly words: string;
  readonly stream?: string;
  readonly thread?: string;
  readonly kind?: string;
  readonly file?: string;
  readonly code?: string;
  /** Nanoseconds. */
  readonly over?: number;
  readonly under?: number;
  /** -1: none. */
  readonly address: number;
}

const fields = ['stream', 'thread', 'kind', 'file', 'code'] as const;
const units: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 };

/** Undefined: nothing is asked for. */
export function parseQuery(text: string): Query | undefined {
  const query: { -readonly [K in keyof Query]: Query[K] } = { words: '', address: -1 };
  const words: string[] = [];
  // A value with spaces stands in quotes: stream:"side 1".
  for (const [part] of text
    .trim()
    .toLowerCase()
    .matchAll(/[a-z]+:"[^"]*"|\S+/g)) {
    const [, key = '', given = ''] = /^([a-z]+):(.+)$/.exec(part) ?? [];
    const value = given.replace(/^"|"$/g, '');
    const field = fields.find((name) => name === key);
    const time = key === 'over' || key === 'under' ? parseTime(value) : undefined;
    if (field && value !== '') query[field] = value;
    else if (time !== undefined) query[key as 'over' | 'under'] = time;
    else words.push(part);
  }
  query.words = words.join(' ');
  if (/^0x[0-9a-f]+$/.test(query.words)) query.address = Number.parseInt(query.words, 16);
  return query.words === '' && Object.keys(query).length === 2 ? undefined : query;
}

/** `100us`, `1.5ms`, `20` (microseconds). */
function parseTime(text: string): number | undefined {
  const [, number = '', unit = 'us'] = /^(\d+(?:\.\d+)?)([a-zµμ]+)?$/.exec(text) ?? [];
  const factor = units[unit];
  return number === '' || factor === undefined ? undefined : Number(number) * factor;
}
