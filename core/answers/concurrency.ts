/** How much ran at the same time: for each stream its busy time, for each pair of streams of a device their common time. */
import type { Trace } from '../trace/trace.ts';
import { busyOf, lengthOf, lengthOfBoth } from './intervals.ts';

export interface StreamUse {
  readonly stream: number;
  /** Nanoseconds during which something ran. */
  readonly busy: number;
}

export interface StreamPair {
  readonly first: number;
  readonly second: number;
  /** Nanoseconds during which both ran something. */
  readonly both: number;
  /** `both` as a share of what the less busy one ran: 1 is all that there could be. */
  readonly share: number;
}

export interface Concurrency {
  readonly streams: readonly StreamUse[];
  /** The most common time first. */
  readonly pairs: readonly StreamPair[];
}

/** Pairs grow with the square: only the busiest are compared. */
const mostStreams = 48;

export function concurrencyOf(trace: Trace): Concurrency {
  const busy = busyOf(trace);
  const streams = busy
    .map((stretches, stream) => ({ stream, busy: lengthOf(stretches) }))
    .filter((use) => use.busy > 0)
    .sort((a, b) => b.busy - a.busy || a.stream - b.stream);
  const compared = streams.slice(0, mostStreams);
  const pairs = compared.flatMap((a, i) =>
    compared
      .slice(i + 1)
      .filter((b) => trace.streams[a.stream]!.device === trace.streams[b.stream]!.device)
      .map((b): StreamPair => {
        const both = lengthOfBoth(busy[a.stream]!, busy[b.stream]!);
        const [first, second] = a.stream < b.stream ? [a.stream, b.stream] : [b.stream, a.stream];
        return { first, second, both, share: both / Math.min(a.busy, b.busy) };
      }),
  );
  return { streams, pairs: pairs.sort((a, b) => b.both - a.both || a.first - b.first || a.second - b.second) };
}
