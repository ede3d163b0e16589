/**
 * What a recorded run says of the findings of the source: `confirmed` (the run lacks the same order at the same place),
 * `not seen` (the line ran, and the run found nothing there), `not run`. Advice gets no word: one run cannot show that a
 * call is needless.
 *
 * Lines are those of the text that was run. A text that was edited since keeps what lies above and below the edit.
 *
 * Deliberately unknown here: where traces and texts come from.
 */
import type { Finding } from './rules/finding.ts';

export type Evidence = 'confirmed' | 'not seen' | 'not run';

export interface RunPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

export interface RunHazard extends RunPlace {
  readonly code: string;
  /** `confirmed`: the times of the run show that it went wrong. */
  readonly status: 'confirmed' | 'latent';
  readonly related: readonly RunPlace[];
}

/** One run: the lines that it went through, and what was found in it. */
export interface RunRecord {
  readonly name: string;
  readonly ran: ReadonlyMap<string, ReadonlySet<number>>;
  readonly hazards: readonly RunHazard[];
}

export interface Verdict {
  readonly evidence: Evidence;
  readonly run: string;
  /** It went wrong in that run, by its times. */
  readonly wentWrong: boolean;
}

/** Codes that tell of the same fault from different sides. */
const families: readonly (readonly string[])[] = [
  [
    'missing-wait',
    'write-after-read',
    'unjoined-output',
    'backward-missing-sync',
    'collective-not-waited',
    'reversed-wait',
    'event-never-recorded',
    'event-rerecorded',
  ],
  ['missing-record-stream', 'late-record-stream'],
  ['host-read-before-sync', 'pinned-overwritten-in-flight'],
];
const advice = /^(redundant-|serialized-|unused-|too-many-|external-)/;

/** The best that any run says: `confirmed` before `not seen` before `not run`. Undefined: no run has a word on it. */
export function verdictOn(finding: Finding, runs: readonly RunRecord[]): Verdict | undefined {
  if (advice.test(finding.code)) return undefined;
  let best: Verdict | undefined;
  for (const run of runs) {
    // A run of other files says nothing of this one.
    if (!run.ran.has(finding.file)) continue;
    const hazards = run.hazards.filter((hazard) => isSame(finding, hazard));
    const verdict: Verdict = {
      evidence: hazards.length > 0 ? 'confirmed' : ranThrough(finding, run) ? 'not seen' : 'not run',
      run: run.name,
      wentWrong: hazards.some((hazard) => hazard.status === 'confirmed'),
    };
    if (!best || rank(verdict) > rank(best)) best = verdict;
  }
  return best;
}

/** Whether the hazard of a run and the finding are one fault: of one kind, and one of them stands where the other does. */
export function isSame(finding: Finding, hazard: RunHazard): boolean {
  const alike =
    finding.code === hazard.code ||
    families.some((family) => family.includes(finding.code) && family.includes(hazard.code));
  if (!alike) return false;
  const own: readonly RunPlace[] = linesOf(finding.range).map((line) => ({ file: finding.file, line }));
  const others = finding.related.flatMap(({ file, range }) => linesOf(range).map((line) => ({ file, line })));
  const meets = (a: readonly RunPlace[], b: readonly RunPlace[]) =>
    a.some((place) => b.some((other) => other.file === place.file && other.line === place.line));
  return meets(own, [hazard, ...hazard.related]) || meets(others, [hazard]);
}

/** `confirmed by the run train.raceline: it went wrong there`; for the end of a message. */
export function evidenceText({ evidence, run, wentWrong }: Verdict): string {
  switch (evidence) {
    case 'confirmed':
      return wentWrong ? `confirmed: it went wrong in ${run}` : `confirmed: the order is missing in ${run} too`;
    case 'not seen':
      return `not seen in ${run}, which ran this line`;
    case 'not run':
      return `not run in ${run}`;
  }
}

/**
 * The line that a line of `before` has in `after`, 0 where it lies in what was changed. Only the lines above the first and
 * below the last difference are known to be the same.
 */
export function movedLine(before: string, after: string): (line: number) => number {
  if (before === after) return (line) => line;
  const [old, now] = [before, after].map((text) => text.split(/\r\n|\r|\n/)) as [string[], string[]];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  return (line) => (line <= head ? line : line > old.length - tail ? line + now.length - old.length : 0);
}

const rank = ({ evidence, wentWrong }: Verdict): number =>
  evidence === 'confirmed' ? (wentWrong ? 3 : 2) : evidence === 'not seen' ? 1 : 0;

function ranThrough(finding: Finding, run: RunRecord): boolean {
  const lines = run.ran.get(finding.file);
  return lines !== undefined && linesOf(finding.range).some((line) => lines.has(line));
}

/** Lines from 1 that a range covers; of very long ones only the ends matter. */
function linesOf({ start, end }: Finding['range']): number[] {
  const count = Math.min(end.line - start.line + 1, 200);
  return Array.from({ length: Math.max(1, count) }, (_, i) => start.line + 1 + i);
}
