/**
 * Reads a pickle as data: dictionaries, lists, tuples, strings, numbers, bytes, None and booleans, of protocols 2 to 5. A
 * pickle is a program for a small machine; the opcodes that name classes, call things or build objects (GLOBAL, REDUCE,
 * BUILD, persistent ids, …) are refused with their offset, so that opening a file can never run code. Depth, count and
 * memory are bounded.
 *
 * What the pickle shares (memo) is shared in the result: equal stacks of a snapshot are one list.
 */
import { strFromU8 } from 'fflate';
import { TraceError } from './error.ts';
import {
  bigintCell,
  bytesCell,
  Cells,
  dictionaryCell,
  falseCell,
  listCell,
  noCell,
  noneCell,
  numberCell,
  setCell,
  textCell,
  trueCell,
} from './pickle-cells.ts';
import { PickleTree } from './pickle-tree.ts';

export interface PickleLimits {
  /** Values that the file may make, and how deep marks may nest. */
  readonly values: number;
  readonly depth: number;
}

const defaultLimits: PickleLimits = { values: 50_000_000, depth: 1000 };

/** Opcodes that would run code or load what is not in the file. */
const refused: Readonly<Record<number, string>> = {
  80: 'PERSID',
  81: 'BINPERSID',
  82: 'REDUCE',
  98: 'BUILD',
  99: 'GLOBAL',
  105: 'INST',
  111: 'OBJ',
  129: 'NEWOBJ',
  130: 'EXT1',
  131: 'EXT2',
  132: 'EXT4',
  146: 'NEWOBJ_EX',
  147: 'STACK_GLOBAL',
  151: 'NEXT_BUFFER',
  152: 'READONLY_BUFFER',
};

/** On the stack alone: the begin of the items of a list, tuple or dictionary. */
const markCell = 255;

/** What the file names by number. Picklers count up; numbers far past what is set are kept apart. */
class Memo {
  readonly #near = new Cells();
  readonly #far = new Map<number, readonly [kind: number, number: number]>();
  /** How many are set. */
  count = 0;

  /** Pushes what the file names by numbers of one or four bytes, as long as it names one after the other; where it ends. */
  pushRun(bytes: Uint8Array, from: number, stack: Cells, most: number): number {
    const { kind, number, length } = this.#near;
    const limit = bytes.length - 5;
    let at = from;
    for (let left = most; left > 0 && at < limit; left--) {
      const code = bytes[at]!;
      let id = bytes[at + 1]!;
      if (code === 0x6a) id |= (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16) | (bytes[at + 4]! << 24);
      else if (code !== 0x68) break;
      // What is far, or not set, is for who looks closer.
      if (id < 0 || id >= length || kind[id] === noCell) break;
      stack.push(kind[id]!, number[id]!);
      at += code === 0x6a ? 5 : 2;
    }
    return at;
  }

