/**
 * Calls of what is not of the workspace, by dotted path: torch, and the parts of Python's library that matter to
 * references and control. What is in no table is unknown.
 */
import type { Node } from '../../python/ast.ts';
import { collectivePath } from '../../torch/collectives.ts';
import {
  anyDevice,
  asksForCuda,
  asksForOther,
  deviceFunction,
  givesDeviceFunctions,
} from '../../torch/deviceModules.ts';
import { factoryKind } from '../../torch/factories.ts';
import { wrapperAt } from '../../torch/modules.ts';
import { parsesVersion } from '../../torch/versions.ts';
import {
  isBlocking,
  isBlockingTensor,
  isComputing,
  isInPlace,
  isListing,
  isMetadata,
  isOverwriting,
  isSplitting,
  isViewing,
  operatorName,
} from '../../torch/operators.ts';
import {
  DeviceClass,
  DeviceV,
  GraphV,
  NativeV,
  type StreamV,
  TensorV,
  TupleV,
  Unknown,
  type Value,
  ContextV,
} from '../values.ts';
import { runBackwardFunction, applyFunction } from './autograd.ts';
import { builtinCall, isBuiltin } from './builtins.ts';
import { call, type Keywords, layout, tellsLayout, tensorsIn, unknownCall } from './calls.ts';
import { collective, futuresTogether } from './collectives.ts';
import { plainContext } from './contexts.ts';
import { makeTensor } from './factories.ts';
import { graphCall, graphContext, graphMethod } from './graphs.ts';
import { atEndOfBackward, registerHook, registerSavedTensorsHooks } from './hooks.ts';
import { libraryCall } from './library.ts';
import { itemsOf } from './iteration.ts';
import { makeLoader } from './loaders.ts';
import { drained } from './lazy.ts';
import type { Machine } from './machine.ts';
import { hostRead, isHost, operate } from './memory.ts';
import { external } from './modules.ts';
import { makeModule, makeOptimizer } from './modulesOfTorch.ts';
import { deviceIndexOf, proveDevice, selectStream, streamContext, streamOf } from './streams.ts';
import {
  computeFunction,
  flag,
  foreachFunction,
  swapTensors,
  tensorAttribute,
  tensorMethod,
  tensorOf,
  view,
} from './tensors.ts';
import { deviceTarget } from './transfers.ts';
import { resolved } from './truth.ts';
import { parsedVersion, versionAt } from './versions.ts';

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

export function callExternal(m: Machine, path: string, args_: readonly Value[], keywords: Keywords, node: Node): Value {
  const args = path.startsWith('torch.') ? drained(m, args_) : args_;
  const ofDevice = deviceFunction(path);
  // What is judged here runs on CUDA.
  if (asksForOther(path)) return m.decide(`available:${path}`, false, node);
  if (asksForCuda(path) && args.length === 0) return true;
  if (ofDevice !== undefined) {
    const result = deviceCall(m, ofDevice, args, keywords, node);
    return result === undefined ? unknownCall(m, path, args, keywords) : result;
  }
  const wrapper = wrapperAt(path);
  if (wrapper !== undefined) return makeModule(m, wrapper, args, keywords);
  const distributed = collectivePath(path);
  if (distributed !== undefined) return collective(m, distributed, args, keywords, node);
  if (path.startsWith('torch.')) return torchCall(m, path, args, keywords, node);
  if (givesDeviceFunctions(path)) return external(anyDevice);
  if (!path.includes('.') && isBuiltin(path)) return builtinCall(m, path, args, keywords, node);
  // A decorator call: `@triton.autotune(…)`.
  if (/^triton\.(jit|autotune|heuristics)$/.test(path)) return external('triton.jit');
  if (parsesVersion(path)) {
    const version = parsedVersion(args[0] === undefined ? null : resolved(m, args[0]));
    if (version !== undefined) return version;
  }
  if (path === 'importlib.metadata.version' && args[0] === 'torch') return versionAt(m, 'torch.__version__')!;
  // Also a clock: what stands between two timings has its purpose there.
  m.builder.unseen();
  const known = libraryCall(m, path, args, keywords, node);
  if (known !== undefined) return known;
  if (args.length === 0 && keywords.size === 0 && tellsLayout.test(path)) return layout(m, path, path);
  return unknownCall(m, path, args, keywords);
}

