/**
 * ## What it does
 *
 * Reports a tensor that is made on a side stream and returned or yielded before the caller's stream has waited for it.
 *
 * ## What happens on the GPU
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
 * The join only adds order on the GPU.
 *
 * ## When not to fix it
 *
 * Where the caller is meant to overlap with the side stream and to wait later: hand an event over beside the tensor,
 * say so in the docstring, and silence the finding.
 *
 * ## Known limits
 *
 * Where all callers are known, the missing wait is reported at their use instead. Stores into attributes and appends to
 * lists are not looked at.
 */
import type { BlockId, StepIndex, StreamId, StreamProgram } from '../program/program.ts';
import { type Names, type Rule, theOperation, type Words } from './rule.ts';

export const unjoinedOutput: Rule = {
  code: 'unjoined-output',
  title: "A side stream's result is handed over before the caller's stream waits for it",
  severity: 'warning',
  word(hazard, program, names) {
    if (hazard.kind !== 'unjoined') return undefined;
    const handover = program.steps[hazard.escape];
    const how = handover?.kind === 'escape' ? handover.how : 'return';
    return unjoinedWords({ ...hazard, receiver: hazard.escapeStream, at: hazard.escape, how }, program, names);
  },
};

export interface Handing {
  readonly block: BlockId;
  readonly write: StepIndex;
  readonly writeStream: StreamId;
  readonly receiver: StreamId;
  readonly how: 'return' | 'yield';
  /** The step that shows it: the hand-over itself, or the use in a known caller. */
  readonly at: StepIndex;
}

export function unjoinedWords(handing: Handing, program: StreamProgram, names: Names): Words {
  const { block, write, writeStream, receiver, how, at } = handing;
  const tensor = names.block(block);
  const side = names.stream(writeStream);
  return {
    message:
      `${tensor} is ${how === 'yield' ? 'yielded' : 'returned'} before ${theOperation(program, write)} on ${side} is ` +
      `done: no wait of ${names.stream(receiver)} for ${side} lies between`,
    at,
    frame: 'statement',
    earlier: write,
    related: [{ at: write, message: `${tensor} is written here, on ${side}` }],
  };
}
