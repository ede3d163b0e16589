/**
 * ## What it does
 *
 * Reports a host read of pinned memory that an asynchronous copy from the GPU may still be filling.
 *
 * ## What happens on the GPU
 *
 * `to("cpu", non_blocking=True)` and `copy_(…, non_blocking=True)` into pinned memory return at once. Stream waits hold
 * the GPU, never the host, so the host needs a synchronization of its own before it looks.
 *
 * ## Example
 *
 * ```python
 * def fetch(x):
 *     host = x.cuda().to("cpu", non_blocking=True)
 *     return host.numpy().sum()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def fetch(x):
 *     host = x.cuda().to("cpu", non_blocking=True)
 *     torch.cuda.current_stream().synchronize()
 *     return host.numpy().sum()
 * ```
 *
 * ## Fix safety
 *
 * The inserted synchronization makes the host wait for the stream of the copy. It costs host time, and it is what the
 * read needs.
 *
 * ## When not to fix it
 *
 * Where an old or half-filled value does no harm, as in a progress display. Even there it is better to read a step
 * later, once `event.query()` says that the copy is done.
 *
 * ## Known limits
 *
 * Reads through a raw pointer or inside an unknown function are not seen.
 */
import { operation, type Rule } from './rule.ts';

export const hostReadBeforeSync: Rule = {
  code: 'host-read-before-sync',
  title: 'The host reads the target of a copy that may not be done',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'host' || hazard.conflict !== 'host-read-before-copy-done') return undefined;
    const tensor = names.block(hazard.block);
    const stream = names.stream(hazard.firstStream);
    return {
      message:
        `${tensor} is read by the host in ${operation(program, hazard.second)} before the copy into it on ${stream} ` +
        `is done: the host does not wait for ${stream} in between`,
      at: hazard.second,
      frame: 'statement',
      earlier: hazard.first,
      related: [{ at: hazard.first, message: `the copy into ${tensor} is queued here, on ${stream}` }],
    };
  },
};
