/**
 * A candidate becomes a fix only if the fixed text, analysed again, has lost this finding and gained none. Where the
 * only thing that it gains is a finding of another kind that can itself be fixed (the order is right now, the memory is
 * still unprotected), both are offered as one fix.
 */
import { applyEdits, LineMap, type FileEdit } from '../../base/text.ts';
import type { Hazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import type { Fix } from '../finding.ts';
import type { Report } from '../report.ts';
import type { OffsetEdit } from './edits.ts';
import { proposeFixes } from './index.ts';
import { differences } from './lines.ts';

interface TextFile {
  readonly file: string;
  readonly text: string;
}

export interface Workbench {
  readonly files: readonly TextFile[];
  hazardsOf(path: LoweredPath): readonly Hazard[];
  /** Reports of these texts, as if they were all there is. */
  analyse(files: readonly TextFile[]): readonly Report[];
}

/** More choices than this help nobody. */
const mostFixes = 4;

export function verifiedFixes(report: Report, bench: Workbench): Fix[] {
  const base = bench.analyse(bench.files);
  const fixes: Fix[] = [];
  const titles = new Set<string>();
  for (const candidate of proposeFixes(report, bench.hazardsOf)) {
    if (fixes.length >= mostFixes) break;
    if (titles.has(candidate.title)) continue;
    const tried = attempt(report, base, bench.files, candidate.edits, bench);
    if (!tried) continue;
    let files = tried.files;
    let title = candidate.title;
    if (tried.added.length) {
      const followed = followUp(report, base, tried, bench);
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
function attempt(
  report: Report,
  base: readonly Report[],
  files: readonly TextFile[],
  edits: readonly OffsetEdit[],
  bench: Workbench,
): Attempt | undefined {
  const fixed = withEdits(files, edits);
  const reports = bench.analyse(fixed);
  const expected = new Set(base.map((r) => lineKey(r, bench.files, fixed)));
  const gone = lineKey(report, bench.files, fixed);
  const present = reports.map((r) => ({ r, key: lineKeyIn(r, fixed) }));
  if (present.some(({ key }) => key === gone)) return undefined;
  return { files: fixed, reports, added: present.filter(({ key }) => !expected.has(key)).map(({ r }) => r) };
}

function followUp(
  report: Report,
  base: readonly Report[],
  tried: Attempt,
  bench: Workbench,
): { files: readonly TextFile[]; title: string } | undefined {
  const [added] = tried.added;
  if (!added || tried.added.length > 1 || added.code === report.code) return undefined;
  for (const candidate of proposeFixes(added, bench.hazardsOf).slice(0, 6)) {
    const files = withEdits(tried.files, candidate.edits);
    const reports = bench.analyse(files);
    const expected = new Set(base.map((r) => lineKey(r, bench.files, files)));
    expected.delete(lineKey(report, bench.files, files));
    if (reports.every((r) => expected.has(lineKeyIn(r, files)))) return { files, title: candidate.title };
  }
  return undefined;
}

function withEdits(files: readonly TextFile[], edits: readonly OffsetEdit[]): TextFile[] {
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
  const { line } = new LineMap(textOf(files, report.file)).position(report.start);
  return `${report.code}:${line}:${report.file}`;
}

/** The same, with the line at which the report's own line stands after the edits. */
function lineKey(report: Report, before: readonly TextFile[], after: readonly TextFile[]): string {
  const old = textOf(before, report.file);
  const { line } = new LineMap(old).position(report.start);
  let moved = line;
  for (const change of differences(old, textOf(after, report.file)))
    if (change.oldEnd <= line) moved = line + change.newEnd - change.oldEnd;
  return `${report.code}:${moved}:${report.file}`;
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
