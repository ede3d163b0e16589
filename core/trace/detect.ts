/**
 * Which format a file has, told by its first bytes and never by its name. What cannot be read is named, with what to do.
 */
import { strFromU8 } from 'fflate';
import { TraceError } from './error.ts';
import { isSanitizerText } from './sanitizer.ts';

export type KnownFormat = 'raceline' | 'kineto' | 'snapshot' | 'nsys' | 'sanitizer';

/** So many unpacked bytes are enough to tell. */
export const detectLength = 4096;

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function detect(head: Uint8Array, name: string): KnownFormat {
  if (head.length === 0) throw new TraceError(`${shown(name)} is empty.`, 0);
  if (startsWith(head, sqlite)) return 'nsys';
  if (isSanitizerText(strFromU8(head, true))) return 'sanitizer';
  for (const [magic, what] of refused) if (startsWith(head, magic)) throw new TraceError(`${shown(name)} ${what}`, 0);
  if (head[0] === 0x80 && head[1]! >= 2 && head[1]! <= 5) return 'snapshot';
  if (head[0] === 0x80 && head[1]! > 5)
    throw new TraceError(
      `${shown(name)} looks like a pickle of protocol ${head[1]}; protocols 2 to 5 can be read. Write it with pickle.dump(snapshot, file, protocol=4).`,
      0,
    );

  let at = startsWith(head, [0xef, 0xbb, 0xbf]) ? 3 : 0;
  while (at < head.length && (head[at] === 32 || (head[at]! >= 9 && head[at]! <= 13))) at++;
  if (head[at] === 0x7b) {
    // The header's key need not stand first, but the header is one line and no other format has such a key in it.
    const line = strFromU8(head.subarray(at)).split('\n', 1)[0]!;
    return /"raceline"\s*:/.test(line) ? 'raceline' : 'kineto';
  }
  if (head[at] === 0x5b) return 'kineto';
  // A protobuf whose first field is message 1, and not white space before JSON.
  if (head[0] === 0x0a)
    throw new TraceError(
      `${shown(name)} looks like a Perfetto protobuf trace (.pftrace). These cannot be read yet; export the profile as Chrome JSON (prof.export_chrome_trace("trace.json.gz")).`,
      0,
    );
  throw new TraceError(
    `${shown(name)} is no trace that Raceline knows: it can open .raceline files, PyTorch profiler traces (.json, .json.gz), Nsight Systems exports (.sqlite), CUDA allocator snapshots (.pickle) and reports of PyTorch's CUDA sanitizer and of compute-sanitizer.`,
    0,
  );
}

const sqlite = [...'SQLite format 3\0'].map((c) => c.charCodeAt(0));

const refused: readonly (readonly [readonly number[], string])[] = [
  [
    [0x50, 0x4b, 3, 4],
    'is a zip archive. Unpack it and open the trace inside; a snapshot must be written by torch.cuda.memory._dump_snapshot, not by torch.save.',
  ],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is packed with zstd. Unpack it (zstd -d) and open the result.'],
  [[0x42, 0x5a, 0x68], 'is packed with bzip2. Unpack it (bunzip2) and open the result.'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'is packed with xz. Unpack it (unxz) and open the result.'],
  [[0xff, 0xfe], 'is text in UTF-16, as PowerShell writes it with “>”. Save it as UTF-8 and open the result.'],
  [[0xfe, 0xff], 'is text in UTF-16. Save it as UTF-8 and open the result.'],
  [[0x1f, 0x8b], 'is packed twice with gzip. Unpack it once (gunzip) and open the result.'],
  [[0x3c], 'looks like HTML or XML, not like a trace. Perhaps the download was a web page: download the raw file.'],
];

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return bytes.length >= magic.length && magic.every((byte, i) => bytes[i] === byte);
}

function shown(name: string): string {
  return `“${name.length > 120 ? `${name.slice(0, 120)}…` : name}”`;
}
