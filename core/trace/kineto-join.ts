/**
 * Joins the rows of a profiler trace: the call that launched a kernel (by correlation), the Python site of a call (by
 * nesting on its thread), the record that a wait is bound to, the two ends of a block's life. Steps are put in the order
 * of their host calls; GPU times order nothing.
 *
 *     host     ─ cudaLaunchKernel ── cudaEventRecord ── cudaStreamWaitEvent ─
 *                     │ correlation        ▲ wait_on_cuda_event_record_corr_id │
 *     stream        ██ kernel ██           └──────────── cuda_sync row ────────┘
 */
import type { KinetoRows } from './kineto.ts';
import { makeBlocks } from './kineto-blocks.ts';
import { findSites } from './kineto-sites.ts';
import { makeSteps } from './kineto-steps.ts';
import { workOutMarkTimes } from './mark-times.ts';

export function joinKineto(rows: KinetoRows, earliest: number): void {
  const { draft } = rows;
  for (const column of [
    draft.host.start,
    draft.device.start,
    rows.syncs.time,
    rows.events.time,
    rows.memory.time,
    rows.path.fromTime,
    rows.path.toTime,
  ])
    column.add(-earliest);

  const order = draft.host.order();
  draft.host.reorder(order);
  rows.callCorrelation.reorder(order);
  rows.hostRow.reorder(order);

  const memorySites = findSites(rows);
  if (draft.threads.length === 0) {
    draft.threads.push({ name: 'host', pid: -1, tid: -1 });
    draft.programThreads.push({ name: 'host' });
  }
  makeBlocks(rows, memorySites);
  makeSteps(rows);
  makeArrows(rows);
  workOutMarkTimes(draft);
}

/** Arrows of another tool's critical path. */
function makeArrows({ draft, path }: KinetoRows): void {
  const threads = new Map(draft.threads.map(({ pid, tid }, i) => [`${pid} ${tid}`, i]));
  const streams = new Map(draft.streams.map(({ device, number }, i) => [`${device} ${number}`, i]));
  for (let row = 0; row < path.toTime.length; row++) {
    const from = `${path.fromPid.get(row)} ${path.fromTid.get(row)}`;
    const to = `${path.toPid.get(row)} ${path.toTid.get(row)}`;
    draft.arrows.push({
      fromTime: path.fromTime.get(row),
      fromStream: streams.get(from) ?? -1,
      fromThread: threads.get(from) ?? -1,
      toTime: path.toTime.get(row),
      toStream: streams.get(to) ?? -1,
      toThread: threads.get(to) ?? -1,
      kind: path.kind.get(row),
    });
  }
}
