/** `tensor[index]`, read and written: which part of the memory it is, whether it is a copy, what the host waits for on the way. */
import { ExternalV, isObj, keyOf, ListV, SliceV, TensorV, TupleV, Unknown, type Value } from '../values.ts';
import { tensorsIn } from './calls.ts';
import type { Machine } from './machine.ts';
import { hostRead, isHost, operate } from './memory.ts';
import { view } from './tensors.ts';
import { resolved } from './truth.ts';

/** Leading units that an index of a dimension of unknown length is counted in. */
const assumedRows = 1024;

function unitsOf(base: TensorV): { readonly unit: number; readonly rows: number } {
  const rows = base.rows ?? assumedRows;
  return { unit: (base.end - base.start) / rows, rows };
}

export function getTensorItem(m: Machine, self: TensorV, index_: Value): TensorV | Value {
  const index = resolved(m, index_);
  if (self.fields && typeof index === 'number' && self.fields[index]) return self.fields[index];
  // What has names for its items is a dictionary after all.
  if (typeof index === 'string') return m.deriveUnknown(`named:${self.storage.id}:${index}`, index);
  readPlaces(m, self, index);
  indexOnHost(m, self, index);
  // One index tensor or mask among others makes it a copy.
  const items = index instanceof TupleV ? index.items : [index];
  const tensors = items.flatMap((item) => indexTensor(m, item)).filter((tensor) => !isPlaceOnHost(self, tensor));
  if (tensors.length > 0 || isPickedByList(index) || isMask(index))
    return operate(m, 'index', [self, ...tensors], [], true)!;
  return indexView(m, self, index);
}

/** A place that the device computes: the host needs its number. */
export function readIndex(m: Machine, value_: Value): void {
  const value = resolved(m, value_);
  // What an unknown callee gives, or takes, may be a number after all.
  const taken =
    value instanceof Unknown && value.tensor?.storage.device.cuda && !m.capturing ? value.tensor : undefined;
  const tensor = value instanceof TensorV ? value : taken;
  if (tensor && !tensor.storage.guessed && !isHost(tensor)) hostRead(m, tensor, '__index__');
}

/** The bounds of slices, whatever it is that is sliced. */
export function readBounds(m: Machine, index: Value): void {
  for (const item of index instanceof TupleV ? index.items : [index]) {
    const part = resolved(m, item);
    if (part instanceof SliceV) for (const bound of [part.lower, part.upper, part.step]) readIndex(m, bound);
  }
}

function readPlaces(m: Machine, self: TensorV, index: Value): void {
  readBounds(m, index);
  for (const item of index instanceof TupleV ? index.items : [index])
    for (const tensor of indexTensor(m, item)) if (isPlaceOnHost(self, tensor)) readIndex(m, tensor);
}

/** What lies on the host is indexed by one number of the device's at most. */
function isPlaceOnHost(self: TensorV, index: TensorV): boolean {
  return isHost(self) && !isHost(index) && index.storage.device.cuda;
}

/**
 * What an index makes the host wait for besides: how many elements a mask picks, the copy of an index of the host's to the
 * device.
 */
function indexOnHost(m: Machine, self: TensorV, index: Value): void {
  if (isHost(self)) return;
  for (const item of index instanceof TupleV ? index.items : [index]) {
    const value = resolved(m, item);
    const tensor = indexTensor(m, value)[0];
    // What an unknown callee gives may be a number after all, which no capture minds.
    if (tensor && !(m.capturing && tensor.storage.guessed)) {
      if (isHost(tensor)) hostRead(m, self, 'index');
      else if (tensor.storage.boolean) hostRead(m, tensor, 'nonzero');
    } else if (isPickedByList(value)) hostRead(m, self, 'index');
    else if (isMask(value)) maskUnknown(m);
  }
}

export function isMask(index: Value): boolean {
  return index instanceof Unknown && index.mask;
}

/** A mask of which nobody knows whose it is: a tensor's makes the host wait, which no capture is accused of here. */
export function maskUnknown(m: Machine): void {
  if (!m.capturing) m.hostWaitStream(m.current().stream.stream, true);
}

function isPickedByList(index: Value): boolean {
  return index instanceof ListV && index.items.length > 0 && index.items.every((item) => typeof item === 'number');
}

function indexTensor(m: Machine, item: Value): TensorV[] {
  const value = resolved(m, item);
  if (value instanceof TensorV) return [value];
  return value instanceof Unknown && value.tensor ? [value.tensor] : [];
}

