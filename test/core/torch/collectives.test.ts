import { expect, it } from 'vitest';
import { collectivePath, collectiveShape, functionalCollective } from '../../../core/torch/collectives.ts';

it.each([
  ['torch.distributed.all_reduce', 'all_reduce'],
  ['torch.distributed.distributed_c10d._coalescing_manager', '_coalescing_manager'],
  ['deepspeed.comm.all_gather_into_tensor', 'all_gather_into_tensor'],
  ['torch.nn.Linear', undefined],
])('%s', (path, name) => {
  expect(collectivePath(path)).toBe(name);
});

it('reads and writes by place and keyword', () => {
  expect(collectiveShape('all_gather_into_tensor')).toMatchObject({
    reads: [[1, 'input_tensor']],
    writes: [[0, 'output_tensor']],
    asyncAt: 3,
  });
  expect(collectiveShape('irecv')).toMatchObject({ reads: [], writes: [[0, 'tensor']], alwaysAsync: true });
  expect(collectiveShape('barrier')).toMatchObject({ reads: [], writes: [], blocksHost: true });
  for (const name of ['get_rank', 'toString', 'constructor']) expect(collectiveShape(name)).toBeUndefined();
});

it.each([
  ['_functional_collectives.all_reduce', 'single'],
  ['_functional_collectives.all_gather_tensor_autograd', 'single'],
  ['_functional_collectives.reduce_scatter_tensor_coalesced', 'list'],
  ['_functional_collectives.wait_tensor', undefined],
  ['all_reduce', undefined],
])('%s', (name, result) => {
  expect(functionalCollective(name)).toBe(result);
});