  kind(id: number): number {
    const near = this.#isNear(id) ? this.#near.kind[id]! : noCell;
    return near === noCell ? (this.#far.get(id)?.[0] ?? noCell) : near;
  }

  /** Of one that is set. */
  number(id: number): number {
    return this.#isNear(id) && this.#near.kind[id] !== noCell ? this.#near.number[id]! : this.#far.get(id)![1];
  }

  set(id: number, kind: number, number: number): void {
    if (this.kind(id) === noCell) this.count++;
    if (!this.#isNear(id) && id >>> 0 === id && id < 2 * this.count + 65_536)
      this.#near.take(id + 1 - this.#near.length);
    if (this.#isNear(id)) {
      this.#near.kind[id] = kind;
      this.#near.number[id] = number;
    } else this.#far.set(id, [kind, number]);
  }

  #isNear(id: number): boolean {
    return id >>> 0 === id && id < this.#near.length;
  }
}

export function readPickle(bytes: Uint8Array, limits: PickleLimits = defaultLimits): PickleTree {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tree = new PickleTree(bytes);
  const { texts, lists, dictionaries } = tree;
  const stack = new Cells();
  const memo = new Memo();
  /** Where marks lie in the stack. */
  const marks: number[] = [];
  let values = 0;
  let at = 0;

  const fail = (what: string, offset: number): never => {
    throw new TraceError(`The pickle ${what} (at byte ${offset}).`, offset);
  };
  const need = (count: number): number => {
    const from = at;
    if (count < 0 || from + count > bytes.length)
      fail('ends early: the file was cut, or is not a pickle', bytes.length);
    at += count;
    return from;
  };
  /** The place of the value on top of the stack. */
  const top = (): number => {
    const place = stack.length - 1;
    if (place < 0 || stack.kind[place] === markCell) fail('is broken: a value is missing', at);
    return place;
  };
  /** Its place still holds the value that was taken. */
  const pop = (): number => {
    const place = top();
    stack.length = place;
    return place;
  };
  /** Where the items behind the last mark begin; the mark is none any more. */
  const toMark = (): number => {
    const from = marks.pop();
    return from === undefined ? fail('is broken: a mark is missing', at) : from + 1;
  };
  /** The list, set or dictionary at this place of the stack. */
  const container = (place: number, kind: number, otherwise: string, offset: number): number => {
    if (place < 0 || stack.kind[place] === markCell) fail('is broken: a value is missing', at);
    if (stack.kind[place] !== kind) fail(`is broken: ${otherwise}`, offset);
    return stack.number[place]!;
  };
  const listAt = (place: number, offset: number): number =>
    container(place, listCell, 'items are added to what is not a list', offset);
  const dictionaryAt = (place: number, offset: number): number =>
    container(place, dictionaryCell, 'items are set on what is not a dictionary', offset);
  /** A new list of the items from this place of the stack on, which are taken. */
  const listFrom = (from: number): number => {
    const list = lists.add();
    lists.append(list, stack, from, stack.length);
    return list;
  };
  const setItems = (dictionary: number, from: number, offset: number): void => {
    if ((stack.length - from) % 2 === 1) fail('is broken: a key has no value', offset);
    dictionaries.setItems(dictionary, stack, from, stack.length);
  };
  const text = (length: number): number => {
    const from = need(length);
    return texts.add(from, from + length);
  };
  const length8 = (): number => {
    const from = need(8);
    const value = view.getBigUint64(from, true);
    if (value > BigInt(bytes.length)) fail('ends early: the file was cut, or is not a pickle', from);
    return Number(value);
  };
  const lineEnd = (): number => {
    const end = bytes.indexOf(10, at);
    return end < 0 ? fail('ends early: the file was cut, or is not a pickle', bytes.length) : end;
  };
  const line = (): string => {
    const from = need(lineEnd() + 1 - at);
    return strFromU8(bytes.subarray(from, at - 1));
  };
  /** A whole number of up to four bytes, of which the last one has the sign. */
  const half = (from: number, count: number): number => {
    let value = 0;
    for (let i = count - 1; i >= 0; i--) value = (value << 8) | bytes[from + i]!;
    return count === 0 ? 0 : (value << (32 - 8 * count)) >> (32 - 8 * count);
  };
  /** Addresses and times: two halves hold them. NaN: a double does not hold what stands in these bytes. */
  const long = (from: number, count: number): number => {
    if (count <= 4) return half(from, count);
    const high = count <= 8 ? half(from + 4, count - 4) : Number.NaN;
    return high > -(2 ** 21) && high < 2 ** 21 ? high * 2 ** 32 + view.getUint32(from, true) : Number.NaN;
  };
  const bigint = (from: number, count: number): bigint => {
    let value = 0n;
    for (let i = count - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[from + i]!);
    return bytes[from + count - 1]! >= 0x80 ? value - (1n << BigInt(count * 8)) : value;
  };

  const push = (kind: number, number: number): void => {
    if (++values > limits.values) fail(`holds more than ${limits.values} values`, at);
    stack.push(kind, number);
  };
  /** What stands in a file now and then, apart: the loop over all the others is compiled the sooner. */
  const seldom = (code: number, offset: number): void => {
    let kind = noCell;
    let number = 0;
    switch (code) {
      case 0x80: {
        const protocol = bytes[need(1)]!;
        if (protocol > 5) fail(`has protocol ${protocol}; protocols 2 to 5 can be read`, offset);
        break;
      }
      case 0x95: // FRAME
        length8();
        break;
      case 0x30: // POP
        if (stack.length > 0 && stack.kind[--stack.length] === markCell) marks.pop();
        break;
      case 0x31: // POP_MARK
        stack.length = toMark() - 1;
        break;
      case 0x32: {
        // DUP
        const place = top();
        kind = stack.kind[place]!;
        number = stack.number[place]!;
        break;
      }
      case 0x88: // NEWTRUE
        kind = trueCell;
        break;
      case 0x89: // NEWFALSE
        kind = falseCell;
        break;
      case 0x47: // BINFLOAT
        kind = numberCell;
        number = view.getFloat64(need(8), false);
        break;
      case 0x49: // INT
      case 0x4c: {
        // LONG
        const digits = line();
        if (digits === '00' || digits === '01') kind = digits === '01' ? trueCell : falseCell;
        else if (/^-?\d{1,40}L?$/.test(digits)) {
          kind = numberCell;
          number = Number(digits.replace('L', ''));
        } else fail('holds a number that is none', offset);
        break;
      }
      case 0x46: // FLOAT
        kind = numberCell;
        number = Number(line());
        break;
      case 0x58: // BINUNICODE
        kind = textCell;
        number = text(view.getUint32(need(4), true));
        break;
      case 0x8d: // BINUNICODE8
        kind = textCell;
        number = text(length8());
        break;
      case 0x54: // BINSTRING
        kind = textCell;
        number = text(view.getInt32(need(4), true));
        break;
      case 0x56: // UNICODE
        kind = textCell;
        number = text(lineEnd() - at);
        need(1);
        break;
      case 0x43: // SHORT_BINBYTES
      case 0x42: // BINBYTES
      case 0x8e: // BINBYTES8
      case 0x96: {
        // BYTEARRAY8
        const length = code === 0x43 ? bytes[need(1)]! : code === 0x42 ? view.getUint32(need(4), true) : length8();
        const from = need(length);
        kind = bytesCell;
        number = tree.pieces.push(bytes.subarray(from, from + length)) - 1;
        break;
      }
      case 0x8f: // EMPTY_SET
        kind = setCell;
        number = lists.add();
        break;
      case 0x6c: // LIST
      case 0x74: // TUPLE
      case 0x91: {
        // FROZENSET
        const from = toMark();
        kind = code === 0x91 ? setCell : listCell;
        number = listFrom(from);
        stack.length = from - 1;
        break;
      }
      case 0x64: {
        // DICT
        const from = toMark();
        kind = dictionaryCell;
        number = dictionaries.add();
        setItems(number, from, offset);
        stack.length = from - 1;
        break;
      }
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: {
        // TUPLE3
        const count = code - 0x84;
        for (let i = 0; i < count; i++) pop();
        stack.length += count;
        kind = listCell;
        number = listFrom(stack.length - count);
        stack.length -= count;
        break;
      }
      case 0x61: {
        // APPEND
        const item = pop();
        lists.append(listAt(item - 1, offset), stack, item, item + 1);
        break;
      }
      case 0x73: {
        // SETITEM
        pop();
        const key = pop();
        dictionaries.setItems(dictionaryAt(key - 1, offset), stack, key, key + 2);
        break;
      }
      case 0x90: {
        // ADDITEMS
        const from = toMark();
        const set = container(from - 2, setCell, 'items are added to what is not a set', offset);
        lists.append(set, stack, from, stack.length);
        stack.length = from - 1;
        break;
      }
      default: {
        const name = refused[code];
        if (name)
          fail(
            `holds ${name}, which would load or run code; only plain data is read. A snapshot of torch.cuda.memory._dump_snapshot has none of it`,
            offset,
          );
        fail(
          `holds the unknown opcode 0x${code.toString(16).padStart(2, '0')}: it is damaged, or not a pickle`,
          offset,
        );
      }
    }
    if (kind !== noCell) push(kind, number);
  };

  for (;;) {
    const offset = need(1);
    const code = bytes[offset]!;
    /** What the opcode pushes. */
    let kind = noCell;
    let number = 0;
    switch (code) {
      case 0x2e: {
        // STOP
        const place = pop();
        tree.root = tree.cells.length;
        tree.cells.push(stack.kind[place]!, stack.number[place]!);
        return tree;
      }
      case 0x28: // MARK
        if (marks.length >= limits.depth) fail(`nests deeper than ${limits.depth}`, offset);
        marks.push(stack.length);
        kind = markCell;
        break;
      case 0x4e: // NONE
        kind = noneCell;
        break;
      case 0x4a: // BININT
        kind = numberCell;
        number = view.getInt32(need(4), true);
        break;
      case 0x4b: // BININT1
        kind = numberCell;
        number = bytes[need(1)]!;
        break;
      case 0x4d: // BININT2
        kind = numberCell;
        number = view.getUint16(need(2), true);
        break;
      case 0x8a: // LONG1
      case 0x8b: {
        // LONG4
        const count = code === 0x8a ? bytes[need(1)]! : view.getInt32(need(4), true);
        if (count > 1024) fail(`holds a whole number of ${count} bytes`, at);
        const from = need(count);
        kind = numberCell;
        number = long(from, count);
        if (Number.isNaN(number)) {
          const value = bigint(from, count);
          if (value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER))
            number = Number(value);
          else {
            kind = bigintCell;
            number = tree.bigints.push(value) - 1;
          }
        }
        break;
      }
      case 0x8c: // SHORT_BINUNICODE
      case 0x55: // SHORT_BINSTRING
        kind = textCell;
        number = text(bytes[need(1)]!);
        break;
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
        kind = listCell;
        number = lists.add();
        break;
      case 0x7d: // EMPTY_DICT
        kind = dictionaryCell;
        number = dictionaries.add();
        break;
      case 0x65: {
        // APPENDS
        const from = toMark();
        lists.append(listAt(from - 2, offset), stack, from, stack.length);
        stack.length = from - 1;
        break;
      }
      case 0x75: {
        // SETITEMS
        const from = toMark();
        setItems(dictionaryAt(from - 2, offset), from, offset);
        stack.length = from - 1;
        break;
      }
      case 0x94: // MEMOIZE
      case 0x71: // BINPUT
      case 0x72: // LONG_BINPUT
      case 0x70: {
        // PUT
        const id =
          code === 0x94
            ? memo.count
            : code === 0x71
              ? bytes[need(1)]!
              : code === 0x72
                ? view.getUint32(need(4), true)
                : Number(line());
        const place = top();
        memo.set(id, stack.kind[place]!, stack.number[place]!);
        break;
      }
      case 0x68: // BINGET
      case 0x6a: // LONG_BINGET
      case 0x67: {
        // GET
        const before = stack.length;
        const end = memo.pushRun(bytes, offset, stack, limits.values - values);
        values += stack.length - before;
        if (end > offset) {
          at = end;
          break;
        }
        const id = code === 0x68 ? bytes[need(1)]! : code === 0x6a ? view.getUint32(need(4), true) : Number(line());
        kind = memo.kind(id);
        if (kind === noCell) fail(`is broken: it names memo ${id}, which was not set`, offset);
        number = memo.number(id);
        break;
      }
      default:
        seldom(code, offset);
    }
    // One place for all opcodes: a number that goes through a call is an object on the heap, but here it need not be.
    if (kind !== noCell) {
      if (++values > limits.values) fail(`holds more than ${limits.values} values`, at);
      stack.push(kind, number);
    }
  }
}
