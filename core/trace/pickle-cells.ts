/**
 * Values of a pickle in columns: a snapshot has millions of them, and an object for each would be most of the time that it
 * takes to open one. A value is a cell: its kind, and a number whose meaning goes by the kind.
 */

/** Nothing is here. */
export const noCell = 0;
export const noneCell = 1;
export const falseCell = 2;
export const trueCell = 3;
/** The number itself. */
export const numberCell = 4;
/** The numbers of these are places in tables of the tree (pickle-tree.ts). A bigint is what a double does not hold. */
export const bigintCell = 5;
export const textCell = 6;
export const bytesCell = 7;
/** A list or a tuple. */
export const listCell = 8;
export const dictionaryCell = 9;
export const setCell = 10;

/** Cells one behind the other. */
export class Cells {
  kind: Uint8Array<ArrayBuffer>;
  number: Float64Array<ArrayBuffer>;
  length = 0;

  /** `expected`: so many cells do not make them grow. */
  constructor(expected = 1024) {
    this.kind = new Uint8Array(expected);
    this.number = new Float64Array(expected);
  }

  push(kind: number, number: number): void {
    if (this.length === this.kind.length) this.#grow(this.length + 1);
    this.kind[this.length] = kind;
    this.number[this.length++] = number;
  }

  /** Adds so many cells that hold nothing; where they begin. */
  take(count: number): number {
    const at = this.length;
    if (at + count > this.kind.length) this.#grow(at + count);
    this.length += count;
    return at;
  }

  /** Lays `count` cells of `source` down from `to` on. */
  copy(source: Cells, from: number, count: number, to: number): void {
    const { kind, number } = this;
    const { kind: kinds, number: numbers } = source;
    for (let i = 0; i < count; i++) {
      kind[to + i] = kinds[from + i]!;
      number[to + i] = numbers[from + i]!;
    }
  }

  /** Whether the `count` cells from `at` on are those of `source`. */
  same(at: number, source: Cells, from: number, count: number): boolean {
    const { kind, number } = this;
    const { kind: kinds, number: numbers } = source;
    for (let i = 0; i < count; i++)
      if (number[at + i] !== numbers[from + i] || kind[at + i] !== kinds[from + i]) return false;
    return true;
  }

  #grow(least: number): void {
    const length = Math.max(least, this.kind.length * 2);
    const kind = new Uint8Array(length);
    const number = new Float64Array(length);
    kind.set(this.kind);
    number.set(this.number);
    this.kind = kind;
    this.number = number;
  }
}

/** Twice as long, with what it holds. */
export function doubled(cells: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(cells.length * 2);
  longer.set(cells);
  return longer;
}
