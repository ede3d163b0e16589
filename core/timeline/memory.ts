/** Where a block of a trace lies. The columns do not say; its entry in the program does, where there is one. */
import type { MemoryKind } from '../program/program.ts';
import type { Trace } from '../trace/trace.ts';

export function memoryOf({ blocks, program }: Trace, block: number): MemoryKind {
  return program.blocks[blocks.programBlock[block]!]?.memory ?? 'device';
}
