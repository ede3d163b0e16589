/** What files of profilers cannot tell, in whole sentences: the same gaps have other reasons in other tools. */

export interface LimitSentences {
  readonly noGpuWork: string;
  readonly noWaits: string;
  /** Why waits do not say which record they wait for. */
  readonly unbound: string;
  /** Without any Python places; '': the tool is not expected to know them. */
  readonly noPlaces: string;
}

export const profilerSentences: LimitSentences = {
  noGpuWork:
    'There is no GPU work in the file: it was profiled without ProfilerActivity.CUDA, or no kernel ran in the window.',
  noWaits:
    'Waits are not recorded: the profile was made without enable_cuda_sync_events, so the file does not say which stream waits for which. That is not the same as “there are no waits”.',
  unbound: 'CUDA 12.9 and newer leave it out, older ones where the record lies before the window.',
  noPlaces: 'Python places are not recorded: profile with with_stack=True to see source lines.',
};

export const nsysSentences: LimitSentences = {
  noGpuWork: 'There is no GPU work in the file: it was recorded without --trace=cuda, or no kernel ran.',
  noWaits:
    'Waits are not recorded: the table of synchronizations is not in the file. That is not the same as “there are no waits”.',
  unbound: 'their records lie before the recording, or event records were not traced (--cuda-event-trace=true).',
  noPlaces: 'Python places are not recorded: Nsight Systems knows calls and NVTX ranges only.',
};
