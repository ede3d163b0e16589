/**
 * ## What it does
 *
 * Hints at a place that makes more than 32 streams of one priority.
 *
 * ## What happens on the GPU
 *
 * PyTorch keeps 32 streams per device and priority and hands them out in turn: the 33rd `torch.cuda.Stream()` is the
 * first one again. Work on "two" such streams follows each other, and a missing wait between them goes unnoticed until
 * the number changes. A few streams keep a GPU busy.
 *
 * ## Example
 *
 * ```python
 * def row_sums(host):
 *     here = torch.cuda.current_stream()
 *     rows = host.cuda()
 *     lanes = [torch.cuda.Stream() for _ in range(64)]
 *     for lane in lanes:
 *         lane.wait_stream(here)
 *     return rows
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def row_sums(host):
 *     here = torch.cuda.current_stream()
 *     rows = host.cuda()
 *     lanes = [torch.cuda.Stream() for _ in range(4)]
 *     for lane in lanes:
 *         lane.wait_stream(here)
 *     return rows
 * ```
 *
 * ## Fix safety
 *
 * No fix is offered: how the work is spread over fewer streams is the program's to say.
 *
 * ## When not to fix it
 *
 * Where the streams are never used at the same time, so that it does not matter which of them are the same.
 *
 * ## Known limits
 *
 * Only where the number is known to be larger than the pool.
 */
import type { Rule } from './rule.ts';

export const tooManyStreams: Rule = {
  code: 'too-many-streams',
  title: 'More streams are made than the pool has',
  severity: 'hint',
  word(hazard) {
    if (hazard.kind !== 'too-many-streams') return undefined;
    return {
      message:
        `${hazard.count} streams are made here, but PyTorch has a pool of 32 per priority: from the 33rd on they are the ` +
        'same ones again. The 33rd is the 1st, and a wait that is missing between the two does not show',
      at: 0,
      origin: hazard.origin,
      frame: 'statement',
      related: [],
    };
  },
};
