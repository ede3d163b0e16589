/**
 * ## What it does
 *
 * Reports a `backward` of a custom autograd Function that uses a stream of its own without an order to the stream that it
 * was called on.
 *
 * ## What happens on the GPU
 *
 * Autograd runs `backward` on the stream of the matching `forward`, makes that stream wait for the incoming gradients, and
 * expects the returned ones to be ready on it. What the method does on another stream in between is its own business: it
 * must fork and join, exactly as `forward` must.
 *
 * ## Example
 *
 * ```python
 * lane = torch.cuda.Stream()
 *
 * class Scale(torch.autograd.Function):
 *     @staticmethod
 *     def forward(ctx, x):
 *         return x * 2
 *
 *     @staticmethod
 *     def backward(ctx, grad):
 *         current = torch.cuda.current_stream()
 *         with torch.cuda.stream(lane):
 *             out = grad * 2
 *         current.wait_stream(lane)
 *         out.record_stream(current)
 *         return out
 *
 * def train():
 *     x = torch.randn(1024, device="cuda", requires_grad=True)
 *     Scale.apply(x).sum().backward()
 *     torch.cuda.synchronize()
 * ```
 *
 * ## Use instead
 *
 * ```python
 * lane = torch.cuda.Stream()
 *
 * class Scale(torch.autograd.Function):
 *     @staticmethod
 *     def forward(ctx, x):
 *         return x * 2
 *
 *     @staticmethod
 *     def backward(ctx, grad):
 *         current = torch.cuda.current_stream()
 *         lane.wait_stream(current)
 *         with torch.cuda.stream(lane):
 *             out = grad * 2
 *         current.wait_stream(lane)
 *         out.record_stream(current)
 *         return out
 *
 * def train():
 *     x = torch.randn(1024, device="cuda", requires_grad=True)
 *     Scale.apply(x).sum().backward()
 *     torch.cuda.synchronize()
 * ```
 *
 * ## Fix safety
 *
 * The inserted wait only adds order on the GPU.
 *
 * ## When not to fix it
 *
 * Where an extension that the method calls makes the order itself, with events that Python does not see: silence the
 * line and name it. Do not replace the waits by `torch.cuda.synchronize()`: that stops the host in the middle of the
 * backward pass.
 *
 * ## Known limits
 *
 * A Function that nobody applies is judged by itself, with gradients that are ready on the current stream.
 */
import type { Rule } from './rule.ts';

/** Worded as the missing order that it is; which one it is depends on where it stands, which report.ts knows. */
export const backwardMissingSync: Rule = {
  code: 'backward-missing-sync',
  title: "A custom Function's backward uses a stream without ordering it",
  severity: 'error',
  word: () => undefined,
};
