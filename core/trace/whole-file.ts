/** The pieces of a file that can only be read when all of it is there. */
import { TraceError } from './error.ts';

export class WholeFile {
  readonly #most: number;
  readonly #tooLarge: string;
  #parts: Uint8Array[] = [];
  #length = 0;

  /** `tooLarge`: what is said, and what to do, where the file has more than `most` bytes. */
  constructor(most: number, tooLarge: string) {
    this.#most = most;
    this.#tooLarge = tooLarge;
  }

  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#most) throw new TraceError(this.#tooLarge, this.#length);
    // Not `slice`, which copies nothing of a Node Buffer: the caller may use its memory again.
    this.#parts.push(new Uint8Array(bytes));
  }

  /** Takes the whole, which stays as it is until it is read: nothing is copied. */
  hold(bytes: Uint8Array): void {
    this.#length = bytes.length;
    if (this.#length > this.#most) throw new TraceError(this.#tooLarge, this.#length);
    // A Node Buffer is a class of its own, which is slower beside plain arrays.
    this.#parts = [new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)];
  }

  /** All of them as one; they are not kept. */
  take(): Uint8Array {
    const [one] = this.#parts;
    if (one && this.#parts.length === 1) {
      this.#parts = [];
      return one;
    }
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    return bytes;
  }
}
