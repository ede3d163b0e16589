/** Kernels of the program's own (Triton): which of their arguments they write is read off their stores. */
import type { BlockId } from '../../program/program.ts';
import type { Expression, FunctionDef, If, Node, While } from '../../python/ast.ts';
import { walk } from '../names.ts';
import { isObj, type KernelV, type TensorV, type Value } from '../values.ts';
import { type Keywords, tensorsIn } from './calls.ts';
import type { Machine } from './machine.ts';
import { isHost, operate } from './memory.ts';
import { joinAll } from './streams.ts';
import { tensorOf } from './tensors.ts';

/** A test around a store, and which way leads to it. */
interface Guard {
  readonly test: Expression;
  readonly taken: boolean;
}

interface Store {
  /** Names that the place is made of, followed through plain assignments. */
  readonly through: ReadonlySet<string>;
  /** What the kernel has loaded is part of the place: a table says where. */
  readonly byTable: boolean;
  readonly guards: readonly Guard[];
}

const storesOf = new WeakMap<FunctionDef, readonly Store[]>();

type Named = Node & { readonly kind?: string; readonly id?: string; readonly name?: string };

function isCallOf(node: Node, name: string): boolean {
  const { kind, callee } = node as Node & { kind?: string; callee?: Named };
  return kind === 'Call' && callee?.kind === 'Attribute' && callee.name === name;
}

/** A function of the program, of which its name does not say that it gives a pointer: it gives indices and values. */
function isCallOfOther(node: Node): boolean {
  const { kind, callee } = node as Node & { kind?: string; callee?: Named };
  return kind === 'Call' && callee?.kind === 'Name' && !/ptr|pointer|desc|block/i.test(callee.id ?? '');
}

/** What the kernel stores through, and under which tests. */
function storesIn(node: FunctionDef): readonly Store[] {
  const known = storesOf.get(node);
  if (known) return known;
  const sources = new Map<string, Set<string>>();
  /** Names of what was loaded, or is worked out of it. */
  const loaded = new Set<string>();
  const found: { through: Set<string>; guards: readonly Guard[]; byTable: boolean }[] = [];
  const loads = (part: Node): boolean => {
    let seen = false;
    walk(part, (inner) => {
      seen ||= isCallOf(inner, 'load');
      return !seen;
    });
    return seen;
  };
  const namesIn = (part: Node): Set<string> => {
    const names = new Set<string>();
    walk(part, (inner) => {
      const named = inner as Named;
      // What was loaded is an index or a value, or a pointer to other memory than that which it lay in.
      if (isCallOf(inner, 'load') || isCallOfOther(inner)) return false;
      if (named.kind === 'Name' && named.id !== undefined) names.add(named.id);
      return true;
    });
    return names;
  };
  const look = (part: Node, guards: readonly Guard[]): void =>
    walk(part, (inner) => {
      if (inner.kind === 'If') {
        const { test, body, orelse } = inner as If;
        look(test, guards);
        for (const statement of body) look(statement, [...guards, { test, taken: true }]);
        for (const statement of orelse) look(statement, [...guards, { test, taken: false }]);
        return false;
      }
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
            if (loads(statement.value)) loaded.add(target.id);
          }
      if (
        statement.kind === 'Call' &&
        statement.callee?.kind === 'Attribute' &&
        /^(store|atomic_\w+)$/.test(statement.callee.name ?? '')
      ) {
        const place = statement.args?.[0];
        // `descriptor.store(place, …)` names what it stores to before the place in it.
        if (place)
          found.push({
            through: new Set([...namesIn(place), ...namesIn(statement.callee)]),
            guards,
            byTable: loads(place),
          });
      }
      return true;
    });
  look(node, []);
  // A set takes in what is added while it is gone through.
  for (const store of found)
    for (const name of store.through) {
      store.byTable ||= loaded.has(name);
      for (const source of sources.get(name) ?? []) store.through.add(source);
    }
  storesOf.set(node, found);
  return found;
}

/**
 * Parameters that a call with these arguments writes through, and whether only where a table says. What an argument that
 * is not known decides is not taken.
 */
