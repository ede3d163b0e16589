/**
 * ## What it does
 *
 * Reports a tensor whose last reference goes while a stream other than the one it was allocated on may still use it.
 *
 * ## What happens on the GPU
 *
 * The caching allocator knows only the stream on which a block was allocated. When the last reference goes, the block
 * returns to that stream's pool and the next allocation there can get it at once: correct for work on that stream, and
 * a use after free for every other stream. `record_stream` tells the allocator of the other stream, so that it holds the
 * block back until the work queued there is done. A wait of the allocating stream for the other one does the same.
 *
 * ## Example
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def consume(batches):
 *     total = torch.zeros(1, device="cuda")
 *     for host in batches:
 *         with torch.cuda.stream(copy):
 *             batch = host.to("cuda", non_blocking=True)
 *         torch.cuda.current_stream().wait_stream(copy)
 *         total += batch.sum()
 *         del batch
 *     return total
 * ```
 *
 * ## Use instead
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def consume(batches):
 *     total = torch.zeros(1, device="cuda")
 *     for host in batches:
 *         with torch.cuda.stream(copy):
 *             batch = host.to("cuda", non_blocking=True)
 *         torch.cuda.current_stream().wait_stream(copy)
 *         batch.record_stream(torch.cuda.current_stream())
 *         total += batch.sum()
 *         del batch
 *     return total
 * ```
 *
 * ## Fix safety
 *
 * `record_stream` never changes results; it can hold memory back for longer. The wait that is offered beside it frees
 * memory at a known point and costs overlap.
 *
 * ## When not to fix it
 *
 * Where the tensor is kept alive until a synchronization by something that is not seen. Where memory is short, prefer
 * the wait to `record_stream`: a block that is held back is free only once the allocator looks at its events again,
 * which comes late in a loop that allocates fast. In a graph capture `record_stream` protects nothing; join there.
 *
 * ## Known limits
 *
 * A program that ends, or that never allocates on that stream again, has no hazard and gets no finding. A reference that
 * an unknown function may keep counts as kept.
 */
import { operation, type Rule } from './rule.ts';

export const missingRecordStream: Rule = {
  code: 'missing-record-stream',
  title: 'The last reference goes while another stream may still use the memory',
  severity: 'warning',
  word(hazard, program, names) {
    if (hazard.kind !== 'lifetime') return undefined;
    const tensor = names.block(hazard.block);
    const owner = names.stream(hazard.allocatedOn);
    const user = names.stream(hazard.useStream);
    const release = program.steps[hazard.release];
    const byStatement = release?.kind === 'release' && release.how === 'statement';
    const why =
      `its memory returns to ${owner} and can be handed out again there; neither a record_stream on ${user} nor a ` +
      `wait of ${owner} for ${user} protects it`;
    const use = operation(program, hazard.use);
    const allocated = { at: hazard.allocation, message: `${tensor} is allocated here, on ${owner}` };
    const reused = { at: hazard.reuse, message: `the memory can be handed out again here, on ${owner}` };
    if (byStatement)
      return {
        message: `${tensor} is dropped while ${use} on ${user} may still use it: ${why}`,
        at: hazard.release,
        frame: 'statement',
        earlier: hazard.use,
        related: [{ at: hazard.use, message: `${tensor} is used here, on ${user}` }, allocated, reused],
      };
    return {
      message: `${tensor} is used on ${user} by ${use} and dropped before that is done: ${why}`,
      at: hazard.use,
      frame: 'statement',
      related: [allocated, { at: hazard.release, message: `the last reference to ${tensor} goes here` }, reused],
    };
  },
};
