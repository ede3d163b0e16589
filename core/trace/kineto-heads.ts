/**
 * The heads of events as Kineto writes them: all of an event up to the digits of its time. A program does the same things
 * over and over, so a head has been there before, and after it came one of a few others as a rule: these are compared as
 * they stand, without looking at what they are made of.
 *
 *     {
 *       "ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
 *       "ts": 5113717237449.288, "dur": 174.852,
 *             ^ to here
 *
 * Knows this layout and no other.
 */
import { BytePart } from './byte-part.ts';
import { type ByteInterner, hashBytes, hashWord } from './interner.ts';

export interface Head {
  readonly part: BytePart;
  /** Ids of strings. */
  readonly category: number;
  readonly name: number;
  readonly pid: number;
  readonly tid: number;
  /** The heads that came after this one, the last one first; always as many. */
  readonly after: Head[];
  /** Another one with the same name. */
  readonly alike: Head | undefined;
}

/** So many heads are tried; of real profiles nine events in ten are among them. */
const tried = 4;
/** So many bytes after a head are sure to lie in the window. */
const room = 128;
/** Heads that are remembered, the longest of them, and how many of one name. */
const mostHeads = 8192;
const longestHead = 8192;
const mostAlike = 16;

export class KinetoHeads {
  readonly #interner: ByteInterner;
  readonly #nowhere: Head;
  #last: Head;
  readonly #ofName = new Map<number, { readonly head: Head; readonly count: number }>();
  #count = 0;

  // What the last few events had, as bytes: category up to the name, process and thread up to the time.
  #category = 0;
  #pid = 0;
  #tid = 0;
  readonly #categories: { readonly part: BytePart; readonly category: number }[] = [];
  readonly #threads: { readonly part: BytePart; readonly pid: number; readonly tid: number }[] = [];

  constructor(interner: ByteInterner) {
    this.#interner = interner;
    const part = BytePart.of(new Uint8Array(8))!;
    this.#nowhere = { part, category: -1, name: -1, pid: -1, tid: -1, after: [], alike: undefined };
    for (let i = 0; i < tried; i++) this.#nowhere.after.push(this.#nowhere);
    this.#last = { ...this.#nowhere, after: [...this.#nowhere.after] };
  }

  /** The head of the event at `at`; undefined where it is laid out otherwise, or not well inside of the window. */
  find(bytes: Uint8Array, words: DataView, at: number, limit: number): Head | undefined {
    const { after } = this.#last;
    for (let i = 0; i < tried; i++) {
      const head = after[i]!;
      if (at + head.part.length + room > limit || !head.part.isAt(words, at)) continue;
      if (i > 0) moveToFront(after, head, i);
      this.#last = head;
      return head;
    }
    return this.#read(bytes, words, at, limit);
  }

  #read(bytes: Uint8Array, words: DataView, start: number, limit: number): Head | undefined {
    if (start + 64 > limit || !layout.opening.isAt(words, start)) return undefined;
    const phase = bytes[start + 13];
    if ((phase !== 88 && phase !== 105) || !layout.category.isAt(words, start + 14)) return undefined;
    const from = this.#findCategory(bytes, words, start + 25, limit);
    if (from < 0) return undefined;

