/**
 * What the user has chosen to see of a run, as one immutable value, and what each wish makes of it. Pure: no DOM, no
 * drawing, no messages.
 */
import { byUrgency } from '../../core/timeline/findings.ts';
import { extentOf, sameTarget, type Target } from '../../core/timeline/hit.ts';
import { around, clampView, reach, span, type View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';
import type { Note } from './notes.ts';
import { type Search, search } from './search.ts';

/** Two moments; the second follows the pointer or the selection until it is put down. */
export interface Measure {
  readonly from: number;
  readonly to: number;
  readonly isFixed: boolean;
}

export interface State {
  readonly view: View;
  /** How far the lanes are scrolled up, CSS pixels. */
  readonly scroll: number;
  readonly selection: Target | undefined;
  /** The finding that is shown; -1: none. */
  readonly hazard: number;
  readonly search: Search | undefined;
  /** Which match was jumped to last; -1: none. */
  readonly match: number;
  /** Whether only matches are shown. */
  readonly filter: boolean;
  readonly range: View | undefined;
  readonly measure: Measure | undefined;
  /** Lanes that stay at the top, and the order of lanes where it was changed: keys of lanes. */
  readonly pinned: readonly string[];
  readonly order: readonly string[];
  readonly closed: ReadonlySet<string>;
  readonly opened: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
  readonly marked: ReadonlySet<number>;
  /** Device slices that use the selected block. */
  readonly users: ReadonlySet<number>;
  readonly notes: readonly Note[];
}

export function initialState({ timeline }: Run): State {
  return {
    view: timeline.bounds,
    scroll: 0,
    selection: undefined,
    hazard: -1,
    search: undefined,
    match: -1,
    filter: false,
    range: undefined,
    measure: undefined,
    pinned: [],
    order: [],
    // Two runs are compared by their streams first: memory would push the second one out of sight.
    closed: new Set(timeline.parts.length > 1 ? ['memory', 'memory of run 2'] : []),
    opened: new Set(),
    hidden: new Set(),
    marked: new Set(),
    users: new Set(),
    notes: [],
  };
}

/** What is shown in the panel: the selection, else the finding. */
export function targetOf({ selection, hazard }: State): Target | undefined {
  return selection ?? (hazard >= 0 ? { kind: 'hazard', index: hazard } : undefined);
}

export function withView(state: State, run: Run, view: View): State {
  return { ...state, view: clampView(view, run.timeline.bounds) };
}

/** Selecting something that is not a finding keeps the finding on screen: its marks explain what is selected. */
export function select(state: State, run: Run, target: Target | undefined, show = false): State {
  if (target?.kind === 'hazard') return selectHazard(state, run, target.index);
  if (sameTarget(target, state.selection)) return state;
  const view =
    target && show ? reach(state.view, extentOf(run.trace, run.timeline, target), run.timeline.bounds) : state.view;
  return { ...state, selection: target, view };
}

/** Selects a finding and zooms to it, with both accesses and the whole way from the release to the last use in view. */
export function selectHazard(state: State, run: Run, index: number): State {
  const hazard = run.hazards[index];
  if (!hazard) return { ...state, hazard: -1 };
  const bounds = run.timeline.bounds;
  return { ...state, hazard: index, selection: undefined, view: around(hazardExtent(run, index), bounds, 0.6) };
}

/** What must be seen together to understand a finding. */
export function hazardExtent(run: Run, index: number): View {
  const hazard = run.hazards[index]!;
  const times: number[] = [];
  if (hazard.start >= 0) times.push(hazard.start, Math.max(hazard.start, hazard.end));
  for (const slice of [hazard.firstSlice, hazard.secondSlice]) {
    if (slice < 0 || slice >= run.trace.deviceSlices.length) continue;
    const { start, end } = extentOf(run.trace, run.timeline, { kind: 'device', index: slice });
    times.push(start, end);
  }
  if (times.length === 0) return run.timeline.bounds;
  // The way from the release to the last use belongs to it, unless it would make the accesses tiny.
  const { blocks } = run.trace;
  const release = blocks.releaseRequested[hazard.block] ?? -1;
  const last = blocks.lastUse[hazard.block] ?? -1;
  const length = Math.max(...times) - Math.min(...times);
  if (release >= 0 && last > release && Math.min(...times) - release < 2 * length) times.push(release, last);
  return { start: Math.min(...times), end: Math.max(...times) };
}

/** The next or previous finding by urgency, around the ends. */
export function stepHazard(state: State, run: Run, by: 1 | -1): State {
  const order = byUrgency(run.hazards);
  if (order.length === 0) return state;
  const at = order.indexOf(state.hazard);
  const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
  return selectHazard(state, run, order[next]!);
}

export function searchFor(state: State, run: Run, text: string): State {
  const found = search(run, text);
  return { ...state, search: found, match: -1, filter: found !== undefined && state.filter };
}

/** Whether only matches are shown; without a search there is nothing to filter by. */
export function toggleFilter(state: State): State {
  return state.search ? { ...state, filter: !state.filter } : state;
}

/** M: measures from what is selected, else from the middle of the view; again: puts the second moment down, then away. */
export function toggleMeasure(state: State, run: Run, cursor: number | undefined): State {
  const { measure } = state;
  if (measure) return { ...state, measure: measure.isFixed ? undefined : { ...measure, isFixed: true } };
  const from =
    cursor ??
    (state.selection
      ? extentOf(run.trace, run.timeline, state.selection).end
      : (state.view.start + state.view.end) / 2);
  return { ...state, measure: { from, to: from, isFixed: false } };
}

export function measureTo(state: State, to: number): State {
  const { measure } = state;
  return measure && !measure.isFixed && measure.to !== to ? { ...state, measure: { ...measure, to } } : state;
}

/** Jumps to the next match; the first jump goes to the first match that is at or after the view's start. */
export function nextMatch(state: State, run: Run, by: 1 | -1 = 1): State {
  const matches = state.search?.matches ?? [];
  if (matches.length === 0) return state;
  let next = state.match + by;
  if (state.match < 0) {
    next = matches.findIndex((target) => endOf(run, target) >= state.view.start);
    if (next < 0) next = 0;
  }
  next = (next + matches.length) % matches.length;
  return { ...select(state, run, matches[next]!, true), match: next };
}

const endOf = (run: Run, target: Target): number =>
  target.kind === 'hazard' ? run.hazards[target.index]!.end : extentOf(run.trace, run.timeline, target).end;

/** Fits what is selected; else the finding; else everything. */
export function fitSelection(state: State, run: Run): State {
  const { bounds } = run.timeline;
  if (state.range) return { ...state, view: around(state.range, bounds, 0.05) };
  if (state.selection) return { ...state, view: around(extentOf(run.trace, run.timeline, state.selection), bounds) };
  if (state.hazard >= 0) return selectHazard(state, run, state.hazard);
  return { ...state, view: bounds };
}

/** Esc: takes away one thing at a time, the most passing first. */
export function back(state: State): State {
  if (state.measure) return { ...state, measure: undefined };
  if (state.range) return { ...state, range: undefined };
  if (state.search) return { ...state, search: undefined, match: -1, filter: false };
  if (state.selection) return { ...state, selection: undefined };
  return { ...state, hazard: -1 };
}

/** R: the range goes around what is selected, else over the middle half of the view; again: away. */
export function toggleRange(state: State, run: Run): State {
  if (state.range) return { ...state, range: undefined };
  const quarter = span(state.view) / 4;
  const range = state.selection
    ? extentOf(run.trace, run.timeline, state.selection)
    : { start: state.view.start + quarter, end: state.view.end - quarter };
  return { ...state, range, view: reach(state.view, range, run.timeline.bounds) };
}

export function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const result = new Set(set);
  if (!result.delete(key)) result.add(key);
  return result;
}
