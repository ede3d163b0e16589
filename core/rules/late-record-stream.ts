/**
 * ## What it does
 *
 * Reports a `record_stream` call that misses the memory it should protect: the memory has gone back already, or the call
 * names the tensor that was computed from it or put in its place.
 *
 * ## What happens on the GPU
 *
 * `record_stream` makes the later release of that very block wait for the work on the stream. On a block that was
 * released before, or on another block, it changes nothing for the one in danger, which can be handed out again while
 * the other stream still uses it.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def peaks(count):
 *     here = torch.cuda.current_stream()
 *     found = []
 *     for i in range(count):
 *         x = torch.full((1024,), float(i), device="cuda")
 *         side.wait_stream(here)
 *         with torch.cuda.stream(side):
 *             y = x.amax()
 *         y.record_stream(side)
 *         del x
 *         found.append(y)
 *     torch.cuda.synchronize()
 *     return [y.item() for y in found]
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def peaks(count):
 *     here = torch.cuda.current_stream()
 *     found = []
 *     for i in range(count):
 *         x = torch.full((1024,), float(i), device="cuda")
 *         side.wait_stream(here)
 *         with torch.cuda.stream(side):
 *             y = x.amax()
 *         x.record_stream(side)
 *         del x
 *         found.append(y)
 *     torch.cuda.synchronize()
 *     return [y.item() for y in found]
 * ```
 *
 * ## Fix safety
 *
 * The call goes, and one for the tensor in danger comes while that still has a name. It changes no order.
 *
 * ## When not to fix it
 *
 * Where the tensor that the call names is in danger as well: keep its call, and add the one for the other tensor.
 *
 * ## Known limits
 *
 * Reported beside `missing-record-stream`, which is the damage. A call that protects its own tensor is never reported.
 */
import { type Rule, theOperation } from './rule.ts';

export const lateRecordStream: Rule = {
  code: 'late-record-stream',
  title: 'The record_stream call comes too late, or names another tensor than the one in danger',
  severity: 'warning',
  word(hazard, program, names) {
    if (hazard.kind !== 'late-record-stream') return undefined;
    const tensor = names.block(hazard.block);
    const unprotected = names.block(hazard.unprotected);
    const user = names.stream(hazard.useStream);
    const use = `${theOperation(program, hazard.use)} on ${user}`;
    const which = {
      released: `The memory of ${tensor} went back before this call, so nothing keeps it for ${use}`,
      derived: `This protects ${tensor}, which was made from ${unprotected}; ${unprotected} itself is what ${use} uses`,
      replaced: `This protects the new ${tensor}; the tensor that it replaces is what ${use} uses`,
    }[hazard.why];
    return {
      message: `${which}: record_stream changes nothing for the memory in danger`,
      at: hazard.call,
      frame: 'statement',
      related: [
        { at: hazard.use, message: `used here, on ${user}` },
        { at: hazard.release, message: 'its last reference goes here' },
      ],
    };
  },
};
