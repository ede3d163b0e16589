/**
 * What PyTorch's operator schemas say, by name. Made by scripts/torch-schemas.py; not to be edited.
 *
 * torch 2.13.0, schemas 7aa54468c4e0d94b
 */

export const torchVersion = '2.13.0';

/** Read their tensors and make one new one. */
export const computes = `
_convert_weight_to_int4pack _grouped_mm _int_mm _log_softmax _scaled_grouped_mm _scaled_grouped_mm_v2 _scaled_mm
_scaled_mm_v2 _softmax _unsafe_view _weight_int4pack_mm _weight_int4pack_mm_with_scales_and_zeros _weight_int8pack_mm
_weight_norm abs absolute acos acosh adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices add addbmm addcdiv
addcmul addmm addmv addr affine_grid affine_grid_generator all alpha_dropout amax amin angle any arccos arccosh arcsin
arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere as_strided_scatter asin asinh atan atan2 atanh
atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d baddbmm batch_norm batch_norm_elemt bernoulli
bfloat16 bilinear binary_cross_entropy binary_cross_entropy_with_logits bincount binomial bitwise_and
bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor block_diag bmm bool bucketize byte
cartesian_prod cat cdist cdouble ceil celu cfloat chain_matmul chalf channel_shuffle char cholesky cholesky_inverse
cholesky_solve clamp clamp_max clamp_min clip clone column_stack combinations complex concat concatenate conj_physical
constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution copysign
corrcoef cos cosh cosine_embedding_loss cosine_similarity count_nonzero cov cross cross_entropy ctc_loss cumprod
cumsum cumulative_trapezoid deg2rad dequantize det diag diag_embed diagflat diagonal_scatter diff digamma dist div
divide dot double dropout dropout1d dropout2d dropout3d dstack einsum elu embedding empty_quantized eq erf erfc erfinv
exp exp2 expm1 fake_quantize_per_channel_affine fake_quantize_per_tensor_affine feature_alpha_dropout feature_dropout
fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.hfft2 fft.hfftn fft.ifft fft.ifft2 fft.ifftn fft.ifftshift
fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn fill fix flip fliplr
flipud float float_power floor floor_divide fmax fmin fmod fold frac fractional_max_pool2d_with_indices
fractional_max_pool3d_with_indices frobenius_norm gather gaussian_nll_loss gcd ge gelu ger glu greater greater_equal
grid_sample grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru_cell gt gumbel_softmax half hardshrink
hardsigmoid hardswish hardtanh hash_tensor heaviside hinge_embedding_loss histc hspmm hstack huber_loss hypot i0
igamma igammac index index_add index_fill index_put index_reduce index_select inner instance_norm int int_repr
interpolate inverse isclose isfinite isin isinf isnan isneginf isposinf isreal istft kl_div kron l1_loss layer_norm
lcm ldexp le leaky_relu lerp less less_equal lgamma linalg._powsum linalg.cholesky linalg.cond linalg.cross linalg.det
linalg.eigvals linalg.eigvalsh linalg.householder_product linalg.inv linalg.ldl_solve linalg.lu_solve linalg.matmul
linalg.matrix_exp linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.norm linalg.pinv
linalg.solve linalg.solve_triangular linalg.svdvals linalg.tensorinv linalg.tensorsolve linalg.vander linalg.vecdot
linalg.vector_norm linear linear_cross_entropy linspace local_response_norm log log10 log1p log2 log_softmax logaddexp
logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsigmoid logspace logsumexp long
lp_pool1d lp_pool2d lp_pool3d lt lu_solve margin_ranking_loss masked_fill masked_scatter masked_select matmul
matrix_exp matrix_power max max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d maximum mean
median min minimum mish mm mse_loss msort mul multi_head_attention_forward multi_margin_loss multilabel_margin_loss
multilabel_soft_margin_loss multinomial multiply mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum
native_channel_shuffle native_norm ne neg negative nextafter nll_loss nonzero nonzero_static norm norm_except_dim
normal normalize not_equal nuclear_norm one_hot orgqr ormqr outer pad pairwise_distance pdist pinverse pixel_shuffle
pixel_unshuffle poisson poisson_nll_loss polar polygamma pow prelu prod put quantile quantize_per_channel
quantize_per_tensor quantize_per_tensor_dynamic rad2deg random reciprocal relu relu6 remainder renorm repeat
repeat_interleave resize resize_as rms_norm rnn_relu_cell rnn_tanh_cell roll rot90 round row_stack rrelu rsqrt rsub
scaled_dot_product_attention scatter scatter_add scatter_reduce searchsorted segment_reduce select_scatter selu sgn
short sigmoid sign signbit silu sin sinc sinh slice_scatter smm smooth_l1_loss soft_margin_loss softmax softmin
softplus softshrink softsign sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor
sparse_csc_tensor sparse_csr_tensor sparse_mask special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0
special.bessel_y1 special.chebyshev_polynomial_t special.chebyshev_polynomial_u special.chebyshev_polynomial_v
special.chebyshev_polynomial_w special.digamma special.entr special.erf special.erfc special.erfcx special.erfinv
special.exp2 special.expit special.expm1 special.gammainc special.gammaincc special.gammaln
special.hermite_polynomial_h special.hermite_polynomial_he special.i0 special.i0e special.i1 special.i1e
special.laguerre_polynomial_l special.legendre_polynomial_p special.log1p special.log_ndtr special.log_softmax
special.logit special.logsumexp special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
special.modified_bessel_k1 special.multigammaln special.ndtr special.ndtri special.polygamma special.psi special.round
special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.shifted_chebyshev_polynomial_t
special.shifted_chebyshev_polynomial_u special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w
special.sinc special.softmax special.spherical_bessel_j0 special.xlog1py special.xlogy special.zeta sqrt square
sspaddmm stack std stft sub subtract sum sum_to_size take take_along_dim tan tanh tanhshrink tensordot threshold tile
to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr trace trapezoid
trapz tril triplet_margin_loss triplet_margin_with_distance_loss triu true_divide trunc type_as vander var vdot vstack
where xlogy
`;

