/** What is asked of a run, answered in tables: which places and slices each row leads to. Figures are core/answers'. */
import type { Answers } from '../../core/answers/answers.ts';
import { edgeOfMark } from '../../core/timeline/edges.ts';
import type { Target } from '../../core/timeline/hit.ts';
import { percent, sizeText, timeText } from '../../core/timeline/units.ts';
import type { TracePlace } from '../../core/trace/trace.ts';
import type { Run } from '../messages.ts';
import { streamName } from './details.ts';
import type { Section, SectionRow } from './sections.ts';

/** Rows of each table: what is not among them costs little. */
const listed = 6;

export function answerSections(run: Run, answers: Answers): Section[] {
  const name = (stream: number): string => (stream < 0 ? 'the host' : streamName(run, stream));
  const place = ({ file, line }: TracePlace): Pick<SectionRow, 'place'> => (file ? { place: { file, line } } : {});
  const times = (count: number): string => (count > 1 ? `, ${count} times` : '');
  const mark = (index: number): Pick<SectionRow, 'target'> => {
    const edge = index < 0 ? -1 : edgeOfMark(run.timeline.edges, index);
    return edge < 0 ? {} : { target: { kind: 'edge', index: edge } };
  };
  const target = (kind: Target['kind'], index: number): Pick<SectionRow, 'target'> =>
    index < 0 ? {} : { target: { kind, index } };
  const { concurrency, waiting, criticalPath: path, spareWaits, memory, idle, defaultStream } = answers;
  const total = path.device + path.host + path.idle;
  const sections: Section[] = [
    {
      title: 'What ran at once',
      columns: ['Streams', 'together', 'of what could'],
      rows: concurrency.pairs
        .filter((pair) => pair.both > 0)
        .slice(0, listed)
        .map(({ first, second, both, share }) => ({
          cells: [`${name(first)} and ${name(second)}`, timeText(both), percent(share)],
          stream: first,
        })),
    },
    {
      title: 'What waited longest',
      columns: ['Wait', 'held'],
      rows: waiting
        .filter((wait) => wait.blocked > 0)
        .slice(0, listed)
        .map(({ kind, stream, on, at, count, blocked, mark: index }) => ({
          cells: [
            `${kind === 'wait' ? name(stream) : 'the host'} for ${on < 0 ? 'the device' : name(on)}${times(count)}`,
            timeText(blocked),
          ],
          ...mark(index),
          ...place(at),
        })),
    },
    {
      title: 'What the end waited for',
      columns: ['Critical path', 'time'],
      rows: path.shares
        .filter((share) => share.kind !== 'idle')
        .slice(0, listed)
        .map(({ kind, name: what, stream, at, count, time }) => ({
          cells: [`${what}${kind === 'device' ? ` on ${name(stream)}` : ''}${times(count)}`, timeText(time)],
          ...(kind === 'device' && stream >= 0 ? { stream } : {}),
          ...place(at),
        })),
      notes:
        path.pieces.length > 0
          ? [
              `${timeText(total)} in all: ${timeText(path.device)} of device work, ${timeText(path.host)} of the host, ${timeText(path.idle)} between.`,
            ]
          : undefined,
    },
    {
      title: 'Waits that could go, in this run',
      columns: ['Wait', 'held'],
      rows: spareWaits.slice(0, listed).map(({ why, kind, stream, at, count, blocked, mark: index }) => ({
        cells: [
          `${kind === 'wait' ? name(stream) : 'the host'}${times(count)}: ${why === 'implied' ? 'other waits make the same order' : 'nothing recorded needs the order'}`,
          timeText(blocked),
        ],
        ...mark(index),
        ...place(at),
      })),
    },
    {
      title: 'Memory held back by record_stream',
      columns: ['Allocated', 'bytes', 'longest'],
      rows: memory.heldBack.slice(0, listed).map(({ at, count, bytes, longest, block }) => ({
        cells: [`${count} ${count === 1 ? 'block' : 'blocks'}`, sizeText(bytes), timeText(longest)],
        ...target('block', block),
        ...place(at),
      })),
      notes: memory.heldBackPeak > 0 ? [`${sizeText(memory.heldBackPeak)} at most at one time.`] : undefined,
    },
    {
      title: 'Requests that the allocator could not serve at once',
      columns: ['Request', 'bytes', 'free'],
      rows: [
        ...memory.retries.map((event) => ['gave cached memory back', event] as const),
        ...memory.outOfMemory.map((event) => ['out of memory', event] as const),
      ]
        .slice(0, listed)
        .map(([what, { bytes, free }]) => ({ cells: [what, sizeText(bytes), free >= 0 ? sizeText(free) : '–'] })),
    },
    {
      title: 'When a GPU had nothing to do',
      columns: ['Meanwhile', 'idle'],
      rows: idle.flatMap(({ gaps }) =>
        gaps.slice(0, listed).map(({ start, end, slice, name: what, at }) => ({
          cells: [slice >= 0 ? what : 'nothing was recorded', timeText(end - start)],
          ...target('host', slice),
          ...place(at),
        })),
      ),
      notes: idle
        .filter((device) => device.idle > 0)
        .map(
          (device) =>
            `GPU ${device.device}: ${timeText(device.idle)} of ${timeText(device.span)}, ${percent(device.idle / device.span)}.`,
        ),
    },
    {
      title: 'On the default stream inside code of another',
      columns: ['What', 'around it'],
      rows: defaultStream.slice(0, listed).map(({ name: what, around, at, count, slice }) => ({
        cells: [`${what}${times(count)}`, name(around)],
        ...target('device', slice),
        ...place(at),
      })),
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}
