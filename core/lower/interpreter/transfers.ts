/** Copies between host and device, and between devices: `.to`, `.cuda`, `.cpu`, `copy_`. */
import { DeviceClass, DeviceV, ExternalV, TensorV, Unknown, type Value } from '../values.ts';
import type { Keywords } from './calls.ts';
import type { Machine, Selection } from './machine.ts';
import { isHost, operate, selectionFor } from './memory.ts';
import { deviceIndexOf } from './streams.ts';
import { flag, tensorOf, view } from './tensors.ts';
import { resolved } from './truth.ts';

interface Target {
  readonly kind: 'cuda' | 'cpu' | 'other';
  readonly device: DeviceClass;
  readonly index: number | undefined;
}

/** Devices that are named for what is kept away from the GPU. */
const keepsOnHost = /off|cpu|host|stor|stash|pin|cache|back/i;

/** The device that an argument names; undefined where it is no device (a dtype, say). */
export function deviceTarget(m: Machine, value_: Value | undefined): Target | undefined {
  const value = value_ === undefined ? undefined : resolved(m, value_);
  if (typeof value === 'string') {
    const kind = /^(cuda|hip|xpu|npu)/.test(value) ? 'cuda' : value.startsWith('cpu') ? 'cpu' : 'other';
    const device = new DeviceClass();
    const index = deviceIndexOf(m, value);
    if (kind === 'cuda') device.prove(index);
    return { kind, device, index };
  }
  if (typeof value === 'number') {
    const device = new DeviceClass();
    device.prove(value);
    return { kind: 'cuda', device, index: value };
  }
  if (value instanceof DeviceV) {
    const kind = value.type === undefined || value.type === 'cuda' ? 'cuda' : value.type === 'cpu' ? 'cpu' : 'other';
    return { kind, device: value.device, index: value.index };
  }
  if (value instanceof Unknown) {
    if (/dtype/i.test(value.name)) return undefined;
    if (value.tensor) return undefined;
    if (typeof value.hint === 'string') {
      const hinted = deviceTarget(m, value.hint);
      // `device="cpu"` is what is taken where nobody says more; a program that is judged here says CUDA.
      if (hinted?.kind === 'cpu' && /(?:^|[._])device$/i.test(value.name) && !keepsOnHost.test(value.name))
        return { kind: 'cuda', device: value.device, index: undefined };
      if (hinted)
        return { ...hinted, device: hinted.kind === 'cuda' ? united(value.device, hinted.device) : value.device };
    }
    return { kind: 'cuda', device: value.device, index: undefined };
  }
  return undefined;
}

function united(a: DeviceClass, b: DeviceClass): DeviceClass {
  a.unite(b);
  return a;
}

export function transfer(m: Machine, self: TensorV, name: string, args: readonly Value[], keywords: Keywords): TensorV {
  const nonBlocking = flag(
    m,
    keywords.get('non_blocking') ?? (name === 'cuda' ? args[1] : booleanIn(args)),
    m.frame.node,
  );
  let target: Target | undefined;
  let sample: TensorV | undefined;
  if (name === 'cuda') {
    const named = args[0] ?? keywords.get('device');
    target = named === undefined || typeof named === 'boolean' ? undefined : deviceTarget(m, named);
    if (target?.kind !== 'cuda') {
      const device = new DeviceClass();
      device.prove();
      target = { kind: 'cuda', device, index: target?.index };
    } else target.device.prove();
  } else {
    const first = keywords.get('device') ?? args[0];
    target = typeof first === 'boolean' ? undefined : deviceTarget(m, first);
    const like = first === undefined ? undefined : resolved(m, first);
    if (like instanceof TensorV || (like instanceof Unknown && like.tensor)) sample = tensorOf(m, like);
    const other = keywords.get('other');
    if (other !== undefined) sample = tensorOf(m, other);
    if (sample) {
      target = isHost(sample)
        ? { kind: 'cpu', device: sample.storage.device, index: undefined }
        : { kind: 'cuda', device: sample.storage.device, index: undefined };
    }
  }
  const converts = keywords.has('dtype') || (args.length > 1 && args[1] instanceof ExternalV);
  const copies = flag(m, keywords.get('copy'), m.frame.node);
  if (!target) {
    // A conversion of the element type, on the same device.
    return operate(m, 'to', [self], [], true)!;
  }
  if (target.kind === 'cpu') {
    if (isHost(self)) return copies || converts ? operate(m, 'to', [self], [], true)! : self;
    const like = keywords.get('device') ?? args[0];
    const there = m.withoutCuda || sample !== undefined || (like instanceof DeviceV && like.besideHost);
    // Nothing says that it is on the device.
    if (nonBlocking && !self.storage.device.cuda && (there || self.storage.batch)) return view(m, self);
    return download(m, self, nonBlocking);
  }
  if (target.kind === 'other') return operate(m, 'to', [self], [], true)!;
  // Nobody chooses a stream of a device for an asynchronous copy to the host.
  if (nonBlocking && !self.storage.device.cuda && !namesHost(m, keywords.get('device') ?? args[0]))
    if (m.explicit(target.index ?? m.device)) target.device.prove();
  if (isHost(self)) return upload(m, self, target, nonBlocking);
  const known = self.storage.device;
  if (known.cuda) {
    if (target.index !== undefined && known.index !== undefined && target.index !== known.index)
      return acrossDevices(m, self, target);
    if (target.index !== undefined && target.index > 0 && known.index === undefined)
      return acrossDevices(m, self, target);
    if (!copies && !converts) return view(m, self);
    return operate(m, 'to', [self], [], true)!;
  }
  if (known.find() === target.device.find())
    return converts || copies ? operate(m, 'to', [self], [], true)! : view(m, self);
  return upload(m, self, target, nonBlocking);
}

