/**
 * What the waits of a program say about memory. Who lets another stream wait for a side stream says that there is work
 * for the device on it, and so that the tensors which operators touch there are CUDA memory. Uploads say nothing of it:
 * beside them the host's own tensors are made ready under the same stream. Arithmetic says nothing either: numbers have it, too.
 */
import type { EventId, StreamId } from '../../program/program.ts';
import { isComputing, isInPlace, isSplitting } from '../../torch/operators.ts';
import type { ProgramBuilder } from '../builder.ts';

const arithmetic =
  /^(?:add|sub|mul|div|floor_divide|remainder|pow|neg|compare|shift|bitwise_(?:and|or|xor)|bool|int|float)_?$/;

/** Whether the launch is that of an operator which only tensors have. */
function ofTensors(name: string): boolean {
  return (
    !arithmetic.test(name) && (isComputing(name) || isInPlace(name) || isSplitting(name) || /^_foreach_/.test(name))
  );
}

export function proveByWaits(builder: ProgramBuilder, optional: ReadonlySet<StreamId>): void {
  const ordered = new Set<StreamId>();
  const waitedFor = new Set<StreamId>();
  const begun = new Set<StreamId>();
  const uploading = new Set<StreamId>();
  const recorded = new Map<EventId, StreamId>();
  for (const step of builder.emitted) {
    if (step.kind === 'record') recorded.set(step.event, step.stream);
    else if (step.kind === 'wait' && !step.implicit) {
      ordered.add(step.stream);
      const from = recorded.get(step.event);
      if (from !== undefined) {
        ordered.add(from);
        waitedFor.add(from);
        if (optional.has(step.stream) && builder.streams[from]!.isDefault) begun.add(step.stream);
      }
    } else if (step.kind === 'launch' && step.copy === 'h2d') uploading.add(step.stream);
  }
  for (const step of builder.emitted) {
    if (step.kind !== 'launch' || !ordered.has(step.stream) || uploading.has(step.stream)) continue;
    const { isDefault, collective } = builder.streams[step.stream]!;
    if (isDefault || collective || !(ofTensors(step.name) || builder.isComputed(step))) continue;
    for (const { block } of step.accesses) {
      const { memory, device } = builder.blocks[block]!;
      if (memory === 'device') device.prove();
    }
  }
  // Who passes no stream gets what is ready on the current one: so does who passes one, where the work begins here and the
  // result is said to be used there. Who passes one for uploads waits for them later.
  for (const step of builder.emitted) {
    if (step.kind !== 'recordStream' || !builder.streams[step.stream]!.isDefault) continue;
    const from = builder.blocks[step.block]!.stream;
    if (from !== undefined && begun.has(from) && !uploading.has(from)) waitedFor.add(from);
  }
  for (const stream of waitedFor) if (builder.streams[stream]!.lent) builder.streams[stream]!.lent = false;
}
