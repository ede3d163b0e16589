/**
 * A candidate becomes a fix only if the fixed text, analysed again, has lost this finding and gained none. Where the
 * only thing that it gains is a finding of another kind that can itself be fixed (the order is right now, the memory is
 * still unprotected), both are offered as one fix.
 */
import { applyEdits, LineMap, type FileEdit } from '../../base/text.ts';
import type { Hazard } from '../../hazards/hazard.ts';
import type { LoweredEntry, LoweredPath } from '../../lower/lowered.ts';
import type { Step, StreamProgram } from '../../program/program.ts';
import type { Fix } from '../finding.ts';
import type { Report } from '../report.ts';
import type { OffsetEdit } from './edits.ts';
import { proposeFixes } from './index.ts';
import { differences } from './lines.ts';
import type { Candidate } from './spot.ts';

interface TextFile {
  readonly file: string;
  readonly text: string;
}

export interface Workbench {
  readonly files: readonly TextFile[];
  hazardsOf(path: LoweredPath): readonly Hazard[];
  /** Candidates, the better first; left out: those of the rules. */
  readonly propose?: (report: Report, hazardsOf: Workbench['hazardsOf']) => readonly Candidate[];
  /** How many fixes are wanted; left out: as many as help a reader. */
  readonly most?: number;
  /** What is found in these texts. */
  analyse(files: readonly TextFile[]): Trial;
}

export interface Trial extends Analysis {
  /** What the same analysis finds in the texts as they are. */
  readonly base: readonly Report[];
}

export interface Analysis {
  readonly reports: readonly Report[];
  readonly entries: readonly LoweredEntry[];
}

/** More choices than this help nobody. */
const mostFixes = 4;

export function verifiedFixes(report: Report, bench: Workbench): Fix[] {
  const fixes: Fix[] = [];
  const titles = new Set<string>();
  const { propose = proposeFixes, most = mostFixes } = bench;
  for (const candidate of propose(report, bench.hazardsOf)) {
    if (fixes.length >= most) break;
    if (titles.has(candidate.title)) continue;
    const tried = attempt(report, candidate.edits, bench);
    if (!tried) continue;
    let files = tried.files;
    let title = candidate.title;
    if (tried.added.length) {
      const followed = followUp(report, tried, bench);
      if (!followed) continue;
      files = followed.files;
      title = `${title}; ${followed.title.charAt(0).toLowerCase()}${followed.title.slice(1)}`;
    }
    titles.add(candidate.title);
    fixes.push({ title, edits: editsBetween(bench.files, files), preferred: fixes.length === 0 });
  }
  return fixes;
}

interface Attempt {
  readonly files: readonly TextFile[];
  readonly reports: readonly Report[];
  /** What was not there before. */
  readonly added: readonly Report[];
}

/** Undefined if the finding is still there, or if the text does not parse any more. */
function attempt(report: Report, edits: readonly OffsetEdit[], bench: Workbench): Attempt | undefined {
  const { files } = bench;
  const fixed = withEdits(files, edits);
  const { reports, entries, base } = bench.analyse(fixed);
  if (!takesEffect(files, fixed, entries)) return undefined;
  const expected = new Set(base.map((r) => lineKey(r, bench.files, fixed)));
  const gone = lineKey(report, bench.files, fixed);
  const present = reports.map((r) => ({ r, key: lineKeyIn(r, fixed) }));
  const still = present.find(({ key }) => key === gone);
  if (still && !isNext(still.r, report)) return undefined;
  return {
    files: fixed,
    reports,
    added: present.filter((one) => one === still || !expected.has(one.key)).map(({ r }) => r),
  };
}

/**
 * Whether memory of another tensor goes too early at the same place: of `yield input, target` the first is told, and the
 * second once the first is protected.
 */
function isNext(now: Report, before: Report): boolean {
  return now.instances[0]?.hazard.kind === 'lifetime' && now.message !== before.message;
}

/** The fix of what a fix has added, and so on: an order that makes another needless, whose event then serves nobody. */
function followUp(
  report: Report,
  tried: Attempt,
  bench: Workbench,
  depth = 0,
): { files: readonly TextFile[]; title: string } | undefined {
  const [added] = tried.added;
  if (!added || tried.added.length > 1 || (added.code === report.code && !isNext(added, report))) return undefined;
  for (const candidate of proposeFixes(added, bench.hazardsOf).slice(0, 6)) {
    const files = withEdits(tried.files, candidate.edits);
    const { reports, entries, base } = bench.analyse(files);
    if (!takesEffect(tried.files, files, entries)) continue;
    const expected = new Set(base.map((r) => lineKey(r, bench.files, files)));
    expected.delete(lineKey(report, bench.files, files));
    const more = reports.filter((r) => !expected.has(lineKeyIn(r, files)));
    if (!more.length) return { files, title: candidate.title };
    const gone = lineKey(added, tried.files, files);
    if (depth >= mostFollowUps || more.some((r) => lineKeyIn(r, files) === gone)) continue;
    const rest = followUp(report, { files, reports, added: more }, bench, depth + 1);
    if (rest)
      return {
        files: rest.files,
        title: `${candidate.title}; ${rest.title.charAt(0).toLowerCase()}${rest.title.slice(1)}`,
      };
  }
  return undefined;
}

