// A made snapshot of the allocator, as large as one likes.

/**
 * A snapshot of allocations and releases as Python's pickler writes it: each text, dictionary and list has its number,
 * frames are written once, and each entry has a list of its own that names them.
 */
export function madeSnapshot(entries: number): Uint8Array {
  // Pieces by the million would be what the collector is busy with afterwards.
  let whole = Buffer.alloc(entries * 160 + (1 << 20));
  let at = 0;
  const makeRoom = (count: number) => {
    if (at + count > whole.length) whole = Buffer.concat([whole, Buffer.alloc(whole.length)]);
  };
  const add = (piece: Uint8Array) => {
    makeRoom(piece.length);
    whole.set(piece, at);
    at += piece.length;
  };
  const codes = (...bytes: readonly number[]) => {
    makeRoom(bytes.length);
    for (const byte of bytes) whole[at++] = byte;
  };
  let numbered = 0;
  const memoize = (): number => {
    codes(0x94);
    return numbered++;
  };
  const named = (id: number) => {
    if (id < 256) codes(0x68, id);
    else codes(0x6a, id & 255, (id >> 8) & 255, (id >> 16) & 255, id >>> 24);
  };
  const texts = new Map<string, number>();
  const text = (value: string) => {
    const known = texts.get(value);
    if (known !== undefined) {
      named(known);
      return;
    }
    const bytes = Buffer.from(value);
    codes(0x8c, bytes.length);
    add(bytes);
    texts.set(value, memoize());
  };
  const long = Buffer.alloc(10);
  long.set([0x8a, 8]);
  const integer = (value: number) => {
    if (value < 256) codes(0x4b, value);
    else if (value < 65_536) codes(0x4d, value & 255, value >> 8);
    else {
      long.writeBigInt64LE(BigInt(value), 2);
      add(long);
    }
  };
  const list = (items: () => void) => {
    codes(0x5d);
    memoize();
    codes(0x28);
    items();
    codes(0x65);
  };
  const dictionary = (pairs: Readonly<Record<string, string | number | (() => void)>>): number => {
    codes(0x7d);
    const id = memoize();
    codes(0x28);
    for (const [key, value] of Object.entries(pairs)) {
      text(key);
      if (typeof value === 'string') text(value);
      else if (typeof value === 'number') integer(value);
      else value();
    }
    codes(0x75);
    return id;
  };

  const frames = new Map<string, number>();
  const frame = (stack: number, depth: number) => {
    const filename = depth < 6 ? `model_${stack % 7}.py` : 'torch/nn/modules/module.py';
    const line = 10 * (stack % 40) + depth;
    const known = frames.get(`${filename} ${line}`);
    if (known === undefined) frames.set(`${filename} ${line}`, dictionary({ filename, line, name: 'forward' }));
    else named(known);
  };
  const slots = 2000;
  const entry = (i: number) => {
    const slot = Math.floor(i / 3) % slots;
    dictionary({
      action: ['alloc', 'free_requested', 'free_completed'][i % 3]!,
      addr: 0x7f0000000000 + slot * 0x200000,
      size: 512 * (1 + ((slot * 7919) % 4096)),
      stream: 0,
      time_us: 1_764_441_974_000_000 + i * 3,
      frames: () =>
        list(() => {
          for (let depth = 0; depth < 12; depth++) frame(i % 100, depth);
        }),
    });
  };
  codes(0x80, 4);
  dictionary({
    segments: () => list(() => {}),
    device_traces: () =>
      list(() =>
        list(() => {
          for (let i = 0; i < entries; i++) {
            // The pickler adds the items of a list a thousand at a time.
            if (i > 0 && i % 1000 === 0) codes(0x65, 0x28);
            entry(i);
          }
        }),
      ),
  });
  codes(0x2e);
  return whole.subarray(0, at);
}
