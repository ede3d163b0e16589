/**
 * Reads a pickle as data: dictionaries, lists, tuples, strings, numbers, bytes, None and booleans, of protocols 2 to 5. A
 * pickle is a program for a small machine; the opcodes that name classes, call things or build objects (GLOBAL, REDUCE,
 * BUILD, persistent ids, …) are refused with their offset, so that opening a file can never run code. Depth, count and
 * memory are bounded.
 *
 * What the pickle shares (memo) is shared in the result: equal stacks of a snapshot are one object.
 */
import { strFromU8 } from 'fflate';
import { TraceError } from './error.ts';
import { PickleDictionary, SharedKeys } from './pickle-dictionary.ts';

export type PickleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickleValue[]
  | PickleDictionary
  | Set<PickleValue>;

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

/** Marks the begin of the items of a list, tuple or dictionary. */
const mark = Symbol('mark');
type Item = PickleValue | typeof mark;

/** Numbers below this have their place in a list; nearly all that a file names again and again are among them. */
const listedIds = 1 << 16;

/** What the file names by number. */
class Memo {
  readonly #listed: (PickleValue | undefined)[] = [];
  readonly #others = new Map<number, PickleValue>();
  /** How many are set. */
  count = 0;

  get(id: number): PickleValue | undefined {
    return isListed(id) ? this.#listed[id] : this.#others.get(id);
  }

  set(id: number, value: PickleValue): void {
    if (this.get(id) === undefined) this.count++;
    if (!isListed(id)) {
      this.#others.set(id, value);
      return;
    }
    while (this.#listed.length <= id) this.#listed.push(undefined);
    this.#listed[id] = value;
  }
}

function isListed(id: number): boolean {
  return id >>> 0 === id && id < listedIds;
}

export function readPickle(bytes: Uint8Array, limits: PickleLimits = defaultLimits): PickleValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stack: Item[] = [];
  const memo = new Memo();
  const keys = new SharedKeys();
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
  const push = (value: Item): void => {
    if (++values > limits.values) fail(`holds more than ${limits.values} values`, at);
    stack.push(value);
  };
  const pop = (): PickleValue => {
    const value = stack.pop();
    if (value === undefined || value === mark) return fail('is broken: a value is missing', at);
    return value as PickleValue;
  };
  const top = (): PickleValue => {
    const value = stack[stack.length - 1];
    if (value === undefined || value === mark) return fail('is broken: a value is missing', at);
    return value as PickleValue;
  };
  /** Where the items behind the last mark begin; the mark is none any more. */
  const toMark = (): number => {
    const from = marks.pop();
    return from === undefined ? fail('is broken: a mark is missing', at) : from + 1;
  };
  const popToMark = (): PickleValue[] => {
    const items = stack.slice(toMark()) as PickleValue[];
    stack.length -= items.length + 1;
    return items;
  };
  const text = (length: number): string => {
    const from = need(length);
    return strFromU8(bytes.subarray(from, from + length));
  };
  const length8 = (): number => {
    const from = need(8);
    const value = view.getBigUint64(from, true);
    if (value > BigInt(bytes.length)) fail('ends early: the file was cut, or is not a pickle', from);
    return Number(value);
  };
  const line = (): string => {
    const end = bytes.indexOf(10, at);
    if (end < 0) fail('ends early: the file was cut, or is not a pickle', bytes.length);
    return text(end + 1 - at).slice(0, -1);
  };
  /** A whole number of up to four bytes, of which the last one has the sign. */
  const half = (from: number, count: number): number => {
    let value = 0;
    for (let i = count - 1; i >= 0; i--) value = (value << 8) | bytes[from + i]!;
    return count === 0 ? 0 : (value << (32 - 8 * count)) >> (32 - 8 * count);
  };
  const long = (count: number): number | bigint => {
    if (count > 1024) fail(`holds a whole number of ${count} bytes`, at);
    const from = need(count);
    if (count <= 8) {
      // Addresses and times: two halves hold them, and a bigint is made only where a double cannot.
      if (count <= 4) return half(from, count);
      const high = half(from + 4, count - 4);
      if (high > -(2 ** 21) && high < 2 ** 21) return high * 2 ** 32 + view.getUint32(from, true);
    }
    let value = 0n;
    for (let i = count - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[from + i]!);
    if (count > 0 && bytes[from + count - 1]! >= 0x80) value -= 1n << BigInt(count * 8);
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  };
  const list = (offset: number): PickleValue[] => {
    const value = top();
    return Array.isArray(value) ? value : fail('is broken: items are added to what is not a list', offset);
  };
  const dictionary = (offset: number): PickleDictionary => {
    const value = top();
    return value instanceof PickleDictionary
      ? value
      : fail('is broken: items are set on what is not a dictionary', offset);
  };
  /** Takes keys and values from the stack. */
  const setItems = (target: PickleDictionary, from: number, offset: number): void => {
    if ((stack.length - from) % 2 === 1) fail('is broken: a key has no value', offset);
    target.setAll(stack, from);
  };
  const get = (id: number, offset: number): void => {
    const value = memo.get(id);
    if (value === undefined) fail(`is broken: it names memo ${id}, which was not set`, offset);
    push(value!);
  };

