import type { CheckReport } from './report.ts';

/** One object that other tools read; lines and characters from 0, in UTF-16. */
export function json({ findings, problems, files, milliseconds }: CheckReport): string {
  return `${JSON.stringify({
    version: 1,
    files,
    milliseconds,
    findings: findings.map((finding) => ({
      file: finding.file,
      range: finding.range,
      code: finding.code,
      severity: finding.severity,
      certainty: finding.certainty,
      message: finding.message,
      related: finding.related,
      fixes: finding.fixes.map((fix) => ({ title: fix.title, edits: fix.edits })),
    })),
    problems: problems.map(({ file, line, message }) => ({ file, ...(line === undefined ? {} : { line }), message })),
  })}\n`;
}
