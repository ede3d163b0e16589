import { describe, expect, it } from 'vitest';
import { isTensorMethod, tensorOnly } from '../../../core/torch/evidence.ts';
import { factoryKind } from '../../../core/torch/factories.ts';
import * as generated from '../../../core/torch/generated/operators.ts';
import {
  isBlocking,
  isComputing,
  isInPlace,
  isListing,
  isMetadata,
  isOverwriting,
  isSplitting,
  isViewing,
  operatorName,
  severalResults,
  words,
  writtenPlaces,
} from '../../../core/torch/operators.ts';

describe('what an operator does to its tensors', () => {
  it.each([
    'add',
    'matmul',
    'scaled_dot_product_attention',
    'cross_entropy',
    '_scaled_mm',
    'fft.rfft',
    'special.expit',
  ])('%s makes a new tensor', (name) => {
    expect(isComputing(name)).toBe(true);
    expect(isInPlace(name) || isViewing(name) || isMetadata(name)).toBe(false);
  });
  it.each(['view', 'transpose', 'unsqueeze_', 'detach', 'linalg.diagonal', 'real'])('%s is the same memory', (name) => {
    expect(isViewing(name)).toBe(true);
    expect(isInPlace(name)).toBe(false);
  });
  it.each(['chunk', 'split', 'unbind', 'tensor_split', 'unsafe_chunk'])('%s gives parts', (name) => {
    expect(isSplitting(name)).toBe(true);
  });
  it.each(['add_', 'zero_', 'index_put_', '_foreach_mul_', 'masked_fill_', 'erfinv_'])('%s writes in place', (name) => {
    expect(isInPlace(name)).toBe(true);
    expect(writtenPlaces(name)).toEqual([0]);
  });
  it('a fused optimizer writes its state too', () => {
    expect(writtenPlaces('_fused_adamw_')).toEqual([0, 1, 2, 3, 4]);
    expect(writtenPlaces('_amp_foreach_non_finite_check_and_unscale_')).toEqual([0, 1]);
  });
  it('what is filled is not read', () => {
    expect(isOverwriting('zero_')).toBe(true);
    expect(isOverwriting('_foreach_copy_')).toBe(true);
    expect(isOverwriting('mul_')).toBe(false);
  });
  it.each(['size', 'numel', 'is_contiguous', 'stride', 'data_ptr', 'is_pinned'])('%s is known to the host', (name) => {
    expect(isMetadata(name)).toBe(true);
    expect(isBlocking(name)).toBe(false);
  });
  it.each(['item', 'nonzero', 'unique', 'masked_select', 'equal', 'allclose'])('%s waits for the device', (name) => {
    expect(isBlocking(name)).toBe(true);
    expect(isMetadata(name)).toBe(false);
  });
  it('a size that is given needs no wait', () => {
    expect(isBlocking('nonzero_static')).toBe(false);
    expect(isComputing('nonzero_static')).toBe(true);
  });
  it('what is in no table is unknown', () => {
    for (const name of ['flash_attn_func', 'my_kernel', 'my_kernel_', 'toString', 'constructor']) {
      expect(isComputing(name) || isViewing(name) || isInPlace(name) || isMetadata(name) || isBlocking(name)).toBe(
        false,
      );
      expect(isListing(name) || isSplitting(name)).toBe(false);
      expect(severalResults(name)).toBeUndefined();
      expect(factoryKind(name)).toBeUndefined();
    }
  });
});

describe('operators of several results', () => {
  it.each([
    ['sort', ['values', 'indices'], 'always'],
    ['topk', ['values', 'indices'], 'always'],
    ['max', ['values', 'indices'], 'dim'],
    ['median', ['values', 'indices'], 'dim'],
    ['aminmax', ['min', 'max'], 'always'],
    ['linalg.svd', ['U', 'S', 'Vh'], 'always'],
    ['slogdet', ['sign', 'logabsdet'], 'always'],
    ['var_mean', ['_', '_'], 'always'],
    ['unique', ['_', '_', '_'], ['return_inverse', 'return_counts']],
    ['max_pool2d', ['_', '_'], ['return_indices']],
  ] as const)('%s', (name, fields, when) => {
    expect(severalResults(name)).toEqual({ fields, when });
    expect(isComputing(name)).toBe(true);
  });
  it('a single result', () => {
    expect(severalResults('sum')).toBeUndefined();
    expect(severalResults('add')).toBeUndefined();
  });
});

describe('factories', () => {
  it.each([
    ['empty', 'uninitialized'],
    ['new_empty', 'uninitialized'],
    ['zeros_like', 'written'],
    ['randperm', 'written'],
    ['fft.fftfreq', 'written'],
    ['signal.windows.hann', 'written'],
    ['tensor', 'from-host'],
    ['new_tensor', 'from-host'],
    ['complex', undefined],
  ])('%s', (name, kind) => {
    expect(factoryKind(name)).toBe(kind);
  });
});

describe('names in a program', () => {
  it.each([
    ['add', 'add'],
    ['nn.functional.relu', 'relu'],
    ['linalg.qr', 'linalg.qr'],
    ['linalg.norm', 'linalg.norm'],
    ['ops.aten.add.Tensor', 'add'],
    ['ops.aten.mm', 'mm'],
    ['distributed.all_reduce', undefined],
    ['ops.mylib.kernel', undefined],
  ])('torch.%s', (path, name) => {
    expect(operatorName(path)).toBe(name);
  });

  it('only what tensors alone have tells that something is a tensor', () => {
    for (const name of ['masked_fill', 'addmm', 'unsqueeze', 'mul_', 'record_stream', 'log_softmax', 'index_select'])
      expect(tensorOnly(name)).toBe(true);
    for (const name of ['items', 'update', 'copy', 'sort', 'split', 'index', 'count', 'size', 'type', 'get', 'append'])
      expect(tensorOnly(name)).toBe(false);
    for (const name of ['sort', 'split', 'size', 'to', 'new_zeros', 'item']) expect(isTensorMethod(name)).toBe(true);
    for (const name of ['append', 'items', 'conv2d']) expect(isTensorMethod(name)).toBe(false);
  });
});

it('a name of the generated table is of one effect', () => {
  const tables = [generated.views, generated.splits, generated.inPlace, generated.values, generated.computes].map(
    words,
  );
  for (const [i, table] of tables.entries())
    for (const other of tables.slice(i + 1)) expect([...table].filter((name) => other.has(name))).toEqual([]);
});

it('the table says what it was made from', async () => {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(new URL('../../../core/torch/generated/operators.ts', import.meta.url), 'utf8');
  expect(text).toMatch(/torch 2\.13\.0, schemas [0-9a-f]{16}\n/);
});