/** Read their tensors and make a list of new ones. */
export const lists = `
_foreach_abs _foreach_acos _foreach_add _foreach_addcdiv _foreach_addcmul _foreach_asin _foreach_atan _foreach_ceil
_foreach_clamp_max _foreach_clamp_min _foreach_clone _foreach_cos _foreach_cosh _foreach_div _foreach_erf
_foreach_erfc _foreach_exp _foreach_expm1 _foreach_floor _foreach_frac _foreach_lerp _foreach_lgamma _foreach_log
_foreach_log10 _foreach_log1p _foreach_log2 _foreach_max _foreach_maximum _foreach_minimum _foreach_mm _foreach_mul
_foreach_neg _foreach_norm _foreach_pow _foreach_powsum _foreach_reciprocal _foreach_round _foreach_rsqrt
_foreach_sigmoid _foreach_sign _foreach_sin _foreach_sinh _foreach_sqrt _foreach_sub _foreach_tan _foreach_tanh
_foreach_trunc _foreach_zero atleast_1d atleast_2d atleast_3d broadcast_tensors dequantize gradient meshgrid
quantize_per_tensor unsafe_chunk unsafe_split unsafe_split_with_sizes where
`;

/** Give the memory of their first tensor, in another shape (or a copy where that cannot be). */
export const views = `
adjoint as_strided broadcast_to ccol_indices coalesce col_indices conj contiguous crow_indices detach diagonal expand
expand_as flatten imag indices linalg.diagonal mH mT moveaxis movedim narrow permute pin_memory positive ravel real
reshape reshape_as resolve_conj resolve_neg row_indices select squeeze swapaxes swapdims t to transpose unflatten
unfold unsqueeze values view view_as view_as_complex view_as_real
`;

/** Give a list of views of their first tensor. */
export const splits = `
chunk dsplit hsplit split split_with_sizes tensor_split unbind vsplit
`;

