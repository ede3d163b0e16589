import { describe, expect, it } from 'vitest';
import { TraceError } from '../../../core/trace/error.ts';
import { readPickle } from '../../../core/trace/pickle.ts';
import { bytesCell, dictionaryCell, listCell, noneCell, setCell } from '../../../core/trace/pickle-cells.ts';
import type { PickleTree } from '../../../core/trace/pickle-tree.ts';

/** Bytes from text and numbers; a string stands for its characters. */
function bytes(...parts: readonly (string | number | readonly number[])[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((c) => c.charCodeAt(0)) : part)),
  );
}

const stop = '.';

/** What the pickle holds as objects; what holds itself is not for this. */
function heldIn(tree: PickleTree, cell: number = tree.root): unknown {
  const { kind, number } = { kind: tree.cells.kind[cell]!, number: tree.cells.number[cell]! };
  const items = () =>
    Array.from({ length: tree.lists.length(number) }, (_, i) => heldIn(tree, tree.lists.at(number) + i));
  if (kind === noneCell) return null;
  if (kind === listCell) return items();
  if (kind === setCell) return new Set(items());
  if (kind === bytesCell) return tree.pieces[number];
  if (kind !== dictionaryCell) return tree.plain(kind, number);
  return new Map(
    tree.dictionaries.entries(number).map(([keyKind, key, value]) => [tree.plain(keyKind, key), heldIn(tree, value)]),
  );
}

