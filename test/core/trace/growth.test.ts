/** A file that grows, told from one that another took the place of. */
import { expect, test } from 'vitest';
import { appendedTo, grownBy, growthOf, seamStart } from '../../../core/trace/growth.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([0, 5, 1023, 1024, 5000])('what is appended to %s bytes, twice', (length) => {
  const first = bytes('a'.repeat(length));
  const second = bytes(`${'a'.repeat(length)}bc`);
  const third = bytes(`${'a'.repeat(length)}bc${'d'.repeat(3000)}`);
  const had = growthOf(first);
  const appended = appendedTo(had, second.subarray(seamStart(had)))!;
  expect(new TextDecoder().decode(appended)).toBe('bc');
  const now = grownBy(had, appended);
  expect(now).toEqual(growthOf(second));
  expect(appendedTo(now, third.subarray(seamStart(now)))).toEqual(bytes('d'.repeat(3000)));
});

test('another file, and one that is shorter', () => {
  const had = growthOf(bytes('the first run\n'));
  expect(appendedTo(had, bytes('the other run, which is longer\n').subarray(seamStart(had)))).toBeUndefined();
  expect(appendedTo(had, bytes('the first').subarray(seamStart(had)))).toBeUndefined();
  expect(appendedTo(had, bytes('the first run\n'))).toEqual(new Uint8Array(0));
});
