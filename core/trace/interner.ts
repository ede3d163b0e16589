/**
 * Interns byte ranges as strings without making a string of a range that was seen before: real traces hold a few thousand
 * names in millions of events.
 */
import { strFromU8 } from 'fflate';
import type { StringTable } from './strings.ts';

/** So many entries are looked at for one name, and so many bytes are kept. */
const longestChain = 64;
const mostBytes = 64 << 20;

export class ByteInterner {
  readonly #strings: StringTable;
  #slots = new Int32Array(4096).fill(-1);
  #count = 0;
  /** Four cells an entry: hash, length, offset in the arena, id. */
  #entries = new Int32Array(4096);
  #arena: Uint8Array = new Uint8Array(1 << 16);
  #used = 0;

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  /** The id of the JSON string text in bytes `from`..`to`; `escaped`: it has backslashes. */
  intern(bytes: Uint8Array, from: number, to: number, escaped: boolean): number {
    return this.internHashed(bytes, from, to, hashBytes(bytes, from, to), escaped);
  }

  /** As `intern`, for who has `hashBytes` of the range already. */
  internHashed(bytes: Uint8Array, from: number, to: number, hash: number, escaped: boolean): number {
    const length = to - from;
    const mask = this.#slots.length - 1;
    const slots = this.#slots;
    let slot = (hash ^ (hash >>> 15)) & mask;
    let tries = 0;
    for (; tries < longestChain; tries++) {
      const entry = slots[slot]!;
      if (entry < 0) break;
      const at = entry * 4;
      if (
        this.#entries[at] === hash &&
        this.#entries[at + 1] === length &&
        this.#same(bytes, from, length, this.#entries[at + 2]!)
      )
        return this.#entries[at + 3]!;
      slot = (slot + 1) & mask;
    }
    const id = this.#strings.add(decodeJsonString(bytes, from, to, escaped));
    // A file made to collide, or full of names that never come back, is served by the table of strings alone.
    if (tries === longestChain || this.#used + length > mostBytes) return id;
    slots[slot] = this.#count;
    this.#addEntry(hash, length, id);
    this.#keep(bytes, from, to);
    if (this.#count * 2 > slots.length) this.#grow();
    return id;
  }

  #same(bytes: Uint8Array, from: number, length: number, offset: number): boolean {
    // The hashes are the same already, so this nearly always goes through to the end; four bytes are compared at a time.
    const arena = this.#arena;
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      const differing =
        (arena[offset + i]! ^ bytes[from + i]!) |
        (arena[offset + i + 1]! ^ bytes[from + i + 1]!) |
        (arena[offset + i + 2]! ^ bytes[from + i + 2]!) |
        (arena[offset + i + 3]! ^ bytes[from + i + 3]!);
      if (differing !== 0) return false;
    }
    for (; i < length; i++) if (arena[offset + i] !== bytes[from + i]) return false;
    return true;
  }

  #addEntry(hash: number, length: number, id: number): void {
    const at = this.#count * 4;
    if (at === this.#entries.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[at] = hash;
    this.#entries[at + 1] = length;
    this.#entries[at + 2] = this.#used;
    this.#entries[at + 3] = id;
    this.#count++;
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.#used + length > this.#arena.length) {
      const larger = new Uint8Array(Math.max(this.#arena.length * 2, this.#used + length));
      larger.set(this.#arena.subarray(0, this.#used));
      this.#arena = larger;
    }
    this.#arena.set(bytes.subarray(from, to), this.#used);
    this.#used += length;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#count; entry++) {
      const hash = this.#entries[entry * 4]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#slots = slots;
  }
}

/**
 * The hash of a name: its words of four bytes, then the bytes that are left. Scanners that read words work it out on the
 * way (`hashWord`).
 */
export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  let i = from;
  for (; i + 4 <= to; i += 4)
    hash = hashWord(hash, bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
  for (; i < to; i++) hash = hashWord(hash, bytes[i]!);
  return hash;
}

export function hashWord(hash: number, word: number): number {
  return Math.imul(hash ^ word, 0x9e3779b1) ^ (hash >>> 13);
}

export function decodeJsonString(bytes: Uint8Array, from: number, to: number, escaped: boolean): string {
  const text = strFromU8(bytes.subarray(from, to));
  if (!escaped) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    // A raw control character or a bad escape: show what stands there.
    return text;
  }
}