/** An external event orders the world outside of a capture with the graph's replays: nothing that is followed here. */
function makeEvent(m: Machine, timing: Value | undefined, keywords: Keywords, node: Node): Value {
  const external = flag(m, keywords.get('external'), node);
  return m.temp(m.followEvent(m.newEvent('?event', flag(m, timing, node), external)));
}

export function torchCall(m: Machine, path: string, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const name = path.slice('torch.'.length);
  const last = path.slice(path.lastIndexOf('.') + 1);
  switch (name) {
    case 'Stream':
      return makeStream(m, args, keywords);
    case 'Event':
      return makeEvent(m, keywords.get('enable_timing'), keywords, node);
    case 'device': {
      const first = args[0] ?? null;
      const index = typeof args[1] === 'number' ? args[1] : (keywords.get('index') ?? undefined);
      const target = deviceTarget(m, first);
      const value = resolved(m, first);
      if (value instanceof DeviceV) return value;
      if (value instanceof Unknown && target) {
        const hinted = typeof value.hint === 'string' && target.kind !== 'other' ? target.kind : undefined;
        return new DeviceV(hinted, target.index, target.device);
      }
      if (!target) return new DeviceV(undefined, undefined, new DeviceClass());
      if (typeof index === 'number') target.device.prove(index);
      return new DeviceV(
        target.kind === 'other' ? String(first) : target.kind,
        typeof index === 'number' ? index : target.index,
        target.device,
      );
    }
    case 'set_default_device':
      if (deviceTarget(m, args[0])?.kind === 'cuda') m.defaultDeviceCuda = true;
      return null;
    case 'no_grad':
    case 'inference_mode':
    case 'autograd.no_grad':
    case 'autograd.inference_mode':
    case 'set_grad_enabled':
    case 'autograd.set_grad_enabled':
      return gradContext(m, name.endsWith('set_grad_enabled') ? flag(m, args[0], node) : false);
    case 'enable_grad':
    case 'autograd.enable_grad':
      return gradContext(m, true);
    case 'autocast':
    case 'amp.autocast':
    case 'autograd.profiler.record_function':
    case 'profiler.record_function':
    case 'profiler.profile':
    case 'autograd.graph.saved_tensors_hooks':
    case 'autograd.set_detect_anomaly':
    case 'random.fork_rng':
      if (last === 'saved_tensors_hooks')
        registerSavedTensorsHooks(m, args[0] ?? keywords.get('pack_hook'), args[1] ?? keywords.get('unpack_hook'));
      return plainContext(m);
    case 'autograd.graph.register_multi_grad_hook':
      return registerHook(m, args[0] ?? null, last, args.slice(1));
    case '_C._current_autograd_node':
      return m.autogradNode ?? m.temp(new NativeV('torch.autograd.Node'));
    case '_C._current_graph_task_id':
      return m.deriveUnknown('graph task', last);
    case '_C._storage_Use_Count':
      return plain(last);
    case 'autograd.Variable._execution_engine.queue_callback':
    case 'autograd.variable.Variable._execution_engine.queue_callback':
      atEndOfBackward(m, args[0]);
      return null;
    case 'is_tensor':
      return resolved(m, args[0] ?? null) instanceof TensorV
        ? true
        : m.decide(`is_tensor:${idOf(args[0])}`, true, node);
    case 'is_grad_enabled':
      return m.gradMode;
    case 'set_default_dtype':
      m.defaultElements = undefined;
      return null;
    case 'manual_seed':
    case 'set_float32_matmul_precision':
    case 'set_num_threads':
    case '_dynamo.mark_dynamic':
      return null;
    case 'get_num_threads':
    case 'initial_seed':
      return plain(name);
    case 'from_numpy':
    case 'from_dlpack':
    case 'frombuffer': {
      const source = tensorOf(m, args[0]);
      if (source instanceof TensorV && args[0] instanceof TensorV) {
        const tensor = view(m, source);
        tensor.numpy = false;
        return tensor;
      }
      return m.hostTensor('?array', 'pageable');
    }
    case 'save': {
      readAll(m, [args[0] ?? null], 'save');
      return null;
    }
    case 'load':
      return new Unknown('load', 'result');
    case 'compile':
    case 'jit.script':
    case 'jit.trace':
      return args[0] ?? plainDecorator();
    case 'jit.fork':
      return unknownCall(m, path, args, keywords);
    case 'futures.wait_all':
    case 'futures.collect_all':
      return futuresTogether(m, itemsOf(m, args[0] ?? null, node), last) ?? unknownCall(m, path, args, keywords);
    case 'utils.checkpoint.checkpoint': {
      const inner = new Map(keywords);
      for (const key of ['use_reentrant', 'preserve_rng_state', 'context_fn', 'determinism_check', 'debug'])
        inner.delete(key);
      return call(m, args[0] ?? null, args.slice(1), inner, node);
    }
    case 'get_device_module':
      return external(anyDevice);
    case 'utils.data.DataLoader':
      return makeLoader(m, args, keywords);
    case 'autograd.backward':
    case 'autograd.grad':
      return runBackwardFunction(m, name, args, keywords, node);
    case 'broadcast_tensors':
      return m.temp(new TupleV(args.map((arg) => tensorOf(m, arg) ?? arg)));
    case 'utils.data.TensorDataset':
      return m.temp(new NativeV(path));
    case 'Size':
    case 'Generator':
    case 'finfo':
    case 'iinfo':
      return plain(name);
  }
  if (/^(nn\.)?utils\.clip_grad_(norm|value)_$/.test(name)) {
    const parameters = tensorsIn(m, [args[0] ?? keywords.get('parameters') ?? null]);
    const gradients = tensorsIn(
      m,
      parameters.map((parameter) => tensorAttribute(m, parameter, 'grad')),
    );
    if (gradients.length > 0) return operate(m, last, gradients, gradients, true) ?? plain(name);
    return unknownCall(m, path, args, keywords);
  }
  if (name === 'utils.swap_tensors') {
    const [a, b] = [tensorOf(m, args[0]), tensorOf(m, args[1])];
    if (a && b) swapTensors(a, b);
    return null;
  }
  if (/\.Function\.apply$/.test(name)) return applyFunction(m, null, args, keywords, node);
  if (name.startsWith('optim.')) return makeOptimizer(m, path, args, keywords);
  if (/^nn\.(?:modules\.(?:\w+\.)?)?[A-Z]\w*$/.test(name)) return makeModule(m, last, args, keywords);
  if (/^(cuda\.)?amp\.GradScaler$|^amp\.GradScaler$/.test(name)) return m.temp(new NativeV('torch.amp.GradScaler'));
  if (name.startsWith('nn.init.')) {
    const target = tensorOf(m, args[0]);
    if (target) operate(m, last, [], [target], false);
    return args[0] ?? null;
  }
  const factory = factoryKind(name) ?? (name.startsWith('ops.aten.') ? factoryKind(last) : undefined);
  if (factory && !(name === 'normal' && tensorsIn(m, args.slice(0, 1)).length > 0))
    return makeTensor(m, last, factory, args, keywords);
  const operator = operatorName(name);
  return operator === undefined
    ? unknownCall(m, path, args, keywords)
    : operatorCall(m, operator, path, args, keywords, node);
}