describe('data', () => {
  it.each([
    ['None', bytes('N', stop), null],
    ['True', bytes(0x80, 2, 0x88, stop), true],
    ['BININT1', bytes('K', 200, stop), 200],
    ['BININT2', bytes('M', 0x34, 0x12, stop), 0x1234],
    ['BININT', bytes('J', [0xfe, 0xff, 0xff, 0xff], stop), -2],
    ['LONG1 of no bytes', bytes(0x8a, 0, stop), 0],
    ['LONG1, negative', bytes(0x8a, 1, 0xff, stop), -1],
    ['LONG1 of nine bytes', bytes(0x8a, 9, [5, 0, 0, 0, 0, 0, 0, 0x80], 0, stop), 2n ** 63n + 5n],
    ['BINFLOAT', bytes('G', [0x3f, 0xe0, 0, 0, 0, 0, 0, 0], stop), 0.5],
    ['SHORT_BINUNICODE', bytes(0x8c, 3, [0xe2, 0x82, 0xac], stop), '€'],
    ['a tuple of two', bytes('K', 1, 'K', 2, 0x86, stop), [1, 2]],
    ['a list by marks', bytes(']', '(', 'K', 1, 'K', 2, 'e', stop), [1, 2]],
    ['a list that grows', bytes(']', 'K', 1, 'a', '(', 'K', 2, 'K', 3, 'e', 'K', 4, 'a', stop), [1, 2, 3, 4]],
    ['a list of a list', bytes(']', ']', 'K', 1, 'a', 'a', 'K', 2, 'a', stop), [[1], 2]],
    ['a tuple of three', bytes('K', 1, 'K', 2, 'N', 0x87, stop), [1, 2, null]],
    ['a set', bytes(0x8f, '(', 'K', 1, 'K', 2, 0x90, stop), new Set([1, 2])],
    ['bytes', bytes('C', 2, [7, 8], stop), Uint8Array.of(7, 8)],
    ['a text of protocol 0', bytes('Vab\n', stop), 'ab'],
    ['what POP leaves', bytes('K', 1, '(', 'K', 2, '1', 'K', 3, '0', stop), 1],
    ['what DUP doubles', bytes('K', 1, '2', 0x86, stop), [1, 1]],
    ['a number of protocol 0', bytes('I42\n', stop), 42],
  ])('%s', (_, input, value) => {
    expect(heldIn(readPickle(input))).toEqual(value);
  });

  it('whole numbers of any length are what their bytes say', () => {
    const values = [0n, 1n, -1n, 127n, 128n, -128n, -129n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, -(2n ** 32n) - 1n];
    values.push(2n ** 47n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) + 1n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n));
    for (const value of values)
      for (let count = 1; count <= 10; count++) {
        if (BigInt.asIntN(count * 8, value) !== value) continue;
        const digits = Array.from({ length: count }, (_, i) =>
          Number((BigInt.asUintN(count * 8, value) >> BigInt(8 * i)) & 255n),
        );
        const safe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
        const expected = safe ? Number(value) : value;
        expect([count, heldIn(readPickle(bytes(0x8a, count, digits, stop)))]).toEqual([count, expected]);
      }
  });

  const mapOf = (input: Uint8Array): Map<unknown, unknown> => heldIn(readPickle(input)) as Map<unknown, unknown>;

  it('a dictionary has its keys and values, the last of each key', () => {
    expect(mapOf(bytes('}', '(', 0x8c, 1, 'a', 'K', 1, 'u', stop))).toEqual(new Map([['a', 1]]));
    const twice = bytes('(', 0x8c, 1, 'a', 'K', 1, 'K', 7, 'N', 0x8c, 1, 'a', 'K', 2, 'd', 'K', 9, 'K', 3, 's', stop);
    expect(mapOf(twice)).toEqual(new Map<unknown, unknown>([['a', 2], [7, null], [9, 3]])); // biome-ignore format: one dictionary
  });

  it('dictionaries with many keys, and many with keys of their own, are as others', () => {
    const many = Array.from({ length: 300 }, (_, i) => ['M', i & 255, i >> 8, 'K', i & 7] as const).flat();
    const large = mapOf(bytes('}', '(', ...many, 'u', stop));
    expect([large.size, large.get(0), large.get(299)]).toEqual([300, 0, 299 & 7]);
    const each = Array.from({ length: 9_000 }, (_, i) => ['}', 'M', i & 255, i >> 8, 'K', i & 7, 's'] as const).flat();
    const list = heldIn(readPickle(bytes(']', '(', ...each, 'e', stop))) as Map<unknown, unknown>[];
    for (const [i, one] of list.entries())
      if (one.get(i) !== (i & 7) || one.size !== 1) expect.fail(`the dictionary ${i}`);
  });

  it('dictionaries with many sets of texts as keys are as others', () => {
    const keyed = (i: number) => [0x8c, 5, `k${String(i).padStart(4, '0')}`, 'K', i & 7] as const;
    const each = Array.from({ length: 6_000 }, (_, i) => ['}', '(', ...keyed(i), ...keyed(i + 1), 'u'] as const).flat();
    const tree = readPickle(bytes(']', '(', ...each, 'e', stop));
    for (const [i, cell] of tree.items(tree.root).entries()) {
      const value = tree.number(tree.get(cell, `k${String(i + 1).padStart(4, '0')}`));
      if (value !== ((i + 1) & 7) || tree.get(cell, `k${String(i + 2).padStart(4, '0')}`) !== -1)
        expect.fail(`the dictionary ${i}`);
    }
  });

  it('a dictionary that is filled piece by piece, between others, keeps its values', () => {
    const one = (key: string, value: number) => [0x8c, 1, key, 'K', value, 's'] as const;
    const input = bytes(
      '}',
      0x94,
      ...one('a', 1),
      '}',
      ...one('x', 9),
      'h',
      0,
      ...one('b', 2),
      ...one('a', 3),
      0x87,
      stop,
    );
    const map = new Map([['a', 3], ['b', 2]]); // biome-ignore format: one dictionary
    expect(heldIn(readPickle(input))).toEqual([map, new Map([['x', 9]]), map]);
  });

  it('lists with the same items are lists of their own, also when one of them grows', () => {
    const pair = [']', '(', 'K', 1, 'K', 2, 'e'] as const;
    const three = bytes('(', ...pair, 0x94, 'K', 3, 'a', ...pair, 0x94, '(', 'N', 'K', 4, 'e', ...pair, ']', 'K', 1, 'a', 'K', 2, 'a', 't', stop); // biome-ignore format: one program
    expect(heldIn(readPickle(three))).toEqual([[1, 2, 3], [1, 2, null, 4], [1, 2], [1, 2]]); // biome-ignore format: four lists
  });

  it('what is shared is one object', () => {
    const tree = readPickle(bytes(0x80, 4, ']', 0x94, 'h', 0, 0x86, stop));
    const [first, second] = tree.items(tree.root);
    expect(tree.which(first!, listCell)).toBe(tree.which(second!, listCell));
    expect(tree.which(first!, listCell)).toBeGreaterThanOrEqual(0);
  });

  it('a list may hold itself', () => {
    const tree = readPickle(bytes(']', 0x94, 'h', 0, 'a', stop));
    expect(tree.which(tree.first(tree.root), listCell)).toBe(tree.which(tree.root, listCell));
  });

  it('numbers of the memo far apart, set again, and named by lines', () => {
    const far = [0xff, 0xff, 0xff, 0xff] as const;
    const input = bytes('K', 1, 'r', far, 'K', 2, 'q', 3, 'K', 3, 'q', 3, 'K', 4, 'p70000\n', '(', 'j', far, 'h', 3, 'g70000\n', 't', stop); // biome-ignore format: one program
    expect(heldIn(readPickle(input))).toEqual([1, 3, 4]);
  });
});

