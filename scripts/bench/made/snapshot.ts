// A made snapshot of the allocator, as large as one likes.

/** A snapshot of allocations and releases in protocol 4, with stacks that are shared through the memo. */
export function madeSnapshot(entries: number): Uint8Array {
  // Pieces by the million would be what the collector is busy with afterwards.
  let whole = Buffer.alloc(entries * 128 + (1 << 20));
  let at = 0;
  const add = (...pieces: readonly Uint8Array[]) => {
    for (const piece of pieces) {
      if (at + piece.length > whole.length) whole = Buffer.concat([whole, Buffer.alloc(whole.length)]);
      whole.set(piece, at);
      at += piece.length;
    }
  };
  add(Buffer.from([0x80, 4]));
  // Python's pickler writes each string once and names it by its place in the memo afterwards.
  const memo = new Map<string, number>();
  const text = (value: string) => {
    const known = memo.get(value);
    if (known !== undefined) {
      add(Buffer.from([0x68, known]));
      return;
    }
    memo.set(value, 100 + memo.size);
    const bytes = Buffer.from(value);
    const head = Buffer.alloc(5);
    head[0] = 0x58;
    head.writeUInt32LE(bytes.length, 1);
    add(head, bytes, Buffer.from([0x71, 99 + memo.size]));
  };
  const integer = (value: number) => {
    const bytes = Buffer.alloc(10);
    bytes[0] = 0x8a;
    bytes[1] = 8;
    bytes.writeBigInt64LE(BigInt(value), 2);
    add(bytes);
  };
  const codes = (letters: string) => add(Buffer.from(letters, 'latin1'));
  const pair = (key: string, value: () => void) => {
    text(key);
    value();
  };
  const entry = (action: string, address: number, size: number, time: number, stack: number) => {
    codes('}(');
    pair('action', () => text(action));
    pair('addr', () => integer(address));
    pair('size', () => integer(size));
    pair('stream', () => integer(0));
    pair('time_us', () => integer(1_764_441_974_000_000 + time));
    pair('frames', () => add(Buffer.from([0x68, stack])));
    codes('u');
  };
  // Stacks first, as list entries that the memo keeps, in a dictionary of their own.
  codes('}(');
  text('stacks');
  codes('](');
  for (let stack = 0; stack < 100; stack++) {
    codes('](');
    for (let frame = 0; frame < 12; frame++) {
      codes('}(');
      pair('filename', () => text(frame < 6 ? `model_${stack % 7}.py` : 'torch/nn/modules/module.py'));
      pair('line', () => integer(10 * stack + frame));
      pair('name', () => text('forward'));
      codes('u');
    }
    codes('e');
    add(Buffer.from([0x71, stack]));
  }
  codes('e');
  text('segments');
  codes(']');
  text('device_traces');
  codes(']](');
  const slots = 2000;
  for (let i = 0; i < entries; i++) {
    const slot = Math.floor(i / 3) % slots;
    const address = 0x7f0000000000 + slot * 0x200000;
    const size = 512 * (1 + ((slot * 7919) % 4096));
    entry(['alloc', 'free_requested', 'free_completed'][i % 3]!, address, size, i * 3, i % 100);
  }
  codes('eau.');
  return whole.subarray(0, at);
}
