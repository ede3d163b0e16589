/** Rows by number: as a `Map` does it, for numbers of every size, and with entries taken out and put in again. */
import { expect, test } from 'vitest';
import { NumberMap } from '../../../core/trace/number-map.ts';

test('answers as a Map does', () => {
  const numbers = new NumberMap();
  const plain = new Map<number, number>();
  let state = 5;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
  // Addresses of one heap differ in few bits, and correlations follow each other.
  const keys = Array.from({ length: 3_000 }, (_, i) => [i, 0x7f00_0000_0000 + i * 0x20_0000, -i, i * 2 ** 40][i % 4]!);
  for (let turn = 0; turn < 30_000; turn++) {
    const key = keys[random(keys.length)]!;
    if (random(3) === 0) {
      numbers.set(key, -1);
      plain.delete(key);
    } else {
      numbers.set(key, turn);
      plain.set(key, turn);
    }
    const asked = keys[random(keys.length)]!;
    if (numbers.get(asked) !== (plain.get(asked) ?? -1)) expect.fail(`${asked} after ${turn} turns`);
  }
  for (const key of keys) expect(numbers.has(key)).toBe(plain.has(key));
});

test('numbers that are made to collide are kept as well', () => {
  const numbers = new NumberMap();
  // The hash takes 32 bits of the number and a multiple of the rest: these come out the same.
  const keys = Array.from({ length: 20_000 }, (_, i) => {
    const high = i + 1;
    return high * 0x1_0000_0000 + (Math.imul(high, 0x85ebca6b) >>> 0);
  });
  for (const [value, key] of keys.entries()) numbers.set(key, value);
  for (const [value, key] of keys.entries()) if (value % 2 === 0) numbers.set(key, -1);
  for (const [value, key] of keys.entries())
    if (numbers.get(key) !== (value % 2 === 0 ? -1 : value)) expect.fail(`${key} is ${numbers.get(key)}`);
});

test('numbers that no file should hold are keys like others', () => {
  const numbers = new NumberMap();
  for (const [value, key] of [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, -1, 0.5, 2 ** 63].entries())
    numbers.set(key, value);
  expect([Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, -1, 0.5, 2 ** 63].map((key) => numbers.get(key))).toEqual([
    0, 1, 2, 3, 4,
  ]);
  expect(numbers.get(7)).toBe(-1);
});
