/**
 * ## What it does
 *
 * Reports a host synchronization while a graph is being captured: `synchronize()`, `.item()`, `.tolist()`, `.cpu()`, a
 * truth test of a CUDA tensor.
 *
 * ## What happens on the GPU
 *
 * Captured work does not run, so there is nothing that the host could wait for: CUDA breaks the capture off ("operation
 * not permitted when stream is capturing").
 *
 * ## Example
 *
 * ```python
 * def captured(x):
 *     x = x.cuda(non_blocking=True)
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         scale = x.abs().max().item()
 *         y = x / scale
 *     return graph, y
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def captured(x):
 *     x = x.cuda(non_blocking=True)
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         scale = x.abs().max()
 *         y = x / scale
 *     return graph, y
 * ```
 *
 * ## Fix safety
 *
 * A `synchronize()` that stands alone is removed. A value read by `item()` stays a tensor on the device, where nothing that
 * follows needs it on the host. Where the program branches on it, it has to say what comes instead.
 *
 * ## When not to fix it
 *
 * Where the line is reached only while nothing is captured, or where the tensor is on the CPU there: then nothing is
 * synchronized.
 *
 * ## Known limits
 *
 * Code behind `torch.cuda.is_current_stream_capturing()` is judged by what that call answers. A tensor that may be on
 * the CPU is not accused.
 */
import type { Rule } from './rule.ts';

export const captureIllegalSync: Rule = {
  code: 'capture-illegal-sync',
  title: 'The host synchronizes inside a graph capture',
  severity: 'error',
  word(hazard, program) {
    if (hazard.kind !== 'capture-illegal-sync') return undefined;
    const before = program.steps[hazard.sync - 1];
    const sync = program.steps[hazard.sync];
    const implicit = sync?.kind === 'hostWait' && sync.implicit === true;
    const reading = implicit && before?.kind === 'launch' ? ` (\`${before.name}\` needs a value of the device)` : '';
    return {
      message:
        `The host waits for the device here${reading} while a graph is being captured: captured work does not run, and ` +
        'CUDA breaks the capture off',
      at: hazard.sync,
      frame: 'statement',
      related: [{ at: hazard.begin, message: 'the capture begins here' }],
    };
  },
};
