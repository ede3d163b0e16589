import { createTwoFilesPatch } from 'diff';

/** A unified diff with three lines of context; empty if the texts are equal. */
export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch(file, `${file} (fixed)`, before, after, undefined, undefined, { context: 3 });
  return patch.replace(/^=+\n/, '');
}
