/** What `raceline trace` says of a run beside its findings: the answers of core/answers, as lines and as JSON. */
import { type Answers, answersOf } from '../core/answers/answers.ts';
import { percent, sizeText, timeText } from '../core/timeline/units.ts';
import type { Trace, TracePlace } from '../core/trace/trace.ts';
import { displayPath } from './display-path.ts';

/** The first of each list: what is not among them costs little. */
const listed = 5;
const inJson = 50;
const longestName = 60;

export function answerLines(trace: Trace): string[] {
  const answers = answersOf(trace);
  const lines: string[] = [];
  const name = (stream: number) => trace.streams[stream]?.name ?? (stream === -1 ? 'the host' : 'a stream');
  const some = <T>(title: string, list: readonly T[], line: (entry: T) => string) => {
    if (list.length === 0) return;
    lines.push(title);
    for (const entry of list.slice(0, listed)) lines.push(`  ${line(entry)}`);
    if (list.length > listed) lines.push(`  and ${list.length - listed} more`);
  };
  const { pairs } = answers.concurrency;
  some(
    'ran at once:',
    pairs.filter((pair) => pair.both > 0),
    ({ first, second, both, share }) =>
      `${name(first)} and ${name(second)}: ${timeText(both)}, ${percent(share)} of what they could`,
  );
  some(
    'waited longest:',
    answers.waiting.filter((wait) => wait.blocked > 0),
    ({ kind, stream, on, at, count, blocked }) =>
      `${kind === 'wait' ? name(stream) : 'the host'} for ${on < 0 ? 'the device' : name(on)}: ${timeText(blocked)}${count > 1 ? ` in ${count} waits` : ''}${placeText(at)}`,
  );
  const { criticalPath: path } = answers;
  if (path.pieces.length > 0) {
    const total = path.device + path.host + path.idle;
    some(
      `the end waited for ${timeText(total)}: ${timeText(path.device)} of device work, ${timeText(path.host)} of the host, ${timeText(path.idle)} between:`,
      path.shares.filter((share) => share.kind !== 'idle'),
      ({ kind, name: what, stream, at, count, time }) =>
        `${timeText(time)} ${short(what)}${kind === 'device' ? ` on ${name(stream)}` : ''}${count > 1 ? `, ${count} times` : ''}${placeText(at)}`,
    );
  }
  some(
    'another tool’s critical path lies over the file:',
    path.recorded,
    ({ kind, count, time }) => `${count} ${kind || 'arrows'}, ${timeText(time)}`,
  );
  some(
    'waits that could go, in this run:',
    answers.spareWaits,
    ({ why, kind, stream, at, count, blocked }) =>
      `${kind === 'wait' ? `of ${name(stream)}` : 'of the host'}${count > 1 ? `, ${count} times` : ''}, ${timeText(blocked)} held up: ${why === 'implied' ? 'other waits make the same order' : 'nothing that was recorded needs the order'}${placeText(at)}`,
  );
  const { memory } = answers;
  some(
    `held back by record_stream, ${sizeText(memory.heldBackPeak)} at most at one time:`,
    memory.heldBack,
    ({ at, count, bytes, longest }) => `${sizeText(bytes)} in ${count}, up to ${timeText(longest)}${placeText(at)}`,
  );
  some(
    'cached memory was given back to serve a request:',
    memory.retries,
    ({ bytes, free }) => `${sizeText(bytes)} asked for, ${sizeText(free)} given back`,
  );
  some(
    'out of memory:',
    memory.outOfMemory,
    ({ bytes, free }) => `${sizeText(bytes)} asked for${free >= 0 ? `, ${sizeText(free)} free` : ''}`,
  );
  for (const { device, span, idle, gaps } of answers.idle) {
    if (!(idle > 0)) continue;
    const longest = gaps[0];
    const meanwhile = longest && longest.slice >= 0 ? `, meanwhile ${short(longest.name)}${placeText(longest.at)}` : '';
    lines.push(
      `GPU ${device} had nothing to do for ${timeText(idle)} of ${timeText(span)} (${percent(idle / span)})${longest ? `; longest ${timeText(longest.end - longest.start)}${meanwhile}` : ''}`,
    );
  }
  some(
    'on the default stream inside code of another:',
    answers.defaultStream,
    ({ why, name: what, around, at, count }) =>
      `${short(what)}${count > 1 ? `, ${count} times` : ''}, ${why === 'between' ? 'between work' : 'launched while the current stream was not it, but'} on ${name(around)}${placeText(at)}`,
  );
  some('one stream under several names (the pool has 32):', answers.aliasedStreams, ({ stream, aliases }) =>
    [name(stream), ...aliases].join(', '),
  );
  return lines.map((line) => line.replaceAll('\u202f', ' '));
}

/** Streams by name, times in nanoseconds. */
export function answersJson(trace: Trace): object {
  const { concurrency, waiting, criticalPath, spareWaits, memory, idle, defaultStream, aliasedStreams }: Answers =
    answersOf(trace);
  const name = (stream: number) => trace.streams[stream]?.name ?? null;
  return {
    concurrency: {
      streams: concurrency.streams.map(({ stream, busy }) => ({ stream: name(stream), busy })),
      pairs: concurrency.pairs
        .slice(0, inJson)
        .map(({ first, second, both, share }) => ({ first: name(first), second: name(second), both, share })),
    },
    waiting: waiting.slice(0, inJson).map(({ kind, stream, on, at, count, blocked, longest, free }) => ({
      kind,
      stream: name(stream),
      on: name(on),
      at,
      count,
      blocked,
      longest,
      free,
    })),
    criticalPath: {
      device: criticalPath.device,
      host: criticalPath.host,
      idle: criticalPath.idle,
      pieces: criticalPath.pieces.length,
      recorded: criticalPath.recorded,
      shares: criticalPath.shares.slice(0, inJson).map((share) => ({ ...share, stream: name(share.stream) })),
    },
    spareWaits: spareWaits.slice(0, inJson).map(({ mark: _, ...wait }) => ({ ...wait, stream: name(wait.stream) })),
    memory: {
      heldBackPeak: memory.heldBackPeak,
      heldBack: memory.heldBack.slice(0, inJson).map(({ block: _, ...held }) => held),
      retries: memory.retries.slice(0, inJson),
      outOfMemory: memory.outOfMemory.slice(0, inJson),
    },
    idle: idle.map(({ gaps, ...rest }) => ({ ...rest, gaps: gaps.map(({ slice: _, ...gap }) => gap) })),
    defaultStream: defaultStream
      .slice(0, inJson)
      .map(({ slice: _, around, ...use }) => ({ ...use, around: name(around) })),
    aliasedStreams: aliasedStreams.map(({ stream, aliases }) => ({ stream: name(stream), aliases })),
  };
}

const placeText = ({ file, line }: TracePlace): string => (file ? `, ${displayPath(file)}:${line}` : '');
const short = (name: string): string => (name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name);
