/** `DataLoader`: batches on the host, pinned where asked for, fresh each turn. */
import { NativeV, TupleV, type Value } from '../values.ts';
import type { Keywords } from './calls.ts';
import type { Machine } from './machine.ts';
import { flag } from './tensors.ts';

export function makeLoader(m: Machine, args: readonly Value[], keywords: Keywords): Value {
  const loader = m.temp(new NativeV('torch.utils.data.DataLoader'));
  loader.parts = [];
  loader.attributes.set('dataset', args[0] ?? keywords.get('dataset') ?? null);
  loader.attributes.set('…pinned', flag(m, keywords.get('pin_memory'), m.frame.node));
  return loader;
}

export function isLoader(value: Value): value is NativeV {
  return value instanceof NativeV && value.path === 'torch.utils.data.DataLoader';
}

/** A batch: a pair of tensors, which is what most datasets give; it serves as one tensor as well. */
export function loaderBatch(m: Machine, loader: NativeV): Value {
  const memory = loader.attributes.get('…pinned') === true ? 'pinned' : 'pageable';
  const first = m.hostTensor('?batch', memory);
  const second = m.hostTensor('?batch', memory);
  return m.temp(new TupleV([first, second]));
}
