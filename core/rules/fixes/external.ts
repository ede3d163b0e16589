/** The fix for a stream that was asked for by the handle 0: the default stream, which was meant. */
import type { LoweredPath } from '../../lower/lowered.ts';
import { walk } from '../../lower/names.ts';
import type { SourceFrame } from '../../program/program.ts';
import type { Call } from '../../python/ast.ts';
import { type Candidate, spotAt, withImports } from './spot.ts';

export function defaultStreamFixes(path: LoweredPath, place: SourceFrame): Candidate[] {
  const spot = spotAt(path, place, 0, 'before');
  if (!spot) return [];
  const { text, file } = spot.module;
  let call: Call | undefined;
  walk(spot.root, (node) => {
    if (node.kind === 'Call' && node.start === place.start && node.end === place.end) call = node as unknown as Call;
    return node.start <= place.start && place.end <= node.end;
  });
  if (!call) return [];
  const device = call.keywords.find(({ name }) => name === 'device')?.value ?? call.args[1];
  const owner =
    call.callee.kind === 'Attribute'
      ? text.slice(call.callee.value.start, call.callee.value.end)
      : `${spot.activation.torchName ?? 'torch'}.cuda`;
  const newText = `${owner}.default_stream(${device ? text.slice(device.start, device.end) : ''})`;
  return [
    {
      title: `Use the default stream (\`${newText}\`)`,
      edits: withImports(spot, [{ file, start: place.start, end: place.end, newText }]),
    },
  ];
}
