/**
 * ## What it does
 *
 * Reports a tensor of an asynchronous collective that is used before the handle's `wait()`. An object that clears a list
 * of handles which hooks or other methods have filled uses their tensors: nobody can wait for them any more.
 *
 * ## What happens on the GPU
 *
 * With `async_op=True` the collective runs on the process group's own stream. `work.wait()` makes the current stream wait
 * for it, on the GPU; until then its tensors are neither complete nor free to be changed.
 *
 * ## Example
 *
 * ```python
 * import torch.distributed as dist
 *
 * def average(grad):
 *     grad = grad.cuda()
 *     work = dist.all_reduce(grad, async_op=True)
 *     grad.div_(dist.get_world_size())
 *     work.wait()
 *     return grad.sum().item()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * import torch.distributed as dist
 *
 * def average(grad):
 *     grad = grad.cuda()
 *     work = dist.all_reduce(grad, async_op=True)
 *     work.wait()
 *     grad.div_(dist.get_world_size())
 *     return grad.sum().item()
 * ```
 *
 * ## Fix safety
 *
 * The inserted `wait()` does not block the host. Waiting twice for one handle is harmless.
 *
 * ## When not to fix it
 *
 * Where every use lies behind a synchronization that is not seen, as in a compiled extension. To wait late is the point
 * of `async_op=True`: put the wait in front of the first use, not behind the call.
 *
 * ## Known limits
 *
 * Collectives that an unknown library starts are not seen.
 */
import { operation, type Rule, theOperation } from './rule.ts';

export const collectiveNotWaited: Rule = {
  code: 'collective-not-waited',
  title: "A collective's tensor is used before its handle is waited for",
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'order' || !program.streams[hazard.firstStream]?.collective) return undefined;
    const { first, second, block } = hazard;
    const tensor = names.block(block);
    return {
      message:
        `${tensor} is used on ${names.stream(hazard.secondStream)} by ${operation(program, second)} before ` +
        `${theOperation(program, first)} on the process group's stream is done: no wait() of its handle lies between`,
      at: second,
      frame: 'statement',
      earlier: first,
      related: [{ at: first, message: `the collective on ${tensor} starts here` }],
    };
  },
};
