/**
 * Functions of `torch` and methods of tensors that make a tensor from sizes or host values. Which there are is read from the
 * generated table; here is what a schema does not say: which leave the memory as it is, and which upload.
 */
import * as generated from './generated/operators.ts';
import { words } from './operators.ts';

/** Memory without a write of its own. */
const uninitialized = words('empty empty_strided empty_permuted new_empty new_empty_strided empty_like new');
const written = new Set([
  ...words(generated.makes),
  // Python's own, or with a tensor as one of several forms.
  ...words('normal linspace logspace range'),
]);
/** Made from host values: the upload blocks the host. */
const fromHost = words('tensor as_tensor asarray new_tensor');

export type FactoryKind = 'uninitialized' | 'written' | 'from-host';

/** `zeros`, `fft.fftfreq`, `signal.windows.hann`: how the tensor comes to its first values; undefined: no factory. */
export function factoryKind(name: string): FactoryKind | undefined {
  if (uninitialized.has(name)) return 'uninitialized';
  if (written.has(name) || name.startsWith('signal.windows.')) return 'written';
  if (fromHost.has(name)) return 'from-host';
  return undefined;
}