function indexView(m: Machine, self: TensorV, index: Value): TensorV {
  if (index instanceof TupleV && index.items.length > 1) {
    const lead = resolved(m, index.items[0]!);
    const all = lead instanceof SliceV ? lead.lower === null && lead.upper === null : lead instanceof ExternalV;
    // A part of an inner dimension: bytes between those of other parts.
    if (all && index.items.slice(1).some((item) => !isFullSlice(m, item)))
      return slotOf(m, self, index.items.map((item) => partKey(m, item)).join());
  }
  const first = index instanceof TupleV ? resolved(m, index.items[0] ?? null) : index;
  const { unit, rows } = unitsOf(self);
  if (typeof first === 'number') {
    const at = first < 0 ? rows + first : first;
    if (at < 0 || at >= rows) return view(m, self);
    return view(m, self, self.start + at * unit, self.start + (at + 1) * unit);
  }
  if (first instanceof SliceV) {
    const lower = first.lower === null ? 0 : first.lower;
    const upper = first.upper === null ? rows : first.upper;
    if (typeof lower === 'number' && typeof upper === 'number') {
      const from = lower < 0 ? rows + lower : Math.min(lower, rows);
      const to = upper < 0 ? rows + upper : Math.min(upper, rows);
      if (from === 0 && to === rows) return view(m, self);
      if (to > from) {
        const part = view(m, self, self.start + from * unit, self.start + to * unit);
        part.rows = self.rows === undefined ? undefined : to - from;
        return part;
      }
      return view(m, self);
    }
    const slot = slotOf(m, self, `${sliceKey(first.lower)}:${sliceKey(first.upper)}`);
    return slot;
  }
  if (first instanceof Unknown) return slotOf(m, self, keyOf(first));
  return view(m, self);
}

function isFullSlice(m: Machine, item: Value): boolean {
  const value = resolved(m, item);
  return (
    value === null || (value instanceof SliceV && value.lower === null && value.upper === null && value.step === null)
  );
}

function partKey(m: Machine, item: Value): string {
  const value = resolved(m, item);
  if (value instanceof SliceV) return `${sliceKey(value.lower)}:${sliceKey(value.upper)}:${sliceKey(value.step)}`;
  return sliceKey(value);
}

function sliceKey(value: Value): string {
  return value === null ? '' : isObj(value) ? keyOf(value) : String(value);
}

/** Places that are not known are different places, each with its own part of the upper half. */
function slotOf(m: Machine, self: TensorV, key: string): TensorV {
  const name = `slot:${self.storage.id}:${self.start}:${self.end}`;
  let order = m.indexOrder.get(name);
  if (!order) {
    order = new Map();
    m.indexOrder.set(name, order);
  }
  let place = order.get(key);
  if (place === undefined) {
    place = order.size;
    order.set(key, place);
  }
  const half = (self.end - self.start) / 2;
  const unit = half / 512;
  const start = self.start + half + (place % 512) * unit;
  return view(m, self, start, start + unit);
}

export function setTensorItem(m: Machine, self: TensorV, index_: Value, value: Value): void {
  const index = resolved(m, index_);
  readPlaces(m, self, index);
  const part = indexView(m, self, index);
  const reads = tensorsIn(m, [value]);
  // A number is filled in where a mask is true; where elements of a tensor go is counted out.
  if (reads.some((tensor) => !isHost(tensor))) indexOnHost(m, self, index);
  if (index instanceof TensorV) reads.push(index);
  if (isHost(part) || reads.some((t) => isHost(t) && t.storage.memory === 'pinned') === false) {
    operate(m, 'setitem', isHost(part) ? reads.filter(isHost) : reads, [part], false);
    if (isHost(part)) for (const t of reads) if (!isHost(t)) hostRead(m, t, 'setitem');
    return;
  }
  operate(m, 'setitem', reads, [part], false);
}

/** `narrow` and `select` of the first dimension. */
export function narrowed(m: Machine, self: TensorV, name: string, args: readonly Value[]): TensorV {
  if (args[0] !== 0) return view(m, self);
  const start = args[1] ?? null;
  if (name === 'select') return indexView(m, self, start);
  const length = args[2] ?? null;
  if (typeof start === 'number' && typeof length === 'number') {
    return indexView(m, self, new SliceV(start, start + length, null));
  }
  return slotOf(m, self, `${sliceKey(start)}+${sliceKey(length)}`);
}
