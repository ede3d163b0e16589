/**
 * ## What it does
 *
 * Reports a tensor that is made on a side stream and returned or yielded before the caller's stream has waited for it.
 *
 * ## Why it is a race
 *
 * The caller sees a finished tensor object and uses it on its own stream at once. Nothing orders that use after the side
 * stream's work, and the caller cannot know that it should.
 *
 * ## Example
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def normalized(x):
 *     side.wait_stream(torch.cuda.current_stream())
 *     with torch.cuda.stream(side):
 *         y = x.cuda() / 255
 *     return y
 * ```
 *
 * ## Use instead
 *
 * ```python
 * side = torch.cuda.Stream()
 *
 * def normalized(x):
 *     side.wait_stream(torch.cuda.current_stream())
 *     with torch.cuda.stream(side):
 *         y = x.cuda() / 255
 *     torch.cuda.current_stream().wait_stream(side)
 *     return y
 * ```
 *
 * ## Fix safety
 *
 * The join only adds order on the GPU. Where the caller is meant to overlap with the side stream and to wait later, hand
 * the event over beside the tensor instead, and silence the finding.
 *
 * ## Known limits
 *
 * Where all callers are known, the missing wait is reported at their use instead. Stores into attributes and appends to
 * lists are not looked at.
 */
import { type Rule, theOperation } from './rule.ts';

export const unjoinedOutput: Rule = {
  code: 'unjoined-output',
  title: "A side stream's result is handed over before the caller's stream waits for it",
  severity: 'warning',
  word(hazard, program, names) {
    if (hazard.kind !== 'unjoined') return undefined;
    const tensor = names.block(hazard.block);
    const side = names.stream(hazard.writeStream);
    const receiver = names.stream(hazard.escapeStream);
    const handover = program.steps[hazard.escape];
    const handed = handover?.kind === 'escape' && handover.how === 'yield' ? 'yielded' : 'returned';
    return {
      message:
        `${tensor} is ${handed} before ${theOperation(program, hazard.write)} on ${side} is done: ` +
        `no wait of ${receiver} for ${side} lies between`,
      at: hazard.escape,
      frame: 'statement',
      earlier: hazard.write,
      related: [{ at: hazard.write, message: `${tensor} is written here, on ${side}` }],
    };
  },
};
