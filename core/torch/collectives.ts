/** Which arguments of a collective of `torch.distributed` are read and written, by place and keyword. */
type Place = readonly [number, string];

export interface CollectiveShape {
  readonly reads: readonly Place[];
  readonly writes: readonly Place[];
  /** Places of `group` and `async_op` among the positional arguments. */
  readonly groupAt?: number;
  readonly asyncAt?: number;
  readonly alwaysAsync?: boolean;
}

const shapes: Readonly<Record<string, CollectiveShape>> = {
  all_reduce: { reads: [[0, 'tensor']], writes: [[0, 'tensor']], groupAt: 2, asyncAt: 3 },
  all_reduce_coalesced: { reads: [[0, 'tensors']], writes: [[0, 'tensors']], groupAt: 2, asyncAt: 3 },
  broadcast: { reads: [[0, 'tensor']], writes: [[0, 'tensor']], groupAt: 2, asyncAt: 3 },
  reduce: { reads: [[0, 'tensor']], writes: [[0, 'tensor']], groupAt: 3, asyncAt: 4 },
  all_gather: { reads: [[1, 'tensor']], writes: [[0, 'tensor_list']], groupAt: 2, asyncAt: 3 },
  all_gather_into_tensor: { reads: [[1, 'input_tensor']], writes: [[0, 'output_tensor']], groupAt: 2, asyncAt: 3 },
  _all_gather_base: { reads: [[1, 'input_tensor']], writes: [[0, 'output_tensor']], groupAt: 2, asyncAt: 3 },
  gather: { reads: [[0, 'tensor']], writes: [[1, 'gather_list']], groupAt: 3, asyncAt: 4 },
  scatter: { reads: [[1, 'scatter_list']], writes: [[0, 'tensor']], groupAt: 3, asyncAt: 4 },
  reduce_scatter: { reads: [[1, 'input_list']], writes: [[0, 'output']], groupAt: 3, asyncAt: 4 },
  reduce_scatter_tensor: { reads: [[1, 'input']], writes: [[0, 'output']], groupAt: 3, asyncAt: 4 },
  _reduce_scatter_base: { reads: [[1, 'input']], writes: [[0, 'output']], groupAt: 3, asyncAt: 4 },
  all_to_all: { reads: [[1, 'input_tensor_list']], writes: [[0, 'output_tensor_list']], groupAt: 2, asyncAt: 3 },
  all_to_all_single: { reads: [[1, 'input']], writes: [[0, 'output']], groupAt: 4, asyncAt: 5 },
  isend: { reads: [[0, 'tensor']], writes: [], groupAt: 2, alwaysAsync: true },
  irecv: { reads: [], writes: [[0, 'tensor']], groupAt: 2, alwaysAsync: true },
  send: { reads: [[0, 'tensor']], writes: [], groupAt: 2 },
  recv: { reads: [], writes: [[0, 'tensor']], groupAt: 2 },
};

export function collectiveShape(name: string): CollectiveShape | undefined {
  return Object.hasOwn(shapes, name) ? shapes[name] : undefined;
}
