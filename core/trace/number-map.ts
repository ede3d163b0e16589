/**
 * A map from whole numbers to rows. What it holds by the hundred thousand are addresses and correlations: numbers past 31
 * bits, for each of which a `Map` makes an object on the heap. Knows nothing of traces.
 */

/** So much of the places may hold keys. */
const most = 0.5;
/** So many places are looked at for one key. */
const longestChain = 64;

export class NumberMap {
  /** Open addressing; NaN is a free place. */
  #keys: Float64Array;
  /** -1: free, or an entry that was taken out. */
  #values: Int32Array;
  /** Places that hold a key, also those whose entry was taken out. */
  #used = 0;
  /** Numbers of a file that is made to collide; there are none of them in others. */
  #crowded: Map<number, number> | undefined;

  /** `expected`: so many entries do not make it grow. */
  constructor(expected = 0) {
    let places = 64;
    while (places * most < expected) places *= 2;
    this.#keys = new Float64Array(places).fill(Number.NaN);
    this.#values = new Int32Array(places).fill(-1);
  }

  /** -1 where there is none. NaN is no key. */
  get(key: number): number {
    const place = this.#place(key);
    const value = place < 0 ? -1 : this.#values[place]!;
    return value < 0 && this.#crowded !== undefined ? (this.#crowded.get(key) ?? -1) : value;
  }

  has(key: number): boolean {
    return this.get(key) >= 0;
  }

  /** `value`: a row, 0 or more; -1 takes the entry out. */
  set(key: number, value: number): void {
    const place = this.#place(key);
    if (place < 0 || this.#crowded?.has(key)) {
      this.#crowded ??= new Map();
      this.#crowded.set(key, value);
      return;
    }
    if (this.#keys[place] === key) this.#values[place] = value;
    else if (value >= 0) this.#put(place, key, value);
  }

  #put(place: number, key: number, value: number): void {
    this.#keys[place] = key;
    this.#values[place] = value;
    this.#used++;
    if (this.#used > this.#keys.length * most) this.#grow();
  }

  /** Where the key is, or would be; -1 where too many others stand before it. */
  #place(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let place = hashOf(key) & mask;
    for (let tries = 0; tries < longestChain; tries++) {
      const there = keys[place]!;
      if (there === key || Number.isNaN(there)) return place;
      place = (place + 1) & mask;
    }
    return -1;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Float64Array(keys.length * 2).fill(Number.NaN);
    this.#values = new Int32Array(keys.length * 2).fill(-1);
    this.#used = 0;
    for (let i = 0; i < keys.length; i++) if (values[i]! >= 0) this.set(keys[i]!, values[i]!);
  }
}

function hashOf(key: number): number {
  const high = (key / 0x1_0000_0000) | 0;
  const hash = Math.imul((key | 0) ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return hash ^ (hash >>> 15);
}
