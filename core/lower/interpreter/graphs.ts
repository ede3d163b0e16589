/** CUDA graphs: capture and replay. */
import type { Node } from '../../python/ast.ts';
import { ContextV, GraphV, Unknown, type Value } from '../values.ts';
import { type Keywords, unknownCall } from './calls.ts';
import type { Machine } from './machine.ts';
import { selectStream, streamOf } from './streams.ts';

export function graphCall(m: Machine, name: string, args: readonly Value[], keywords: Keywords, _node: Node): Value {
  if (name === 'CUDAGraph') return m.temp(new GraphV(m.builder.newGraph()));
  if (name === 'graph_pool_handle') return new Unknown(name, 'result');
  // make_graphed_callables gives back callables that do what those given do.
  if (name === 'make_graphed_callables') {
    m.hostWaitDevice(m.device, true);
    return args[0] ?? null;
  }
  return unknownCall(m, name, args, keywords);
}

function begin(m: Machine, graph: GraphV, stream: import('../values.ts').StreamV): void {
  m.capturing = { graph: graph.graph, stream };
  m.emit({ kind: 'captureBegin', graph: graph.graph, stream: stream.stream });
}

function end(m: Machine, graph: GraphV): void {
  if (!m.capturing) return;
  m.emit({ kind: 'captureEnd', graph: graph.graph });
  m.capturing = undefined;
  graph.captured = true;
}

/** `with torch.cuda.graph(g):` waits for the device, and captures on a stream of its own. */
export function graphContext(m: Machine, args: readonly Value[], keywords: Keywords, _node: Node): Value {
  const graph = args[0] ?? keywords.get('cuda_graph') ?? null;
  const named = keywords.get('stream') ?? args[2];
  let restore: (() => void) | undefined;
  return m.temp(
    new ContextV(() => {
      if (!(graph instanceof GraphV)) return null;
      m.hostWaitDevice(m.device, true);
      const stream = (named === undefined ? undefined : streamOf(m, named)) ?? m.captureStream();
      restore = selectStream(m, stream);
      begin(m, graph, stream);
      return null;
    }, () => {
      if (!(graph instanceof GraphV)) return;
      end(m, graph);
      restore?.();
    }, [graph]),
  );
}

export function graphMethod(
  m: Machine,
  self: GraphV,
  name: string,
  _args: readonly Value[],
  _keywords: Keywords,
  _node: Node,
): Value {
  switch (name) {
    case 'replay': {
      const selection = m.current();
      m.emit({ kind: 'replay', graph: self.graph, stream: selection.stream.stream }, selection);
      return null;
    }
    case 'capture_begin':
      begin(m, self, m.current().stream);
      return null;
    case 'capture_end':
      end(m, self);
      return null;
    case 'reset':
    case 'enable_debug_mode':
    case 'debug_dump':
      return null;
  }
  return new Unknown(name, 'result');
}
