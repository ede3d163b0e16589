/**
 * Under which names programs reach the functions of a device: `torch.cuda`, the modules of other devices, the generic
 * `torch.accelerator`, and the wrappers that libraries put around them. They all have the same streams and events. Knows
 * dotted names only.
 */

const torchModule = /^torch\.(?:cuda|xpu|npu|mtia|accelerator|musa|hpu|mlu|maia|gcu|sdaa)\.(.+)$/;
/** Packages that bring the module of their device themselves. */
const vendorModule =
  /^(?:torch_npu\.npu|torch_musa|torch_mlu\.mlu|intel_extension_for_pytorch\.xpu|ipex\.xpu|habana_frameworks\.torch\.(?:hpu|core))\.(.+)$/;

/** `Stream` of `torch.cuda.Stream`, `torch_npu.npu.Stream`; undefined where the path names no module of a device. */
export function deviceFunction(path: string): string | undefined {
  return (torchModule.exec(path) ?? vendorModule.exec(path))?.[1];
}

/** `torch.xpu.is_available`: whether there is a device other than CUDA's. */
export function asksForOther(path: string): boolean {
  if (/^torch\.backends\.mps\.is_(?:available|built)$|^torch\.mps\.is_available$/.test(path)) return true;
  return deviceFunction(path) === 'is_available' && !/^torch\.(?:cuda|accelerator)\./.test(path);
}

/** `platform.is_cuda_alike()`: whether the device is CUDA. */
export function asksForCuda(path: string): boolean {
  return /(?:^|\.)is_cuda(?:_alike|_available)?$/.test(path);
}

/** The path under which a device's functions are known where a program does not say which device it is. */
export const anyDevice = 'torch.accelerator';

/** `get_accelerator()`, as DeepSpeed and those who follow it have it: an object with the functions of the device. */
export function givesDeviceFunctions(path: string): boolean {
  return /(?:^|\.)(?:get_accelerator|auto_set_accelerator)$/.test(path);
}

/** A module that defines `get_accelerator` picks one of several devices: `deepspeed.accelerator.real_accelerator`. */
export function choosesDevice(module: string): boolean {
  return /(?:^|\.)\w*accelerator\w*(?:\.|$)/.test(module);
}

/** What a receiver is called that may well be the module of a device. */
export function namedLikeDevice(name: string): boolean {
  return /device|accel|cuda|xpu|npu|torch|backend|platform/i.test(name);
}
