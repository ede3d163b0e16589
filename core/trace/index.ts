/**
 * Opens a trace of any known format from its bytes. The format is told by the content, plain or gzip, whole or in pieces:
 * with pieces a file is never in memory unpacked. A new format is a reader of its own file and a line in `readers`.
 */
import { Gunzip } from 'fflate';
import { detect, detectLength, isGzip, type KnownFormat } from './detect.ts';
import { TraceError } from './error.ts';
import { KinetoReader } from './kineto.ts';
import { mergeOneRun, type NamedTrace } from './merge.ts';
import { NsysReader } from './nsys.ts';
import { RacelineReader } from './raceline.ts';
import type { FormatReader, Unpack } from './reader.ts';
import { SanitizerReader } from './sanitizer.ts';
import { type NamedBytes, severalFiles } from './several.ts';
import { SnapshotReader } from './snapshot.ts';
import type { Trace } from './trace.ts';

export { TraceError } from './error.ts';
export type { Unpack } from './reader.ts';

export interface OpenOptions {
  /** A faster gunzip of the whole, where the host has one (Node's zlib). It costs the memory of the unpacked file. */
  readonly gunzip?: (packed: Uint8Array) => Uint8Array;
  /** Bytes of the file taken in so far, and how many there are (0: not known). */
  readonly onProgress?: (read: number, total: number) => void;
  /** So many unpacked bytes are read; what lies past them is left out, and said so. Left out: all. */
  readonly mostBytes?: number;
}

const readers: Readonly<Record<KnownFormat, () => FormatReader>> = {
  raceline: () => new RacelineReader(),
  kineto: () => new KinetoReader(),
  snapshot: () => new SnapshotReader(),
  nsys: () => new NsysReader(),
  sanitizer: () => new SanitizerReader(),
};

/** Throws a `TraceError` where the file as a whole cannot be opened. */
export function openTrace(bytes: Uint8Array, name: string, options: OpenOptions = {}): Trace {
  try {
    return openWhole(bytes, name, options);
  } catch (error) {
    throw named(error, name);
  }
}

/** Columns that cannot grow are no fault of the reader's: the file is larger than what this page or process may hold. */
function named(error: unknown, name: string): unknown {
  const isMemory =
    error instanceof RangeError && /allocation failed|invalid (typed )?array length/i.test(error.message);
  return isMemory
    ? new TraceError(
        `“${name}” does not fit into the memory that is left. Record a shorter part of the run, or close other files.`,
        0,
      )
    : error;
}

function openWhole(bytes: Uint8Array, name: string, options: OpenOptions): Trace {
  const several = severalFiles(bytes);
  if (several) return openTogether(several, options);
  if (options.gunzip && isGzip(bytes)) {
    const unpacked = unpackWhole(bytes, options.gunzip);
    if (unpacked) return openTrace(unpacked, name, { ...options, gunzip: undefined });
  }
  if (!isGzip(bytes) && bytes.length <= (options.mostBytes ?? Number.POSITIVE_INFINITY)) {
    const reader = readers[detect(bytes.subarray(0, detectLength), name)]();
    if (reader.hold) {
      reader.hold(bytes);
      options.onProgress?.(bytes.length, bytes.length);
      return reader.finish();
    }
  }
  const opener = new TraceOpener(name, options.mostBytes);
  for (let at = 0; at < bytes.length; at += pieceLength) {
    opener.push(bytes.subarray(at, at + pieceLength));
    options.onProgress?.(Math.min(at + pieceLength, bytes.length), bytes.length);
  }
  return opener.finish();
}

/** Files of one run as one trace. One that cannot be opened is told and left out. */
export function openTogether(files: readonly NamedBytes[], options: OpenOptions = {}): Trace {
  const opened: NamedTrace[] = [];
  const failed: string[] = [];
  const total = files.reduce((sum, file) => sum + file.bytes.length, 0);
  let before = 0;
  for (const { name, bytes } of files) {
    const read = before;
    try {
      const onProgress = options.onProgress && ((at: number) => options.onProgress?.(read + at, total));
      opened.push({ name, trace: openTrace(bytes, name, { ...options, onProgress }) });
    } catch (error) {
      if (!(error instanceof TraceError)) throw error;
      failed.push(`“${name}” is left out: ${error.message}`);
    }
    before += bytes.length;
  }
  if (opened.length === 0) throw new TraceError(failed.join(' ') || 'There is nothing to open.', 0);
  const trace = mergeOneRun(opened);
  const problems = failed.map((message) => ({ message, offset: -1, row: -1 }));
  return { ...trace, problems: [...problems, ...trace.problems] };
}

/**
 * As `openTrace`, from pieces that arrive one after the other; `total` is the length of the file, 0 if not known. The
 * quickest way for a packed file is to let the host unpack it on the way (Node: `createGunzip`, browsers:
 * `DecompressionStream`). A source that breaks off gives what came before.
 */
export async function openTraceFrom(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  options: Pick<OpenOptions, 'onProgress' | 'mostBytes'> & { readonly total?: number } = {},
): Promise<Trace> {
  const opener = new TraceOpener(name, options.mostBytes);
  const source = pieces[Symbol.asyncIterator]();
  let read = 0;
  for (;;) {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await source.next();
    } catch (error) {
      opener.breakOff(
        `The file breaks off after ${read} bytes: ${(error as Error).message}. What came before is shown.`,
      );
      break;
    }
    if (next.done) break;
    opener.push(next.value);
    read += next.value.length;
    options.onProgress?.(read, options.total ?? 0);
  }
  return opener.finish();
}

