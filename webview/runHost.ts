/** What a view of a run asks of whoever shows it, and what it can be told. */
import type { Answers } from '../core/answers/answers.ts';
import type { Layout } from '../core/timeline/layout.ts';
import type { View } from '../core/timeline/view.ts';
import type { OperatorInput } from '../core/trace/inputs-reader.ts';
import type { TraceHazard } from '../core/trace/trace.ts';
import type { Scene } from './draw/scene.ts';
import type { Theme } from './draw/theme.ts';
import type { MadeFile, PageSources } from './exporting.ts';
import type { TraceChoice } from './host.ts';
import type { BlockUse, Run } from './messages.ts';
import type { Place } from './state/details.ts';
import type { Note } from './state/notes.ts';
import type { State } from './state/state.ts';

export interface RunHost {
  reveal(place: Place): void;
  pick(): void;
  /** Asks what a step touches; the answer comes to `showTouched`. */
  describe(step: number): void;
  /** Asks who uses a block; the answer comes to `showUsers`. */
  users(block: number, programBlock: number): void;
  /** Asks what the operator of this row of the file was called with; the answer comes to `showInputs`. */
  inputs(row: number): void;
  /** Something was selected that comes from here; undefined: nothing, or its source is not known. */
  selected(place: Place | undefined): void;
  /** A second run is wanted; while there is one: no more. */
  compare(anchor: HTMLElement): void;
  align(by: string): void;
  /** Asks for the answers of the run; they come to `showAnswers`. */
  answer(): void;
  /** Shows two schedules of the run's program: as it is meant, and one in which the finding goes wrong. */
  play(hazard: TraceHazard): void;
  keepNotes(notes: readonly Note[]): void;
  save(file: MadeFile): void;
  /** The file of the run as it is on disk. */
  bytes(): Promise<Uint8Array>;
  /** The page's own bundles; undefined: they cannot be had here. */
  readonly sources?: PageSources;
  shown(): void;
  /** Whether notes go into a file beside the trace. */
  readonly canKeepNotes: boolean;
  readonly traces?: TraceChoice;
}

export interface RunView {
  readonly run: Run;
  setTheme(theme: Theme): void;
  mark(file: string, line: number): void;
  selectHazard(index: number): void;
  showTouched(step: number, reads: readonly string[], writes: readonly string[]): void;
  showUsers(block: number, uses: readonly BlockUse[]): void;
  showInputs(row: number, inputs: readonly OperatorInput[]): void;
  showAnswers(answers: Answers): void;
  showNotes(notes: readonly Note[]): void;
  /** Shown for a moment, and read out: something took place that is not on the canvas. */
  say(text: string): void;
  /** The state, for the next view of the same run, tests and benchmarks. */
  state(): State;
  scene(): Scene;
  /** Changes the view and paints at once; returns when the pixels are there. For benchmarks. */
  paintNow(view: View): void;
  /** `clear`: what it shows goes too; else another view has taken its place. */
  close(clear?: boolean): void;
}

export interface ShowOptions {
  /** What was chosen of an earlier view of this run. */
  readonly state?: State;
  /** More of it is on its way. */
  readonly live?: boolean;
}

/** What the parts of a view share: the run, what is chosen of it now, and the ways to change that. */
export interface RunStage {
  readonly run: Run;
  readonly host: RunHost;
  state(): State;
  update(next: State): void;
  /** The run with what a filter leaves of it. */
  shown(): Run;
  /** The lanes as they lie one under the other, whatever is scrolled. */
  layout(): Layout;
  scene(): Scene;
  panelWidth(): number;
  /** Time under the pointer; undefined: it is elsewhere. */
  cursor(): number | undefined;
  /** Shown for a moment, and read out. */
  say(text: string): void;
  /** Read out, and no more: it is shown elsewhere. */
  read(text: string): void;
}
