/**
 * ## What it does
 *
 * Reports a wait or a `synchronize()` whose order is there already: a stream that waits for itself, or work that an
 * earlier wait in the same function covers, with nothing new queued in between.
 *
 * ## What happens on the GPU
 *
 * Nothing new: one stream does its work in the order in which it was issued, and a wait holds for everything that comes
 * after it. A stream that waits for itself often was meant to wait for another.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def doubled(host):
 *     here = torch.cuda.current_stream()
 *     with torch.cuda.stream(side):
 *         y = host.cuda(non_blocking=True) * 2
 *     here.wait_stream(side)
 *     here.wait_stream(side)
 *     return y.sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def doubled(host):
 *     here = torch.cuda.current_stream()
 *     with torch.cuda.stream(side):
 *         y = host.cuda(non_blocking=True) * 2
 *     here.wait_stream(side)
 *     return y.sum().item()
 * ```
 *
 * ## Fix safety
 *
 * The statement is removed where the analysis finds nothing new without it, with the record of an event that serves nobody
 * then. A wait that asks for `current_stream()` inside of the side stream's own `with` moves out of it first.
 *
 * ## When not to fix it
 *
 * Where the earlier wait that covers it is about to go, or is there for one caller only. A stream that waits for itself
 * deserves a look before it is removed: find out which stream was meant.
 *
 * ## Known limits
 *
 * It must hold on every execution, and everything in between must be seen: beside a timer or a call that is not followed
 * nothing is reported. A blocking copy or `.item()` makes no explicit wait redundant.
 */
import type { Rule } from './rule.ts';

export const redundantSync: Rule = {
  code: 'redundant-sync',
  title: 'The wait changes nothing: its order is there already',
  severity: 'hint',
  word(hazard, program, names) {
    if (hazard.kind !== 'redundant-sync') return undefined;
    const wait = program.steps[hazard.wait];
    const waiting = wait?.kind === 'wait' ? names.stream(wait.stream) : 'the host';
    if (hazard.why === 'same-stream')
      return {
        message: `${waiting} waits for its own work here, which changes nothing: one stream does its work in order`,
        at: hazard.wait,
        frame: 'statement',
        related: [],
      };
    const earlier = hazard.earlier ?? hazard.wait;
    return {
      message: `${waiting} has waited for all of this already, and nothing new was queued since: this wait changes nothing`,
      at: hazard.wait,
      frame: 'statement',
      related: [{ at: earlier, message: 'this wait covers it' }],
    };
  },
};
