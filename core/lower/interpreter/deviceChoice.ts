/** Tests that choose between the host and CUDA, as they are written. Which way a path goes is not known here. */
import type { Conditional, Expression, If, Statement } from '../../python/ast.ts';
import { branchesOf } from '../../python/branches.ts';
import { walk } from '../names.ts';

/** `"cuda" if … else "cpu"`: what is judged here runs on CUDA. */
export function preferredDevice({ body, orelse }: Conditional): { readonly prefer?: boolean } {
  const first = deviceNamed(body);
  const second = first && deviceNamed(orelse);
  return second === undefined || first === second ? {} : { prefer: first === 'cuda' };
}

/** Whether the value is the host's because no device is there, or none is wanted. */
export function choosesHost({ test, body, orelse }: Conditional, taken: boolean): boolean {
  const [chosen, other] = taken ? [body, orelse] : [orelse, body];
  return deviceNamed(chosen) === 'cpu' && deviceNamed(other) === 'cuda' && asksForDevice(test);
}

/** The same of `if args.cpu: device = torch.device("cpu")`, with another branch of `first` that names CUDA. */
export function assignsHost(first: If, test: Expression, chosen: readonly Statement[]): boolean {
  for (const [name, device] of devicesIn(chosen))
    if (device === 'cpu' && asksForDevice(test))
      return branchesOf(first).some((branch) => devicesIn(branch).some(([n, d]) => n === name && d === 'cuda'));
  return false;
}

function devicesIn(body: readonly Statement[]): (readonly [name: string, device: string])[] {
  return body.flatMap((statement) => {
    if (statement.kind !== 'Assign') return [];
    const device = deviceNamed(statement.value);
    if (device === undefined) return [];
    return statement.targets.flatMap((target) =>
      target.kind === 'Name'
        ? [[target.id, device] as const]
        : target.kind === 'Attribute'
          ? [[target.name, device] as const]
          : [],
    );
  });
}

/** `cuda`, `not args.no_cuda`, `args.cpu`, `torch.cuda.is_available()`: whether there is a device, not which of two places is meant. */
function asksForDevice(test: Expression): boolean {
  let asks = false;
  walk(test, (part) => {
    const { kind, id, name } = part as { kind?: string; id?: string; name?: string };
    if ((kind === 'Name' || kind === 'Attribute') && namesDevice.test(id ?? name ?? '')) asks = true;
    return !asks;
  });
  return asks;
}

/** `offload_to_cpu` and `cpu_offload` ask for a place. */
const namesDevice = /cuda|gpu|^(?:use_?|on_?|only_?|force_?|run_on_?|is_)?cpu(?:_?only)?$/i;

/** The device that `"cuda"` or `torch.device("cpu")` names. */
function deviceNamed(node: Expression): string | undefined {
  const named = node.kind === 'Call' ? node.args[0] : node;
  if (named?.kind !== 'Constant' || typeof named.value !== 'string') return undefined;
  return /^(?:cuda|cpu)(?=:|$)/.exec(named.value)?.[0];
}
