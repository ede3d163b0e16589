/** Unpacks gzip by the browser's own code, in pieces. Only for workers: knows nothing of traces. */

const pieceLength = 1 << 18;

/** Undefined where this browser has none. */
export const unpacker = typeof DecompressionStream === 'undefined' ? undefined : unpack;

async function* unpack(packed: Uint8Array, fed: (read: number) => void): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new DecompressionStream('gzip');
  const feeding = feed(packed, writable.getWriter(), fed);
  // Whoever reads is told of the same error.
  feeding.catch(() => {});
  const reader = readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield value;
  }
  await feeding;
}

async function feed(
  packed: Uint8Array,
  writer: WritableStreamDefaultWriter<BufferSource>,
  fed: (read: number) => void,
): Promise<void> {
  for (let at = 0; at < packed.length; at += pieceLength) {
    const end = Math.min(at + pieceLength, packed.length);
    await writer.write(packed.subarray(at, end) as BufferSource);
    fed(end);
  }
  await writer.close();
}