/** An operator that is called as a function. */
function operatorCall(
  m: Machine,
  operator: string,
  path: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const name = operator.slice(operator.lastIndexOf('.') + 1);
  const first = args[0] ?? keywords.get('input') ?? keywords.get('self');
  if (/^_(foreach|fused|amp)_/.test(name)) return foreachFunction(m, name, args, keywords);
  if (isSplitting(operator) || isViewing(operator)) {
    const tensor = tensorOf(m, first);
    if (tensor) return tensorMethod(m, tensor, name, args.slice(1), keywords, node);
  }
  if (isMetadata(operator)) return plain(name);
  const inPlace = isInPlace(operator) || (isComputing(operator) && flag(m, keywords.get('inplace'), node));
  if (inPlace) {
    const tensor = tensorOf(m, first);
    if (tensor) {
      const others = tensorsIn(m, [...args.slice(1), ...keywords.values()]).filter((other) => other !== tensor);
      operate(m, name, isOverwriting(name) ? others : [tensor, ...others], [tensor], false);
      return tensor;
    }
  }
  if (isBlocking(operator) && !isBlockingTensor(operator)) {
    const tensor = tensorOf(m, first);
    if (tensor) return tensorMethod(m, tensor, name, args.slice(1), keywords, node);
  }
  if (isComputing(operator) || isListing(operator) || isBlockingTensor(operator))
    return computeFunction(m, operator, args, keywords);
  return unknownCall(m, path, args, keywords);
}

