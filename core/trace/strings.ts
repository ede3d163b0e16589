/**
 * Interned strings of a trace. A trace comes from anywhere, so what goes in is made fit to be shown: no control or
 * direction-changing characters, no names of a megabyte. Markup stays as it is: kernel names are full of `<` and `>`.
 */

/** Longer names are cut; the longest kernel names of real traces have about 2,000 characters. */
export const longestName = 8192;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
const unfit = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const unfitOne = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

export class StringTable {
  readonly list: string[] = [];
  readonly #ids = new Map<string, number>();
  /** How many strings had to be changed to be fit. */
  mended = 0;

  /** The id of the text as it may be shown. */
  add(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const fit = fitText(text);
    if (fit === text) return this.#put(text);
    this.mended++;
    return this.#ids.get(fit) ?? this.#put(fit);
  }

  #put(text: string): number {
    const id = this.list.length;
    this.list.push(text);
    this.#ids.set(text, id);
    return id;
  }
}

export function fitText(text: string): string {
  const short = text.length > longestName ? `${text.slice(0, longestName)}…` : text;
  return unfitOne.test(short) ? short.replace(unfit, '\ufffd') : short;
}
