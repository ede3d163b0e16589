/**
 * ## What it does
 *
 * Reports a `record_stream` call that cannot change anything.
 *
 * ## What happens on the GPU
 *
 * Nothing that would be missed. On the stream that allocated the tensor the allocator ignores the call; where the
 * allocating stream waits for the other one before the tensor is dropped, the memory was safe already, and the call
 * only keeps it from being reused for longer.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def scaled(x):
 *     with torch.cuda.stream(side):
 *         y = torch.ones(1024, device="cuda")
 *         y.record_stream(side)
 *         y.mul_(2)
 *     torch.cuda.synchronize()
 *     total = y.sum().item()
 *     del y
 *     return total
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def scaled(x):
 *     with torch.cuda.stream(side):
 *         y = torch.ones(1024, device="cuda")
 *         y.mul_(2)
 *     torch.cuda.synchronize()
 *     total = y.sum().item()
 *     del y
 *     return total
 * ```
 *
 * ## Fix safety
 *
 * Removing the statement changes no order. It is offered only where no lifetime finding comes up without it.
 *
 * ## When not to fix it
 *
 * Where the wait that makes the call needless is about to go: then the call is what keeps the memory safe. Where the
 * code is also called with tensors of other streams from outside of what was checked.
 *
 * ## Known limits
 *
 * A call on a tensor that is handed to a caller is never called useless.
 */
import type { Rule } from './rule.ts';

export const redundantRecordStream: Rule = {
  code: 'redundant-record-stream',
  title: 'The record_stream call changes nothing',
  severity: 'hint',
  word(hazard, program, names) {
    if (hazard.kind !== 'redundant-record-stream') return undefined;
    const call = program.steps[hazard.call];
    const recorded = call?.kind === 'recordStream' ? names.stream(call.stream) : 'the stream';
    const tensor = names.block(hazard.block);
    const message =
      hazard.why === 'allocating-stream'
        ? `${tensor} was allocated on ${recorded}, so record_stream changes nothing here`
        : `The work on ${recorded} is waited for before ${tensor} is dropped, so record_stream changes nothing here`;
    const related = hazard.join === undefined ? [] : [{ at: hazard.join, message: `${recorded} is waited for here` }];
    return { message, at: hazard.call, frame: 'statement', related };
  },
};
