/**
 * ## What it does
 *
 * Reports a wait for an event that nothing has recorded before.
 *
 * ## What happens on the GPU
 *
 * A wait takes the event's latest record at the moment of the call. Without one it does nothing: no error, no order.
 * The same holds for `synchronize()` on such an event, which returns at once.
 *
 * ## Example
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def load(host):
 *     ready = torch.cuda.Event()
 *     with torch.cuda.stream(copy):
 *         batch = host.to("cuda", non_blocking=True)
 *     torch.cuda.current_stream().wait_event(ready)
 *     return batch.sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * copy = torch.cuda.Stream()
 *
 * def load(host):
 *     ready = torch.cuda.Event()
 *     with torch.cuda.stream(copy):
 *         batch = host.to("cuda", non_blocking=True)
 *         ready.record(copy)
 *     torch.cuda.current_stream().wait_event(ready)
 *     batch.record_stream(torch.cuda.current_stream())
 *     return batch.sum().item()
 * ```
 *
 * ## Fix safety
 *
 * The inserted record comes after the last work that the wait should cover; it adds order on the GPU only.
 *
 * ## When not to fix it
 *
 * Where another thread records the event before, which is not seen. Then the waiting thread also has to know on the
 * host that it was recorded: a wait takes what there is at the moment of the call.
 *
 * ## Known limits
 *
 * A wait that finds no record on the first turn of a loop only is not reported: that is how pipelines start.
 */
import type { Rule } from './rule.ts';

export const eventNeverRecorded: Rule = {
  code: 'event-never-recorded',
  title: 'The event that is waited for has no record before the wait',
  severity: 'warning',
  word(hazard, program, names) {
    if (hazard.kind !== 'unrecorded') return undefined;
    const wait = program.steps[hazard.wait];
    const waiting = wait?.kind === 'wait' ? names.stream(wait.stream) : 'the host';
    return {
      message: `${waiting} waits for ${names.event(hazard.event)}, which nothing has recorded yet: the wait has no effect`,
      at: hazard.wait,
      frame: 'statement',
      related: [],
    };
  },
};
