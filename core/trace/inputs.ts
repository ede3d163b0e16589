/**
 * What the operators of a run were called with, read again from its file when somebody asks: it is much, and looked at a
 * few at a time. Which format tells it how, its reader knows.
 */
import { Gunzip } from 'fflate';
import { CallInputs } from './call-inputs.ts';
import { isGzip } from './detect.ts';
import { OperatorInputs } from './operator-inputs.ts';
import type { InputsReader } from './inputs-reader.ts';
import type { Unpack } from './reader.ts';
import type { Trace } from './trace.ts';

const pieceLength = 1 << 18;

/** Of a file, packed or not; what cannot be read of it has no inputs. */
export function readInputs(format: Trace['format'], bytes: Uint8Array): InputsReader {
  const reader = readerOf(format);
  const unpack = isGzip(bytes) ? new Gunzip((piece) => reader.push(piece)) : reader;
  try {
    for (let at = 0; at < bytes.length; at += pieceLength) unpack.push(bytes.subarray(at, at + pieceLength));
    reader.finish();
  } catch {
    // A file that is cut was told when it was opened; what came before is here.
  }
  return reader;
}

/** The same, where the host unpacks. */
export async function readInputsUnpacking(
  format: Trace['format'],
  bytes: Uint8Array,
  unpack: Unpack,
): Promise<InputsReader> {
  if (!isGzip(bytes)) return readInputs(format, bytes);
  const reader = readerOf(format);
  try {
    for await (const piece of unpack(bytes, () => {})) reader.push(piece);
    reader.finish();
  } catch {
    return readInputs(format, bytes);
  }
  return reader;
}

function readerOf(format: Trace['format']): InputsReader {
  return format === 'raceline' ? new CallInputs() : new OperatorInputs();
}
