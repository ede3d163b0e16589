/** Findings as a person reads them in a terminal: place, message, code frame; and one line that sums up. */
import type { Finding } from '../../core/rules/finding.ts';
import { codeFrame } from '../code-frame.ts';
import { displayPath } from '../display-path.ts';
import { type CheckReport, counted } from './report.ts';

export function text(report: CheckReport): string {
  return `${report.findings.map((finding) => `${described(finding, report.texts)}\n\n`).join('')}${summary(report)}\n`;
}

function described(finding: Finding, texts: ReadonlyMap<string, string>): string {
  const { file, range, related } = finding;
  const on = finding.certainty === 'always' ? '' : ' (on some paths)';
  const lines = [
    `${displayPath(file)}:${range.start.line + 1}:${range.start.character + 1}: ${finding.severity} ${finding.code}${on}`,
    `  ${finding.message}`,
  ];
  const source = texts.get(file);
  if (source !== undefined)
    lines.push(
      codeFrame(
        source,
        range,
        related.filter((place) => place.file === file),
      ),
    );
  for (const place of related)
    if (place.file !== file) lines.push(`  ${displayPath(place.file)}:${place.range.start.line + 1}: ${place.message}`);
  return lines.join('\n');
}

function summary({ findings, files, fixed, known, milliseconds }: CheckReport): string {
  const of = (severity: string) =>
    counted(findings.filter((finding) => finding.severity === severity).length, severity);
  const parts = [counted(files, 'file'), of('error'), of('warning'), of('hint')];
  if (fixed) parts.push(`${fixed} fixed`);
  if (known) parts.push(`${known} in the baseline`);
  return `${parts.join(', ')} (${milliseconds} ms)`;
}
