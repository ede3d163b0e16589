/**
 * A few source lines around a finding, as compilers print them:
 *
 *       12 |     with torch.cuda.stream(compute):
 *     > 13 |         y = x * 2
 *          |             ^^^^^
 */
import type { Range } from '../core/base/text.ts';
import type { RelatedPlace } from '../core/rules/finding.ts';

export function codeFrame(text: string, range: Range, related: readonly RelatedPlace[] = []): string {
  const lines = text.split(/\r\n|\r|\n/);
  const shown = new Set<number>();
  const add = (line: number) => {
    for (let l = line - 1; l <= line + 1; l++) if (l >= 0 && l < lines.length) shown.add(l);
  };
  add(range.start.line);
  for (const place of related) add(place.range.start.line);
  const ordered = [...shown].sort((a, b) => a - b);
  const width = String((ordered.at(-1) ?? 0) + 1).length;
  const out: string[] = [];
  let last = ordered[0] ?? 0;
  for (const line of ordered) {
    if (line > last + 1) out.push(`  ${' '.repeat(width)} …`);
    last = line;
    const source = (lines[line] ?? '').replaceAll('\t', '    ');
    const here = line === range.start.line;
    out.push(`${here ? '>' : ' '} ${String(line + 1).padStart(width)} | ${source}`);
    if (here) out.push(`  ${' '.repeat(width)} | ${underline(lines[line] ?? '', range, '^')}`);
    for (const place of related)
      if (place.range.start.line === line && !here)
        out.push(`  ${' '.repeat(width)} | ${underline(lines[line] ?? '', place.range, '~')} ${place.message}`);
  }
  return out.map((line) => `  ${line}`.trimEnd()).join('\n');
}

function underline(line: string, range: Range, mark: string): string {
  const expand = (text: string) => text.replaceAll('\t', '    ').length;
  const start = expand(line.slice(0, range.start.character));
  const end = range.end.line === range.start.line ? expand(line.slice(0, range.end.character)) : expand(line);
  return ' '.repeat(start) + mark.repeat(Math.max(1, end - start));
}
