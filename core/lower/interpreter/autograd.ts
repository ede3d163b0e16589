/** Backward, and custom autograd Functions, whose backward runs on the stream of their forward. */
import type { Node } from '../../python/ast.ts';
import {
  ClassV,
  DeviceClass,
  FunctionV,
  InstanceV,
  StaticMethodV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { call, type Keywords, tensorsIn, unknownCall } from './calls.ts';
import { lookup } from './classes.ts';
import { Raised } from './frame.ts';
import { runGradientHooks } from './hooks.ts';
import type { Machine, Selection } from './machine.ts';
import { selectionFor } from './memory.ts';

/** One application of a custom Function, until its backward ran. */
export interface FunctionNode {
  readonly cls: ClassV;
  readonly context: InstanceV;
  readonly outputs: number;
  readonly device: DeviceClass;
  readonly selection: Selection;
  readonly inputs: readonly Value[];
}

/** `loss.backward()` is one operation on the caller's current stream; it reads the loss and makes gradients. */
export function runBackward(m: Machine, loss: TensorV, node: Node): void {
  const selection = selectionFor(m, loss);
  m.launch('backward', selection, [loss], []);
  const nodes = m.functionNodes.splice(0);
  for (const applied of nodes.reverse()) backwardOf(m, applied, node);
  runGradientHooks(m);
}

function backwardOf(m: Machine, applied: FunctionNode, node: Node): void {
  const found = lookup(applied.cls, 'backward');
  const target = found instanceof StaticMethodV ? found.target : found;
  if (!(target instanceof FunctionV)) return;
  const device = m.deviceIndexOf(applied.device);
  const before = m.current(device);
  const grad = m.gradMode;
  // The engine makes the forward's stream current, and gradients ready on it.
  m.currents.set(device, { ...applied.selection });
  m.gradMode = false;
  const grads: Value[] = [];
  for (let i = 0; i < applied.outputs; i++) {
    const gradient = m.allocate('?grad', applied.device, applied.selection);
    m.launch('grad', applied.selection, [], [gradient]);
    grads.push(gradient);
  }
  // Streams that the forward was given are the caller's to order after the gradients.
  for (const stream of m.givenStreams) {
    const event = m.builder.event('backward', true);
    m.emit({ kind: 'record', event, stream: applied.selection.stream.stream });
    m.emit({ kind: 'wait', event, stream: stream.stream, implicit: true });
  }
  try {
    const result = call(m, target, [applied.context, ...grads], new Map(), node);
    const gradients = result instanceof TupleV ? result.items : [result];
    for (const [i, gradient] of gradients.entries()) {
      const input = applied.inputs[i];
      if (gradient instanceof TensorV && input instanceof TensorV) {
        // Accumulation reads it on the forward's stream.
        m.launch('accumulate', applied.selection, [gradient], []);
        input.grad = gradient;
      }
    }
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
  } finally {
    m.currents.set(device, before);
    m.gradMode = grad;
  }
  // The caller's current stream waits for the leaf streams.
  if (before.stream.stream !== applied.selection.stream.stream) {
    const event = m.builder.event('backward');
    m.emit({ kind: 'record', event, stream: applied.selection.stream.stream });
    m.emit({ kind: 'wait', event, stream: before.stream.stream, implicit: true });
  }
}

export function runBackwardFunction(
  m: Machine,
  name: string,
  args: readonly Value[],
  _keywords: Keywords,
  node: Node,
): Value {
  for (const tensor of tensorsIn(m, args.slice(0, 1))) runBackward(m, tensor, node);
  return name.endsWith('.grad') ? new Unknown('grad', 'result') : null;
}

/** `Function.apply` of a class of the program: its forward runs with a context. */
export function applyFunction(
  m: Machine,
  cls: ClassV | null,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const forward = cls ? lookup(cls, 'forward') : undefined;
  const target = forward instanceof StaticMethodV ? forward.target : forward;
  if (!cls || !(target instanceof FunctionV)) return unknownCall(m, 'apply', args, keywords);
  const context = m.temp(new InstanceV(new ClassV('FunctionCtx', undefined, [], undefined)));
  context.open = true;
  const tensors = tensorsIn(m, args);
  const device = tensors[0]?.storage.device ?? new DeviceClass();
  const selection = { ...m.current(m.deviceIndexOf(device)) };
  const grad = m.gradMode;
  m.gradMode = false;
  const result = call(m, target, [context, ...args], keywords, node);
  m.gradMode = grad;
  const outputs = result instanceof TupleV ? result.items.length : 1;
  if (grad && m.before === 0) m.functionNodes.push({ cls, context, outputs, device, selection, inputs: args });
  return result;
}

/** What `ctx` does: it keeps tensors for the backward. */
export function contextMethod(m: Machine, self: InstanceV, name: string, args: readonly Value[]): Value | undefined {
  if (self.cls.name !== 'FunctionCtx') return undefined;
  if (name === 'save_for_backward') {
    self.attributes.set('saved_tensors', m.temp(new TupleV([...args])));
    return null;
  }
  if (/^(mark_dirty|mark_non_differentiable|set_materialize_grads|needs_input_grad)$/.test(name)) return null;
  return undefined;
}
