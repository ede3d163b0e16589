/**
 * What a pickle holds: cells, and the tables of what does not fit into one. Who reads it names cells, and -1 is a cell that
 * is not there, so that a value can be looked for without asking first what holds it. Knows nothing of opcodes.
 */
import {
  bigintCell,
  Cells,
  dictionaryCell,
  doubled,
  falseCell,
  listCell,
  noCell,
  numberCell,
  textCell,
  trueCell,
} from './pickle-cells.ts';
import { Dictionaries, ownKeys } from './pickle-dictionaries.ts';
import { Texts } from './pickle-texts.ts';

const mostExpected = 1 << 24;

export class PickleTree {
  readonly cells: Cells;
  readonly texts: Texts;
  readonly bigints: bigint[] = [];
  readonly pieces: Uint8Array[] = [];
  readonly lists: Lists;
  readonly dictionaries: Dictionaries;
  /** The cell of the whole, once it is there. */
  root = -1;

  /** `bytes`: the whole file. */
  constructor(bytes: Uint8Array) {
    // About as many as there are: a value that is kept takes four to eight bytes of the file.
    this.cells = new Cells(Math.min(Math.max(bytes.length >> 2, 1024), mostExpected));
    this.texts = new Texts(bytes);
    this.lists = new Lists(this.cells);
    this.dictionaries = new Dictionaries(this.cells);
  }

  kind(cell: number): number {
    return cell < 0 ? noCell : this.cells.kind[cell]!;
  }

  /** Which text, list or dictionary the cell holds; -1 where it is of another kind. */
  which(cell: number, kind: number): number {
    return cell >= 0 && this.cells.kind[cell] === kind ? this.cells.number[cell]! : -1;
  }

  text(cell: number): string | undefined {
    return this.texts.list[this.which(cell, textCell)];
  }

  /** -1 for what is no number. */
  number(cell: number): number {
    const kind = this.kind(cell);
    if (kind === bigintCell) return Number(this.bigints[this.cells.number[cell]!]!);
    if (kind !== numberCell) return -1;
    const number = this.cells.number[cell]!;
    return Number.isFinite(number) ? number : -1;
  }

  /** -1 for what is no whole number. */
  bigint(cell: number): bigint {
    if (this.kind(cell) === bigintCell) return this.bigints[this.cells.number[cell]!]!;
    const number = this.number(cell);
    return Number.isSafeInteger(number) ? BigInt(number) : -1n;
  }

  /** How many items the list in this cell has; none where it holds no list. */
  length(cell: number): number {
    const list = this.which(cell, listCell);
    return list < 0 ? 0 : this.lists.length(list);
  }

  /** The cell of the first item; the others lie behind it. */
  first(cell: number): number {
    const list = this.which(cell, listCell);
    return list < 0 ? -1 : this.lists.at(list);
  }

  /** The cells of the items. For lists of which there are few. */
  items(cell: number): number[] {
    const first = this.first(cell);
    return Array.from({ length: this.length(cell) }, (_, i) => first + i);
  }

  /** The value of a key; -1 where the cell holds no dictionary, or one without the key. */
  get(cell: number, key: string): number {
    const dictionary = this.which(cell, dictionaryCell);
    const text = this.texts.idOf(key);
    return dictionary < 0 || text < 0 ? -1 : this.dictionaries.get(dictionary, text);
  }

  /** What a cell of these kinds says, for who looks at single values; undefined for the others. */
  plain(kind: number, number: number): boolean | number | bigint | string | undefined {
    switch (kind) {
      case falseCell:
      case trueCell:
        return kind === trueCell;
      case numberCell:
        return number;
      case bigintCell:
        return this.bigints[number];
      case textCell:
        return this.texts.list[number];
      default:
        return undefined;
    }
  }
}

/** Lists of so many items are looked for among those that came lately, in so many places. */
const longestAlike = 256;
const placesAlike = 1 << 14;

/**
 * Lists in columns: the items of each lie one behind the other among the cells. The allocator makes a list of frames for
 * each entry, and most name the same frames as one before: lists with the same items share their cells.
 */
