/**
 * ## What it does
 *
 * Reports a `record_stream` call while a graph is being captured.
 *
 * ## What happens on the GPU
 *
 * It protects nothing: `record_stream` is no part of a graph, so a replay knows nothing of it. During the capture the
 * memory of the block cannot be handed out again, not even after the streams are joined, so that the graph's pool grows.
 * Inside a capture the order of the graph is what keeps memory safe: join the stream before the tensor is dropped.
 *
 * ## Example
 *
 * ```python
 * def captured(x):
 *     side = torch.cuda.Stream()
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         root = torch.cuda.current_stream()
 *         y = x.cuda(non_blocking=True) * 2
 *         side.wait_stream(root)
 *         with torch.cuda.stream(side):
 *             z = y + 1
 *         y.record_stream(side)
 *         root.wait_stream(side)
 *         w = z * 3
 *     return graph, w
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def captured(x):
 *     side = torch.cuda.Stream()
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         root = torch.cuda.current_stream()
 *         y = x.cuda(non_blocking=True) * 2
 *         side.wait_stream(root)
 *         with torch.cuda.stream(side):
 *             z = y + 1
 *         root.wait_stream(side)
 *         w = z * 3
 *     return graph, w
 * ```
 *
 * ## Fix safety
 *
 * The call is removed where the analysis finds nothing new without it.
 *
 * ## When not to fix it
 *
 * Where the same code also runs without a capture, the call is needed there: put it behind `if not
 * torch.cuda.is_current_stream_capturing():` instead of taking it away.
 *
 * ## Known limits
 *
 * Code behind `torch.cuda.is_current_stream_capturing()` is judged by what that call answers.
 */
import type { Rule } from './rule.ts';

export const captureRecordStream: Rule = {
  code: 'capture-record-stream',
  title: 'record_stream is called inside a graph capture',
  severity: 'warning',
  word(hazard, _program, names) {
    if (hazard.kind !== 'capture-record-stream') return undefined;
    return {
      message:
        `${names.block(hazard.block)} is given to record_stream while a graph is being captured: replays know nothing of it, and ` +
        'until the capture ends the memory cannot be handed out again',
      at: hazard.call,
      frame: 'statement',
      related: [{ at: hazard.begin, message: 'the capture begins here' }],
    };
  },
};
