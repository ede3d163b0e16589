/**
 * Stands in for the judge in tests of the panel: the two findings of the invented scene, so that what is drawn does not
 * change with the engine's wording.
 */
import type { Trace, TraceHazard } from '../../core/trace/trace.ts';
import { scene } from './synthetic.ts';

export function judgeTrace(trace: Trace): readonly TraceHazard[] {
  const named = (name: string, nth: number): number => {
    let seen = 0;
    for (let i = 0; i < trace.deviceSlices.length; i++)
      if (trace.strings[trace.deviceSlices.name[i]!] === name && seen++ === nth) return i;
    return -1;
  };
  const block = (name: string, nth: number): number => {
    let seen = 0;
    for (let i = 0; i < trace.blocks.length; i++)
      if (trace.strings[trace.blocks.name[i]!] === name && seen++ === nth) return i;
    return -1;
  };
  if (named('gemm', 3) < 0) return [];
  const at = (line: number) => ({ file: scene.file, line });
  return [
    {
      code: 'missing-wait',
      severity: 'error',
      status: 'latent',
      message:
        'mul does not wait for fill_: scale is written on default and read on compute, and nothing orders the two.',
      at: at(scene.missingWaitLine),
      related: [{ ...at(31), message: 'fill_ writes scale on default' }],
      count: 1,
      firstSlice: named('fill_', 0),
      secondSlice: named('mul', 2),
      block: block('scale', 0),
      start: 1_312_000,
      end: 1_608_000,
    },
    {
      code: 'missing-record-stream',
      severity: 'warning',
      status: 'confirmed',
      message:
        'x is reused while compute still reads it: the block goes back to copy’s pool at its last reference, and the next x is copied into it.',
      at: at(scene.faultLine),
      related: [
        { ...at(18), message: 'mm reads x on compute' },
        { ...at(28), message: 'the next x gets the block' },
      ],
      count: 1,
      firstSlice: named('gemm', 0),
      secondSlice: named('Memcpy HtoD', 1),
      block: block('x', 0),
      start: 390_000,
      end: 725_000,
    },
  ];
}
