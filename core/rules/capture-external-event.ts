/**
 * ## What it does
 *
 * Reports a wait for an event on the other side of a graph capture's border: recorded outside and waited for inside, or
 * recorded inside and waited for outside.
 *
 * ## What happens on the GPU
 *
 * Inside a capture an event is an edge of the graph, outside it is a point in a stream; neither can stand for the other.
 * A wait inside for an event from outside breaks the capture ("dependency created on uncaptured work in another
 * stream"); a captured event is not recorded by a replay, and to wait for it outside is an error.
 *
 * ## Example
 *
 * ```python
 * def captured(host):
 *     copies = torch.cuda.Stream()
 *     loaded = torch.cuda.Event()
 *     with torch.cuda.stream(copies):
 *         w = host.to("cuda", non_blocking=True)
 *         loaded.record(copies)
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         torch.cuda.current_stream().wait_event(loaded)
 *         y = w * 2
 *     torch.cuda.synchronize()
 *     return graph, y
 * ```
 *
 * ## Use instead
 *
 * ```python
 * def captured(host):
 *     copies = torch.cuda.Stream()
 *     loaded = torch.cuda.Event()
 *     with torch.cuda.stream(copies):
 *         w = host.to("cuda", non_blocking=True)
 *         loaded.record(copies)
 *     torch.cuda.current_stream().wait_event(loaded)
 *     graph = torch.cuda.CUDAGraph()
 *     with torch.cuda.graph(graph):
 *         y = w * 2
 *     torch.cuda.synchronize()
 *     return graph, y
 * ```
 *
 * ## Fix safety
 *
 * The wait moves in front of the capture, or the record behind the replay. It is offered only where the analysis then
 * finds nothing new.
 *
 * ## When not to fix it
 *
 * Where the line is reached only while nothing is captured, behind a test that the analysis cannot read: silence it. In
 * a capture it fails in any case.
 *
 * ## Known limits
 *
 * Events made with `external=True` are meant to cross the border and are not followed.
 */
import type { Rule } from './rule.ts';

export const captureExternalEvent: Rule = {
  code: 'capture-external-event',
  title: 'An event crosses the border of a graph capture',
  severity: 'error',
  word(hazard, program, names) {
    if (hazard.kind !== 'capture-external-event') return undefined;
    const wait = program.steps[hazard.wait];
    const record = program.steps[hazard.record];
    const waiting = wait?.kind === 'wait' ? names.stream(wait.stream) : 'the host';
    const recording = record?.kind === 'record' ? names.stream(record.stream) : 'another stream';
    const own = program.events[hazard.event]?.name === 'wait_stream';
    const message =
      hazard.way === 'into'
        ? own
          ? `${waiting} is being captured and waits for ${recording}, which is no part of the capture: CUDA breaks the ` +
            'capture off'
          : `${waiting} is being captured and waits for ${names.event(hazard.event)}, which was recorded on ${recording} ` +
            'outside of the capture: CUDA breaks the capture off'
        : `${waiting} waits for ${names.event(hazard.event)}, which was recorded inside a graph capture: no replay ` +
          'records it, and the wait is an error';
    const related = own ? [] : [{ at: hazard.record, message: 'recorded here' }];
    return { message, at: hazard.wait, frame: 'statement', related };
  },
};
