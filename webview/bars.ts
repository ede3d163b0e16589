/** What the toolbar and the status bar say of a state. */
import { span } from '../core/timeline/view.ts';
import { isUnfinished } from './banners.ts';
import type { StatusBar } from './dom/statusBar.ts';
import type { Toolbar } from './dom/toolbar.ts';
import type { Run } from './messages.ts';
import type { State } from './state/state.ts';

interface Shown {
  readonly run: Run;
  readonly state: State;
  readonly urgency: readonly number[];
  readonly cursor: number | undefined;
  readonly narrow: boolean;
  /** Whether the run may still be writing. */
  readonly live: boolean;
}

export function showBars(toolbar: Toolbar, status: StatusBar, shown: Shown): void {
  const { run, state, urgency, cursor, narrow, live } = shown;
  toolbar.show({
    findings: run.hazards.length,
    finding: urgency.indexOf(state.hazard),
    term: state.search?.term ?? '',
    matches: state.search?.count ?? 0,
    match: state.match,
    filter: state.filter,
    range: state.range !== undefined,
    measure: state.measure !== undefined,
    comparing: run.timeline.parts.length > 1,
    hiddenLanes: state.hidden.size,
    narrow,
  });
  status.show({
    cursor,
    shown: span(state.view),
    slices: run.trace.deviceSlices.length + run.trace.hostSlices.length,
    waits: run.trace.counts.waits + run.trace.counts.hostWaits > 0,
    accesses: run.accesses,
    limits: run.trace.limits,
    narrow,
    live: live && isUnfinished(run),
  });
}
