/**
 * ## What it does
 *
 * Hints at a synchronization that keeps independent work on several side streams from overlapping: the host waits in
 * each turn of a loop that spreads work over streams, or one side stream waits for another without need.
 *
 * ## What happens on the GPU
 *
 * The order is right, but the streams gain nothing. One of them stands still until the other is done, although neither
 * needs what the other makes.
 *
 * ## Example
 *
 * ```python
 * def products(a, b):
 *     here = torch.cuda.current_stream()
 *     left, right = torch.cuda.Stream(), torch.cuda.Stream()
 *     with torch.cuda.stream(left):
 *         x = a.cuda(non_blocking=True) * 2
 *     right.wait_stream(left)
 *     with torch.cuda.stream(right):
 *         y = b.cuda(non_blocking=True) * 2
 *     here.wait_stream(left)
 *     here.wait_stream(right)
 *     print((x + y).sum().item())
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def products(a, b):
 *     here = torch.cuda.current_stream()
 *     left, right = torch.cuda.Stream(), torch.cuda.Stream()
 *     with torch.cuda.stream(left):
 *         x = a.cuda(non_blocking=True) * 2
 *     with torch.cuda.stream(right):
 *         y = b.cuda(non_blocking=True) * 2
 *     here.wait_stream(left)
 *     here.wait_stream(right)
 *     print((x + y).sum().item())
 * ```
 *
 * ## Fix safety
 *
 * A wait between two streams is removed, and a host wait in a loop moves behind the loop, where the analysis then finds
 * nothing new.
 *
 * ## When not to fix it
 *
 * Where each piece of work fills the GPU by itself: side by side they gain nothing and need memory for both. Where the
 * host wait keeps a queue or the memory in bounds on purpose.
 *
 * ## Known limits
 *
 * Only where everything in between is seen: no call that is not followed, no host access, no release of memory that the
 * wait may protect. Whether the work is large enough to gain from an overlap is not known.
 */
import { type Rule, theOperation } from './rule.ts';

export const serializedStreams: Rule = {
  code: 'serialized-streams',
  title: 'A synchronization keeps independent work on several streams from overlapping',
  severity: 'hint',
  word(hazard, program, names) {
    if (hazard.kind !== 'serialized-streams') return undefined;
    const wait = program.steps[hazard.wait];
    const next = program.steps[hazard.next];
    const work = `${theOperation(program, hazard.next)}${next?.kind === 'launch' ? ` on ${names.stream(next.stream)}` : ''}`;
    const message =
      hazard.how === 'host'
        ? `The host waits here in each turn, before it issues work to another stream that does not depend on this: ` +
          'the streams cannot overlap'
        : `${wait?.kind === 'wait' ? names.stream(wait.stream) : 'the stream'} waits here for ` +
          `${hazard.awaited === undefined ? 'another stream' : names.stream(hazard.awaited)}, but ${work} needs nothing ` +
          'of it: the two cannot overlap';
    return {
      message,
      at: hazard.wait,
      frame: 'statement',
      related: hazard.next < 0 ? [] : [{ at: hazard.next, message: 'this could have started earlier' }],
    };
  },
};
