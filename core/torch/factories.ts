/** Functions of `torch` that make tensors from sizes or host values. */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Memory without a write of its own. */
const uninitialized = words('empty empty_strided empty_permuted new_empty new_empty_strided empty_like');
const written = words(`
zeros ones full rand randn randint randperm arange range linspace logspace eye normal bernoulli_like hann_window
hamming_window blackman_window bartlett_window kaiser_window tril_indices triu_indices complex sparse_coo_tensor
new_zeros new_ones new_full zeros_like ones_like full_like rand_like randn_like randint_like
`);
/** Made from host values: the upload blocks the host. */
const fromHost = words('tensor as_tensor scalar_tensor asarray new_tensor');

export type FactoryKind = 'uninitialized' | 'written' | 'from-host';

export function factoryKind(name: string): FactoryKind | undefined {
  if (uninitialized.has(name)) return 'uninitialized';
  if (written.has(name)) return 'written';
  if (fromHost.has(name)) return 'from-host';
  return undefined;
}
