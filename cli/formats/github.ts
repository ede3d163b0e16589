/**
 * Workflow commands, which GitHub shows as annotations. It shows ten errors, ten warnings and ten notices of a step: errors
 * come first, and each code once before any comes twice. The last line tells the log how many there are.
 */
import type { Finding, Severity } from '../../core/rules/finding.ts';
import { displayPath } from '../display-path.ts';
import { relativeToRepository } from '../repository.ts';
import { type CheckReport, counted } from './report.ts';

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', hint: 'notice' };
const shownOfALevel = 10;

export function github({ findings }: CheckReport): string {
  const ordered = (['error', 'warning', 'hint'] as const).flatMap((severity) =>
    eachCodeFirst(findings.filter((finding) => finding.severity === severity)),
  );
  const lines = ordered.map(annotation);
  if (findings.length) lines.push(`raceline: ${counted(findings.length, 'finding')}${more(findings)}`);
  return lines.map((line) => `${line}\n`).join('');
}

function eachCodeFirst(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, number>();
  const turn = findings.map((finding) => {
    const before = seen.get(finding.code) ?? 0;
    seen.set(finding.code, before + 1);
    return { finding, before };
  });
  return turn.sort((a, b) => a.before - b.before).map(({ finding }) => finding);
}

function more(findings: readonly Finding[]): string {
  const most = Math.max(
    ...(['error', 'warning', 'hint'] as const).map((s) => findings.filter(({ severity }) => severity === s).length),
  );
  return most > shownOfALevel ? `; GitHub shows ${shownOfALevel} of a kind, the lines above are all of them` : '';
}

function annotation(finding: Finding): string {
  const { start, end } = finding.range;
  const on = finding.certainty === 'always' ? '' : ' (on some paths)';
  const properties: [string, string | number][] = [
    ['file', place(finding.file)],
    ['line', start.line + 1],
    ['endLine', end.line + 1],
  ];
  // Columns of two lines would be taken for those of one.
  if (start.line === end.line) properties.push(['col', start.character + 1], ['endColumn', end.character + 1]);
  properties.push(['title', `raceline ${finding.code}${on}`]);
  const message = [
    finding.message,
    ...finding.related.map(({ file, range, message }) => `${place(file)}:${range.start.line + 1}: ${message}`),
  ].join('\n');
  const written = properties.map(([name, value]) => `${name}=${property(String(value))}`).join(',');
  return `::${levels[finding.severity]} ${written}::${escaped(message)}`;
}

/** The log that these lines go to is a terminal as well. */
const place = (file: string) => (relativeToRepository(file) ?? displayPath(file)).replace(/\p{Cc}/gu, '?');
const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
