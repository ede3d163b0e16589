/** Splits pieces of bytes into lines, with the byte offset of each. Knows nothing of what the lines hold. */

/** Longer lines are not kept: no line of a trace comes near. */
export const longestLine = 64 << 20;

export class LineSplitter {
  #parts: Uint8Array[] = [];
  #partsLength = 0;
  #start = 0;
  #seen = 0;

  /** `line` excludes its end; it is valid during the call alone. */
  push(bytes: Uint8Array, onLine: (line: Uint8Array, offset: number) => void): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(10, from);
      if (end < 0) break;
      const piece = bytes.subarray(from, end);
      const line = this.#partsLength === 0 ? piece : this.#join(piece);
      onLine(line, this.#start);
      from = end + 1;
      this.#start = this.#seen + from;
    }
    if (from < bytes.length) this.#keep(bytes.slice(from));
    this.#seen += bytes.length;
  }

  /** What follows the last line end: an unfinished line, empty in a whole file. */
  rest(): { line: Uint8Array; offset: number } {
    return { line: this.#join(new Uint8Array(0)), offset: this.#start };
  }

  get length(): number {
    return this.#seen;
  }

  #keep(part: Uint8Array): void {
    if (this.#partsLength > longestLine) return;
    this.#parts.push(part);
    this.#partsLength += part.length;
  }

  #join(last: Uint8Array): Uint8Array {
    const line = new Uint8Array(this.#partsLength + last.length);
    let at = 0;
    for (const part of [...this.#parts, last]) {
      line.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#partsLength = 0;
    return line;
  }
}