/**
 * As `openTrace`, where the host unpacks faster than we do and without having the whole (browsers: `DecompressionStream`).
 * Broken files are read again by our own unpacking: it says where they break, and keeps all that came before.
 */
export async function openTraceUnpacking(
  bytes: Uint8Array,
  name: string,
  unpack: Unpack,
  options: Pick<OpenOptions, 'onProgress' | 'mostBytes'> = {},
): Promise<Trace> {
  if (!isGzip(bytes)) return openTrace(bytes, name, options);
  const opener = new TraceOpener(name, options.mostBytes);
  let fed = 0;
  let begun = false;
  try {
    for await (const piece of unpack(bytes, (read) => {
      fed = read;
    })) {
      // A file that is packed twice is told as such.
      if (!begun && isGzip(piece)) return openTrace(bytes, name, options);
      begun ||= piece.length > 0;
      opener.push(piece);
      options.onProgress?.(fed, bytes.length);
    }
  } catch (error) {
    const told = named(error, name);
    if (told instanceof TraceError) throw told;
    return openTrace(bytes, name, options);
  }
  return begun ? opener.finish() : openTrace(bytes, name, options);
}

const pieceLength = 1 << 18;

/** Undefined where it fails: what can be had of a broken stream the slower way gets at. */
function unpackWhole(bytes: Uint8Array, gunzip: (packed: Uint8Array) => Uint8Array): Uint8Array | undefined {
  try {
    return gunzip(bytes);
  } catch {
    return undefined;
  }
}

export class TraceOpener {
  readonly #name: string;
  #gunzip: Gunzip | undefined;
  #begun = false;
  #head: Uint8Array = new Uint8Array(0);
  #reader: FormatReader | undefined;
  #packed = 0;
  /** Unpacked bytes that may still come, of those that may come in all. */
  #left: number;
  readonly #most: number;
  #cut: string | undefined;
  /** An error of the reader inside the gunzip callback; it must not be taken for a broken stream. */
  #failure: unknown;

  constructor(name: string, mostBytes = Number.POSITIVE_INFINITY) {
    this.#name = name;
    this.#left = mostBytes;
    this.#most = mostBytes;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (!this.#begun) {
      // The first piece may be of one byte; two tell whether it is gzip.
      if (this.#head.length + bytes.length < 2) {
        this.#head = joined(this.#head, bytes);
        return;
      }
      const first = this.#head.length > 0 ? joined(this.#head, bytes) : bytes;
      this.#head = new Uint8Array(0);
      this.#begun = true;
      if (isGzip(first)) this.#gunzip = new Gunzip((unpacked) => this.#guardedUnpacked(unpacked));
      this.#take(first);
    } else this.#take(bytes);
  }

  /** The source has an end that it should not have. */
  breakOff(why: string): void {
    this.#cut = why;
  }

  finish(): Trace {
    if (!this.#begun && this.#head.length > 0) this.#begun = true;
    if (this.#gunzip && !this.#cut) this.#unpack(new Uint8Array(0), true);
    if (!this.#reader) {
      if (this.#head.length === 0 && this.#cut && !this.#gunzip)
        throw new TraceError(`“${this.#name}”: ${this.#cut}`, 0);
      if (this.#head.length === 0 && this.#gunzip)
        throw new TraceError(
          `“${this.#name}” is packed with gzip, but nothing can be unpacked: it is empty or broken.`,
          0,
        );
      this.#begin();
    }
    return this.#reader!.finish(this.#cut);
  }

  #take(bytes: Uint8Array): void {
    if (!this.#gunzip) this.#unpacked(bytes);
    else if (!this.#cut) this.#unpack(bytes, false);
  }

  #unpack(bytes: Uint8Array, last: boolean): void {
    try {
      this.#gunzip!.push(bytes, last);
    } catch {
      if (this.#failure === undefined)
        this.#cut = `The gzip stream breaks off or is damaged near its byte ${this.#packed}. What could be unpacked is shown.`;
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#packed += bytes.length;
  }

  #guardedUnpacked(unpacked: Uint8Array): void {
    try {
      this.#unpacked(unpacked);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #unpacked(whole: Uint8Array): void {
    const bytes = whole.length > this.#left ? whole.subarray(0, this.#left) : whole;
    this.#left -= bytes.length;
    if (bytes.length < whole.length)
      this.#cut ??= `The file has more than ${Math.round(this.#most / 1e6)} MB unpacked, which is as much as can be shown at once. What lies past that is left out.`;
    if (bytes.length === 0) return;
    if (this.#reader) {
      this.#reader.push(bytes);
      return;
    }
    // Always a copy: `slice` of a Node Buffer is none.
    this.#head = joined(this.#head, bytes);
    if (this.#head.length >= detectLength) this.#begin();
  }

  #begin(): void {
    const head = this.#head;
    this.#head = new Uint8Array(0);
    this.#reader = readers[detect(head.subarray(0, detectLength), this.#name)]();
    this.#reader.push(head);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const result = new Uint8Array(a.length + b.length);
  result.set(a);
  result.set(b, a.length);
  return result;
}
