/** The files of a run by name, so that the same files give the same findings in whatever order they are named. */
import type { SourceFile } from '../core/checkSource.ts';

export function relevantFiles(files: readonly SourceFile[]): SourceFile[] {
  return [...files].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
}
