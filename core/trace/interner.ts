/**
 * Interns byte ranges as strings without making a string of a range that was seen before: real traces hold a few thousand
 * names in millions of events.
 */
import { strFromU8 } from 'fflate';
import type { StringTable } from './strings.ts';

export class ByteInterner {
  readonly #strings: StringTable;
  #slots = new Int32Array(4096).fill(-1);
  #count = 0;
  readonly #hashes: number[] = [];
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #ids: number[] = [];
  #arena: Uint8Array = new Uint8Array(1 << 16);
  #used = 0;

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  /** The id of the JSON string text in bytes `from`..`to`; `hash` is `hashBytes` of them, `escaped`: it has backslashes. */
  intern(bytes: Uint8Array, from: number, to: number, hash: number, escaped: boolean): number {
    const length = to - from;
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const entry = this.#slots[slot]!;
      if (entry < 0) break;
      if (this.#hashes[entry] === hash && this.#lengths[entry] === length && this.#same(bytes, from, entry))
        return this.#ids[entry]!;
      slot = (slot + 1) & mask;
    }
    const id = this.#strings.add(decodeJsonString(bytes, from, to, escaped));
    this.#slots[slot] = this.#count++;
    this.#hashes.push(hash);
    this.#lengths.push(length);
    this.#ids.push(id);
    this.#keep(bytes, from, to);
    if (this.#count * 2 > this.#slots.length) this.#grow();
    return id;
  }

  #same(bytes: Uint8Array, from: number, entry: number): boolean {
    const arena = this.#arena;
    const offset = this.#offsets[entry]!;
    for (let i = this.#lengths[entry]! - 1; i >= 0; i--) if (arena[offset + i] !== bytes[from + i]) return false;
    return true;
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.#used + length > this.#arena.length) {
      const larger = new Uint8Array(Math.max(this.#arena.length * 2, this.#used + length));
      larger.set(this.#arena.subarray(0, this.#used));
      this.#arena = larger;
    }
    this.#arena.set(bytes.subarray(from, to), this.#used);
    this.#offsets.push(this.#used);
    this.#used += length;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#count; entry++) {
      const hash = this.#hashes[entry]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#slots = slots;
  }
}

/** The rolling hash that scanners work out while they look for the end of a string. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
  return hash;
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
