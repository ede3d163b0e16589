/**
 * Which method calls tell that an unknown receiver is a tensor. A name that strings, containers, arrays or models have too
 * tells nothing. Knows names only.
 */
import * as generated from './generated/operators.ts';
import { isBlocking, isInPlace, isMetadata, isSplitting, isViewing, words } from './operators.ts';

const methods = words(generated.methods);
const shared = words(generated.shared);

/** More methods that other libraries give their objects too: `shared` knows those of Python, NumPy and PyTorch itself. */
const ambiguous = words(`
coalesce cov cross diff dim dist eq equal flip gather ger histogram inner inverse le lt median ne outer positive retain_grad roll
scatter select sign smm stft svd t tile unfold where
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
