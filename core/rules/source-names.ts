/** The names that one frame of the source has for the streams, events and tensors of a path. */
import type { Activation, Binding, LoweredPath } from '../lower/lowered.ts';
import type { StepIndex } from '../program/program.ts';
import { type Names, programNames, quoted } from './rule.ts';

export type NamedTarget = Binding['target'];

/** The expressions that name the target in this frame at this time, the latest binding first. */
export function namesOf(activation: Activation | undefined, target: NamedTarget, at: StepIndex): string[] {
  const found = new Set<string>();
  for (const binding of activation?.bindings ?? [])
    if (binding.from <= at && (binding.until === undefined || binding.until > at) && sameTarget(binding.target, target))
      found.add(binding.expression);
  return [...found].reverse();
}

/** Names as the frame would write them, and the program's own where it has none. */
export function frameNames(path: LoweredPath, activation: number, at: StepIndex): Names {
  const frame = path.activations[activation];
  const own = programNames(path.program);
  const named = (target: NamedTarget, otherwise: string): string => {
    const expression = namesOf(frame, target, at)[0];
    return expression ? quoted(expression, otherwise) : otherwise;
  };
  return {
    stream: (stream) => named({ kind: 'stream', stream }, own.stream(stream)),
    event: (event) => named({ kind: 'event', event }, own.event(event)),
    block: (block) => {
      const target: NamedTarget = { kind: 'tensor', block };
      const hasName = path.activations.some((a) => a.bindings.some((binding) => sameTarget(binding.target, target)));
      // A value that no name ever held is called by the operation that makes it.
      return named(target, hasName ? own.block(block) : `the result of ${own.block(block)}`);
    },
  };
}

export function sameTarget(a: NamedTarget, b: NamedTarget): boolean {
  if (a.kind === 'stream') return b.kind === 'stream' && a.stream === b.stream;
  if (a.kind === 'event') return b.kind === 'event' && a.event === b.event;
  return b.kind === 'tensor' && a.block === b.block;
}
