/**
 * What things cost in the modelled run: host calls as measured on an H200 machine (nanoseconds a call), device work from
 * its bytes. The figures only have to be of the right order: they decide what overlaps in a picture, never what is a
 * hazard.
 */

export const hostCost = {
  launch: 9000,
  allocate: 4500,
  release: 2400,
  /** More for a block with recorded streams: an event each. */
  releaseRecorded: 1400,
  recordStream: 2000,
  record: 3800,
  wait: 3850,
  hostWait: 3000,
  poll: 1000,
  hostAccess: 2000,
  capture: 20000,
  replay: 8000,
  fork: 60000,
  join: 5000,
} as const;

/** From the end of the host's call to the start of the kernel on an idle stream. */
export const launchLatency = 3000;
/** Between two kernels of one stream. */
export const gap = 300;

const kernelOverhead = 2000;
const copyOverhead = 1500;
/** Bytes a nanosecond: device memory as kernels get it, and PCIe 5 x16. */
const memoryRate = 3000;
const busRate = 50;

export function kernelTime(bytes: number): number {
  return Math.round(kernelOverhead + bytes / memoryRate);
}

export function copyTime(bytes: number, direction: 'h2d' | 'd2h' | 'd2d'): number {
  return Math.round(copyOverhead + bytes / (direction === 'd2d' ? memoryRate / 2 : busRate));
}

/** Bytes of a tensor whose size the source does not tell: large enough that its work lasts longer than its launch. */
export const unknownSize = 16 << 20;
