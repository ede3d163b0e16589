/** What every format's reader is: it is pushed the unpacked bytes in pieces of any size, and makes the trace at the end. */
import type { Trace } from './trace.ts';

export interface FormatReader {
  push(bytes: Uint8Array): void;
  /** In place of pieces: the whole file, which stays as it is. Only readers that need all of it before they begin. */
  hold?(bytes: Uint8Array): void;
  /** `cut`: why the bytes end early (a broken gzip stream), undefined if they do not. */
  finish(cut?: string): Trace;
}

/** How a host unpacks gzip on the way; `fed` is told how many packed bytes are taken in so far. Throws where they are broken. */
export type Unpack = (packed: Uint8Array, fed: (read: number) => void) => AsyncIterable<Uint8Array>;
