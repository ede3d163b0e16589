/** Fixes for a collective that is used too early: the handle's `wait()` before the use. */
import type { OrderHazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import { originOf } from '../report.ts';
import type { Link } from './blocks.ts';
import { indentUnit, remove } from './edits.ts';
import { type Candidate, holder, isNamedAt, outside, put, rootName, type Spot, spotOf } from './spot.ts';

export function collectiveFixes(path: LoweredPath, hazard: OrderHazard): Candidate[] {
  const start = originOf(path.program, hazard.first);
  const use = originOf(path.program, hazard.second);
  const fixes: Candidate[] = [];
  for (let frame = 0; frame < (start?.frames.length ?? 0); frame++) {
    const made = spotOf(path, hazard.first, frame, 'after');
    const handle = made && handleIn(made);
    if (!made || !handle) continue;
    for (let f = 0; f < (use?.frames.length ?? 0); f++)
      for (let spot = spotOf(path, hazard.second, f, 'before'); spot; spot = outside(spot)) {
        if (spot.activation !== made.activation || !isNamedAt(spot, handle.name)) continue;
        const unit = indentUnit(spot.module.text);
        const later = handle.isList ? undefined : waitBehind(spot, handle.name);
        if (later)
          fixes.push({
            title: `Move the wait for \`${handle.name}\` before the use`,
            edits: [remove(spot.module, later), put(spot, [`${handle.name}.wait()`])],
          });
        const lines = handle.isList ? [`for work in ${handle.name}:`, `${unit}work.wait()`] : [`${handle.name}.wait()`];
        fixes.push({ title: `Wait for \`${handle.name}\` before the use`, edits: [put(spot, lines)] });
      }
  }
  return fixes;
}

/** The statement `handle.wait()` that stands behind the use in the same block. */
function waitBehind(spot: Spot, handle: string): Link | undefined {
  const link = spot.links.at(-1)!;
  const { text } = spot.module;
  const index = link.block.findIndex(
    (statement, i) =>
      i > link.index && text.slice(statement.start, statement.end).replace(/\s/g, '') === `${handle}.wait()`,
  );
  return index < 0 ? undefined : { ...link, index };
}

/** Where the statement that starts the collective puts the handle: a name, or a list that it is appended to. */
function handleIn(spot: Spot): { name: string; isList: boolean } | undefined {
  const statement = holder(spot);
  const { text } = spot.module;
  if (statement.kind === 'Assign') {
    const [target] = statement.targets;
    if (target?.kind !== 'Name' && target?.kind !== 'Attribute') return undefined;
    return { name: text.slice(target.start, target.end), isList: false };
  }
  const call =
    statement.kind === 'ExpressionStatement' && statement.value.kind === 'Call' ? statement.value : undefined;
  if (call?.callee.kind !== 'Attribute' || call.callee.name !== 'append') return undefined;
  const name = text.slice(call.callee.value.start, call.callee.value.end);
  return rootName(name) === undefined ? undefined : { name, isList: true };
}
