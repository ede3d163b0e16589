/** The comment that silences a finding on its line: `# raceline: ignore[code]`, or the code added to one that is there. */
import { type FileEdit, LineMap } from '../../core/base/text.ts';
import type { Finding } from '../../core/rules/finding.ts';

export function ignoreEdit(text: string, finding: Finding): FileEdit | undefined {
  // A finding is silenced by its first line.
  const { line } = finding.range.start;
  const map = new LineMap(text);
  const content = text
    .slice(map.offset({ line, character: 0 }), map.offset({ line: line + 1, character: 0 }))
    .replace(/[\r\n]+$/, '');
  // After a backslash no comment may stand.
  if (content.endsWith('\\')) return undefined;
  const insert = (character: number, newText: string): FileEdit => ({
    file: finding.file,
    range: { start: { line, character }, end: { line, character } },
    newText,
  });
  const present = /#\s*raceline:\s*ignore\[([^\]]*)\]/.exec(content);
  if (present) return insert(present.index + present[0].length - 1, `${present[1]!.trim() ? ', ' : ''}${finding.code}`);
  return insert(content.length, `${content && !content.endsWith(' ') ? '  ' : ''}# raceline: ignore[${finding.code}]`);
}
