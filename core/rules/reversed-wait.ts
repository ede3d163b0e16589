/**
 * ## What it does
 *
 * Reports a wait that orders nothing that is needed, where the same wait with its two streams swapped, or queued a few
 * statements later, would make an order that is missing.
 *
 * ## What happens on the GPU
 *
 * `a.wait_stream(b)` makes `a` wait for what `b` has been given so far. Written the other way round, or before the work
 * that it should cover is queued, it holds the wrong stream, and the data is as unprotected as without it.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def doubled(x):
 *     current = torch.cuda.current_stream()
 *     side.wait_stream(current)
 *     with torch.cuda.stream(side):
 *         y = x.cuda() * 2
 *     side.wait_stream(current)
 *     return y.sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def doubled(x):
 *     current = torch.cuda.current_stream()
 *     side.wait_stream(current)
 *     with torch.cuda.stream(side):
 *         y = x.cuda() * 2
 *     current.wait_stream(side)
 *     y.record_stream(current)
 *     return y.sum().item()
 * ```
 *
 * ## Fix safety
 *
 * Swapping or moving the wait keeps the number of waits. It is offered only where the analysis then finds the missing
 * order and nothing new.
 *
 * ## When not to fix it
 *
 * Where both directions are meant, the fork before the work and the join after it: keep this wait and add the missing
 * one.
 *
 * ## Known limits
 *
 * A wait that is merely useless is not reported here.
 */
import { type Rule, theOperation } from './rule.ts';

export const reversedWait: Rule = {
  code: 'reversed-wait',
  title: 'The wait is the wrong way round, or comes before the work it should cover',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'reversed') return undefined;
    const wait = program.steps[hazard.wait];
    const record = program.steps[hazard.record];
    const waiting = wait?.kind === 'wait' ? names.stream(wait.stream) : 'the host';
    const awaited = record?.kind === 'record' ? names.stream(record.stream) : 'the other stream';
    const [first, second] = hazard.settles[0] ?? [hazard.wait, hazard.wait];
    const related = [
      { at: first, message: 'this is the work that should be waited for' },
      { at: second, message: 'this needs it to be done' },
    ];
    const message =
      hazard.how === 'swapped'
        ? `${waiting} waits for ${awaited} here, but it is ${awaited} that needs ${theOperation(program, first)} on ` +
          `${waiting} to be done: the wait is the wrong way round`
        : `${waiting} waits for ${awaited} as it was before ${theOperation(program, first)} was queued there: ` +
          'the wait comes too early to cover it';
    return { message, at: hazard.wait, frame: 'names-streams', related };
  },
};
