/**
 * Which method calls tell that an unknown receiver is a tensor. A name that strings, containers, arrays or models have too
 * tells nothing. Knows names only.
 */
import * as generated from './generated/operators.ts';
import { isBlocking, isInPlace, isMetadata, isSplitting, isViewing, words } from './operators.ts';

const methods = words(generated.methods);
const shared = words(generated.shared);

/** Names of a tensor's methods that other libraries give their objects too. */
const ambiguous = words(`
add all any bool byte char chunk clip copy count data device dim double dropout dist dot eq expand fill flatten flip float format
gather get half index indices int interpolate item items keys le linear log long lt lu max mean median min mode mul ne norm normalize
numpy pad pop pow put real imag render repeat reshape_like resize roll round scatter select set short sign size solve sort
split square sub sum svd take threshold tile to topk trace type unfold update upsample values view where weight inverse
tolist exp positive rename t sin cos tan cov diff embedding fold inner outer relu gelu silu softmax unique clone detach
cross stack cat trapz stft fft ifft type_as equal contiguous conj narrow coalesce histogram retain_grad cpu cuda ger smm
`);

/** What a tensor, and hardly anything else that programs call these on, has. */
const certain = words(`
clone detach contiguous unsqueeze squeeze expand_as view_as permute transpose record_stream requires_grad_ item
tolist bfloat16 type_as softmax argmax argmin argsort index_select masked_fill is_cuda is_pinned pin_memory numel element_size
data_ptr untyped_storage flatten reshape cumsum cumprod mean std var sum prod norm abs absolute sqrt exp log square tanh sigmoid relu
clamp max min pow subtract swapaxes diagonal ravel
float half long double matmul mm bmm topk log_softmax view chunk unbind repeat_interleave cpu backward
sin cos tan rsqrt reciprocal sub mul div neg narrow new_zeros new_empty new_ones new_full new_tensor is_contiguous
detach_ squeeze_ unsqueeze_ transpose_ t_ refine_names align_to align_as
`);

/** Methods that are Python's own, or handled one by one. */
const byHand =
  /^(to|cuda|cpu|pin_memory|numpy|record_stream|backward|new_\w+|untyped_storage|storage|resize_|register_hook|retain_grad|repeat|set_|data|apply_|map_|unique|lu|to_sparse_coo|__\w+__)$/;

export function isTensorMethod(name: string): boolean {
  return (
    methods.has(name) ||
    isViewing(name) ||
    isSplitting(name) ||
    isMetadata(name) ||
    isBlocking(name) ||
    isInPlace(name) ||
    byHand.test(name)
  );
}

/** A method that tells that an unknown receiver is a tensor. */
export function tensorOnly(name: string): boolean {
  if (certain.has(name) || isInPlace(name)) return true;
  return methods.has(name) && !shared.has(name) && !ambiguous.has(name) && !isMetadata(name);
}