function plainDecorator(): Value {
  return new Unknown('decorator', 'result');
}

function idOf(value: Value | undefined): string {
  return value !== null && typeof value === 'object' ? String(value.id) : String(value);
}

/** The host reads everything that a value holds. */
export function readAll(m: Machine, values: readonly Value[], name: string): void {
  for (const tensor of tensorsIn(m, values)) hostRead(m, tensor, name);
}

function gradContext(m: Machine, enabled: boolean): ContextV {
  let before = m.gradMode;
  return m.temp(
    new ContextV(() => {
      before = m.gradMode;
      m.gradMode = enabled;
      return null;
    }, () => {
      m.gradMode = before;
    }, []),
  );
}

function makeStream(m: Machine, args: readonly Value[], keywords: Keywords): StreamV {
  const device = keywords.get('device') ?? args[0];
  proveDevice(m, device);
  const index = deviceIndexOf(m, device) ?? m.device;
  const priority = keywords.get('priority') ?? args[1] ?? 0;
  const stream = m.newStream('?stream', index);
  const named = device === undefined ? undefined : resolved(m, device);
  // One of several devices, that is: `devices[i]`.
  if (named instanceof Unknown && (named.origin === 'element' || named.name.endsWith(']')))
    m.elsewhere.add(stream.stream);
  if (typeof priority === 'number' && m.before === 0)
    m.builder.streams[stream.stream]!.made = { origin: m.origin(), priority };
  return m.temp(stream);
}

