/**
 * What a method leaves in its object for the other methods: the attributes through which they come to memory that it had
 * used on a stream of its own, or copied without the host waiting. Which methods take them up is not known here.
 */
import type { BlockId } from '../../program/program.ts';
import { InstanceV, isObj, Storage, type Value, WorkV } from '../values.ts';
import type { Machine } from './machine.ts';

/** Objects that are looked into for one attribute: one that holds more counts as one that leaves something. */
const mostParts = 2_000;

/** Undefined where the entry is no method, or did not come to its end. */
export function leftoversOf(m: Machine): readonly string[] | undefined {
  const { self } = m;
  if (!(self instanceof InstanceV)) return undefined;
  const used = blocksInFlight(m);
  return [...self.attributes].flatMap(([name, value]) => (reaches(value, used) ? [name] : []));
}

function blocksInFlight({ builder }: Machine): ReadonlySet<BlockId> {
  const found = new Set<BlockId>();
  for (const step of builder.emitted)
    if (step.kind === 'launch') {
      const isElsewhere = !builder.streams[step.stream]?.isDefault;
      const touchesHost = step.accesses.some(({ block }) => builder.blocks[block]!.memory !== 'device');
      if (isElsewhere || touchesHost) for (const { block } of step.accesses) found.add(block);
    } else if (step.kind === 'allocate' && !builder.streams[step.stream]?.isDefault) found.add(step.block);
  return found;
}

function reaches(value: Value, blocks: ReadonlySet<BlockId>): boolean {
  const seen = new Set<Value>();
  const visit = (part: Value | undefined): boolean => {
    if (!isObj(part) || seen.has(part)) return false;
    seen.add(part);
    if (seen.size > mostParts || part instanceof WorkV) return true;
    if (part instanceof Storage) return blocks.has(part.block);
    let found = false;
    part.children((child) => {
      found ||= visit(child);
    });
    return found;
  };
  return visit(value);
}