class Lists {
  readonly #cells: Cells;
  #at = new Int32Array(64);
  #length = new Int32Array(64);
  /** As many as `length` where cells may be shared: a list that grows is moved first. */
  #room = new Int32Array(64);
  /** Of lists that came lately: where they begin, -1 for none, and how long they are. */
  readonly #alikeAt = new Int32Array(placesAlike).fill(-1);
  readonly #alikeLength = new Int32Array(placesAlike);
  count = 0;

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  add(): number {
    if (this.count === this.#at.length) {
      this.#at = doubled(this.#at);
      this.#length = doubled(this.#length);
      this.#room = doubled(this.#room);
    }
    return this.count++;
  }

  /** Adds the cells `from`..`to` of `source` to a list. */
  append(list: number, source: Cells, from: number, to: number): void {
    const length = this.#length[list]!;
    const longer = length + to - from;
    if (length === 0) {
      this.#at[list] = this.#lay(source, from, longer);
      this.#room[list] = longer;
    } else {
      if (longer > this.#room[list]!) this.#move(list, Math.max(longer, 2 * length));
      this.#cells.copy(source, from, to - from, this.#at[list]! + length);
    }
    this.#length[list] = longer;
  }

  #move(list: number, room: number): void {
    const at = this.#cells.take(room);
    this.#cells.copy(this.#cells, this.#at[list]!, this.#length[list]!, at);
    this.#at[list] = at;
    this.#room[list] = room;
  }

  /** Where the items of a list lie that had none: where the same ones lie already, or new cells. */
  #lay(source: Cells, from: number, count: number): number {
    const place = count > 0 && count <= longestAlike ? placeOf(source, from, count) : -1;
    if (
      place >= 0 &&
      this.#alikeLength[place] === count &&
      this.#cells.same(this.#alikeAt[place]!, source, from, count)
    )
      return this.#alikeAt[place]!;
    const at = this.#cells.take(count);
    this.#cells.copy(source, from, count, at);
    if (place >= 0) {
      this.#alikeAt[place] = at;
      this.#alikeLength[place] = count;
    }
    return at;
  }

  length(list: number): number {
    return this.#length[list]!;
  }

  /** The cell of the first item. */
  at(list: number): number {
    return this.#at[list]!;
  }
}

function placeOf({ number }: Cells, from: number, count: number): number {
  let hash = count;
  for (let i = from; i < from + count; i++) hash = Math.imul(hash ^ (number[i]! | 0), 0x9e3779b1) ^ (hash >>> 13);
  return (hash ^ (hash >>> 15)) & (placesAlike - 1);
}

/** Looks into many dictionaries for the same keys: those that share their keys have the values at the same places. */
export class Fields {
  readonly #tree: PickleTree;
  readonly #names: readonly string[];
  /** The set of keys that `#places` is of. */
  #set = ownKeys;
  readonly #places: Int32Array;
  /** The values of the dictionary that was looked into last, in the order of the names; -1: it does not have the key. */
  readonly cells: Int32Array;

  constructor(tree: PickleTree, names: readonly string[]) {
    this.#tree = tree;
    this.#names = names;
    this.#places = new Int32Array(names.length);
    this.cells = new Int32Array(names.length);
  }

  look(cell: number): void {
    const { dictionaries } = this.#tree;
    const dictionary = this.#tree.which(cell, dictionaryCell);
    const set = dictionary < 0 ? ownKeys : dictionaries.setOf(dictionary);
    if (set === ownKeys) {
      for (const [i, name] of this.#names.entries()) this.cells[i] = this.#tree.get(cell, name);
      return;
    }
    if (set !== this.#set) this.#findPlaces(set);
    const at = dictionaries.at(dictionary);
    const places = this.#places;
    const { cells } = this;
    for (let i = 0; i < cells.length; i++) cells[i] = places[i]! < 0 ? -1 : at + places[i]!;
  }

  #findPlaces(set: number): void {
    const { dictionaries, texts } = this.#tree;
    this.#set = set;
    for (const [i, name] of this.#names.entries()) this.#places[i] = dictionaries.placeIn(set, texts.idOf(name));
  }
}