const mostFollowUps = 1;

const ordering = /\.(wait_stream|wait_event|wait|record|record_event|record_stream|synchronize)\(/;

/**
 * Whether each call that came in was understood: a step comes from its line, on a stream that is known. A name that the
 * analysis cannot resolve would silence the finding without mending anything.
 */
function takesEffect(
  before: readonly TextFile[],
  after: readonly TextFile[],
  entries: readonly LoweredEntry[],
): boolean {
  const wanted = new Set<string>();
  after.forEach(({ file, text }, i) => {
    const old = before[i]!.text;
    if (old === text) return;
    for (const { newStart, newText } of differences(old, text))
      newText.split(/\r\n|\n|\r/).forEach((line, n) => {
        if (ordering.test(line)) wanted.add(`${newStart + n}:${file}`);
      });
  });
  if (!wanted.size) return true;
  const lines = new Map(after.map(({ file, text }) => [file, new LineMap(text)]));
  for (const { paths } of entries)
    for (const { program } of paths)
      for (const step of program.steps) {
        if (!isOrdering(step, program)) continue;
        const origin = program.origins[step.origin];
        const frame = origin?.kind === 'source' ? origin.frames.at(-1) : undefined;
        const line = frame && lines.get(frame.file)?.position(frame.start).line;
        if (frame && line !== undefined) wanted.delete(`${line}:${frame.file}`);
      }
  return wanted.size === 0;
}

function isOrdering(step: Step, program: StreamProgram): boolean {
  switch (step.kind) {
    case 'wait':
    case 'record':
    case 'recordStream':
      return !program.streams[step.stream]?.unknown;
    case 'hostWait':
      return true;
    default:
      return false;
  }
}

export function withEdits(files: readonly TextFile[], edits: readonly OffsetEdit[]): TextFile[] {
  return files.map((file) => {
    const own = edits.filter((edit) => edit.file === file.file);
    if (!own.length) return file;
    const lines = new LineMap(file.text);
    return {
      file: file.file,
      text: applyEdits(
        file.text,
        own.map(({ start, end, newText }) => ({
          range: { start: lines.position(start), end: lines.position(end) },
          newText,
        })),
      ),
    };
  });
}

function textOf(files: readonly TextFile[], file: string): string {
  return files.find((candidate) => candidate.file === file)?.text ?? '';
}

function lineKeyIn(report: Report, files: readonly TextFile[]): string {
  const { line } = linesOf(textOf(files, report.file)).position(report.start);
  return `${report.code}:${line}:${report.file}`;
}

/** The same, with the line at which the report's own line stands after the edits. */
function lineKey(report: Report, before: readonly TextFile[], after: readonly TextFile[]): string {
  const old = textOf(before, report.file);
  const text = textOf(after, report.file);
  const { line } = linesOf(old).position(report.start);
  let moved = line;
  // Nearly all reports are in files that a fix does not touch.
  if (old !== text)
    for (const change of changesBetween(old, text))
      if (change.oldEnd <= line) moved = line + change.newEnd - change.oldEnd;
  return `${report.code}:${moved}:${report.file}`;
}

/** The texts at hand are asked about once for each report: what was worked out for the last ones is kept. */
const lineMaps = new Map<string, LineMap>();
const kept = 8;

function linesOf(text: string): LineMap {
  let lines = lineMaps.get(text);
  if (!lines) {
    if (lineMaps.size >= kept) lineMaps.clear();
    lines = new LineMap(text);
    lineMaps.set(text, lines);
  }
  return lines;
}

let latest:
  | { readonly old: string; readonly text: string; readonly changes: ReturnType<typeof differences> }
  | undefined;

function changesBetween(old: string, text: string): ReturnType<typeof differences> {
  if (latest?.old !== old || latest.text !== text) latest = { old, text, changes: differences(old, text) };
  return latest.changes;
}

function editsBetween(before: readonly TextFile[], after: readonly TextFile[]): FileEdit[] {
  const edits: FileEdit[] = [];
  before.forEach(({ file, text }, i) => {
    const next = after[i]!.text;
    if (next === text) return;
    for (const { oldStart, oldEnd, newText } of differences(text, next))
      edits.push({ file, range: { start: startOf(text, oldStart), end: startOf(text, oldEnd) }, newText });
  });
  return edits;
}

/** The start of a line; one past the last line is the end of the text. */
function startOf(text: string, line: number): FileEdit['range']['start'] {
  const lines = new LineMap(text);
  return line < lines.lineCount ? { line, character: 0 } : lines.position(text.length);
}
