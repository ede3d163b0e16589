/**
 * The collectives of `torch.distributed`: which arguments each reads and writes, by place and keyword, and what it gives. Knows
 * names only.
 */
import { words } from './operators.ts';

type Place = readonly [number, string];

export interface CollectiveShape {
  readonly reads: readonly Place[];
  readonly writes: readonly Place[];
  /** Places of `group` and `async_op` among the positional arguments. */
  readonly groupAt?: number;
  readonly asyncAt?: number;
  readonly alwaysAsync?: boolean;
  /** Its wait is one of the host, not of a stream. */
  readonly blocksHost?: boolean;
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
  all_gather_coalesced: {
    reads: [[1, 'input_tensor_list']],
    writes: [[0, 'output_tensor_lists']],
    groupAt: 2,
    asyncAt: 3,
  },
  barrier: { reads: [], writes: [], groupAt: 0, asyncAt: 1, blocksHost: true },
};

export function collectiveShape(name: string): CollectiveShape | undefined {
  return Object.hasOwn(shapes, name) ? shapes[name] : undefined;
}

/** `all_reduce` of `torch.distributed.all_reduce` and of the libraries that mirror it; undefined: none of theirs. */
export function collectivePath(path: string): string | undefined {
  return /^(?:torch\.distributed(?:\.distributed_c10d)?|deepspeed\.comm(?:\.comm)?)\.(.+)$/.exec(path)?.[1];
}

const functionalSingle = words(`
all_reduce all_gather_tensor all_gather_single reduce_scatter_tensor reduce_scatter_single all_to_all_single broadcast permute_tensor
`);
const functionalLists = words(`
all_reduce_coalesced all_gather_into_tensor_coalesced all_gather_single_coalesced reduce_scatter_tensor_coalesced
reduce_scatter_single_coalesced
`);

/** A functional collective reads its first argument and makes a new tensor, or a list of them, whose first use waits. */
export function functionalCollective(name: string): 'single' | 'list' | undefined {
  const plain = /^_functional_collectives\.(\w+?)(?:_autograd)?$/.exec(name)?.[1];
  if (plain === undefined) return undefined;
  return functionalSingle.has(plain) ? 'single' : functionalLists.has(plain) ? 'list' : undefined;
}
