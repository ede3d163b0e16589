/** The arguments of an event that somebody asks for, by name. Knows nothing of what they mean. */
import type { BytePart } from './byte-part.ts';
import { hashBytes } from './interner.ts';

/** The bytes from the value before up to a number, and the number's slot, -1 where nobody asks for it. */
export interface ArgumentStep {
  readonly lead: BytePart;
  readonly slot: number;
}

/** Arguments by name: numbers in `values` (NaN where missing), texts in `texts` (-1 where missing). */
export class ArgumentFields {
  readonly #names: readonly Uint8Array[];
  /** Open addressing over the hashes of the names; -1: free. */
  readonly #slots = new Int8Array(64).fill(-1);
  /** Bit n: a name has n characters, or n and a multiple of 32. */
  #lengths = 0;
  readonly values: Float64Array;
  readonly texts: Int32Array;
  /** How the arguments were laid out that were read last; empty where they hold more than numbers. */
  layout: readonly ArgumentStep[] = [];

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Uint8Array.from(name, (c) => c.charCodeAt(0)));
    for (const [slot, name] of this.#names.entries()) {
      let at = place(hashBytes(name, 0, name.length));
      while (this.#slots[at]! >= 0) at = (at + 1) & 63;
      this.#slots[at] = slot;
      this.#lengths |= 1 << name.length;
    }
    this.values = new Float64Array(names.length);
    this.texts = new Int32Array(names.length);
  }

  /** The slot of the name in bytes `from`..`to`, -1 if it is not asked for. */
  slot(bytes: Uint8Array, from: number, to: number): number {
    if ((this.#lengths & (1 << (to - from))) === 0) return -1;
    let at = place(hashBytes(bytes, from, to));
    for (;;) {
      const slot = this.#slots[at]!;
      if (slot < 0) return -1;
      const name = this.#names[slot]!;
      if (name.length === to - from) {
        let i = 0;
        while (i < name.length && name[i] === bytes[from + i]) i++;
        if (i === name.length) return slot;
      }
      at = (at + 1) & 63;
    }
  }
}

function place(hash: number): number {
  return (hash ^ (hash >>> 9)) & 63;
}
