// The modelled allocator does what PyTorch's was seen to do.
import { expect, test } from 'vitest';
import { CachingAllocator } from '../../../core/execute/allocator.ts';

const KiB = 1 << 10;
const MiB = 1 << 20;
const base = 0x7f0000000000;
const none: ReadonlyMap<number, number> = new Map();

function allocator() {
  const model = new CachingAllocator(base);
  let owner = 0;
  return {
    model,
    get: (bytes: number, stream = 0, now = 0) => {
      const id = owner++;
      return { id, ...model.allocate(id, bytes, stream, now) };
    },
  };
}

test('a dropped block is handed out again at once, to the stream it was allocated on', () => {
  for (const size of [4 * KiB, 4 * MiB, 64 * MiB]) {
    const { model, get } = allocator();
    const x = get(size, 1);
    model.release(x.id, none, 0);
    expect(get(size, 2).address).not.toBe(x.address);
    expect(get(size, 1).address).toBe(x.address);
  }
});

test('sizes are rounded up to 512 bytes', () => {
  const { get } = allocator();
  const x = get(1);
  expect(x.size).toBe(512);
  expect(get(513).address - x.address).toBe(512);
});

test('small requests share a segment of 2 MiB, up to 10 MiB one of 20 MiB, larger ones have their own', () => {
  const { model, get } = allocator();
  get(4 * KiB);
  get(MiB);
  expect(model.reserved).toBe(2 * MiB);
  get(MiB + 512);
  get(9 * MiB);
  expect(model.reserved).toBe(22 * MiB);
  get(11 * MiB + 512);
  expect(model.reserved).toBe(22 * MiB + 12 * MiB);
});

test('64 MiB dropped, four of 4 MiB made: all lie inside it', () => {
  const { model, get } = allocator();
  const x = get(64 * MiB);
  model.release(x.id, none, 0);
  expect([0, 1, 2, 3].map(() => get(4 * MiB).address - x.address)).toEqual([0, 4 * MiB, 8 * MiB, 12 * MiB]);
});

test('the smallest block that is large enough is taken', () => {
  const { model, get } = allocator();
  const large = get(32 * MiB);
  const fitting = get(12 * MiB);
  model.release(large.id, none, 0);
  model.release(fitting.id, none, 0);
  expect(get(12 * MiB).address).toBe(fitting.address);
});

test('free neighbours become one block again', () => {
  const { model, get } = allocator();
  const x = get(64 * MiB);
  model.release(x.id, none, 0);
  const parts = [0, 1, 2, 3].map(() => get(4 * MiB));
  for (const part of [parts[2]!, parts[0]!, parts[3]!, parts[1]!]) model.release(part.id, none, 0);
  expect(get(64 * MiB).address).toBe(x.address);
  expect(model.reserved).toBe(64 * MiB);
});

test('a rest of up to 1 MiB of a large block stays with it', () => {
  const { model, get } = allocator();
  const x = get(12 * MiB);
  model.release(x.id, none, 0);
  expect(get(11 * MiB + 512 * KiB).size).toBe(12 * MiB);
});

test('a recorded block comes back when its stream is through and another allocation looks', () => {
  const { model, get } = allocator();
  const reusable: [number, number][] = [];
  model.onReusable = (owner, time) => reusable.push([owner, time]);
  const x = get(4 * MiB);
  model.release(x.id, new Map([[1, 1000]]), 10);
  expect(model.heldBack).toBe(4 * MiB);
  expect(model.allocated).toBe(0);
  const early = get(4 * MiB, 0, 20);
  expect(early.address).not.toBe(x.address);
  // The stream is through at 1000; nobody notices before the next allocation.
  expect(reusable).toEqual([]);
  expect(model.heldBack).toBe(4 * MiB);
  expect(get(4 * MiB, 0, 2000).address).toBe(x.address);
  expect(reusable).toEqual([[x.id, 2000]]);
  expect(model.heldBack).toBe(0);
});

test('of several recorded streams the last one counts', () => {
  const { model, get } = allocator();
  const x = get(4 * MiB);
  model.release(
    x.id,
    new Map([
      [1, 100],
      [2, 500],
    ]),
    0,
  );
  expect(get(4 * MiB, 0, 200).address).not.toBe(x.address);
  expect(get(4 * MiB, 0, 600).address).toBe(x.address);
});

test('a block that waits for its streams is not merged with its neighbours', () => {
  const { model, get } = allocator();
  const segment = get(64 * MiB);
  model.release(segment.id, none, 0);
  const [left, right] = [get(32 * MiB), get(32 * MiB)];
  model.release(left.id, new Map([[1, 1000]]), 0);
  model.release(right.id, none, 0);
  expect(get(64 * MiB, 0, 10).address).not.toBe(segment.address);
  expect(get(64 * MiB, 0, 2000).address).toBe(segment.address);
});
