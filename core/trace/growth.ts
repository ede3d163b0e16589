/**
 * What a file that grows had at its end. A run appends to its file; the next run replaces it. That the file goes on where
 * it was is told by its last bytes, which are read once more with what came behind them.
 */

const longestSeam = 1024;

export interface Growth {
  readonly length: number;
  readonly seam: Uint8Array;
}

export function growthOf(bytes: Uint8Array): Growth {
  return { length: bytes.length, seam: bytes.slice(Math.max(0, bytes.length - longestSeam)) };
}

/** From where on the file is to be read again. */
export const seamStart = ({ length, seam }: Growth): number => length - seam.length;

/** What was appended, of the bytes from `seamStart` on; undefined: it is another file by now. */
export function appendedTo({ seam }: Growth, bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length < seam.length) return undefined;
  for (let i = 0; i < seam.length; i++) if (bytes[i] !== seam[i]) return undefined;
  return bytes.subarray(seam.length);
}

/** As it is with what was appended. */
export function grownBy({ length, seam }: Growth, appended: Uint8Array): Growth {
  const end = new Uint8Array(seam.length + appended.length);
  end.set(seam);
  end.set(appended, seam.length);
  return { length: length + appended.length, seam: end.slice(Math.max(0, end.length - longestSeam)) };
}
