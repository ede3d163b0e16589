/**
 * Dictionaries of a pickle in columns. A snapshot has hundreds of thousands with the same few keys: those share their
 * keys, and the values of each lie one behind the other among the cells.
 *
 *     dictionary   keys                        at
 *              7   action addr size frames  ──▶ alloc │ 0x7f00 │ 512 │ list 3
 */
import { type Cells, doubled, textCell } from './pickle-cells.ts';

/** Dictionaries of more keys, and those that come when there are so many sets of keys, have their keys for themselves. */
const mostShared = 24;
const mostSets = 4096;

/** Texts as keys, by their numbers, in the order in which they were set. */
interface Keys {
  readonly texts: readonly number[];
  readonly place: ReadonlyMap<number, number>;
  /** The set of these and one more. */
  readonly further: Map<number, number>;
}

/** The set of keys of dictionaries that have theirs for themselves. */
export const ownKeys = -1;

export class Dictionaries {
  readonly #cells: Cells;
  readonly #sets: Keys[] = [{ texts: [], place: new Map(), further: new Map() }];
  /** The keys of the dictionary that was filled last: most are like the one before. */
  #last = 0;
  #keys = new Int32Array(64);
  #at = new Int32Array(64);
  readonly #own = new Map<number, Map<string, number>>();
  count = 0;

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  add(): number {
    if (this.count === this.#keys.length) {
      this.#keys = doubled(this.#keys);
      this.#at = doubled(this.#at);
    }
    return this.count++;
  }

  /** Sets keys and values, which lie by turns in `from`..`to` of `source`. */
  setItems(dictionary: number, source: Cells, from: number, to: number): void {
    if (this.#fillLikeLast(dictionary, source, from, to)) return;
    for (let item = from; item < to; item += 2) {
      const cell = this.#cellFor(dictionary, source.kind[item]!, source.number[item]!);
      this.#cells.copy(source, item + 1, 1, cell);
    }
    this.#last = Math.max(0, this.#keys[dictionary]!);
  }

  #fillLikeLast(dictionary: number, source: Cells, from: number, to: number): boolean {
    const { texts } = this.#sets[this.#last]!;
    const count = texts.length;
    if (to - from !== 2 * count || this.#keys[dictionary] !== 0) return false;
    for (let i = 0; i < count; i++)
      if (source.number[from + 2 * i] !== texts[i] || source.kind[from + 2 * i] !== textCell) return false;
    const at = this.#cells.take(count);
    const { kind, number } = this.#cells;
    for (let i = 0; i < count; i++) {
      kind[at + i] = source.kind[from + 2 * i + 1]!;
      number[at + i] = source.number[from + 2 * i + 1]!;
    }
    this.#keys[dictionary] = this.#last;
    this.#at[dictionary] = at;
    return true;
  }

  /** The cell for the value of a key, a new one where the dictionary does not have the key yet. */
  #cellFor(dictionary: number, keyKind: number, key: number): number {
    const set = this.#keys[dictionary]!;
    if (set === ownKeys) return this.#ownCell(dictionary, keyKind, key);
    const keys = this.#sets[set]!;
    const at = this.#at[dictionary]!;
    const place = keyKind === textCell ? keys.place.get(key) : undefined;
    if (place !== undefined) return at + place;
    const longer = keyKind === textCell ? this.#longer(keys, key) : ownKeys;
    this.#keys[dictionary] = longer;
    if (longer === ownKeys) {
      this.#own.set(dictionary, new Map(keys.texts.map((text, i) => [nameOf(textCell, text), at + i])));
      return this.#ownCell(dictionary, keyKind, key);
    }
    const count = keys.texts.length;
    if (count > 0 && at + count === this.#cells.length) return this.#cells.take(1);
    const moved = this.#cells.take(count + 1);
    this.#cells.copy(this.#cells, at, count, moved);
    this.#at[dictionary] = moved;
    return moved + count;
  }

  #ownCell(dictionary: number, keyKind: number, key: number): number {
    const own = this.#own.get(dictionary)!;
    const name = nameOf(keyKind, key);
    const known = own.get(name);
    if (known !== undefined) return known;
    const cell = this.#cells.take(1);
    own.set(name, cell);
    return cell;
  }

  /** The set of these and one more; `ownKeys` where they are not shared. */
  #longer(keys: Keys, key: number): number {
    const known = keys.further.get(key);
    if (known !== undefined) return known;
    if (this.#sets.length > mostSets || keys.texts.length === mostShared) return ownKeys;
    const texts = [...keys.texts, key];
    const place = new Map(texts.map((text, i) => [text, i]));
    const longer = this.#sets.push({ texts, place, further: new Map() }) - 1;
    keys.further.set(key, longer);
    return longer;
  }

  /** Which set of keys the dictionary has; the same for all that share them. */
  setOf(dictionary: number): number {
    return this.#keys[dictionary]!;
  }

  /** Where the values of a dictionary begin that shares its keys. */
  at(dictionary: number): number {
    return this.#at[dictionary]!;
  }

  /** Where the value of a key lies among those of a dictionary with this set; -1 where there is no such key. */
  placeIn(set: number, text: number): number {
    return this.#sets[set]?.place.get(text) ?? -1;
  }

  /** The cell of the value of a key; -1 where there is no such key. */
  get(dictionary: number, text: number): number {
    const set = this.#keys[dictionary]!;
    if (set === ownKeys) return this.#own.get(dictionary)?.get(nameOf(textCell, text)) ?? -1;
    const place = this.placeIn(set, text);
    return place < 0 ? -1 : this.#at[dictionary]! + place;
  }

  /** Kind and number of each key, and the cell of its value. */
  entries(dictionary: number): (readonly [keyKind: number, key: number, cell: number])[] {
    const own = this.#own.get(dictionary);
    if (own) return Array.from(own, ([name, cell]) => [...kindAndNumber(name), cell] as const);
    const { texts } = this.#sets[this.#keys[dictionary]!]!;
    return texts.map((text, i) => [textCell, text, this.#at[dictionary]! + i]);
  }
}

function nameOf(kind: number, number: number): string {
  return `${kind} ${number}`;
}

function kindAndNumber(name: string): readonly [number, number] {
  const [kind, number] = name.split(' ');
  return [Number(kind), Number(number)];
}
