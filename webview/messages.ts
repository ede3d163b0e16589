/** What the page and its worker say to each other. */
import type { Answers } from '../core/answers/answers.ts';
import type { Alignment } from '../core/timeline/align.ts';
import type { Timeline } from '../core/timeline/timeline.ts';
import type { OperatorInput } from '../core/trace/inputs-reader.ts';
import type { Trace, TraceHazard } from '../core/trace/trace.ts';

export type ToWorker =
  | { readonly type: 'open'; readonly name: string; readonly bytes: Uint8Array }
  /** What was appended to the file that was opened last. */
  | { readonly type: 'grow'; readonly name: string; readonly pieces: readonly Uint8Array[] }
  /** Which blocks a step reads and writes. */
  | { readonly type: 'describe'; readonly step: number }
  /** Which steps read and write a block of the trace, by its entry in the program. */
  | { readonly type: 'users'; readonly block: number; readonly programBlock: number }
  /** What the operator of this row of the file was called with. */
  | { readonly type: 'inputs'; readonly row: number }
  /** A second run on the axis of the first, whose columns come back for it. */
  | {
      readonly type: 'compare';
      readonly first: RunSide;
      readonly second: { readonly name: string; readonly note: string; readonly bytes: Uint8Array };
      readonly by: Alignment;
    }
  | { readonly type: 'align'; readonly by: Alignment }
  /** The second run is gone. */
  | { readonly type: 'alone' }
  /** Two schedules of the run's own program: as it is meant, and one in which this finding goes wrong. */
  | { readonly type: 'schedule'; readonly hazard: Pick<TraceHazard, 'code' | 'message' | 'at'> }
  /** What is asked of a run; its columns come back for it. */
  | { readonly type: 'answer'; readonly trace: Trace }
  /** The file of the run as it was, for a report. */
  | { readonly type: 'bytes' };

export interface RunSide {
  readonly name: string;
  readonly note: string;
  readonly trace: Trace;
  readonly hazards: readonly TraceHazard[];
}

/** A trace ready to be drawn. Its program stays with the worker: steps are objects, and would be copied one by one. */
export interface Run {
  readonly name: string;
  readonly trace: Trace;
  readonly hazards: readonly TraceHazard[];
  readonly timeline: Timeline;
  /** Whether the trace says what kernels read and write. */
  readonly accesses: boolean;
  /** Whether the run's program can be played again to show how a finding goes wrong. */
  readonly canPlay?: boolean;
  /** Both runs are made: schedules of the built-in executor. */
  readonly played?: boolean;
  /** Two runs on one axis: how they are aligned, and how they could be. */
  readonly aligned?: { readonly by: Alignment; readonly choices: readonly Alignment[] };
}

export interface BlockUse {
  readonly step: number;
  readonly write: boolean;
}

export type FromWorker =
  | {
      readonly type: 'progress';
      readonly phase: 'reading' | 'judging' | 'laying out';
      readonly read: number;
      readonly total: number;
    }
  | { readonly type: 'opened'; readonly run: Run }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'users'; readonly block: number; readonly uses: readonly BlockUse[] }
  | { readonly type: 'inputs'; readonly row: number; readonly inputs: readonly OperatorInput[] }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'answers'; readonly answers: Answers }
  | {
      readonly type: 'described';
      readonly step: number;
      readonly reads: readonly string[];
      readonly writes: readonly string[];
    };