    // The name, four bytes at a time while none of them is a quote or a backslash.
    let i = from;
    let hash = 0;
    const safe = limit - room;
    while (i < safe) {
      const word = words.getInt32(i, true);
      const a = word ^ 0x22222222;
      const b = word ^ 0x5c5c5c5c;
      if (((((a - 0x01010101) | 0) & ~a) | (((b - 0x01010101) | 0) & ~b)) & 0x80808080) break;
      hash = hashWord(hash, word);
      i += 4;
    }
    if (i >= safe) return undefined;
    let c = bytes[i]!;
    while (c !== quote && c !== backslash) {
      hash = hashWord(hash, c);
      c = bytes[++i]!;
    }
    const escaped = c === backslash;
    if (escaped) {
      i = stringEnd(bytes, i, safe);
      if (i < 0) return undefined;
      hash = hashBytes(bytes, from, i);
    }
    const end = this.#findThread(bytes, words, i + 1, limit);
    if (end < 0) return undefined;
    const name = this.#interner.internHashed(bytes, from, i, hash, escaped);
    return this.#found(bytes, words, start, end, name);
  }

  /** The head from `start` to `end`: the one that is known, or a new one. */
  #found(bytes: Uint8Array, words: DataView, start: number, end: number, name: number): Head {
    const alike = this.#ofName.get(name);
    let head = alike?.head;
    while (head && (head.part.length !== end - start || !head.part.isAt(words, start))) head = head.alike;
    if (!head) {
      head = {
        part: BytePart.of(bytes.slice(start, end))!,
        category: this.#category,
        name,
        pid: this.#pid,
        tid: this.#tid,
        after: new Array<Head>(tried).fill(this.#nowhere),
        alike: alike?.head,
      };
      const count = alike?.count ?? 0;
      // A file whose names never come back is read without remembering them.
      if (this.#count === mostHeads || end - start > longestHead || count === mostAlike) return head;
      this.#ofName.set(name, { head, count: count + 1 });
      this.#count++;
    }
    moveToFront(this.#last.after, head, tried - 1);
    this.#last = head;
    return head;
  }

  /** Where the name begins, -1: not so. */
  #findCategory(bytes: Uint8Array, words: DataView, from: number, limit: number): number {
    for (const { part, category } of this.#categories)
      if (from + part.length + room <= limit && part.isAt(words, from)) {
        this.#category = category;
        return from + part.length;
      }
    const to = stringEnd(bytes, from, limit - room);
    if (to < 0) return -1;
    let end = to;
    if (layout.name.isAt(words, to)) end += layout.name.length;
    else if (layout.instantName.isAt(words, to)) end += layout.instantName.length;
    else return -1;
    const escaped = bytes.subarray(from, to).includes(backslash);
    this.#category = this.#interner.intern(bytes, from, to, escaped);
    this.#categories.push({ part: BytePart.of(bytes.slice(from, end))!, category: this.#category });
    if (this.#categories.length > 12) this.#categories.shift();
    return end;
  }

  /** Where the digits of the time begin, -1: not so. */
  #findThread(bytes: Uint8Array, words: DataView, from: number, limit: number): number {
    if (from + room > limit) return -1;
    for (const { part, pid, tid } of this.#threads)
      if (from + part.length + room <= limit && part.isAt(words, from)) {
        this.#pid = pid;
        this.#tid = tid;
        return from + part.length;
      }
    let pidAt = from;
    if (layout.pid.isAt(words, from)) pidAt += layout.pid.length;
    else if (layout.instantPid.isAt(words, from)) pidAt += layout.instantPid.length;
    else return -1;
    const pidEnd = digitsEnd(bytes, pidAt);
    if (pidEnd < 0 || !layout.tid.isAt(words, pidEnd)) return -1;
    const tidAt = pidEnd + layout.tid.length;
    const tidEnd = digitsEnd(bytes, tidAt);
    if (tidEnd < 0 || !layout.time.isAt(words, tidEnd)) return -1;
    const end = tidEnd + layout.time.length;
    if (end + room > limit) return -1;
    this.#pid = wholeNumber(bytes, pidAt, pidEnd);
    this.#tid = wholeNumber(bytes, tidAt, tidEnd);
    this.#threads.push({ part: BytePart.of(bytes.slice(from, end))!, pid: this.#pid, tid: this.#tid });
    if (this.#threads.length > 12) this.#threads.shift();
    return end;
  }
}

/** Puts the head, which was at `from` or not among them, before the others. */
function moveToFront(heads: Head[], head: Head, from: number): void {
  for (let i = from; i > 0; i--) heads[i] = heads[i - 1]!;
  heads[0] = head;
}

const quote = 34;
const backslash = 92;

const layout = {
  opening: BytePart.ofText('{\n    "ph": "'),
  category: BytePart.ofText('", "cat": "'),
  name: BytePart.ofText('", "name": "'),
  instantName: BytePart.ofText('", "s": "t", "name": "'),
  pid: BytePart.ofText(', "pid": '),
  instantPid: BytePart.ofText(',\n    "pid": '),
  tid: BytePart.ofText(', "tid": '),
  time: BytePart.ofText(',\n    "ts": '),
} as const;

/** The closing quote, -1 where there is none before `limit`. */
function stringEnd(bytes: Uint8Array, from: number, limit: number): number {
  for (let i = from; i < limit; i += bytes[i] === backslash ? 2 : 1) if (bytes[i] === quote) return i;
  return -1;
}

/** Behind one digit to fifteen, -1 where there are none or more. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let i = from;
  while (bytes[i]! >= 48 && bytes[i]! <= 57) i++;
  return i === from || i - from > 15 ? -1 : i;
}

function wholeNumber(bytes: Uint8Array, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + (bytes[i]! - 48);
  return number;
}
