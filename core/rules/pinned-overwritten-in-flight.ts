/**
 * ## What it does
 *
 * Reports a host write to pinned memory that an asynchronous copy to the GPU may still be reading.
 *
 * ## What happens on the GPU
 *
 * A copy from pinned memory with `non_blocking=True` only queues. If the host changes the buffer before the copy has
 * run, the GPU gets the new bytes, or a mix. The allocator keeps a dropped buffer until its copies are done; it does not
 * protect one that is changed.
 *
 * ## Example
 *
 * ```python
 * staging = torch.empty(1024, pin_memory=True)
 *
 * def upload(rows):
 *     for row in rows:
 *         staging.copy_(row)
 *         batch = staging.to("cuda", non_blocking=True)
 *         batch.sum()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * staging = torch.empty(1024, pin_memory=True)
 *
 * def upload(rows):
 *     for row in rows:
 *         torch.cuda.current_stream().synchronize()
 *         staging.copy_(row)
 *         batch = staging.to("cuda", non_blocking=True)
 *         batch.sum()
 * ```
 *
 * ## Fix safety
 *
 * The inserted synchronization makes the host wait. Two buffers with an event each keep the overlap; no fix writes that.
 *
 * ## When not to fix it
 *
 * Where the host knows from something that is not seen that the copy is done. A ring of buffers is no such thing by
 * itself: it is safe only if the host waits for a buffer's last copy before it fills that buffer again.
 *
 * ## Known limits
 *
 * Writes through a raw pointer or inside an unknown function are not seen.
 */
import { operation, type Rule } from './rule.ts';

export const pinnedOverwrittenInFlight: Rule = {
  code: 'pinned-overwritten-in-flight',
  title: 'The host changes pinned memory that a copy may still read',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'host' || hazard.conflict !== 'host-write-during-copy') return undefined;
    const tensor = names.block(hazard.block);
    const stream = names.stream(hazard.firstStream);
    return {
      message:
        `${tensor} is changed by the host in ${operation(program, hazard.second)} while the copy from it on ${stream} ` +
        `may still read it: the host does not wait for ${stream} in between`,
      at: hazard.second,
      frame: 'statement',
      earlier: hazard.first,
      related: [{ at: hazard.first, message: `the copy from ${tensor} is queued here, on ${stream}` }],
    };
  },
};
