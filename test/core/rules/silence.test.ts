import { describe, expect, it } from 'vitest';
import { silenceIn } from '../../../core/rules/silence.ts';

describe('comments that silence', () => {
  it.each([
    ['x  # raceline: ignore', 'any-code', true],
    ['x  # raceline: ignore[missing-wait]', 'missing-wait', true],
    ['x  # raceline: ignore[a, missing-wait ]', 'missing-wait', true],
    ['x  # raceline: ignore[missing-wait]', 'write-after-read', false],
    ['x  # raceline: ignore[no-such-code]', 'missing-wait', false],
    ['x  # raceline: ignore[]', 'missing-wait', false],
    ['x  # type: ignore', 'missing-wait', false],
    ['x  # noqa  # raceline: ignore', 'missing-wait', true],
    ['# raceline: ignore-file', 'missing-wait', true],
    ['x  # raceline: ignore-file', 'missing-wait', false],
  ])('%s', (line, code, silenced) => {
    expect(silenceIn(line).covers(0, code)).toBe(silenced);
  });

  it('holds for its own line, with any line ends', () => {
    const silence = silenceIn('a\r\nb  # raceline: ignore\rc\n');
    expect([0, 1, 2].map((line) => silence.covers(line, 'x'))).toEqual([false, true, false]);
  });

  it('holds for all lines', () => {
    const silence = silenceIn('a\n  # raceline: ignore-file\nb');
    expect(silence.wholeFile).toBe(true);
    expect(silence.covers(2, 'x')).toBe(true);
  });
});
