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
    const { cells, length } = this;
    for (let row = 0; row < length; row++) cells[row]! += delta;
  }

  /** The cells so far, for who keeps them. */
  copy(): T {
    return this.cells.slice(0, this.length) as T;
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
    if (this.length === this.cells.length) this.#grow();
    this.cells[this.length++] = value;
  }

  #grow(): void {
    const cells = new Float64Array(this.length * 2 || 16);
    cells.set(this.cells);
    this.cells = cells;
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
    if (this.length === this.cells.length) this.#grow();
    this.cells[this.length++] = value;
  }

  #grow(): void {
    const cells = new Int32Array(this.length * 2 || 16);
    cells.set(this.cells);
    this.cells = cells;
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
    if (this.length === this.cells.length) this.#grow();
    this.cells[this.length++] = value;
  }

  #grow(): void {
    const cells = new Uint8Array(this.length * 2 || 16);
    cells.set(this.cells);
    this.cells = cells;
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

export const float64 = (): Column<Float64Array> => new Float64Column();
export const int32 = (): Column<Int32Array> => new Int32Column();
export const uint8 = (): Column<Uint8Array> => new Uint8Column();

/**
 * The order that groups rows by `group` (small numbers, ascending, -1 first; none: one group) and within a group sorts by
 * `first`, and where that is the same by `longest`, the larger first; else stably. Recorders write long sorted runs, so
 * this is a merge of natural runs: near to linear on real files.
 *
 * Each loop below is a function of its own. They run once over many rows, and the engine leaves its fast code where a
 * loop ends and something begins that it has not seen yet; a function that ends with its loop has nothing more to see.
 */
export function groupedOrder(
  length: number,
  group: Int32Array | undefined,
  first: Float64Array,
  longest?: Float64Array,
): Int32Array {
  const order = new Int32Array(length);
  // Columns rather than a comparing function: it would be called for each row, and the callers' differ.
  const sort = { order, spare: new Int32Array(length), first, longest: longest ?? new Float64Array(first.length) };
  if (!group) {
    countUp(order);
    sortRuns(sort, 0, length);
    return order;
  }
  const next = new Int32Array(highest(group, length) + 3);
  countGroups(group, length, next);
  addUp(next);
  const starts = next.slice();
  layOut(group, next, order);
  for (let i = 0; i + 1 < starts.length; i++) sortRuns(sort, starts[i]!, starts[i + 1]!);
  return order;
}

/** Where each row went: `inverse(order)[row]` is its new place. */
export function inverse(order: Int32Array): Int32Array {
  const result = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) result[order[i]!] = i;
  return result;
}

function countUp(order: Int32Array): void {
  for (let row = 0; row < order.length; row++) order[row] = row;
}

function highest(group: Int32Array, length: number): number {
  let most = -1;
  for (let row = 0; row < length; row++) if (group[row]! > most) most = group[row]!;
  return most;
}

/** Counts one cell further on, so that adding up gives where each group begins. */
function countGroups(group: Int32Array, length: number, counts: Int32Array): void {
  for (let row = 0; row < length; row++) counts[group[row]! + 2]!++;
}

function addUp(counts: Int32Array): void {
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!;
}

function layOut(group: Int32Array, next: Int32Array, order: Int32Array): void {
  for (let row = 0; row < order.length; row++) order[next[group[row]! + 1]!++] = row;
}

interface Sort {
  readonly order: Int32Array;
  readonly spare: Int32Array;
  readonly first: Float64Array;
  readonly longest: Float64Array;
}

function sortRuns(sort: Sort, from: number, to: number): void {
  let runs: number[] = [];
  for (let start = from; start < to; start = runEnd(sort, start, to)) runs.push(start);
  while (runs.length > 1) {
    const merged: number[] = [];
    for (let r = 0; r < runs.length; r += 2) {
      merged.push(runs[r]!);
      if (r + 1 < runs.length) mergeRuns(sort, runs[r]!, runs[r + 1]!, runs[r + 2] ?? to);
    }
    runs = merged;
  }
}

/** Where the sorted run that begins at `from` ends. */
function runEnd({ order, first, longest }: Sort, from: number, to: number): number {
  let i = from + 1;
  for (; i < to; i++) {
    const a = order[i]!;
    const b = order[i - 1]!;
    if (first[a]! < first[b]! || (first[a] === first[b] && longest[a]! > longest[b]!)) break;
  }
  return i;
}

/** Merges the runs `low`..`middle` and `middle`..`high`. */
function mergeRuns({ order, spare, first, longest }: Sort, low: number, middle: number, high: number): void {
  spare.set(order.subarray(low, middle), low);
  let a = low;
  let b = middle;
  // What is left of the second run lies in its place already, so the first one's end is the end.
  for (let out = low; a < middle; out++) {
    const left = spare[a]!;
    const right = b < high ? order[b]! : left;
    if (first[right]! < first[left]! || (first[right] === first[left] && longest[right]! > longest[left]!)) {
      order[out] = right;
      b++;
    } else {
      order[out] = left;
      a++;
    }
  }
}
