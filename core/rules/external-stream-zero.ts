/**
 * ## What it does
 *
 * Reports `torch.cuda.ExternalStream(0)`.
 *
 * ## What happens on the GPU
 *
 * The handle of the default stream is 0, so this looks like the default stream. But the constructor takes 0 for "no handle
 * given" and hands out a stream of the pool: `ExternalStream(0) == default_stream()` is false, and so are their handles. Work on
 * it runs beside the work on the default stream, in no order, and waits for it order nothing on the default stream.
 *
 * ## Example
 *
 * ```python
 * def launch(kernel, a):
 *     stream = torch.cuda.ExternalStream(0)
 *     with torch.cuda.stream(stream):
 *         kernel(a)
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def launch(kernel, a):
 *     stream = torch.cuda.default_stream()
 *     with torch.cuda.stream(stream):
 *         kernel(a)
 * ```
 *
 * ## Fix safety
 *
 * The call becomes `default_stream()`, for the same device where one is named. Work on it then runs where its author meant
 * it to.
 *
 * ## When not to fix it
 *
 * Where a stream of its own was meant after all: then write `torch.cuda.Stream()`, which says so.
 *
 * ## Known limits
 *
 * Only where the handle is known to be 0. A handle that another library gives, and that is 0 at run time, is not seen.
 */
import type { Rule } from './rule.ts';

export const externalStreamZero: Rule = {
  code: 'external-stream-zero',
  title: 'ExternalStream(0) is not the default stream',
  severity: 'warning',
  word(hazard) {
    if (hazard.kind !== 'external-stream-zero') return undefined;
    return {
      message:
        'ExternalStream(0) is not the default stream: 0 is taken for no handle, and a stream of the pool comes back, ' +
        'which nothing orders with the default stream',
      at: 0,
      origin: hazard.origin,
      frame: 'statement',
      related: [],
    };
  },
};
