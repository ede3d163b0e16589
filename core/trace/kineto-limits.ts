/** What a profile could not tell, in words. */
import type { KinetoRows } from './kineto.ts';

/** No longer so where a snapshot of the same process lies beside the profile. */
export const poolsNotRecorded =
  'Allocator events name no stream: to which pool a block belongs, and when it is reusable, is not known. A snapshot (torch.cuda.memory._dump_snapshot) has that.';

/** What was found of waits and launches while the steps were made. */
export interface FoundSteps {
  readonly waits: number;
  /** Waits whose record the file names, and those that are joined to one by their place. */
  readonly bound: number;
  readonly guessed: number;
  /** Waits of which the waiting stream is not known. */
  readonly silent: number;
}

export function tellLimits(rows: KinetoRows, found: FoundSteps & { unlaunched: number; dropped: number }): void {
  const { draft, syncs } = rows;
  const { limits, device, host } = draft;
  limits.push(
    'Which memory an operator reads or writes is not recorded: the profiler does not know it, so races cannot be found in this file. Record the run with `python -m raceline` for that.',
  );
  const { noGpuWork, noWaits, unbound: why, noPlaces } = rows.sentences;
  if (device.length === 0) limits.push(noGpuWork);
  else if (syncs.time.length === 0) limits.push(noWaits);
  const unbound = found.waits - found.bound - found.silent;
  if (unbound > 0)
    limits.push(
      `${unbound} of ${found.waits} waits do not say which record they wait for: ${why}${
        found.guessed > 0 ? ` ${found.guessed} are joined to the record call just before them, which is a guess.` : ''
      }`,
    );
  if (found.silent > 0)
    limits.push(
      `For ${found.silent} of ${found.waits} calls of cudaStreamWaitEvent the waiting stream is not recorded.`,
    );
  if (found.dropped > 0)
    limits.push(
      `${found.dropped} calls of cudaStreamWaitEvent have no row of their own: the profiler leaves out waits of streams without GPU work in the window, and those that are captured into a graph.`,
    );
  if (rows.memory.time.length > 0) limits.push(poolsNotRecorded);
  if (found.unlaunched > 0)
    limits.push(
      `The calls that launched ${found.unlaunched} kernels or copies are not in the file: their place in the order is not known.`,
    );
  if (host.length > 0 && draft.sites.length === 0) limits.push(noPlaces);
  else if (draft.sites.length > 0)
    limits.push('Source lines are those of the function, not of the statement: the profiler records no more.');
}
