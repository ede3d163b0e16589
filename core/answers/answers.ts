/**
 * What people ask of a run, answered in numbers: what ran at once, what waited, what the end waited for, what could go, what
 * memory cost. Each answer is a file of its own; times are nanoseconds, streams and slices are rows of the trace.
 *
 * Deliberately unknown here: hazards (judgeTrace.ts), words, drawing.
 */
import type { Trace } from '../trace/trace.ts';
import { type Concurrency, concurrencyOf } from './concurrency.ts';
import { type CriticalPath, criticalPathOf } from './critical-path.ts';
import { type DefaultStreamUse, defaultStreamUses } from './default-stream.ts';
import { type Idle, idleOf } from './idle.ts';
import { type MemoryAnswers, memoryOf } from './memory.ts';
import { type SpareWait, spareWaitsOf } from './spare.ts';
import { type Waiting, waitingOf } from './waiting.ts';

/** Objects of the program that are one stream: work on them follows each other whatever the program means. */
export interface AliasedStream {
  readonly stream: number;
  readonly aliases: readonly string[];
}

export interface Answers {
  readonly concurrency: Concurrency;
  readonly waiting: readonly Waiting[];
  readonly criticalPath: CriticalPath;
  readonly spareWaits: readonly SpareWait[];
  readonly memory: MemoryAnswers;
  readonly idle: readonly Idle[];
  readonly defaultStream: readonly DefaultStreamUse[];
  readonly aliasedStreams: readonly AliasedStream[];
}

export function answersOf(trace: Trace): Answers {
  return {
    concurrency: concurrencyOf(trace),
    waiting: waitingOf(trace),
    criticalPath: criticalPathOf(trace),
    spareWaits: spareWaitsOf(trace),
    memory: memoryOf(trace),
    idle: idleOf(trace),
    defaultStream: defaultStreamUses(trace),
    aliasedStreams: trace.streams.flatMap(({ aliases }, stream) => (aliases ? [{ stream, aliases }] : [])),
  };
}
