/**
 * ## What it does
 *
 * Reports a record of an event that nothing in the program ever waits for, asks, synchronizes with or times.
 *
 * ## What happens on the GPU
 *
 * The record puts a mark into its stream that nothing looks at: it orders nothing. Often it is the visible half of a
 * wait that was forgotten, or what is left of a timing that was taken out.
 *
 * ## Example
 *
 * ```python
 * def product(host):
 *     a = host.cuda()
 *     begin = torch.cuda.Event(enable_timing=True)
 *     begin.record()
 *     b = a @ a
 *     return b.sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def product(host):
 *     a = host.cuda()
 *     b = a @ a
 *     return b.sum().item()
 * ```
 *
 * ## Fix safety
 *
 * Removing the record changes no order. It is offered where the statement does nothing else.
 *
 * ## When not to fix it
 *
 * Where somebody outside of the program looks at the event, for instance another process through `ipc_handle()`, or
 * where the wait for it is about to be written.
 *
 * ## Known limits
 *
 * An event that is returned, kept in an object that others can reach, or handed to a function that is not followed, may
 * be waited for there and is not reported.
 */
import type { Rule } from './rule.ts';

export const unusedEvent: Rule = {
  code: 'unused-event',
  title: 'The event is recorded, and nothing ever waits for it',
  severity: 'hint',
  word(hazard, program, names) {
    if (hazard.kind !== 'unused-event') return undefined;
    const step = program.steps[hazard.record];
    const stream = step?.kind === 'record' ? ` on ${names.stream(step.stream)}` : '';
    return {
      message: `${names.event(hazard.event)} is recorded${stream}, but nothing ever waits for it, asks it or times with it`,
      at: hazard.record,
      frame: 'statement',
      related: [],
    };
  },
};
