import { expect, it } from 'vitest';
import {
  asksForOther,
  choosesDevice,
  deviceFunction,
  givesDeviceFunctions,
  namedLikeDevice,
} from '../../../core/torch/deviceModules.ts';

it.each([
  ['torch.cuda.Stream', 'Stream'],
  ['torch.cuda.nvtx.range_push', 'nvtx.range_push'],
  ['torch.accelerator.current_stream', 'current_stream'],
  ['torch.xpu.synchronize', 'synchronize'],
  ['torch_npu.npu.Stream', 'Stream'],
  ['torch.Stream', undefined],
  ['torch.mps.synchronize', undefined],
  ['cupy.cuda.Stream', undefined],
  ['torch.cuda', undefined],
])('%s', (path, name) => {
  expect(deviceFunction(path)).toBe(name);
});

it('an accelerator object has the functions of the device', () => {
  expect(givesDeviceFunctions('deepspeed.accelerator.get_accelerator')).toBe(true);
  expect(givesDeviceFunctions('get_accelerator')).toBe(true);
  expect(givesDeviceFunctions('get_accelerators')).toBe(false);
  expect(choosesDevice('deepspeed.accelerator.real_accelerator')).toBe(true);
  expect(choosesDevice('train')).toBe(false);
});

it('events of threads and processes are no device events', () => {
  expect(namedLikeDevice('self.device_handle')).toBe(true);
  expect(namedLikeDevice('context')).toBe(false);
  expect(namedLikeDevice('multiprocessing')).toBe(false);
});

it('whether there is another device than CUDA', () => {
  for (const path of ['torch.xpu.is_available', 'torch.backends.mps.is_available', 'torch_npu.npu.is_available'])
    expect(asksForOther(path)).toBe(true);
  for (const path of ['torch.cuda.is_available', 'torch.accelerator.is_available', 'torch.xpu.synchronize'])
    expect(asksForOther(path)).toBe(false);
});
