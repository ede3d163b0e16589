/** What the page and its worker say to each other. */
import type { Timeline } from '../core/timeline/timeline.ts';
import type { Trace, TraceHazard } from '../core/trace/trace.ts';

export type ToWorker =
  | { readonly type: 'open'; readonly name: string; readonly bytes: Uint8Array }
  /** Which blocks a step reads and writes. */
  | { readonly type: 'describe'; readonly step: number };

/** A trace ready to be drawn. Its program stays with the worker: steps are objects, and would be copied one by one. */
export interface Run {
  readonly name: string;
  readonly trace: Trace;
  readonly hazards: readonly TraceHazard[];
  readonly timeline: Timeline;
  /** Whether the trace says what kernels read and write. */
  readonly accesses: boolean;
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
  | {
      readonly type: 'described';
      readonly step: number;
      readonly reads: readonly string[];
      readonly writes: readonly string[];
    };
