/**
 * ## What it does
 *
 * Reports data that is overwritten on one stream while another stream may still be reading it.
 *
 * ## What happens on the GPU
 *
 * A buffer that is filled again and again needs two waits: the reader waits until it is filled, and the next fill waits
 * until the reader is done. The second one is easily forgotten, since nothing is wrong on the first turn. Without it the
 * reader sees bytes of the next turn.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def publish(table, value):
 *     table = table.cuda()
 *     side.wait_stream(torch.cuda.current_stream())
 *     with torch.cuda.stream(side):
 *         total = table.sum()
 *     table.fill_(value)
 *     torch.cuda.synchronize()
 *     return total.item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def publish(table, value):
 *     table = table.cuda()
 *     side.wait_stream(torch.cuda.current_stream())
 *     with torch.cuda.stream(side):
 *         total = table.sum()
 *     torch.cuda.current_stream().wait_stream(side)
 *     table.fill_(value)
 *     torch.cuda.synchronize()
 *     return total.item()
 * ```
 *
 * ## Fix safety
 *
 * The inserted wait only adds order on the GPU. It can cost overlap; a second buffer keeps it, which no fix can write.
 *
 * ## When not to fix it
 *
 * Where reader and writer touch different parts of the buffer, or where the host has received a result of the reader in
 * a way that is not seen. Where the overlap matters, take two buffers in turn instead of the wait.
 *
 * ## Known limits
 *
 * As for missing-wait: streams and functions from outside are not accused.
 */
import { nearestWaits, operation, type Rule, theOperation } from './rule.ts';

export const writeAfterRead: Rule = {
  code: 'write-after-read',
  title: 'Data is overwritten while another stream may still read it',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'order' || hazard.conflict !== 'write-after-read') return undefined;
    const { first, second, block } = hazard;
    const later = names.stream(hazard.secondStream);
    const earlier = names.stream(hazard.firstStream);
    const tensor = names.block(block);
    return {
      message:
        `${tensor} is overwritten on ${later} by ${operation(program, second)} while ${theOperation(program, first)} ` +
        `on ${earlier} may still read it: no wait of ${later} for ${earlier} lies between`,
      at: second,
      frame: 'statement',
      earlier: first,
      related: [
        { at: first, message: `${tensor} is read here, on ${earlier}` },
        ...nearestWaits(program, hazard.nearest, first),
      ],
    };
  },
};
