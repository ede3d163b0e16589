/**
 * Which of PyTorch's operators only read their tensors and make a new one, by name: `torch.NAME(…)`,
 * `torch.nn.functional.NAME(…)` and `tensor.NAME(…)` alike. With a trailing underscore a method writes its tensor. What is in no
 * table is unknown. Knows names only; what an effect means for a program is decided in lower/.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Reads all tensor arguments, makes a new tensor. */
const computing = words(`
abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr all allclose amax amin aminmax angle any arccos arcsin arctan
arctan2 argmax argmin argsort argwhere asin asinh atan atan2 atanh baddbmm bernoulli bincount bitwise_and bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm bucketize cat cdist ceil cholesky cholesky_inverse cholesky_solve clamp
clamp_max clamp_min clip clone combinations complex concat concatenate conj_physical copysign corrcoef cos cosh count_nonzero cov
cross cummax cummin cumprod cumsum cumulative_trapezoid deg2rad dequantize det diag diag_embed diff digamma dist div divide dot
dropout dsmm einsum eq erf erfc erfinv exp exp2 expm1 fake_quantize_per_tensor_affine fix float_power floor floor_divide fmax fmin
fmod frac frexp gather gcd ge geqrf ger greater greater_equal gt heaviside hinge_embedding_loss histc hypot i0 igamma igammac
index_add index_copy index_fill index_put index_reduce index_select inner inverse isclose isfinite isin isinf isnan isneginf isposinf
isreal kron kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp
logdet logical_and logical_not logical_or logical_xor logit logsumexp lt lu masked_fill masked_scatter matmul matrix_exp
matrix_power max maximum mean median min minimum mm mode moveaxis_copy msort mul multinomial multiply mv mvlgamma nan_to_num
nanmean nanmedian nanquantile nansum ne neg negative nextafter norm not_equal numpy_T orgqr ormqr outer pinverse poisson polar
polygamma positive_copy pow prod put qr quantile rad2deg reciprocal relu remainder renorm roll rot90 round rsqrt rsub scatter
scatter_add scatter_reduce searchsorted segment_reduce select_scatter sgn sigmoid sign signbit sin sinc sinh slice_scatter slogdet
softmax sort sqrt square std std_mean stft istft sub subtract sum svd take take_along_dim tan tanh tensordot threshold tile topk
trace trapezoid trapz triangular_solve tril triu true_divide trunc vander var var_mean vdot vecdot vstack hstack dstack
column_stack row_stack where xlogy stack flip fliplr flipud cartesian_prod block_diag meshgrid_copy rms_norm layer_norm group_norm
batch_norm instance_norm normalize local_response_norm linear bilinear embedding embedding_bag one_hot conv1d conv2d conv3d
conv_transpose1d conv_transpose2d conv_transpose3d unfold_copy fold avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d
max_unpool1d max_unpool2d max_unpool3d lp_pool1d lp_pool2d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d scaled_dot_product_attention relu6 elu selu celu leaky_relu prelu rrelu
glu gelu logsigmoid hardshrink tanhshrink softsign softplus softmin softshrink gumbel_softmax hardsigmoid hardswish hardtanh silu
mish alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d pairwise_distance cosine_similarity pdist
binary_cross_entropy binary_cross_entropy_with_logits poisson_nll_loss cosine_embedding_loss cross_entropy ctc_loss
gaussian_nll_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss
multilabel_soft_margin_loss nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss
pixel_shuffle pixel_unshuffle pad interpolate upsample upsample_nearest upsample_bilinear grid_sample affine_grid
rfft irfft fft ifft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn hfft ihfft fftshift ifftshift
vector_norm matrix_norm cond matrix_rank eig eigh eigvals eigvalsh svdvals solve solve_triangular lu_factor lu_solve lstsq inv pinv
tensorinv tensorsolve multi_dot householder_product ldl_factor ldl_solve cholesky_ex inv_ex lu_factor_ex
bessel_j0 bessel_j1 entr erfcx expit gammainc gammaincc gammaln i0e i1 i1e log_ndtr ndtr ndtri psi zeta
float half double bfloat16 int long short char byte bool type_as cfloat cdouble
rand_like randn_like randint_like zeros_like ones_like full_like empty_like
addmv_ channel_shuffle chain_matmul clamp_min clamp_max complex cosine_similarity
native_layer_norm native_group_norm native_dropout quantize_per_tensor quantize_per_channel int_repr q_scale
index_put scatter_add masked_select_backward nan_to_num rms_norm unsafe_chunk unsafe_split_copy to_sparse to_dense to_mkldnn
as_tensor_copy fill sparse_mask tensor_scatter erfinv xlogy _scaled_mm _int_mm _grouped_mm _foreach_norm
`);

/** Same memory, another shape. */
const viewing = words(`
view reshape flatten unflatten squeeze unsqueeze transpose permute t expand expand_as view_as reshape_as movedim moveaxis swapaxes
swapdims narrow detach diagonal ravel as_strided unfold adjoint real imag view_as_real view_as_complex conj positive
select alias values indices chalf resolve_conj resolve_neg requires_grad_ data contiguous squeeze_ unsqueeze_ transpose_ t_
detach_ rename refine_names align_to align_as atleast_1d atleast_2d atleast_3d broadcast_to
`);

