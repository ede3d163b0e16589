/** The part of `raceline trace --format json` that tells of the file itself; hazards are added by whoever finds them. */
import { markKinds, type Trace } from './trace.ts';

export interface TraceSummary {
  readonly version: 1;
  readonly format: Trace['format'];
  readonly producer: string;
  readonly clock: Trace['clock'];
  /** Nanoseconds. */
  readonly duration: number;
  /** Every stream with work on it, by device and number; where the file has no device times, every stream. */
  readonly streams: readonly StreamSummary[];
  readonly counts: SummaryCounts;
  readonly limits: readonly string[];
}

export interface StreamSummary {
  /** The profiler's number; -1 where the file has none. */
  readonly number: number;
  readonly handle: string;
  readonly name: string;
  readonly device: number;
  readonly default: boolean;
  readonly slices: number;
}

export interface SummaryCounts {
  readonly kernels: number;
  readonly copies: number;
  readonly memsets: number;
  readonly records: number;
  readonly waits: number;
  readonly waitsWithRecord: number;
  readonly hostWaits: number;
  readonly allocations: number;
  readonly releases: number;
  readonly memoryEvents: number;
  readonly blocks: number;
  readonly streams: number;
  readonly threads: number;
  readonly hostSlices: number;
  readonly steps: number;
}

export function summarize(trace: Trace): TraceSummary {
  const { counts } = trace;
  return {
    version: 1,
    format: trace.format,
    producer: trace.producer,
    clock: trace.clock,
    duration: trace.duration,
    streams: summarizeStreams(trace),
    counts: {
      kernels: counts.kernels,
      copies: counts.copies,
      memsets: counts.memsets,
      records: counts.records,
      waits: counts.waits,
      waitsWithRecord: counts.waitsWithRecord,
      hostWaits: counts.hostWaits,
      allocations: counts.allocations,
      releases: counts.releases,
      memoryEvents: counts.memoryEvents ?? counts.allocations + counts.releases,
      blocks: trace.blocks.length,
      streams: trace.streams.length,
      threads: trace.threads.length,
      hostSlices: trace.hostSlices.length,
      steps: trace.program.steps.length,
    },
    limits: trace.limits,
  };
}

function summarizeStreams(trace: Trace): StreamSummary[] {
  const slices = new Int32Array(trace.streams.length);
  for (const stream of trace.deviceSlices.stream) if (stream >= 0) slices[stream]!++;
  return trace.streams
    .map((stream, i) => ({
      number: stream.number,
      handle: stream.handle,
      name: stream.name,
      device: stream.device,
      default: stream.isDefault,
      slices: slices[i]!,
    }))
    .filter((stream) => stream.slices > 0 || trace.deviceSlices.length === 0)
    .sort((a, b) => a.device - b.device || a.number - b.number);
}

/** One wait of a stream and the record that it is bound to. Times in nanoseconds from the start of the trace. */
export interface WaitSummary {
  /** The profiler's number of the waiting stream, -1 where the file has none. */
  readonly stream: number;
  readonly streamName: string;
  readonly time: number;
  /** null: no record, or not known which (`limits` says so). */
  readonly record: { readonly stream: number; readonly streamName: string; readonly time: number } | null;
  /** The record is a guess from positions, not recorded. */
  readonly inferred: boolean;
}

/** The waits of streams for events, in host order. */
export function summarizeWaits(trace: Trace): WaitSummary[] {
  const { marks, streams } = trace;
  const place = (mark: number) => {
    const stream = streams[marks.stream[mark]!];
    return { stream: stream?.number ?? -1, streamName: stream?.name ?? '', time: marks.hostTime[mark]! };
  };
  const waits: WaitSummary[] = [];
  for (let mark = 0; mark < marks.length; mark++) {
    if (markKinds[marks.kind[mark]!] !== 'wait') continue;
    const record = marks.other[mark]!;
    waits.push({
      ...place(mark),
      record: record >= 0 ? place(record) : null,
      inferred: marks.inferred[mark] === 1,
    });
  }
  return waits;
}
