/**
 * ## What it does
 *
 * Reports a stream that is forked into a graph capture and whose work the capturing stream does not wait for before the
 * capture ends.
 *
 * ## What happens on the GPU
 *
 * A side stream becomes a part of the capture when it waits for an event that was recorded in it. Unless the capturing
 * stream waits for its work in turn, that work hangs loose at the end: CUDA refuses the graph ("capturing stream has
 * unjoined work").
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
 *         w = y - 1
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
 *         w = y - 1
 *         root.wait_stream(side)
 *     return graph, w
 * ```
 *
 * ## Fix safety
 *
 * The join is put behind the last work of the side stream, inside the capture. It becomes an edge of the graph.
 *
 * ## When not to fix it
 *
 * Never leave it: the capture fails. Where the work of the side stream is not meant to be part of the graph, take the
 * fork out of the capture instead of joining.
 *
 * ## Known limits
 *
 * A stream that is forked and gets no work is not reported: nothing hangs loose.
 */
import { type Rule, theOperation } from './rule.ts';

export const captureUnjoined: Rule = {
  code: 'capture-unjoined',
  title: 'A stream forked into a graph capture is not joined before the capture ends',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'capture-unjoined') return undefined;
    const side = names.stream(hazard.stream);
    const root = names.stream(hazard.captureStream);
    return {
      message:
        `${side} is forked into the graph capture here, but ${root} does not wait for ` +
        `${theOperation(program, hazard.launch)} on it before the capture ends: CUDA refuses a graph with unjoined work`,
      at: hazard.fork,
      frame: 'statement',
      related: [
        { at: hazard.launch, message: `the last work on ${side} that nothing joins` },
        { at: hazard.end, message: 'the capture ends here' },
      ],
    };
  },
};
