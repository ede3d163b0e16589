/** Kernels of the program's own (Triton): which of their arguments they write is read off their stores. */
import type { FunctionDef, Node } from '../../python/ast.ts';
import { walk } from '../names.ts';
import type { KernelV, TensorV, Value } from '../values.ts';
import { type Keywords, tensorsIn } from './calls.ts';
import type { Machine } from './machine.ts';
import { isHost, operate } from './memory.ts';
import { tensorOf } from './tensors.ts';

const stored = new WeakMap<FunctionDef, ReadonlySet<string>>();

type Named = Node & { readonly kind?: string; readonly id?: string; readonly name?: string };

/** Parameters that the kernel stores through, followed through plain assignments. */
function writtenParameters(node: FunctionDef): ReadonlySet<string> {
  const known = stored.get(node);
  if (known) return known;
  const sources = new Map<string, Set<string>>();
  const written = new Set<string>();
  const namesIn = (part: Node): Set<string> => {
    const names = new Set<string>();
    walk(part, (inner) => {
      const named = inner as Named;
      if (named.kind === 'Name' && named.id !== undefined) names.add(named.id);
      return true;
    });
    return names;
  };
  walk(node, (inner) => {
    const statement = inner as unknown as {
      kind?: string;
      targets?: Named[];
      target?: Named;
      value?: Node;
      callee?: Named;
      args?: Node[];
    };
    if ((statement.kind === 'Assign' || statement.kind === 'AugAssign') && statement.value)
      for (const target of statement.targets ?? (statement.target ? [statement.target] : []))
        if (target.kind === 'Name' && target.id !== undefined) {
          const into = sources.get(target.id) ?? new Set<string>();
          for (const name of namesIn(statement.value)) into.add(name);
          sources.set(target.id, into);
        }
    if (
      statement.kind === 'Call' &&
      statement.callee?.kind === 'Attribute' &&
      /^(store|atomic_\w+)$/.test(statement.callee.name ?? '')
    ) {
      const place = statement.args?.[0];
      if (place) for (const name of namesIn(place)) written.add(name);
    }
    return true;
  });
  for (let grown = true; grown; ) {
    grown = false;
    for (const name of [...written])
      for (const source of sources.get(name) ?? [])
        if (!written.has(source)) {
          written.add(source);
          grown = true;
        }
  }
  stored.set(node, written);
  return written;
}

export function launchKernel(m: Machine, kernel: KernelV, args: readonly Value[], keywords: Keywords): Value {
  const names = kernel.node.parameters.map((parameter) => parameter.name);
  const written = writtenParameters(kernel.node);
  const reads: TensorV[] = [];
  const writes: TensorV[] = [];
  const take = (name: string, value: Value): void => {
    let tensors = tensorsIn(m, [value]);
    if (tensors.length === 0 && /ptr|_p$|^[A-Z]$/.test(name)) {
      const tensor = tensorOf(m, value);
      if (tensor) tensors = [tensor];
    }
    for (const tensor of tensors)
      if (!isHost(tensor)) {
        tensor.storage.device.prove();
        (written.has(name) ? writes : reads).push(tensor);
      }
  };
  for (const [i, value] of args.entries()) take(names[i] ?? '', value);
  for (const [name, value] of keywords) take(name, value);
  if (reads.length + writes.length > 0) operate(m, kernel.node.name, reads, writes, false);
  return null;
}
