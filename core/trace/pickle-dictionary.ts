/**
 * Dictionaries of a pickle. A snapshot has hundreds of thousands with the same few keys: those share their keys, and each
 * holds its values alone. Knows nothing of opcodes.
 */
import type { PickleValue } from './pickle.ts';

/** Dictionaries of more keys, and those that come when there are so many sets of keys, have their keys for themselves. */
const mostShared = 24;
const mostSets = 4096;

/** The keys of dictionaries in the order in which they were set. */
interface Keys {
  readonly list: readonly PickleValue[];
  readonly place: ReadonlyMap<PickleValue, number>;
  /** These and one more. */
  readonly further: Map<PickleValue, Keys>;
}

/** The sets of keys of one file. */
export class SharedKeys {
  readonly none: Keys = { list: [], place: new Map(), further: new Map() };
  /** The keys of the dictionary that was filled last: most are like the one before. */
  last: Keys = this.none;
  #count = 0;

  /** These and `key`; undefined where they are not shared. */
  with(keys: Keys, key: PickleValue): Keys | undefined {
    const known = keys.further.get(key);
    if (known || this.#count === mostSets || keys.list.length === mostShared) return known;
    const list = [...keys.list, key];
    const place = new Map(list.map((one, i) => [one, i]));
    const next = { list, place, further: new Map() };
    keys.further.set(key, next);
    this.#count++;
    return next;
  }
}

/** Of all dictionaries that are empty yet. */
const noValues: PickleValue[] = [];

export class PickleDictionary {
  readonly #shared: SharedKeys;
  #keys: Keys;
  #values: PickleValue[] = noValues;
  #own: Map<PickleValue, PickleValue> | undefined;

  constructor(shared: SharedKeys) {
    this.#shared = shared;
    this.#keys = shared.none;
  }

  get(key: PickleValue): PickleValue | undefined {
    if (this.#own) return this.#own.get(key);
    const place = this.#keys.place.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  has(key: PickleValue): boolean {
    return (this.#own ?? this.#keys.place).has(key);
  }

  set(key: PickleValue, value: PickleValue): void {
    if (this.#own) {
      this.#own.set(key, value);
      return;
    }
    const place = this.#keys.place.get(key);
    if (place !== undefined) {
      this.#values[place] = value;
      return;
    }
    const keys = this.#shared.with(this.#keys, key);
    if (keys) {
      if (this.#values === noValues) this.#values = [];
      this.#keys = keys;
      this.#values.push(value);
      return;
    }
    this.#own = this.asMap();
    this.#own.set(key, value);
  }

  /** Sets keys and values, which lie by turns from `from` on. */
  setAll(items: readonly unknown[], from: number): void {
    if (this.#fillLikeLast(items, from)) return;
    for (let i = from; i < items.length; i += 2) this.set(items[i] as PickleValue, items[i + 1] as PickleValue);
    this.#shared.last = this.#keys;
    // An array that grew by single values has room for many more.
    if (!this.#own) this.#values = this.#values.slice();
  }

  #fillLikeLast(items: readonly unknown[], from: number): boolean {
    const { last, none } = this.#shared;
    const { list } = last;
    const count = (items.length - from) / 2;
    if (this.#keys !== none || this.#own || list.length !== count) return false;
    for (let i = 0; i < count; i++) if (items[from + 2 * i] !== list[i]) return false;
    const values = new Array<PickleValue>(count);
    for (let i = 0; i < count; i++) values[i] = items[from + 2 * i + 1] as PickleValue;
    this.#keys = last;
    this.#values = values;
    return true;
  }

  asMap(): Map<PickleValue, PickleValue> {
    return new Map(this.#own ?? this.#keys.list.map((key, i) => [key, this.#values[i]!]));
  }
}