/** `offload_device`: where tensors of the device go. */
export function namesHost(m: Machine, value_: Value | undefined): boolean {
  const value = value_ === undefined ? null : resolved(m, value_);
  return value instanceof Unknown && /offload|host|cpu/i.test(value.name);
}

function booleanIn(args: readonly Value[]): Value | undefined {
  return args.find((arg) => typeof arg === 'boolean');
}

function upload(m: Machine, self: TensorV, target: Target, nonBlocking: boolean): TensorV {
  const device = new DeviceClass();
  device.unite(target.device);
  const selection = m.current(target.index ?? m.deviceIndexOf(device));
  const made = m.allocate('?copy', device, selection);
  made.rows = self.rows;
  made.size = self.size;
  m.launch('copy', selection, [self], [made], 'h2d');
  if (!nonBlocking) blockOn(m, selection);
  return made;
}

function blockOn(m: Machine, selection: Selection): void {
  m.emit({ kind: 'hostWait', on: { kind: 'stream', stream: selection.stream.stream }, implicit: true }, selection);
}

export function download(m: Machine, self: TensorV, nonBlocking: boolean): TensorV {
  if (isHost(self)) return self;
  const selection = selectionFor(m, self);
  if (nonBlocking) {
    self.storage.device.prove();
    const made = m.hostTensor('?host', 'pinned');
    m.launch('copy', selection, [self], [made], 'd2h');
    return made;
  }
  m.launch('copy', selection, [self], [], 'd2h');
  blockOn(m, selection);
  return m.hostTensor('?host', 'pageable');
}

/** The copy waits for the current streams of both devices, and they for it. */
function acrossDevices(m: Machine, self: TensorV, target: Target): TensorV {
  const device = new DeviceClass();
  device.unite(target.device);
  const from = selectionFor(m, self);
  const to = m.current(target.index ?? m.device);
  const made = m.allocate('?copy', device, to);
  link(m, to, from);
  m.launch('copy', from, [self], [made], 'd2d');
  link(m, from, to);
  return made;
}

function link(m: Machine, earlier: Selection, later: Selection): void {
  if (earlier.stream.stream === later.stream.stream) return;
  const event = m.builder.event('copy');
  m.emit({ kind: 'record', event, stream: earlier.stream.stream });
  m.emit({ kind: 'wait', event, stream: later.stream.stream, implicit: true });
}

export function copyInto(m: Machine, self: TensorV, args: readonly Value[], keywords: Keywords): TensorV {
  const given = args[0] ?? keywords.get('src') ?? null;
  const nonBlocking = flag(m, args[1] ?? keywords.get('non_blocking'), m.frame.node);
  const source = tensorOf(m, given);
  if (!source) {
    operate(m, 'copy_', [], [self], false);
    return self;
  }
  if (isHost(self)) {
    if (isHost(source)) {
      m.hostAccess('copy_', source, false);
      m.hostAccess('copy_', self, true);
      return self;
    }
    if (!source.storage.device.cuda && !nonBlocking) {
      // Nothing says that the source is on the device.
      m.hostAccess('copy_', self, true);
      return self;
    }
    if (nonBlocking && self.storage.memory === 'pinned') source.storage.device.prove();
    const selection = selectionFor(m, source);
    m.launch('copy_', selection, [source], [self], 'd2h');
    if (!nonBlocking || self.storage.memory !== 'pinned') blockOn(m, selection);
    return self;
  }
  const selection = selectionFor(m, self);
  if (isHost(source)) {
    m.launch('copy_', selection, [source], [self], 'h2d');
    if (!nonBlocking) blockOn(m, selection);
    return self;
  }
  const a = source.storage.device;
  const b = self.storage.device;
  if (a.cuda && b.cuda && a.index !== undefined && b.index !== undefined && a.index !== b.index) {
    const from = selectionFor(m, source);
    link(m, selection, from);
    m.launch('copy_', from, [source], [self], 'd2d');
    link(m, from, selection);
    return self;
  }
  m.launch('copy_', selection, [source], [self], a.cuda ? 'd2d' : 'h2d');
  if (!nonBlocking && !a.cuda && a.find() !== b.find()) blockOn(m, selection);
  return self;
}
