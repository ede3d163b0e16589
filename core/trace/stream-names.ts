/**
 * Which streams of several files of one run are the same, and what they are called together. Two files of one process name
 * a stream alike by device and number, or by device and handle. Where one knows numbers and the other handles, the launch
 * that follows an allocation tells: PyTorch allocates on the stream that it launches on next.
 *
 * Knows nothing of steps, slices' order, or how the files are put together.
 */
import type { NamedTrace } from './merge.ts';
import type { Trace, TraceStream } from './trace.ts';

export interface StreamNames {
  readonly streams: readonly TraceStream[];
  /** Per file the place of each of its streams in `streams`. */
  readonly places: readonly (readonly number[])[];
  /** Per file what its threads and streams are told apart by; '' where there is one process. */
  readonly prefixes: readonly string[];
  readonly limits: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** So many allocations must agree, and so large a share of all. */
const fewestVotes = 2;
const share = 0.8;
/** A launch later than this belongs to something else. Nanoseconds. */
const soon = 1_000_000;

export function nameStreams(
  files: readonly NamedTrace[],
  processes: readonly number[],
  shifts: readonly number[],
): StreamNames {
  const several = new Set(processes).size > 1;
  const streams: Mutable<TraceStream>[] = [];
  const owner: number[] = [];
  const limits: string[] = [];
  const prefixes = files.map(({ name, trace }) =>
    several ? (trace.rank === undefined ? `${name}: ` : `rank ${trace.rank}: `) : '',
  );
  const devices = deviceNumbers(files, processes, several);
  const places: number[][] = [];
  // Files that know both numbers and handles first: the others then find either.
  const order = files.map((_, i) => i).sort((a, b) => knowledge(files[b]!.trace) - knowledge(files[a]!.trace) || a - b);
  for (const i of order) {
    const { trace } = files[i]!;
    const votes = votesFor(files, processes, shifts, i);
    const inferred: string[] = [];
    places[i] = trace.streams.map((stream, id) => {
      const device = devices(i, stream.device);
      const same = streams.findIndex(
        (other, at) =>
          owner[at] === processes[i] &&
          other.device === device &&
          ((stream.number >= 0 && other.number === stream.number) ||
            (stream.handle !== '' && other.handle === stream.handle) ||
            (stream.isDefault && other.isDefault)),
      );
      let at = same;
      if (at < 0 && stream.number < 0 && stream.handle !== '') {
        const number = votes.get(id);
        at =
          number === undefined
            ? -1
            : streams.findIndex(
                (other, j) =>
                  owner[j] === processes[i] &&
                  other.device === device &&
                  other.number === number &&
                  other.handle === '',
              );
        if (at >= 0) inferred.push(`${stream.handle} is ${number}`);
      }
      if (at < 0) {
        owner.push(processes[i]!);
        return streams.push({ ...stream, device, name: prefixes[i] + stream.name }) - 1;
      }
      const known = streams[at]!;
      if (known.number < 0) known.number = stream.number;
      if (known.handle === '') known.handle = stream.handle;
      return at;
    });
    if (inferred.length > 0)
      limits.push(
        `Which handle is which number of a stream is inferred from the launches that follow allocations: ${inferred.join(', ')}.`,
      );
  }
  return { streams, places, prefixes, limits };
}

const knowledge = ({ streams }: Trace): number =>
  streams.some((stream) => stream.number >= 0 && stream.handle !== '')
    ? 2
    : streams.some((stream) => stream.number >= 0)
      ? 1
      : 0;

/** Each rank calls its own device 0: two of one number in two processes become two. */
function deviceNumbers(
  files: readonly NamedTrace[],
  processes: readonly number[],
  several: boolean,
): (file: number, device: number) => number {
  if (!several) return (_, device) => device;
  const numbers = new Map<string, number>();
  const taken = new Set<number>();
  for (const [i, { trace }] of files.entries())
    for (const { device } of trace.streams) {
      const key = `${processes[i]} ${device}`;
      if (numbers.has(key)) continue;
      let number = device;
      while (taken.has(number)) number++;
      taken.add(number);
      numbers.set(key, number);
    }
  return (file, device) => numbers.get(`${processes[file]} ${device}`) ?? device;
}

/** For each stream of a file that knows only handles: the number that the launches after its allocations agree on. */
function votesFor(
  files: readonly NamedTrace[],
  processes: readonly number[],
  shifts: readonly number[],
  file: number,
): ReadonlyMap<number, number> {
  const { trace } = files[file]!;
  const result = new Map<number, number>();
  if (knowledge(trace) > 0) return result;
  const launches: { time: number; number: number }[] = [];
  for (const [i, other] of files.entries()) {
    if (i === file || processes[i] !== processes[file]) continue;
    const { deviceSlices: d, hostSlices: h, streams } = other.trace;
    for (let slice = 0; slice < d.length; slice++) {
      const number = streams[d.stream[slice]!]?.number ?? -1;
      if (d.launcher[slice]! >= 0 && number >= 0)
        launches.push({ time: h.start[d.launcher[slice]!]! + shifts[i]!, number });
    }
  }
  launches.sort((a, b) => a.time - b.time);
  const counts = new Map<number, Map<number, number>>();
  const { blocks } = trace;
  for (let row = 0; row < blocks.length; row++) {
    const time = blocks.allocated[row]! + shifts[file]!;
    if (blocks.allocated[row]! < 0 || blocks.stream[row]! < 0) continue;
    const launch = launches[firstAfter(launches, time)];
    if (!launch || launch.time - time > soon) continue;
    const ofStream = counts.get(blocks.stream[row]!) ?? new Map<number, number>();
    counts.set(blocks.stream[row]!, ofStream);
    ofStream.set(launch.number, (ofStream.get(launch.number) ?? 0) + 1);
  }
  for (const [stream, ofStream] of counts) {
    const total = [...ofStream.values()].reduce((sum, count) => sum + count, 0);
    const [number, most] = [...ofStream].reduce((a, b) => (b[1] > a[1] ? b : a));
    const rivals = [...counts].some(([other, votes]) => other !== stream && (votes.get(number) ?? 0) > most);
    if (most >= fewestVotes && most >= share * total && !rivals) result.set(stream, number);
  }
  return result;
}

function firstAfter(launches: readonly { readonly time: number }[], time: number): number {
  let low = 0;
  let high = launches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (launches[middle]!.time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
