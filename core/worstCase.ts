/**
 * A stream program in which everything that is not known is taken for the worst: memory without evidence is on the GPU,
 * a stream that nobody knows is one of its own, an unknown range of bytes is the whole block. What is ordered even so is
 * ordered. The analysis itself keeps quiet where it does not know; this is for the two commands that must not guess the
 * other way. Steps keep their indices.
 */
import type { Access, BlockId, Step, StreamProgram } from './program/program.ts';

export function worstCase(program: StreamProgram): StreamProgram {
  const onHost = sources(program);
  return {
    ...program,
    streams: program.streams.map(({ unknown: _, ...stream }) => stream),
    blocks: program.blocks.map((block, id) =>
      block.memory === 'pageable' || onHost.has(id) ? block : { ...block, evidence: true },
    ),
    steps: program.steps.map(wholeRanges),
  };
}

/** What is only ever copied to the GPU is on the host: those copies order themselves, or it is known to be pinned. */
function sources({ blocks, steps }: StreamProgram): Set<BlockId> {
  const found = new Set<BlockId>();
  const used = new Set<BlockId>();
  for (const step of steps) {
    if (step.kind !== 'launch' || step.before) continue;
    for (const { block, write } of step.accesses) {
      if (blocks[block]!.evidence) continue;
      (step.copy === 'h2d' && !write ? found : used).add(block);
    }
  }
  for (const block of used) found.delete(block);
  return found;
}

function wholeRanges(step: Step): Step {
  if (step.kind === 'launch' && step.accesses.some((access) => access.unknownRange))
    return { ...step, accesses: step.accesses.map(whole) };
  if (step.kind === 'hostAccess' && step.access.unknownRange) return { ...step, access: whole(step.access) };
  return step;
}

function whole(access: Access): Access {
  return access.unknownRange ? { block: access.block, write: access.write } : access;
}

/** A step that does nothing, in the place of one that is taken out: all others keep their indices. */
export function nothing(step: Step): Step {
  return { kind: 'join', thread: step.thread, child: step.thread, origin: step.origin };
}