/** A function of a device's module, by its name in there; undefined: unknown. */
export function deviceCall(
  m: Machine,
  name: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value | undefined {
  const device = (): number => deviceIndexOf(m, args[0] ?? keywords.get('device')) ?? m.device;
  switch (name) {
    case 'Stream':
    case 'streams.Stream':
      return makeStream(m, args, keywords);
    case 'ExternalStream': {
      const stream = m.newStream(
        '?external stream',
        deviceIndexOf(m, keywords.get('device') ?? args[1]) ?? m.device,
        true,
      );
      if (resolved(m, args[0] ?? keywords.get('stream_ptr') ?? null) === 0 && m.before === 0)
        m.builder.streams[stream.stream]!.zeroHandle = m.origin();
      return m.temp(stream);
    }
    case 'get_stream_from_external':
      return m.temp(m.newStream('?external stream', 0, true));
    case 'Event':
      return makeEvent(m, args[0] ?? keywords.get('enable_timing'), keywords, node);
    case 'current_stream':
      proveDevice(m, args[0] ?? keywords.get('device'));
      return m.current(device()).stream;
    case 'default_stream':
      proveDevice(m, args[0] ?? keywords.get('device'));
      return m.defaultStream(device());
    case 'stream':
    case 'StreamContext':
    case 'streams.stream':
      return streamContext(m, args[0] ?? keywords.get('stream') ?? null);
    case 'set_stream': {
      const given = args[0] ?? keywords.get('stream');
      const stream = streamOf(m, given);
      if (!stream) return null;
      // One of several devices has it as its current stream then; that of the others stays.
      const kept = given === undefined ? undefined : resolved(m, given);
      const picked = kept instanceof Unknown && (kept.name === 'item' || kept.name.endsWith(']'));
      if (picked || m.elsewhere.has(stream.stream)) return null;
      selectStream(m, stream);
      return null;
    }
    case 'synchronize': {
      const chosen = unknownDevice(m, args[0] ?? keywords.get('device') ?? null);
      const which = chosen ? { chosenDevice: m.numberOf(chosen) } : {};
      m.emit({ kind: 'hostWait', on: { kind: 'device', device: device() }, ...which });
      return null;
    }
    case 'empty_cache':
      // Memory goes back to the driver when nothing runs any more.
      m.emit({ kind: 'hostWait', on: { kind: 'device', device: device() }, implicit: true });
      return null;
    case 'reset_peak_memory_stats':
    case 'manual_seed':
    case 'manual_seed_all':
    case 'init':
    case 'nvtx.range_push':
    case 'nvtx.range_pop':
    case 'nvtx.mark':
    case 'ipc_collect':
    case '_lazy_init':
    case 'set_rng_state':
    case 'reset_accumulated_memory_stats':
      return null;
    case '_sleep':
      m.launch('sleep', m.current(), [], []);
      return null;
    case 'is_available':
    case 'is_initialized':
    case 'is_bf16_supported':
      return true;
    case 'device_count':
      return 8;
    case 'current_accelerator': {
      const accelerator = new DeviceClass();
      accelerator.prove();
      return new DeviceV('cuda', undefined, accelerator);
    }
    case 'device_name':
      return typeof args[0] === 'number' ? `cuda:${args[0]}` : 'cuda';
    case 'current_device_name':
      return 'cuda';
    case 'pin_memory': {
      const tensor = tensorOf(m, args[0]);
      return tensor ? tensorMethod(m, tensor, 'pin_memory', [], new Map(), node) : undefined;
    }
    case 'on_accelerator':
    case 'is_pinned': {
      const tensor = tensorOf(m, args[0]);
      return tensor && isHost(tensor) ? name === 'is_pinned' && tensor.storage.memory === 'pinned' : plain(name);
    }
    case 'is_synchronized_device':
    case 'use_host_timers':
    case 'resolves_data_dependency':
    case 'handles_memory_backpressure':
      // True for a CPU only.
      return false;
    case 'current_device':
    case 'current_device_index':
      return m.device;
    case 'set_device_index':
    case 'set_device': {
      chooseDevice(m, args[0] ?? null);
      return null;
    }
    case 'device':
    case 'device_of':
    case 'device_index':
      return deviceContext(m, args[0] ?? null);
    case 'is_current_stream_capturing':
      return m.capturing !== undefined;
    case 'CUDAGraph':
    // These names are an accelerator object's.
    case 'create_graph':
      return graphCall(m, 'CUDAGraph', args, keywords, node);
    case 'graph':
    case 'capture_to_graph':
      return graphContext(m, args, keywords, node);
    case 'replay_graph':
      return args[0] instanceof GraphV ? graphMethod(m, args[0], 'replay', [], keywords, node) : null;
    case 'make_graphed_callables':
    case 'graph_pool_handle':
      return graphCall(m, name, args, keywords, node);
    case 'get_device_properties':
    case 'get_device_name':
    case 'get_device_capability': {
      // A device stays what it is.
      const property = m.deriveUnknown(`${name}:${device()}`, name);
      property.plain = true;
      return property;
    }
    case 'memory_allocated':
    case 'max_memory_allocated':
    case 'memory_reserved':
    case 'memory_stats':
    case 'mem_get_info':
    case 'get_rng_state':
    case 'memory_summary':
    case 'can_device_access_peer':
    case 'max_memory_reserved':
      return plain(name);
    case 'amp.autocast':
    case 'nvtx.range':
    case 'use_mem_pool':
      return plainContext(m);
    case 'amp.GradScaler':
      return m.temp(new NativeV('torch.amp.GradScaler'));
    case 'comm.broadcast':
      return undefined;
  }
  if (/^(FloatTensor|HalfTensor|LongTensor|IntTensor|DoubleTensor|ByteTensor|BoolTensor|BFloat16Tensor)$/.test(name)) {
    const target = new Map<string, Value>([['device', 'cuda']]);
    return makeTensor(m, 'tensor', 'from-host', args, target);
  }
  return undefined;
}

function deviceContext(m: Machine, value: Value): ContextV {
  let { device, chosenDevice } = m;
  return m.temp(
    new ContextV(() => {
      ({ device, chosenDevice } = m);
      proveDevice(m, value);
      chooseDevice(m, value);
      return null;
    }, () => {
      m.device = device;
      m.chosenDevice = chosenDevice;
    }, [value]),
  );
}

/** Makes a device the current one. None, or no index, leaves the one that is. */
function chooseDevice(m: Machine, value: Value): void {
  const index = value instanceof TensorV ? m.deviceIndexOf(value.storage.device) : deviceIndexOf(m, value);
  const chosen = unknownDevice(m, value);
  if (index !== undefined && index >= 0) m.device = index;
  if (chosen) m.chosenDevice = m.numberOf(chosen);
  else if (index !== undefined && index >= 0) m.chosenDevice = undefined;
}

/** The device that a value names, where nobody knows which one it is. */
function unknownDevice(m: Machine, given: Value): DeviceClass | undefined {
  const value = resolved(m, given);
  if (value instanceof TensorV) return value.storage.device.index === undefined ? value.storage.device : undefined;
  if (value instanceof DeviceV) return value.index === undefined ? value.device : undefined;
  return value instanceof Unknown ? value.device : undefined;
}
