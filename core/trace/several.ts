/**
 * Several trace files as one piece of bytes, for places that pass one file along (a page's server, its worker). Never on a
 * disk: both ends are of the same version.
 *
 *     \0raceline-files   count   name, length of each   the files one behind the other, as they are
 */
import { strFromU8, strToU8 } from 'fflate';

export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** No format begins with a zero byte. */
const magic = strToU8('\0raceline-files');

/** What comes before the files; whoever sends them piece by piece appends them himself. */
export function severalHead(files: readonly { readonly name: string; readonly size: number }[]): Uint8Array {
  const names = files.map(({ name }) => strToU8(name));
  const head = new Uint8Array(magic.length + 4 + names.reduce((sum, name) => sum + 12 + name.length, 0));
  const view = new DataView(head.buffer);
  head.set(magic);
  let at = magic.length;
  view.setUint32(at, files.length);
  at += 4;
  for (const [i, name] of names.entries()) {
    view.setFloat64(at, files[i]!.size);
    view.setUint32(at + 8, name.length);
    head.set(name, at + 12);
    at += 12 + name.length;
  }
  return head;
}

/** Undefined where the bytes are a file of its own. */
export function severalFiles(bytes: Uint8Array): NamedBytes[] | undefined {
  if (bytes.length < magic.length + 4 || magic.some((byte, i) => bytes[i] !== byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = magic.length + 4;
  const heads: { readonly name: string; readonly size: number }[] = [];
  for (let left = view.getUint32(magic.length); left > 0 && at + 12 <= bytes.length; left--) {
    const length = view.getUint32(at + 8);
    heads.push({ name: strFromU8(bytes.subarray(at + 12, at + 12 + length)), size: view.getFloat64(at) });
    at += 12 + length;
  }
  return heads.map(({ name, size }) => {
    const file = { name, bytes: bytes.subarray(at, at + size) };
    at += size;
    return file;
  });
}