/** One tensor gives several disjoint views. */
const splitting = words(
  'chunk split unbind tensor_split hsplit vsplit dsplit split_with_sizes unsafe_chunk unsafe_split',
);

/** Known to the host: no access at all. */
const metadata = words(`
size dim ndimension numel nelement element_size stride storage_offset data_ptr is_contiguous is_pinned is_floating_point is_complex
is_signed is_set_to is_same_size get_device has_names is_inference is_conj is_neg is_sparse type dim_order sym_size nbytes
__len__ __hash__ __repr__len is_shared share_memory_ storage_type can_cast result_type is_tensor is_storage
`);

/** Make the host wait for the current stream and read the value. */
const blocking = words(`
item tolist nonzero nonzero_static unique unique_consecutive masked_select equal is_nonzero __bool__ __int__ __float__ __index__
__repr__ __str__ __format__ __contains__ numpy bincount repeat_interleave
`);

/** In-place methods that do not read what was there. */
const overwriting = words(`
zero_ fill_ normal_ uniform_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_ copy_ set_ eye_ fill_diagonal_
zeros_ ones_ constant_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ trunc_normal_ orthogonal_
`);

/** In-place methods whose name without the underscore is no operator of its own. */
const inPlaceOnly = words(`
zero_ fill_ normal_ uniform_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_ copy_ index_add_ index_copy_ index_fill_
index_put_ scatter_ scatter_add_ scatter_reduce_ masked_fill_ masked_scatter_ clamp_ addcmul_ addcdiv_ lerp_ put_ map_ apply_
fill_diagonal_ sort_ relu_ sigmoid_ dropout_ leaky_relu_ resize_as_ swapaxes_ logical_and_ bitwise_and_ baddbmm_ addmm_ addmv_ addr_
addbmm_ tril_ triu_ renorm_ erfinv_ nan_to_num_ polygamma_ rsqrt_ square_ sub_ add_ mul_ div_ pow_ floor_divide_ remainder_ float_power_
`);

/** Names that Python's own containers, strings and numbers have too, or that are any object's. */
const ambiguous = words(`
add all any bool byte char chunk clip copy count data device dim double dropout dist dot eq expand fill flatten flip float format
gather get half index indices int interpolate item items keys le linear log long lt lu max mean median min mode mul ne norm normalize
numpy pad pop pow put real imag render repeat reshape_like resize roll round scatter select set short sign size solve sort
split square sub sum svd take threshold tile to topk trace type unfold update upsample values view where weight inverse
tolist exp positive rename t sin cos tan cov diff embedding fold inner outer relu gelu silu softmax unique clone detach
cross stack cat trapz stft fft ifft type_as equal contiguous conj narrow
`);

/** What a tensor, and hardly anything else, has. */
const certain = words(`
clone detach contiguous unsqueeze squeeze expand_as view_as permute transpose record_stream requires_grad_ item
tolist bfloat16 type_as softmax argmax index_select masked_fill is_cuda is_pinned pin_memory numel element_size data_ptr
untyped_storage flatten reshape cumsum mean std var sum norm abs sqrt exp log square tanh sigmoid relu clamp max min pow
float half long double matmul mm bmm topk softmax log_softmax view chunk unbind narrow repeat_interleave cpu backward
sin cos tan rsqrt reciprocal sub mul div neg new_zeros new_empty new_ones new_full new_tensor is_contiguous
`);

export function isComputing(name: string): boolean {
  return computing.has(name);
}
export function isViewing(name: string): boolean {
  return viewing.has(name);
}
export function isSplitting(name: string): boolean {
  return splitting.has(name);
}
export function isMetadata(name: string): boolean {
  return metadata.has(name);
}
export function isBlocking(name: string): boolean {
  return blocking.has(name);
}
export function isOverwriting(name: string): boolean {
  return overwriting.has(name);
}

/** `mul_`: writes its tensor (and reads it, unless it only overwrites). */
export function isInPlace(name: string): boolean {
  if (!name.endsWith('_') || name.endsWith('__')) return false;
  return inPlaceOnly.has(name) || computing.has(name.slice(0, -1));
}

export function isTensorMethod(name: string): boolean {
  return (
    computing.has(name) ||
    viewing.has(name) ||
    splitting.has(name) ||
    metadata.has(name) ||
    blocking.has(name) ||
    isInPlace(name) ||
    /^(to|cuda|cpu|pin_memory|numpy|record_stream|backward|new_\w+|untyped_storage|storage|resize_|register_hook|retain_grad|repeat|set_|__\w+__)$/.test(
      name,
    )
  );
}

/** A method that tells that an unknown receiver is a tensor. */
export function tensorOnly(name: string): boolean {
  if (certain.has(name)) return true;
  if (isInPlace(name)) return true;
  return (computing.has(name) || viewing.has(name) || splitting.has(name)) && !ambiguous.has(name);
}
