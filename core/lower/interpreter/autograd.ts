/** Backward, and custom autograd Functions. */
import type { Node } from '../../python/ast.ts';
import {
  BoundMethodV,
  ClassV,
  FunctionV,
  StaticMethodV,
  type TensorV,
  Unknown,
  type Value,
  InstanceV,
  ListV,
  TupleV,
} from '../values.ts';
import { call, type Keywords, tensorsIn, unknownCall } from './calls.ts';
import { lookup } from './classes.ts';
import type { Machine } from './machine.ts';
import { selectionFor } from './memory.ts';

/** `loss.backward()` is one operation on the caller's current stream; it reads the loss and makes gradients. */
export function runBackward(m: Machine, loss: TensorV, _node: Node): void {
  const selection = selectionFor(m, loss);
  m.launch('backward', selection, [loss], []);
}

export function runBackwardFunction(
  m: Machine,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  for (const tensor of tensorsIn(m, args.slice(0, 1))) runBackward(m, tensor, node);
  if (name.endsWith('.grad')) return new Unknown('grad', 'result');
  void keywords;
  return null;
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
  const context = m.temp(new InstanceV(contextClass()));
  context.open = true;
  return call(m, target, [context, ...args], keywords, node);
}

function contextClass(): ClassV {
  return new ClassV('FunctionCtx', undefined, [], undefined);
}

export { BoundMethodV, ListV, TupleV };
