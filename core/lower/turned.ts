/** Which parameters that are off, or on, by default are turned by those who call a function. Knows syntax only. */
import type { Call, Constant, Expression, Parameter } from '../python/ast.ts';
import { type FunctionEntry, namesMentioned } from './entries.ts';
import type { LoweredEntry } from './lowered.ts';
import { walk } from './names.ts';

const known = new WeakMap<LoweredEntry, Map<string, LoweredEntry>>();

/** The entry with those of its parameters that one of the others turns; the same object for the same answer. */
export function withTurned(
  entry: FunctionEntry,
  lowered: LoweredEntry,
  others: readonly FunctionEntry[],
): LoweredEntry {
  const flags = new Set(lowered.paths.flatMap(({ decisions }) => decisions.flatMap(({ flag }) => flag ?? [])));
  if (flags.size === 0) return lowered;
  const turned = new Set([...flags].filter((flag) => others.some((other) => turns(other, entry, flag))));
  if (turned.size === 0) return lowered;
  const answers = known.get(lowered) ?? new Map<string, LoweredEntry>();
  known.set(lowered, answers);
  const key = [...turned].sort().join();
  const answer = answers.get(key) ?? { ...lowered, turned };
  answers.set(key, answer);
  return answer;
}

function turns(caller: FunctionEntry, { node, owner }: FunctionEntry, flag: string): boolean {
  if (caller.node === node || !namesMentioned(caller.node, caller.module).has(node.name)) return false;
  const parameter = node.parameters.find(({ name }) => name === flag);
  if (!parameter) return false;
  const isStatic = node.decorators.some((decorator) => decorator.kind === 'Name' && decorator.id === 'staticmethod');
  const placed = node.parameters.filter(({ kind }) => kind === 'normal' || kind === 'positional-only');
  const at = placed.indexOf(parameter) - (owner && !isStatic ? 1 : 0);
  let found = false;
  walk(caller.node, (part) => {
    const called = part as unknown as Expression;
    if (called.kind === 'Call' && calls(called, node.name)) found ||= isTurned(called, parameter, at);
    return !found;
  });
  return found;
}

function calls({ callee }: Call, name: string): boolean {
  if (callee.kind === 'Name') return callee.id === name;
  return callee.kind === 'Attribute' && callee.name === name && !isTorch(callee.value);
}

/** `torch.distributed`, by that name or another: its functions have the names that those of a program around them have. */
function isTorch(node: Expression): boolean {
  if (node.kind === 'Attribute') return isTorch(node.value);
  return node.kind === 'Name' && /^(?:torch|dist|distributed|c10d)$/.test(node.id);
}

function isTurned({ args, keywords }: Call, parameter: Parameter, at: number): boolean {
  const named = keywords.find(({ name }) => name === parameter.name)?.value;
  const placed = at >= 0 && !args.slice(0, at).some(({ kind }) => kind === 'Starred') ? args[at] : undefined;
  const value = named ?? placed;
  return value !== undefined && !isSame(value, parameter.default);
}

function isSame(value: Expression, fallback: Expression | undefined): boolean {
  return value.kind === 'Constant' && value.value === (fallback as Constant | undefined)?.value;
}
