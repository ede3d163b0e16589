/**
 * Columns that grow while a file is read, and the orders in which they are laid down. Knows nothing of traces.
 */

type Cells = Float64Array | Int32Array | Uint8Array;

/**
 * Each kind of cells has its own `push`, `get`, `set` and `gather`: one that all shared would see three kinds of arrays,
 * and the engine would make it slow for all of them.
 */
export abstract class Column<T extends Cells> {
  abstract cells: T;
  length = 0;

  abstract push(value: number): void;
  abstract get(row: number): number;
  abstract set(row: number, value: number): void;
  protected abstract gather(order: Int32Array): T;

  add(delta: number): void {
    const cells = this.cells;
    for (let row = 0; row < this.length; row++) cells[row]! += delta;
  }

  /** Puts the cells in the order of `order`, which names each row once. */
  reorder(order: Int32Array): void {
    this.cells = this.gather(order);
  }

  /** The cells so far, exactly `length` of them; in the order of `order` where one is given. */
  finish(order?: Int32Array): T {
    if (order) return this.gather(order);
    // A column that was reordered has the right length already.
    return this.cells.length === this.length ? this.cells : (this.cells.slice(0, this.length) as T);
  }
}

class Float64Column extends Column<Float64Array> {
  /** For loops that only read; no longer right after the next `push` or `reorder`. */
  cells = new Float64Array(16);

  push(value: number): void {
    if (this.length === this.cells.length) this.cells = larger(this.cells, new Float64Array(this.length * 2 || 16));
    this.cells[this.length++] = value;
  }

  get(row: number): number {
    return this.cells[row]!;
  }

  set(row: number, value: number): void {
    this.cells[row] = value;
  }

  protected gather(order: Int32Array): Float64Array {
    const { cells } = this;
    const result = new Float64Array(order.length);
    for (let i = 0; i < order.length; i++) result[i] = cells[order[i]!]!;
    return result;
  }
}

class Int32Column extends Column<Int32Array> {
  cells = new Int32Array(16);

  push(value: number): void {
    if (this.length === this.cells.length) this.cells = larger(this.cells, new Int32Array(this.length * 2 || 16));
    this.cells[this.length++] = value;
  }

  get(row: number): number {
    return this.cells[row]!;
  }

  set(row: number, value: number): void {
    this.cells[row] = value;
  }

  protected gather(order: Int32Array): Int32Array {
    const { cells } = this;
    const result = new Int32Array(order.length);
    for (let i = 0; i < order.length; i++) result[i] = cells[order[i]!]!;
    return result;
  }
}

class Uint8Column extends Column<Uint8Array> {
  cells = new Uint8Array(16);

  push(value: number): void {
    if (this.length === this.cells.length) this.cells = larger(this.cells, new Uint8Array(this.length * 2 || 16));
    this.cells[this.length++] = value;
  }

  get(row: number): number {
    return this.cells[row]!;
  }

  set(row: number, value: number): void {
    this.cells[row] = value;
  }

  protected gather(order: Int32Array): Uint8Array {
    const { cells } = this;
    const result = new Uint8Array(order.length);
    for (let i = 0; i < order.length; i++) result[i] = cells[order[i]!]!;
    return result;
  }
}

function larger<T extends Cells>(cells: T, place: T): T {
  place.set(cells);
  return place;
}

export const float64 = (): Column<Float64Array> => new Float64Column();
export const int32 = (): Column<Int32Array> => new Int32Column();
export const uint8 = (): Column<Uint8Array> => new Uint8Column();

/**
 * The order that groups rows by `group` (small numbers, ascending, -1 first; none: one group) and within a group sorts by
 * `first`, and where that is the same by `longest`, the larger first; else stably. Recorders write long sorted runs, so
 * this is a merge of natural runs: near to linear on real files.
 */
export function groupedOrder(
  length: number,
  group: Int32Array | undefined,
  first: Float64Array,
  longest?: Float64Array,
): Int32Array {
  const order = new Int32Array(length);
  const spare = new Int32Array(length);
  // Columns rather than a comparing function: it would be called for each row, and the callers' differ.
  const keys = { first, longest: longest ?? new Float64Array(first.length) };
  if (!group) {
    for (let row = 0; row < length; row++) order[row] = row;
    sortRuns(order, spare, 0, length, keys);
    return order;
  }
  let groups = 0;
  for (let row = 0; row < length; row++) if (group[row]! + 2 > groups) groups = group[row]! + 2;
  const next = new Int32Array(groups + 1);
  for (let row = 0; row < length; row++) next[group[row]! + 2]!++;
  for (let i = 1; i <= groups; i++) next[i]! += next[i - 1]!;
  const starts = next.slice();
  for (let row = 0; row < length; row++) order[next[group[row]! + 1]!++] = row;
  for (let i = 0; i < groups; i++) sortRuns(order, spare, starts[i]!, starts[i + 1]!, keys);
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
  { first, longest }: { readonly first: Float64Array; readonly longest: Float64Array },
): void {
  let runs: number[] = [from];
  for (let i = from + 1; i < to; i++) {
    const a = order[i]!;
    const b = order[i - 1]!;
    if (first[a]! < first[b]! || (first[a] === first[b] && longest[a]! > longest[b]!)) runs.push(i);
  }
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
        const left = spare[a]!;
        const right = order[b]!;
        if (first[right]! < first[left]! || (first[right] === first[left] && longest[right]! > longest[left]!)) {
          order[out++] = right;
          b++;
        } else {
          order[out++] = left;
          a++;
        }
      }
      while (a < middle) order[out++] = spare[a++]!;
    }
    runs = merged;
  }
}
