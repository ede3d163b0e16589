// Random stream programs from a seed: few streams, events and addresses, so that they meet often.
import type { Access, BlockEntry, Step, StreamProgram } from '../../../core/program/program.ts';

/** mulberry32: a seed gives the same programs everywhere. */
export function randomNumbers(seed: number): (below: number) => number {
  let a = seed;
  return (below) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

export interface Shape {
  readonly streams: number;
  readonly events: number;
  readonly blocks: number;
  readonly threads: number;
  readonly steps: number;
  readonly ranges: boolean;
  /** Every other block is pinned memory, which the host touches as well. */
  readonly pinned?: boolean;
  /** Blocks without addresses, as in source. */
  readonly unplaced?: boolean;
}

export function randomProgram(seed: number, shape: Shape): StreamProgram {
  const pick = randomNumbers(seed);
  const steps: Step[] = [];
  const address = 0x10000;
  const blockEntries: BlockEntry[] = [];
  // Blocks in `held` may be used, blocks in `slots` share a few addresses over their lives.
  const held: { block: number; slot: number }[] = [];
  const freeSlots = Array.from({ length: shape.blocks }, (_, i) => i);
  const slotStream = freeSlots.map((slot) => slot % shape.streams);
  const size = 64;
  let n = 0;
  while (n++ < shape.steps) {
    const base = { thread: pick(shape.threads), origin: -1 };
    const stream = pick(shape.streams);
    const event = pick(shape.events);
    const what = pick(100);
    if (what < 12 && freeSlots.length) {
      const slot = freeSlots.splice(pick(freeSlots.length), 1)[0]!;
      const block = blockEntries.length;
      blockEntries.push({
        name: `b${block}`,
        memory: shape.pinned && block % 2 ? ('pinned' as const) : ('device' as const),
        evidence: true,
        size,
        ...(shape.unplaced ? {} : { address: address + slot * size }),
        stream: slotStream[slot]!,
      });
      held.push({ block, slot });
      steps.push({ ...base, kind: 'allocate', block, stream: slotStream[slot]! });
    } else if (what < 20 && held.length) {
      const at = pick(held.length);
      const { block, slot } = held.splice(at, 1)[0]!;
      freeSlots.push(slot);
      steps.push({ ...base, kind: 'release', block });
    } else if (what < 24 && held.length) {
      steps.push({ ...base, kind: 'recordStream', block: held[pick(held.length)]!.block, stream });
    } else if (what < 40) steps.push({ ...base, kind: 'record', event, stream });
    else if (what < 58) steps.push({ ...base, kind: 'wait', event, stream });
    else if (what < 60) steps.push({ ...base, kind: 'hostWait', on: { kind: 'event', event } });
    else if (what < 62) steps.push({ ...base, kind: 'poll', on: { kind: 'stream', stream } });
    else if (what < 63) steps.push({ ...base, kind: 'hostWait', on: { kind: 'device', device: 0 } });
    else if (what < 65 && shape.threads > 1) {
      const child = (base.thread + 1) % shape.threads;
      steps.push(pick(2) ? { ...base, kind: 'fork', child } : { ...base, kind: 'join', child });
    } else if (shape.pinned && what < 76 && held.length) {
      const { block } = held[pick(held.length)]!;
      if (blockEntries[block]!.memory === 'pinned')
        steps.push({ ...base, kind: 'hostAccess', name: 'host', access: { block, write: pick(2) === 0 } });
    } else if (held.length) {
      const accesses: Access[] = [];
      for (let i = pick(3); i >= 0; i--) {
        const { block } = held[pick(held.length)]!;
        if (accesses.some((access) => access.block === block)) continue;
        const access = { block, write: pick(3) === 0 };
        const start = pick(7) * 8;
        accesses.push(
          shape.ranges && pick(2) ? { ...access, start, end: start + 8 + pick((size - start) / 8) * 8 } : access,
        );
      }
      steps.push({ ...base, kind: 'launch', stream, name: 'k', accesses });
    }
  }
  return {
    streams: Array.from({ length: shape.streams }, (_, i) => ({ name: `s${i}`, device: 0, isDefault: i === 0 })),
    events: Array.from({ length: shape.events }, (_, i) => ({ name: `e${i}` })),
    blocks: blockEntries,
    threads: Array.from({ length: shape.threads }, (_, i) => ({ name: `t${i}` })),
    origins: [],
    steps,
  };
}
