/** Where a block of a trace lies. Where the columns do not say, its entry in the program does, if there is one. */
import type { MemoryKind } from '../program/program.ts';
import type { Trace } from '../trace/trace.ts';

export function memoryOf({ blocks, program }: Trace, block: number): MemoryKind {
  if (blocks.pinned) return blocks.pinned[block] === 1 ? 'pinned' : 'device';
  return program.blocks[blocks.programBlock[block]!]?.memory ?? 'device';
}
