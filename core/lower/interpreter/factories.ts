/** Tensors made from sizes or values: where they lie, whether making them writes or blocks. */
import type { FactoryKind } from '../../torch/factories.ts';
import { DeviceClass, keyOf, ListV, type TensorV, TupleV, Unknown, type Value } from '../values.ts';
import type { Keywords } from './calls.ts';
import { tensorsIn } from './calls.ts';
import type { Machine } from './machine.ts';
import { isHost, operate } from './memory.ts';
import { flag, tensorOf } from './tensors.ts';
import { deviceTarget } from './transfers.ts';
import { resolved } from './truth.ts';

export function makeTensor(
  m: Machine,
  name: string,
  kind: FactoryKind,
  args: readonly Value[],
  keywords: Keywords,
  like?: TensorV,
): Value {
  const out = keywords.get('out');
  if (out !== undefined && out !== null) {
    const written = tensorOf(m, out);
    if (written) operate(m, name, [], [written], false);
    return out;
  }
  const sample = like ?? (/_like$/.test(name) ? tensorOf(m, args[0]) : undefined);
  const named = keywords.get('device');
  const target = named === undefined || named === null ? undefined : deviceTarget(m, named);
  const pinned = flag(m, keywords.get('pin_memory'), m.frame.node);
  const onHost = target ? target.kind !== 'cuda' : sample ? isHost(sample) : !m.defaultDeviceCuda;
  let made: TensorV;
  if (pinned || onHost) {
    for (const tensor of tensorsIn(m, args)) if (isHost(tensor)) m.hostAccess(name, tensor, false);
    made = m.hostTensor(`?${name}`, pinned ? 'pinned' : 'pageable');
    if (pinned && kind !== 'uninitialized') m.hostAccess(name, made, true);
  } else {
    const device = new DeviceClass();
    if (target) device.unite(target.device);
    else if (sample) device.unite(sample.storage.device);
    else device.prove();
    // Where a stream is selected, the device has streams.
    if (target && m.explicit(target.index ?? m.deviceIndexOf(device))) device.prove();
    const selection = m.current(target?.index ?? m.deviceIndexOf(device));
    made = m.allocate(`?${name}`, device, selection);
    if (kind !== 'uninitialized') m.launch(name, selection, [], [made]);
    if (kind === 'from-host' && !isThere(m, name, args[0] ?? keywords.get('data')))
      m.emit({ kind: 'hostWait', on: { kind: 'stream', stream: selection.stream.stream }, implicit: true }, selection);
  }
  if (/_like$/.test(name) && sample) {
    made.rows = sample.rows;
    made.size = sample.size;
  } else shapeOf(m, name, args, made);
  if (flag(m, keywords.get('requires_grad'), m.frame.node)) made.grads = 'yes';
  return made;
}

/** `as_tensor` uploads nothing that is on the device: what is not known may be, and a capture that works says that it is. */
function isThere(m: Machine, name: string, given: Value | undefined): boolean {
  if (!/^as/.test(name) || given === undefined) return false;
  const value = resolved(m, given);
  if (value instanceof Unknown && !value.tensor) return m.capturing !== undefined && !value.plain;
  const tensor = tensorOf(m, value);
  return tensor !== undefined && !isHost(tensor);
}

function shapeOf(m: Machine, name: string, args: readonly Value[], made: TensorV): void {
  let sizes: readonly Value[] = args;
  if (name === 'randint') {
    const shape = args.find((arg) => arg instanceof TupleV || arg instanceof ListV);
    sizes = shape instanceof TupleV || shape instanceof ListV ? shape.items : [];
  } else if (/^(full|new_full)$/.test(name)) sizes = sizeList(m, args[0]);
  else if (/^(arange|range|linspace|tensor|as_tensor|normal|new_tensor)$/.test(name)) return;
  else if (args[0] instanceof TupleV || args[0] instanceof ListV) sizes = args[0].items;
  // One that is not known may be all of the sizes.
  const [only] = sizes;
  if (sizes === args && args.length === 1 && only instanceof Unknown && !only.plain) return;
  const known = sizes.map((size) => dimension(m, size));
  if (known.length === 0) return;
  made.size = known;
  // Without an element there is no memory that anybody could get too early.
  if (known.includes(0)) made.storage.kept = true;
  if (typeof known[0] === 'number' && known[0] > 0) made.rows = known[0];
}

/** What a tensor is made with as many of is a number, whatever else was known of it. */
function dimension(m: Machine, size: Value): Value {
  if (typeof size === 'number') return size;
  if (size instanceof Unknown && !size.tensor) {
    size.plain = true;
    return size;
  }
  const number = m.deriveUnknown(`size:${keyOf(size)}`, 'size');
  number.plain = true;
  return number;
}

function sizeList(m: Machine, value_: Value | undefined): readonly Value[] {
  const value = value_ === undefined ? null : resolved(m, value_);
  if (value instanceof TupleV || value instanceof ListV) return value.items;
  return typeof value === 'number' ? [value] : [];
}
