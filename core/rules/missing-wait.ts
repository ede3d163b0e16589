/**
 * ## What it does
 *
 * Reports data that one stream writes and another stream reads or overwrites, with no wait in between.
 *
 * ## What happens on the GPU
 *
 * Streams run independently of each other and of the order of the Python statements. Leaving `with torch.cuda.stream(…)`
 * waits for nothing. Without an event, a `wait_stream` or a host synchronization between the two accesses the second
 * one can run before the first is done, and reads old or half-written bytes. Small inputs usually hide it.
 *
 * ## Example
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def load(host):
 *     with torch.cuda.stream(copy):
 *         batch = host.to("cuda", non_blocking=True)
 *     return batch.float().sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def load(host):
 *     with torch.cuda.stream(copy):
 *         batch = host.to("cuda", non_blocking=True)
 *     torch.cuda.current_stream().wait_stream(copy)
 *     batch.record_stream(torch.cuda.current_stream())
 *     return batch.float().sum().item()
 * ```
 *
 * ## Fix safety
 *
 * The inserted event pair or `wait_stream` only adds order, and only on the GPU: the host goes on. It is offered where
 * both streams can be named, and where a second analysis finds nothing new. Where a wait is there and is for the wrong
 * stream (`current_stream()` asked inside of the side stream's `with`, `default_stream()` or a stored stream where the work
 * is on another), that wait is mended instead.
 *
 * ## When not to fix it
 *
 * Where the two accesses touch parts of the tensor that never overlap, or where the order comes from code that is not
 * seen, such as an event of an extension: silence the line and say which. Do not mend it with
 * `torch.cuda.synchronize()` where a wait between the two streams does: that stops the host and with it everything
 * else.
 *
 * ## Known limits
 *
 * A stream that comes from outside (a parameter that nobody passes, a foreign library) is never accused. Work of an
 * unknown function is taken to be ordered by it.
 */
import { nearestWaits, operation, type Rule, theOperation, writes } from './rule.ts';

export const missingWait: Rule = {
  code: 'missing-wait',
  title: 'Data of one stream is used on another without a wait',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'order' || hazard.conflict === 'write-after-read') return undefined;
    const { first, second, block } = hazard;
    const later = names.stream(hazard.secondStream);
    const earlier = names.stream(hazard.firstStream);
    const used = writes(program, second, block) ? 'written' : 'read';
    const tensor = names.block(block);
    return {
      message:
        `${tensor} is ${used} on ${later} by ${operation(program, second)} before ${theOperation(program, first)} on ` +
        `${earlier} is done: no wait of ${later} for ${earlier} lies between`,
      at: second,
      frame: 'selects-stream',
      earlier: first,
      related: [
        { at: first, message: `${tensor} is written here, on ${earlier}` },
        ...nearestWaits(program, hazard.nearest, first),
      ],
    };
  },
};
