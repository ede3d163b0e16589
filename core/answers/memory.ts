/**
 * What the allocator lost: memory that `record_stream` held back after its release, by where it was allocated; requests for
 * which it had to give cached memory back first, and those that failed.
 */
import type { AllocatorEvent, Trace, TracePlace } from '../trace/trace.ts';
import { placeOfSite, placeOfStep } from './place.ts';

export interface HeldBack {
  /** Where the blocks were allocated. */
  readonly at: TracePlace;
  readonly count: number;
  readonly bytes: number;
  /** Nanoseconds from the release to when the memory could be handed out again, of the longest. */
  readonly longest: number;
  /** Bytes times nanoseconds: what it cost. */
  readonly byteTime: number;
  /** The block that was held longest, to show. */
  readonly block: number;
}

export interface MemoryAnswers {
  readonly heldBack: readonly HeldBack[];
  /** Most bytes held back at one time. */
  readonly heldBackPeak: number;
  readonly retries: readonly AllocatorEvent[];
  readonly outOfMemory: readonly AllocatorEvent[];
}

/** A release and its completion are two microseconds apart at times: the history counts in whole ones. */
const clockStep = 2000;

export function memoryOf(trace: Trace): MemoryAnswers {
  const { blocks: b, program, counters } = trace;
  const allocation = new Int32Array(program.blocks.length).fill(-1);
  for (const [i, step] of program.steps.entries()) if (step.kind === 'allocate') allocation[step.block] = i;
  const groups = new Map<string, { -readonly [K in keyof HeldBack]: HeldBack[K] }>();
  for (let row = 0; row < b.length; row++) {
    const released = b.releaseRequested[row]!;
    const time = b.reusable[row]! - released;
    const entry = program.blocks[b.programBlock[row]!];
    // Pinned memory always comes back later: its events are polled.
    if (released < 0 || time <= clockStep || entry?.memory === 'pinned') continue;
    const own = placeOfStep(trace, entry ? allocation[b.programBlock[row]!]! : -1);
    const at = own.file ? own : placeOfSite(trace, b.allocationSite[row]!);
    const key = `${at.file}:${at.line}`;
    const bytes = Math.max(0, b.size[row]!);
    const group = groups.get(key);
    if (!group) groups.set(key, { at, count: 1, bytes, longest: time, byteTime: bytes * time, block: row });
    else {
      group.count++;
      group.bytes += bytes;
      group.byteTime += bytes * time;
      if (time > group.longest) {
        group.longest = time;
        group.block = row;
      }
    }
  }
  const events = trace.allocatorEvents ?? [];
  return {
    heldBack: [...groups.values()].sort((a, b) => b.byteTime - a.byteTime || a.block - b.block),
    heldBackPeak: counters.heldBack.reduce((most, bytes) => Math.max(most, bytes), 0),
    retries: events.filter((event) => event.kind === 'retry'),
    outOfMemory: events.filter((event) => event.kind === 'outOfMemory'),
  };
}