/** Write their first tensor or list of tensors. */
export const inPlace = `
_foreach_abs_ _foreach_acos_ _foreach_add_ _foreach_addcdiv_ _foreach_addcmul_ _foreach_asin_ _foreach_atan_
_foreach_ceil_ _foreach_clamp_max_ _foreach_clamp_min_ _foreach_copy_ _foreach_cos_ _foreach_cosh_ _foreach_div_
_foreach_erf_ _foreach_erfc_ _foreach_exp_ _foreach_expm1_ _foreach_floor_ _foreach_frac_ _foreach_lerp_
_foreach_lgamma_ _foreach_log10_ _foreach_log1p_ _foreach_log2_ _foreach_log_ _foreach_maximum_ _foreach_minimum_
_foreach_mul_ _foreach_neg_ _foreach_pow_ _foreach_reciprocal_ _foreach_round_ _foreach_rsqrt_ _foreach_sigmoid_
_foreach_sign_ _foreach_sin_ _foreach_sinh_ _foreach_sqrt_ _foreach_sub_ _foreach_tan_ _foreach_tanh_ _foreach_trunc_
_foreach_zero_ abs_ absolute_ acos_ acosh_ add_ addbmm_ addcdiv_ addcmul_ addmm_ addmv_ addr_ alpha_dropout_ arccos_
arccosh_ arcsin_ arcsinh_ arctan2_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan2_ atan_ atanh_ baddbmm_ bernoulli_
bitwise_and_ bitwise_left_shift_ bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ceil_ celu_ clamp_
clamp_max_ clamp_min_ clip_ conj_physical_ copy_ copysign_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ detach_ digamma_ div_
divide_ dropout_ elu_ embedding_renorm_ eq_ erf_ erfc_ erfinv_ exp2_ exp_ expm1_ exponential_ feature_alpha_dropout_
feature_dropout_ fill_ fill_diagonal_ fix_ float_power_ floor_ floor_divide_ fmod_ frac_ gcd_ ge_ geometric_ greater_
greater_equal_ gt_ hardtanh_ heaviside_ hypot_ i0_ igamma_ igammac_ index_add_ index_copy_ index_fill_ index_put_
index_reduce_ lcm_ ldexp_ le_ leaky_relu_ lerp_ less_ less_equal_ lgamma_ log10_ log1p_ log2_ log_ log_normal_
logical_and_ logical_not_ logical_or_ logical_xor_ logit_ lt_ masked_fill_ masked_scatter_ mul_ multiply_ mvlgamma_
nan_to_num_ ne_ neg_ negative_ nextafter_ normal_ not_equal_ polygamma_ pow_ put_ rad2deg_ random_ reciprocal_
record_stream relu_ remainder_ renorm_ requires_grad_ resize_ resize_as_ resize_as_sparse_ retain_grad round_ rrelu_
rsqrt_ scatter_ scatter_add_ scatter_reduce_ selu_ set_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sparse_resize_
sparse_resize_and_clear_ sqrt_ square_ squeeze_ sub_ subtract_ swapaxes_ swapdims_ t_ tan_ tanh_ threshold_ transpose_
tril_ triu_ true_divide_ trunc_ uniform_ unsqueeze_ xlogy_ zero_
`;

/** Make a tensor out of none. */
export const makes = `
_efficientzerotensor arange bartlett_window blackman_window empty empty_like empty_permuted empty_strided eye
fft.fftfreq fft.rfftfreq from_file full full_like hamming_window hann_window kaiser_window new_empty new_empty_strided
new_full new_ones new_zeros ones ones_like rand rand_like randint randint_like randn randn_like randperm range
scalar_tensor tril_indices triu_indices zeros zeros_like
`;

/** Take tensors and give what is none: numbers, flags, sizes. */
export const values = `
allclose dense_dim dim equal get_device is_coalesced is_complex is_conj is_contiguous is_distributed is_floating_point
is_inference is_leaf is_neg is_nonzero is_pinned is_same_size is_set_to is_signed item numel output_nr q_scale
q_zero_point result_type retains_grad size sparse_dim storage_offset stride
`;

/** Give several new tensors. A line: the names of the fields (`_`: without a name), then the operators. */
export const several = `
L info: linalg.cholesky_ex
LD pivots: linalg.ldl_factor
LD pivots info: linalg.ldl_factor_ex
LU pivots: linalg.lu_factor
LU pivots info: linalg.lu_factor_ex
P L U: linalg.lu lu_unpack
Q R: linalg.qr qr
U S V: svd
U S Vh: linalg.svd
_ _: _scaled_dot_product_attention_math _weight_norm_interface adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats choose_qparams_optimized fractional_max_pool2d fractional_max_pool3d gru lstm_cell max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices native_dropout rnn_relu rnn_tanh std_mean var_mean
_ _ _: lstm native_batch_norm native_group_norm native_layer_norm unique_consecutive
_ _ _ _: embedding_bag
a tau: geqrf
eigenvalues eigenvectors: linalg.eig linalg.eigh
hist bin_edges: histogram
inverse info: linalg.inv_ex
mantissa exponent: frexp
min max: aminmax
output log_sumexp philox_seed philox_offset: _scaled_dot_product_efficient_attention
output logsumexp cum_seq_q cum_seq_k max_q max_k philox_seed philox_offset debug_attn_mask: _scaled_dot_product_cudnn_attention
output logsumexp cum_seq_q cum_seq_k max_q max_k rng_state unused debug_attn_mask: _scaled_dot_product_flash_attention
output logsumexp philox_seed philox_offset max_seqlen_batch_q max_seqlen_batch_k: _efficient_attention_forward
output softmax_logsumexp rng_state unused debug_attn_mask: _flash_attention_forward
result info: linalg.solve_ex
sign logabsdet: linalg.slogdet slogdet
solution cloned_coefficient: triangular_solve
solution residuals rank singular_values: linalg.lstsq
values indices: cummax cummin kthvalue mode sort topk
`;

