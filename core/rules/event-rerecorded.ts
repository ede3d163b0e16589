/**
 * ## What it does
 *
 * Reports a record that takes the place of an earlier record of the same event before anything has waited for that one,
 * where a later wait for the event needs the work before it.
 *
 * ## What happens on the GPU
 *
 * An event holds one point in one stream. A wait takes the latest record that was issued; what an earlier record stood
 * for is forgotten. The stream that waits then comes after the second producer alone, and reads what the first one may
 * still be writing.
 *
 * ## Example
 *
 * ```python
 * def combined(host_a, host_b):
 *     here = torch.cuda.current_stream()
 *     left, right = torch.cuda.Stream(), torch.cuda.Stream()
 *     done = torch.cuda.Event()
 *     with torch.cuda.stream(left):
 *         a = host_a.to("cuda", non_blocking=True)
 *     done.record(left)
 *     with torch.cuda.stream(right):
 *         b = host_b.to("cuda", non_blocking=True)
 *     done.record(right)
 *     here.wait_event(done)
 *     total = (a + b).sum()
 *     torch.cuda.synchronize()
 *     return total
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def combined(host_a, host_b):
 *     here = torch.cuda.current_stream()
 *     left, right = torch.cuda.Stream(), torch.cuda.Stream()
 *     a_done, b_done = torch.cuda.Event(), torch.cuda.Event()
 *     with torch.cuda.stream(left):
 *         a = host_a.to("cuda", non_blocking=True)
 *     a_done.record(left)
 *     with torch.cuda.stream(right):
 *         b = host_b.to("cuda", non_blocking=True)
 *     b_done.record(right)
 *     here.wait_event(a_done)
 *     here.wait_event(b_done)
 *     total = (a + b).sum()
 *     torch.cuda.synchronize()
 *     return total
 * ```
 *
 * ## Fix safety
 *
 * A fresh event for each record, or a wait for the first record before the second one is issued: both are well defined,
 * and are offered only where the analysis then finds the order and nothing new.
 *
 * ## When not to fix it
 *
 * Where the work of the first record is ordered by something else that is not seen, such as an event of an extension.
 * Two records on one stream need nothing: the later one covers the earlier, and nothing is reported.
 *
 * ## Known limits
 *
 * To record an event again after it was waited for is fine, and never reported: a wait keeps the record that it found.
 */
import { type Rule, theOperation } from './rule.ts';

export const eventRerecorded: Rule = {
  code: 'event-rerecorded',
  title: 'A second record of the event hides the first, which a later wait needs',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'rerecorded') return undefined;
    const event = names.event(hazard.event);
    const stream = names.stream(hazard.recordStream);
    const named = names.stream(hazard.lostStream);
    // In a loop both may have the same name.
    const lost = named === stream ? 'another stream' : named;
    const [first, second] = hazard.settles[0] ?? [hazard.lost, hazard.wait];
    return {
      message:
        `This record of ${event} on ${stream} takes the place of the one on ${lost} before anything has waited for ` +
        `that: the later wait does not cover ${theOperation(program, first)} on ${lost}`,
      at: hazard.record,
      frame: 'statement',
      related: [
        { at: hazard.lost, message: `the record on ${lost} that is lost` },
        { at: hazard.wait, message: 'the wait finds the latest record only' },
        { at: second, message: `this needs the work on ${lost} to be done` },
      ],
    };
  },
};
