/**
 * A run of bytes that is looked for at places of a file, eight bytes at a time. Knows nothing of what it says.
 *
 * Eight bytes are compared as one double: two doubles are the same number exactly when their bytes are the same, but for
 * zeros and NaN, which text has not; a part that holds one is never found.
 */

export class BytePart {
  readonly length: number;
  readonly #words: Float64Array;
  /** The last eight bytes, which may overlap with the words. */
  readonly #last: number;
  readonly #lastAt: number;

  /** Undefined where there are fewer than eight bytes. */
  static of(bytes: Uint8Array): BytePart | undefined {
    return bytes.length < 8 ? undefined : new BytePart(bytes);
  }

  /** Of ASCII text of eight characters or more. */
  static ofText(text: string): BytePart {
    return new BytePart(Uint8Array.from(text, (c) => c.charCodeAt(0)));
  }

  private constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.length = bytes.length;
    this.#lastAt = bytes.length - 8;
    this.#words = new Float64Array((bytes.length - 1) >> 3);
    for (let i = 0; i < this.#words.length; i++) this.#words[i] = findable(view.getFloat64(i * 8, true));
    this.#last = findable(view.getFloat64(this.#lastAt, true));
  }

  /** Whether the bytes from `at` are these; they lie inside of `view`. */
  isAt(view: DataView, at: number): boolean {
    const words = this.#words;
    for (let i = 0; i < words.length; i++) if (view.getFloat64(at + i * 8, true) !== words[i]) return false;
    return view.getFloat64(at + this.#lastAt, true) === this.#last;
  }
}

function findable(word: number): number {
  return word === 0 ? Number.NaN : word;
}
