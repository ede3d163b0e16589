/** Everything that a frame shows, as one value: painters read it and nothing else. */
import type { HitScene, Target } from '../../core/timeline/hit.ts';
import type { Measures } from '../../core/timeline/layout.ts';
import type { View } from '../../core/timeline/view.ts';
import type { TraceHazard } from '../../core/trace/trace.ts';
import type { Note } from '../state/notes.ts';
import type { Measure } from '../state/state.ts';
import type { Search } from '../state/search.ts';

export interface Scene extends HitScene {
  readonly hazards: readonly TraceHazard[];
  /** Hazards, most urgent first. */
  readonly urgency: readonly number[];
  readonly measures: Measures;
  readonly width: number;
  readonly height: number;
  /** How far the lanes are scrolled up, CSS pixels. */
  readonly scroll: number;
  readonly selection: Target | undefined;
  /** The finding that is shown whole; -1: none. */
  readonly hazard: number;
  readonly search: Search | undefined;
  /** Outside it the lanes are faded. */
  readonly range: View | undefined;
  /** Device slices of the editor's current line. */
  readonly marked: ReadonlySet<number>;
  /** Device slices that use the selected block. */
  readonly users: ReadonlySet<number>;
  readonly measure: Measure | undefined;
  readonly notes: readonly Note[];
}

/** Where lane 0 begins on the canvas, before scrolling. */
export function lanesTop({ measures }: Scene): number {
  return measures.minimap + measures.axis + measures.findings;
}