function writtenParameters(node: FunctionDef, given: ReadonlyMap<string, Value>): ReadonlyMap<string, boolean> {
  const parameters = new Set(node.parameters.map(({ name }) => name));
  const written = new Map<string, boolean>();
  for (const { through, guards, byTable } of storesIn(node))
    if (guards.every(({ test, taken }) => leads(test, taken, parameters, given)))
      for (const name of through) written.set(name, byTable && written.get(name) !== false);
  return written;
}

/** Whether the test lets the call through; one on something other than an argument does so for some of the threads. */
function leads(
  test: Expression,
  taken: boolean,
  parameters: ReadonlySet<string>,
  given: ReadonlyMap<string, Value>,
): boolean {
  if (test.kind === 'Unary' && test.operator === 'not') return leads(test.operand, !taken, parameters, given);
  if (test.kind !== 'Name' || !parameters.has(test.id)) return true;
  const value = given.get(test.id);
  return value !== undefined && !isObj(value) && Boolean(value) === taken;
}

/** What kernels call to wait for a flag in memory. */
const waitingCall = /(?:^|_)(?:wait|barrier|spin|acquire)(?:_|$)|^atomic_cas$/;

const spinning = new WeakMap<FunctionDef, boolean>();

/** Whether the kernel itself waits for what other kernels store: it spins on memory, or calls what does. */
function spins(node: FunctionDef): boolean {
  let found = spinning.get(node);
  if (found === undefined) {
    const waits = (part: Node): boolean => {
      let seen = false;
      walk(part, (inner) => {
        const { kind, callee } = inner as Node & { kind?: string; callee?: Named };
        const called = kind === 'Call' ? (callee?.kind === 'Attribute' ? callee.name : callee?.id) : undefined;
        if (called !== undefined && waitingCall.test(called)) seen = true;
        if (kind === 'While')
          walk((inner as While).test, (test) => {
            if (isMemoryCall(test)) seen = true;
            return !seen;
          });
        return !seen;
      });
      return seen;
    };
    found = waits(node);
    spinning.set(node, found);
  }
  return found;
}

function isMemoryCall(node: Node): boolean {
  const { callee } = node as Node & { callee?: Named };
  return /^(?:atomic_\w+|ld|load|ld_\w+|\w+_ld|poll\w*)$/.test(callee?.name ?? callee?.id ?? '');
}

export function launchKernel(m: Machine, kernel: KernelV, args: readonly Value[], keywords: Keywords): Value {
  m.touched.add(kernel.place);
  const names = kernel.node.parameters.map((parameter) => parameter.name);
  const given = new Map(keywords);
  for (const [i, value] of args.entries()) if (names[i] !== undefined) given.set(names[i], value);
  for (const { name, default: fallback } of kernel.node.parameters)
    if (fallback?.kind === 'Constant' && !given.has(name)) given.set(name, fallback.value);
  const written = writtenParameters(kernel.node, given);
  // `H: tl.constexpr` is a number.
  const typed = new Set(kernel.node.parameters.flatMap(({ name, annotation }) => (annotation ? [name] : [])));
  const reads: TensorV[] = [];
  const writes: TensorV[] = [];
  const picked = new Set<BlockId>();
  const take = (name: string, value: Value): void => {
    let tensors = tensorsIn(m, [value]);
    if (tensors.length === 0 && /ptr|_p$|^[A-Z]$/.test(name) && !typed.has(name)) {
      const tensor = tensorOf(m, value);
      if (tensor) tensors = [tensor];
    }
    for (const tensor of tensors)
      if (!isHost(tensor)) {
        tensor.storage.device.prove();
        (written.has(name) ? writes : reads).push(tensor);
        if (written.get(name)) picked.add(tensor.storage.block);
      }
  };
  for (const [i, value] of args.entries()) take(names[i] ?? '', value);
  for (const [name, value] of keywords) take(name, value);
  // What the kernel waits for on the device, nobody sees.
  if (spins(kernel.node)) joinAll(m, m.current().stream);
  m.picked = picked;
  if (reads.length + writes.length > 0) operate(m, kernel.node.name, reads, writes, false);
  m.picked = new Set();
  return null;
}
