/**
 * What PyTorch's operators do to their tensors, by name: `torch.NAME(…)`, `torch.nn.functional.NAME(…)`, `tensor.NAME(…)` and
 * `torch.ops.aten.NAME(…)` alike; those of `torch.linalg`, `torch.fft` and `torch.special` may have their module in front. Most
 * is read from the generated table; the rows here are what a schema does not say: which calls make the host wait, which only
 * speak of metadata, and what Python wraps round an operator. What is in no table is unknown. Knows names only; what an effect
 * means for a program is decided in lower/.
 */
import * as generated from './generated/operators.ts';

export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Lines of `detail: NAME NAME …`, by name. */
function byName(text: string): ReadonlyMap<string, string> {
  const rows = new Map<string, string>();
  for (const line of text.trim().split('\n')) {
    const colon = line.indexOf(': ');
    for (const name of line.slice(colon + 2).split(' ')) rows.set(name, line.slice(0, colon));
  }
  return rows;
}

/** Python functions and methods that make a tensor from tensors, and have no schema under that name. */
const computedInPython = words(`
dsmm index_copy upsample upsample_nearest upsample_bilinear sparse.mm sparse.addmm sparse.sum sparse.softmax
sparse.log_softmax saddmm spmm hsmm to_sparse_coo unravel_index masked.sum masked.mean masked.softmax masked.log_softmax masked.amax
masked.amin masked.var masked.std masked.prod masked.norm masked.normalize nested.as_nested_tensor nested.to_padded_tensor
`);
const computing = new Set([...words(generated.computes), ...computedInPython]);
const listing = words(generated.lists);

const viewing = new Set([
  ...words(generated.views),
  // Shares memory whatever its schema says, or is a method of Python.
  ...words(`
  _unsafe_view alias atleast_1d atleast_2d atleast_3d rename refine_names align_to align_as detach_ requires_grad_ squeeze_ unsqueeze_
  transpose_ t_ swapaxes_ swapdims_ as_strided_ data
  `),
]);

const splitting = new Set([...words(generated.splits), ...words('unsafe_chunk unsafe_split unsafe_split_with_sizes')]);

/** Change what the tensor object says of itself, not its memory. */
const metadataInPlace = words(`
squeeze_ unsqueeze_ transpose_ t_ swapaxes_ swapdims_ as_strided_ detach_ requires_grad_ retain_grad record_stream resize_ resize_as_
resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_ set_
`);
const inPlace = new Set(
  [...words(generated.inPlace), ...words('map_ map2_ apply_')].filter((name) => !metadataInPlace.has(name)),
);

/** In-place operators that do not read what was there. */
const overwriting = words(`
zero_ fill_ normal_ uniform_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_ copy_ set_ eye_ fill_diagonal_
zeros_ ones_ constant_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ trunc_normal_ orthogonal_
_foreach_zero_ _foreach_copy_
`);

/** Make the host wait for the current stream, since what they give, or its size, depends on the values. */
const blocking = words(`
item tolist nonzero argwhere unique unique_consecutive masked_select equal allclose is_nonzero bincount repeat_interleave numpy
__bool__ __int__ __float__ __index__ __repr__ __str__ __format__ __contains__
`);
/** Those whose result is a tensor again. */
const blockingTensors = words('nonzero argwhere unique unique_consecutive masked_select bincount repeat_interleave');

/** Known to the host: no access at all. */
const metadata = new Set([
  ...[...words(generated.values)].filter((name) => !blocking.has(name)),
  ...words(`
  ndimension nelement element_size data_ptr const_data_ptr has_names is_sparse type dim_order sym_size nbytes __len__ __hash__ is_shared
  share_memory_ storage_type can_cast is_tensor is_storage broadcast_shapes is_same_size _fused_sdp_choice
  `),
]);

/** Linear algebra that looks on the host whether it has failed, and what picks elements by a mask of its own. */
const checking = words('inv inverse cholesky solve eigh svd lstsq histc combinations');

const several = byName(generated.several);
const severalWithDim = byName(generated.severalWithDim);
/** By what Python wraps round them: the argument that asks for another result, one line each. */
const asked = new Map<string, readonly string[]>(
  [...words('unique unique_consecutive')].map((name) => [name, ['return_inverse', 'return_counts']]),
);
for (const name of words(
  `max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d
  fractional_max_pool3d`,
))
  asked.set(name, ['return_indices']);
/** Not in a schema, or in another form than Python gives it. */
const severalInPython = byName(`
LU pivots: lu
U S V: pca_lowrank svd_lowrank
_ _: multi_head_attention_forward
`);

const writing = byName(generated.writing);

/** How many results a call has, and what they are called. */
export interface Results {
  /** Field names; `_` for one without a name. */
  readonly fields: readonly string[];
  /** Always; only where a dimension is asked about; or as many more as these arguments are true. */
  readonly when: 'always' | 'dim' | readonly string[];
}

/** What an operator of several results gives; undefined for one that gives a single tensor. */
export function severalResults(name: string): Results | undefined {
  const more = asked.get(name);
  if (more) return { fields: ['_', ...more.map(() => '_')], when: more };
  const fields = severalInPython.get(name) ?? several.get(name);
  if (fields !== undefined) return { fields: fields.split(' '), when: 'always' };
  const withDim = severalWithDim.get(name);
  return withDim === undefined ? undefined : { fields: withDim.split(' '), when: 'dim' };
}

/** Reads its tensors and makes new ones. */
export function isComputing(name: string): boolean {
  return computing.has(name) || several.has(name) || severalInPython.has(name) || name === 'unique';
}
/** Reads its tensors and makes a list of new ones, one for each of the first list. */
export function isListing(name: string): boolean {
  return listing.has(name);
}
/** Same memory, another shape. */
export function isViewing(name: string): boolean {
  return viewing.has(name);
}
/** One tensor gives several disjoint views. */
export function isSplitting(name: string): boolean {
  return splitting.has(name);
}
export function isMetadata(name: string): boolean {
  return metadata.has(name);
}
export function isBlocking(name: string): boolean {
  return blocking.has(name);
}
/** Computes tensors, and makes the host wait for the current stream on the way. */
export function isChecking(name: string): boolean {
  return checking.has(name);
}
export function isBlockingTensor(name: string): boolean {
  return blockingTensors.has(name);
}
export function isOverwriting(name: string): boolean {
  return overwriting.has(name);
}

/** `mul_`: writes its first tensor (and reads it, unless it only overwrites). */
export function isInPlace(name: string): boolean {
  return inPlace.has(name) || writing.has(name);
}

/** Places of the arguments that an in-place operator writes. */
export function writtenPlaces(name: string): readonly number[] {
  return writing.get(name)?.split(',').map(Number) ?? [0];
}

/**
 * The name under which the tables have what `torch.PATH` names: `linalg.qr` as it is, `nn.functional.relu` and
 * `ops.aten.add.Tensor` by their last word. Undefined where the path is not one of operators.
 */
export function operatorName(path: string): string | undefined {
  const aten = /^ops\.aten\.(\w+)(?:\.\w+)?$/.exec(path);
  if (aten) return aten[1]!;
  const match =
    /^(?:(nn\.functional|linalg|fft|special|_C\._nn|nested|masked|signal|sparse|functional|_VF)\.)?(\w+)$/.exec(path);
  if (!match) return undefined;
  const [, module, last] = match;
  const full = `${module}.${last}`;
  return module !== undefined && (isComputing(full) || viewing.has(full) || computedInPython.has(full)) ? full : last!;
}
