/** The buffers of a trace that `postMessage` may hand over instead of copying. */
import type { Trace } from './trace.ts';

export function transferables(trace: Trace): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const tables: object[] = [
    trace.sites,
    trace.deviceSlices,
    trace.hostSlices,
    trace.marks,
    trace.blocks,
    trace.counters,
    { stepTime: trace.stepTime },
  ];
  for (const table of tables)
    for (const column of Object.values(table))
      if (ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer) buffers.add(column.buffer);
  return [...buffers];
}
