/**
 * Columns that grow while a file is read, and the orders in which they are laid down. Knows nothing of traces.
 */

type Cells = Float64Array | Int32Array | Uint8Array;

export class Column<T extends Cells> {
  #cells: T;
  readonly #make: new (
    length: number,
  ) => T;
  length = 0;

  constructor(make: new (length: number) => T) {
    this.#make = make;
    this.#cells = new make(16);
  }

  push(value: number): void {
    if (this.length === this.#cells.length) {
      const larger = new this.#make(Math.max(16, this.length * 2));
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells[this.length++] = value;
  }

  /** The cells themselves, for loops that only read; no longer right after the next `push` or `reorder`. */
  get cells(): T {
    return this.#cells;
  }

  get(row: number): number {
    return this.#cells[row]!;
  }

  set(row: number, value: number): void {
    this.#cells[row] = value;
  }

  add(delta: number): void {
    const cells = this.#cells;
    for (let row = 0; row < this.length; row++) cells[row]! += delta;
  }

  /** Puts the cells in the order of `order`, which names each row once. */
  reorder(order: Int32Array): void {
    this.#cells = this.finish(order);
  }

  /** The cells so far, exactly `length` of them; in the order of `order` where one is given. */
  finish(order?: Int32Array): T {
    // A column that was reordered has the right length already.
    if (!order) return this.#cells.length === this.length ? this.#cells : (this.#cells.slice(0, this.length) as T);
    const result = new this.#make(order.length);
    const cells = this.#cells;
    for (let i = 0; i < order.length; i++) result[i] = cells[order[i]!]!;
    return result;
  }
}

export const float64 = (): Column<Float64Array> => new Column(Float64Array);
export const int32 = (): Column<Int32Array> => new Column(Int32Array);
export const uint8 = (): Column<Uint8Array> => new Column(Uint8Array);

/**
 * The order that groups rows by `group` (small numbers, ascending, -1 first; none: one group) and within a group sorts by `before`, stably. Recorders
 * write long sorted runs, so this is a merge of natural runs: near to linear on real files.
 */
export function groupedOrder(
  length: number,
  group: Int32Array | undefined,
  before: (a: number, b: number) => boolean,
): Int32Array {
  const order = new Int32Array(length);
  const spare = new Int32Array(length);
  if (!group) {
    for (let row = 0; row < length; row++) order[row] = row;
    sortRuns(order, spare, 0, length, before);
    return order;
  }
  let groups = 0;
  for (let row = 0; row < length; row++) groups = Math.max(groups, group[row]! + 2);
  const next = new Int32Array(groups + 1);
  for (let row = 0; row < length; row++) next[group[row]! + 2]!++;
  for (let i = 1; i <= groups; i++) next[i]! += next[i - 1]!;
  const starts = next.slice();
  for (let row = 0; row < length; row++) order[next[group[row]! + 1]!++] = row;
  for (let i = 0; i < groups; i++) sortRuns(order, spare, starts[i]!, starts[i + 1]!, before);
  return order;
}

/** Where each row went: `inverse(order)[row]` is its new place. */
export function inverse(order: Int32Array): Int32Array {
  const result = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) result[order[i]!] = i;
  return result;
}

function sortRuns(
  order: Int32Array,
  spare: Int32Array,
  from: number,
  to: number,
  before: (a: number, b: number) => boolean,
): void {
  let runs: number[] = [from];
  for (let i = from + 1; i < to; i++) if (before(order[i]!, order[i - 1]!)) runs.push(i);
  while (runs.length > 1) {
    const merged: number[] = [];
    for (let r = 0; r < runs.length; r += 2) {
      const low = runs[r]!;
      merged.push(low);
      if (r + 1 === runs.length) continue;
      const middle = runs[r + 1]!;
      const high = runs[r + 2] ?? to;
      spare.set(order.subarray(low, middle), low);
      let a = low;
      let b = middle;
      let out = low;
      while (a < middle && b < high) {
        if (before(order[b]!, spare[a]!)) order[out++] = order[b++]!;
        else order[out++] = spare[a++]!;
      }
      while (a < middle) order[out++] = spare[a++]!;
    }
    runs = merged;
  }
}
