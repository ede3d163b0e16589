import { describe, expect, it } from 'vitest';
import { WholeFile } from '../../../core/trace/whole-file.ts';

describe('the pieces of a whole file', () => {
  it('are one in the end, whatever the caller does with its memory', () => {
    const file = new WholeFile(100, 'too large');
    const piece = Buffer.from('abc');
    file.push(piece);
    piece.write('xyz');
    file.push(piece);
    expect(Buffer.from(file.take()).toString()).toBe('abcxyz');
  });

  it('are refused once they are more than the limit', () => {
    const file = new WholeFile(4, 'Record less.');
    file.push(new Uint8Array(4));
    expect(() => file.push(new Uint8Array(1))).toThrow('Record less.');
  });
});
