/** What the tooltip says of a slice, a block, an edge, a finding. */
import { plain } from '../core/timeline/findings.ts';
import { extentOf, type Target } from '../core/timeline/hit.ts';
import { timeText } from '../core/timeline/units.ts';
import type { TooltipFacts } from './dom/popups.ts';
import type { Run } from './messages.ts';
import { detailsOf, placeText, streamName } from './state/details.ts';

export function tooltipOf(run: Run, target: Target): TooltipFacts {
  const details = detailsOf(run, target);
  const extent = target.kind === 'hazard' ? run.hazards[target.index]! : extentOf(run.trace, run.timeline, target);
  const lines: string[] = [];
  if (target.kind !== 'hazard')
    lines.push(`${timeText(extent.start)} to ${timeText(extent.end)}, ${timeText(extent.end - extent.start)}`);
  if (target.kind === 'device') {
    const launcher = run.trace.deviceSlices.launcher[target.index]!;
    if (launcher >= 0)
      lines.push(`launched ${timeText(Math.max(0, extent.start - run.trace.hostSlices.start[launcher]!))} earlier`);
  }
  lines.push(...details.text.map(plain));
  if (details.source) lines.push(placeText(details.source));
  const note = target.kind === 'device' ? streamName(run, run.trace.deviceSlices.stream[target.index]!) : details.note;
  return { title: details.title, note, lines };
}