  for (;;) {
    const offset = need(1);
    const code = bytes[offset]!;
    switch (code) {
      case 0x80: {
        const protocol = bytes[need(1)]!;
        if (protocol > 5) fail(`has protocol ${protocol}; protocols 2 to 5 can be read`, offset);
        break;
      }
      case 0x95: // FRAME
        length8();
        break;
      case 0x2e: // STOP
        return pop();
      case 0x28: // MARK
        if (marks.length >= limits.depth) fail(`nests deeper than ${limits.depth}`, offset);
        marks.push(stack.length);
        push(mark);
        break;
      case 0x30: // POP
        if (stack.pop() === mark) marks.pop();
        break;
      case 0x31: // POP_MARK
        popToMark();
        break;
      case 0x32: // DUP
        push(top());
        break;
      case 0x4e: // NONE
        push(null);
        break;
      case 0x88: // NEWTRUE
        push(true);
        break;
      case 0x89: // NEWFALSE
        push(false);
        break;
      case 0x4a: // BININT
        push(view.getInt32(need(4), true));
        break;
      case 0x4b: // BININT1
        push(bytes[need(1)]!);
        break;
      case 0x4d: // BININT2
        push(view.getUint16(need(2), true));
        break;
      case 0x8a: // LONG1
        push(long(bytes[need(1)]!));
        break;
      case 0x8b: // LONG4
        push(long(view.getInt32(need(4), true)));
        break;
      case 0x47: // BINFLOAT
        push(view.getFloat64(need(8), false));
        break;
      case 0x49: // INT
      case 0x4c: {
        // LONG
        const digits = line();
        if (digits === '00' || digits === '01') push(digits === '01');
        else if (/^-?\d{1,40}L?$/.test(digits)) push(Number(digits.replace('L', '')));
        else fail('holds a number that is none', offset);
        break;
      }
      case 0x46: // FLOAT
        push(Number(line()));
        break;
      case 0x8c: // SHORT_BINUNICODE
        push(text(bytes[need(1)]!));
        break;
      case 0x58: // BINUNICODE
        push(text(view.getUint32(need(4), true)));
        break;
      case 0x8d: // BINUNICODE8
        push(text(length8()));
        break;
      case 0x55: // SHORT_BINSTRING
        push(text(bytes[need(1)]!));
        break;
      case 0x54: // BINSTRING
        push(text(view.getInt32(need(4), true)));
        break;
      case 0x56: // UNICODE
        push(line());
        break;
      case 0x43: // SHORT_BINBYTES
      case 0x42: // BINBYTES
      case 0x8e: // BINBYTES8
      case 0x96: {
        // BYTEARRAY8
        const length = code === 0x43 ? bytes[need(1)]! : code === 0x42 ? view.getUint32(need(4), true) : length8();
        const from = need(length);
        push(bytes.slice(from, from + length));
        break;
      }
      case 0x5d: // EMPTY_LIST
        push([]);
        break;
      case 0x29: // EMPTY_TUPLE
        push([]);
        break;
      case 0x7d: // EMPTY_DICT
        push(new PickleDictionary(keys));
        break;
      case 0x8f: // EMPTY_SET
        push(new Set());
        break;
      case 0x6c: // LIST
      case 0x74: // TUPLE
        push(popToMark());
        break;
      case 0x64: {
        // DICT
        const from = toMark();
        const made = new PickleDictionary(keys);
        setItems(made, from, offset);
        stack.length = from - 1;
        push(made);
        break;
      }
      case 0x85: // TUPLE1
        push([pop()]);
        break;
      case 0x86: {
        // TUPLE2
        const second = pop();
        push([pop(), second]);
        break;
      }
      case 0x87: {
        // TUPLE3
        const third = pop();
        const second = pop();
        push([pop(), second, third]);
        break;
      }
      case 0x61: {
        // APPEND
        const item = pop();
        list(offset).push(item);
        break;
      }
      case 0x65: {
        // APPENDS
        const items = popToMark();
        const target = list(offset);
        for (const item of items) target.push(item);
        break;
      }
      case 0x73: {
        // SETITEM
        const value = pop();
        const key = pop();
        dictionary(offset).set(key, value);
        break;
      }
      case 0x75: {
        // SETITEMS
        const from = toMark();
        const target = stack[from - 2];
        if (!(target instanceof PickleDictionary)) fail('is broken: items are set on what is not a dictionary', offset);
        setItems(target as PickleDictionary, from, offset);
        stack.length = from - 1;
        break;
      }
      case 0x90: {
        // ADDITEMS
        const items = popToMark();
        const target = top();
        if (!(target instanceof Set)) fail('is broken: items are added to what is not a set', offset);
        for (const item of items) (target as Set<PickleValue>).add(item);
        break;
      }
      case 0x91: // FROZENSET
        push(new Set(popToMark()));
        break;
      case 0x94: // MEMOIZE
        memo.set(memo.count, top());
        break;
      case 0x71: // BINPUT
        memo.set(bytes[need(1)]!, top());
        break;
      case 0x72: // LONG_BINPUT
        memo.set(view.getUint32(need(4), true), top());
        break;
      case 0x70: // PUT
        memo.set(Number(line()), top());
        break;
      case 0x68: // BINGET
        get(bytes[need(1)]!, offset);
        break;
      case 0x6a: // LONG_BINGET
        get(view.getUint32(need(4), true), offset);
        break;
      case 0x67: // GET
        get(Number(line()), offset);
        break;
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
  }
}
