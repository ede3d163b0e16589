/** What reading and writing tensors means for host and device: launches, host accesses, the waits that they imply. */
import { DeviceClass, type TensorV } from '../values.ts';
import type { Machine, Selection } from './machine.ts';

export function isHost(tensor: TensorV): boolean {
  return tensor.storage.memory !== 'device';
}

export function selectionFor(m: Machine, tensor: TensorV): Selection {
  return m.current(m.deviceIndexOf(tensor.storage.device));
}

/** The host needs the value: a device tensor makes it wait for the current stream. */
export function hostRead(m: Machine, tensor: TensorV, name: string): void {
  settlePending(m, tensor);
  if (isHost(tensor)) {
    m.hostAccess(name, tensor, false);
    return;
  }
  // A test or a text of it does not say that it is a tensor: statuses and sizes are tested and printed, too.
  if (m.capturing && tensor.storage.guessed && /^(bool|__\w+__)$/.test(name)) return;
  const selection = selectionFor(m, tensor);
  m.launch(name, selection, [tensor], []);
  m.emit({ kind: 'hostWait', on: { kind: 'stream', stream: selection.stream.stream }, implicit: true }, selection);
}

/** A functional collective's result waits at its first use. */
export function settlePending(m: Machine, tensor: TensorV): void {
  m.waitForPending(tensor, m.current());
}

/** Runs an operator: host or device by its operands; gives its new tensor, where it makes one. */
export function operate(
  m: Machine,
  name: string,
  reads: readonly TensorV[],
  writes: readonly TensorV[],
  makes: boolean,
): TensorV | undefined {
  return operateMany(m, name, reads, writes, makes ? 1 : 0)[0];
}

/** The same for an operator that makes `count` new tensors. */
export function operateMany(
  m: Machine,
  name: string,
  reads: readonly TensorV[],
  writes: readonly TensorV[],
  count: number,
): TensorV[] {
  for (const tensor of reads) settlePending(m, tensor);
  const all = [...writes, ...reads];
  const device = all.filter((tensor) => !isHost(tensor));
  // A result in host memory makes it the host's own operator: only copies cross over.
  const byHost = writes.length > 0 && writes.every(isHost) && !/copy/.test(name);
  if (device.length === 0 || byHost) {
    for (const tensor of reads) m.hostAccess(name, tensor, false);
    for (const tensor of writes) m.hostAccess(name, tensor, true);
    return Array.from({ length: count }, () => m.hostTensor(`?${name}`, 'pageable'));
  }
  const first = device[0]!;
  // Operands of one operator are on one device; a number in a tensor of the host may be among them.
  for (const tensor of device.slice(1)) first.storage.device.unite(tensor.storage.device);
  const selection = selectionFor(m, first);
  const result: TensorV[] = [];
  for (let i = 0; i < count; i++) {
    const deviceClass = new DeviceClass();
    deviceClass.unite(first.storage.device);
    const made = m.allocate(`?${name}`, deviceClass, selection);
    made.grads = reads.some((t) => t.grads !== 'no') && m.gradMode ? 'maybe' : 'no';
    if (made.grads !== 'no') made.saved = reads.filter((t) => t.storage !== made.storage);
    made.storage.boolean = givesBooleans(name, reads);
    result.push(made);
  }
  m.launch(name, selection, reads, [...result, ...writes]);
  return result;
}

const comparing =
  /^(?:compare|eq|ne|lt|le|gt|ge|less|less_equal|greater|greater_equal|not_equal|logical_\w+|is(?:nan|inf|finite|posinf|neginf|in|close)|bool)$/;
const keepingType = /^(?:bitwise_\w+|clone|contiguous|flip|roll|cat|stack|expand|repeat)$/;

function givesBooleans(name: string, reads: readonly TensorV[]): boolean {
  if (comparing.test(name)) return true;
  if (name === 'index') return reads[0]!.storage.boolean;
  return keepingType.test(name) && reads.every((tensor) => tensor.storage.boolean);
}