describe('what would run code is refused with its offset', () => {
  it.each([
    ['GLOBAL', bytes(0x80, 2, 'cos\nsystem\n', stop), 2],
    ['STACK_GLOBAL', bytes(0x80, 4, 0x8c, 2, 'os', 0x8c, 6, 'system', 0x93, stop), 14],
    ['REDUCE', bytes('N', ')', 'R', stop), 2],
    ['BUILD', bytes('N', '}', 'b', stop), 2],
    ['INST', bytes('(', 'ios\nsystem\n', stop), 1],
    ['OBJ', bytes('(', 'N', 'o', stop), 2],
    ['NEWOBJ', bytes('N', ')', 0x81, stop), 2],
    ['PERSID', bytes('Px\n', stop), 0],
    ['BINPERSID', bytes('N', 'Q', stop), 1],
    ['EXT1', bytes(0x82, 1, stop), 0],
    ['NEXT_BUFFER', bytes(0x97, stop), 0],
  ])('%s', (name, input, offset) => {
    let error: unknown;
    try {
      readPickle(input);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(TraceError);
    expect((error as TraceError).message).toContain(`holds ${name}`);
    expect((error as TraceError).offset).toBe(offset);
  });
});

describe('bounds', () => {
  const refused = (input: Uint8Array, words: string) => {
    try {
      readPickle(input, { values: 1000, depth: 50 });
    } catch (error) {
      expect(error).toBeInstanceOf(TraceError);
      expect((error as Error).message).toContain(words);
      return;
    }
    expect.fail('it was read');
  };

  it('a cut file, a length past the end, an unknown opcode', () => {
    refused(bytes('K', 1), 'ends early');
    refused(bytes('X', [0xff, 0xff, 0xff, 0x7f], stop), 'ends early');
    refused(bytes(0x8d, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], stop), 'ends early');
    refused(bytes('T', [0xff, 0xff, 0xff, 0xff], stop), 'ends early');
    refused(bytes(0x01, stop), 'unknown opcode 0x01');
    refused(bytes(0x80, 9, stop), 'protocol 9');
  });

  it('marks without end, values without end', () => {
    refused(bytes('('.repeat(60)), 'nests deeper');
    refused(bytes('N'.repeat(1100)), 'more than 1000 values');
    refused(bytes(0x8a, 0xff, 'x'), 'ends early');
    refused(bytes(0x8b, [0, 0, 0, 0x40], stop), 'whole number of');
  });

  it('values that are missing, items on what cannot hold them', () => {
    refused(bytes(stop), 'a value is missing');
    refused(bytes('K', 1, 'K', 2, 'a', stop), 'not a list');
    refused(bytes('K', 1, '(', 'K', 2, 'K', 3, 'u', stop), 'not a dictionary');
    refused(bytes('}', '(', 'K', 2, 'u', stop), 'a key has no value');
    refused(bytes('e', stop), 'a mark is missing');
    refused(bytes('h', 3, stop), 'names memo 3');
  });
});
