/** What was chosen of one run, carried over to another view of it. Pure. */
import type { Target } from '../../core/timeline/hit.ts';
import { clampView } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';
import { initialState, searchFor, type State } from './state.ts';

/** What was chosen of one run, for another of the same program: a longer recording of it, or it beside a second one. */
export function carriedOver(state: State, from: Run, to: Run): State {
  const wasAll = state.view.end >= from.timeline.bounds.end;
  const view = wasAll
    ? {
        start: state.view.start <= from.timeline.bounds.start ? to.timeline.bounds.start : state.view.start,
        end: to.timeline.bounds.end,
      }
    : state.view;
  const isSame = from.timeline.parts.length === to.timeline.parts.length;
  const hazard = from.hazards[state.hazard];
  const carried: State = {
    ...state,
    view: clampView(view, to.timeline.bounds),
    selection: state.selection && sameIn(from, to, state.selection),
    hazard: hazard ? to.hazards.findIndex((other) => other.code === hazard.code && other.start === hazard.start) : -1,
    match: -1,
    marked: new Set(),
    users: new Set(),
    closed: isSame ? state.closed : new Set([...state.closed, ...initialState(to).closed]),
  };
  return state.search ? searchFor(carried, to, state.search.term) : carried;
}

/** The slice or block with the same start, place and name; rows move as more of a run is recorded. */
function sameIn(from: Run, to: Run, target: Target): Target | undefined {
  const { index } = target;
  const a = from.trace;
  const b = to.trace;
  const find = (length: number, matches: (i: number) => boolean): Target | undefined => {
    for (let i = 0; i < length; i++) if (matches(i)) return { kind: target.kind, index: i };
    return undefined;
  };
  const named = (x: Int32Array, y: Int32Array, i: number): boolean => a.strings[x[index]!] === b.strings[y[i]!];
  switch (target.kind) {
    case 'device':
      return find(
        b.deviceSlices.length,
        (i) =>
          b.deviceSlices.start[i] === a.deviceSlices.start[index] &&
          b.deviceSlices.stream[i] === a.deviceSlices.stream[index] &&
          named(a.deviceSlices.name, b.deviceSlices.name, i),
      );
    case 'host':
      return find(
        b.hostSlices.length,
        (i) =>
          b.hostSlices.start[i] === a.hostSlices.start[index] &&
          b.hostSlices.thread[i] === a.hostSlices.thread[index] &&
          named(a.hostSlices.name, b.hostSlices.name, i),
      );
    case 'block':
      return find(
        b.blocks.length,
        (i) => b.blocks.allocated[i] === a.blocks.allocated[index] && b.blocks.address[i] === a.blocks.address[index],
      );
    default:
      return undefined;
  }
}
