/**
 * Texts of a pickle, each once. A pickler names a text by its number when it comes again as the same object; what the
 * allocator words anew for each entry stands in the file a hundred thousand times, and is found by its bytes.
 */
import { strFromU8 } from 'fflate';
import { hashBytes } from './interner.ts';

/** Texts of so many bytes are looked for among those that came lately, in so many places. */
const longest = 256;
const places = 4096;

export class Texts {
  readonly #bytes: Uint8Array;
  readonly list: string[] = [];
  readonly #ids = new Map<string, number>();
  /** Of what came lately: which text it is, -1 for none, and where it lies in the file. */
  readonly #lately = new Int32Array(places).fill(-1);
  readonly #from = new Int32Array(places);
  readonly #length = new Int32Array(places);

  /** `bytes`: the whole file. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The number of the text in these bytes of the file. */
  add(from: number, to: number): number {
    const length = to - from;
    if (length > longest) return this.#put(from, to);
    const hash = hashBytes(this.#bytes, from, to);
    const place = (hash ^ (hash >>> 15)) & (places - 1);
    const lately = this.#lately[place]!;
    if (lately >= 0 && this.#length[place] === length && this.#same(this.#from[place]!, from, length)) return lately;
    const id = this.#put(from, to);
    this.#lately[place] = id;
    this.#from[place] = from;
    this.#length[place] = length;
    return id;
  }

  /** -1: no text of the file says this. */
  idOf(text: string): number {
    return this.#ids.get(text) ?? -1;
  }

  #put(from: number, to: number): number {
    const text = strFromU8(this.#bytes.subarray(from, to));
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.list.push(text) - 1;
    this.#ids.set(text, id);
    return id;
  }

  #same(a: number, b: number, length: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false;
    return true;
  }
}