/** The same, only where they are asked about one dimension. */
export const severalWithDim = `
values indices: max median min nanmedian
`;

/** Write several of their arguments. A line: the places, then the operators. */
export const writing = `
0,1: _amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_
0,1,2: _fused_adagrad_ _fused_sgd_
0,1,2,3: _fused_adagrad_
0,1,2,3,4: _fused_adam_ _fused_adamw_
3,4,5,6: fused_moving_avg_obs_fake_quant
`;

/** Methods that a tensor has, of all that the tables here name. */
export const methods = `
abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm
addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any arccos arccos_ arccosh arccosh_ arcsin
arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided
as_strided_ as_strided_scatter asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ baddbmm baddbmm_ bernoulli
bernoulli_ bfloat16 bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_
bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte
cauchy_ ccol_indices cdouble ceil ceil_ cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp clamp_
clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone coalesce col_indices conj conj_physical conj_physical_
contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cross crow_indices cummax cummin
cumprod cumprod_ cumsum cumsum_ deg2rad deg2rad_ dense_dim dequantize det detach detach_ diag diag_embed diagflat
diagonal diagonal_scatter diff digamma digamma_ dim dist div div_ divide divide_ dot double dsplit eq eq_ equal erf
erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_ fill_ fill_diagonal_ fix
fix_ flatten flip fliplr flipud float float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod
fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger get_device greater greater_ greater_equal
greater_equal_ gt gt_ half hardshrink hash_tensor heaviside heaviside_ histc histogram hsplit hypot hypot_ i0 i0_
igamma igamma_ igammac igammac_ imag index index_add index_add_ index_copy_ index_fill index_fill_ index_put
index_put_ index_reduce index_reduce_ index_select indices inner int int_repr inverse is_coalesced is_complex is_conj
is_contiguous is_distributed is_floating_point is_inference is_leaf is_neg is_nonzero is_pinned is_same_size is_set_to
is_signed isclose isfinite isinf isnan isneginf isposinf isreal istft item kron kthvalue lcm lcm_ ldexp ldexp_ le le_
lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_
log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or
logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long lt lt_ lu_solve mH mT masked_fill masked_fill_
masked_scatter masked_scatter_ masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm
mode moveaxis movedim msort mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_
nanmean nanmedian nanquantile nansum narrow ne ne_ neg neg_ negative negative_ new_empty new_empty_strided new_full
new_ones new_zeros nextafter nextafter_ nonzero nonzero_static norm normal_ not_equal not_equal_ numel orgqr ormqr
outer output_nr permute pin_memory pinverse polygamma polygamma_ positive pow pow_ prelu prod put put_ q_scale
q_zero_point qr quantile rad2deg rad2deg_ random_ ravel real reciprocal reciprocal_ record_stream relu relu_ remainder
remainder_ renorm renorm_ repeat repeat_interleave requires_grad_ reshape reshape_as resize resize_ resize_as
resize_as_ resize_as_sparse_ resolve_conj resolve_neg retain_grad retains_grad roll rot90 round round_ row_indices
rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select select_scatter set_ sgn
sgn_ short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_scatter slogdet smm softmax
sort sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_
squeeze squeeze_ sspaddmm std stft storage_offset stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes
swapaxes_ swapdims swapdims_ t t_ take take_along_dim tan tan_ tanh tanh_ tensor_split tile to to_dense to_mkldnn
to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr topk trace transpose transpose_
triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_ type_as unbind unflatten unfold uniform_
unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ values var vdot view view_as
vsplit where xlogy xlogy_ zero_
`;

/** Of those, methods that other objects have as well. */
export const shared = `
absolute add all any argmax argmin argsort bfloat16 bool byte char clip clone conj contiguous copy_ cumprod cumsum
diagonal dot double expand fill_ flatten float get_device half imag index indices int is_pinned item long mT max mean
min mode multinomial nonzero pin_memory prod put ravel real repeat requires_grad_ reshape resize resize_ round short
size sort split squeeze std sub subtract sum swapaxes take to trace transpose values var view
`;
