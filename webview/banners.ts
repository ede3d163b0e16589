/** What stands above the lanes of a run: what could not be read, what the file cannot tell. And the run in one sentence. */
import { counted } from '../core/timeline/units.ts';
import { banner } from './dom/screens.ts';
import type { Run } from './messages.ts';

/** The recording has no end: it was cut, or is still being written. */
export const isUnfinished = ({ trace }: Run): boolean =>
  trace.problems.some(({ message }) => /has no end line|was cut while it was written/.test(message));

export function describeRun({ name, timeline, hazards }: Run): string {
  return `Timeline of ${name}: ${counted(timeline.streams.length, 'stream')}, ${counted(hazards.length, 'finding')}. Arrow keys go through slices and lanes, T shows what is in view as a table, question mark lists the keys.`;
}

/** `isLive`: more of the file is on its way, so that its end is missing is no fault. */
export function bannersOf(run: Run, isLive: boolean): HTMLElement[] {
  const { trace } = run;
  const result: HTMLElement[] = [];
  const add = (kind: 'cannot tell' | 'broken', title: string, sentences: readonly string[]): void => {
    const node: HTMLElement = banner({ kind, title, sentences }, () => node.remove());
    result.push(node);
  };
  const problems = isLive
    ? trace.problems.filter(({ message }) => !/no end line|was cut while/.test(message))
    : trace.problems;
  if (problems.length) {
    const cut = problems.some(({ message }) => /\b(cut|breaks off|ends|truncated)\b/i.test(message));
    add('broken', cut ? 'This trace stops in the middle' : 'Parts of this trace could not be read', [
      ...problems.slice(0, 20).map(problemText),
      'What could be read is shown.',
    ]);
  }
  // Schedules are known to be made: their heads say it.
  if (trace.limits.length && !run.played)
    add('cannot tell', 'This file cannot tell everything', [
      `${trace.limits[0]} No finding here does not mean no fault.`,
      ...trace.limits.slice(1),
    ]);
  return result;
}

function problemText({ message, offset, row }: { message: string; offset: number; row: number }): string {
  const where = [row >= 0 && `row ${row + 1}`, offset >= 0 && `byte ${offset}`].filter(Boolean).join(', ');
  return where && !/\b(row|byte) \d/.test(message) ? `${message} (${where})` : message;
}
