import type { FormatReader } from './reader.ts';
import type { Trace } from './trace.ts';
import { TraceError } from './error.ts';

export class SnapshotReader implements FormatReader {
  push(_bytes: Uint8Array): void {}
  finish(): Trace {
    throw new TraceError('Allocator snapshots cannot be read yet.');
  }
}
