/**
 * All certain fixes of one file, to a fixed point, as the edits of one change. A finding that holds on some paths only is
 * left to the reader, and so is a fix that would edit another file.
 */
import type { FileEdit } from '../../core/base/text.ts';
import { fixAll } from '../../core/fixAll.ts';
import { lineEdits } from '../lineEdits.ts';
import type { Session } from '../session.ts';

export function fixAllEdits(session: Session, key: string, code?: string): FileEdit[] {
  return session.borrow((checker, files) => {
    const before = files.find((file) => file.file === key)?.text;
    if (before === undefined) return [];
    const { files: fixed } = fixAll(checker, files, {
      only: (finding) =>
        finding.file === key && finding.certainty === 'always' && (code === undefined || finding.code === code),
      files: new Set([key]),
    });
    const after = fixed.find((file) => file.file === key)!.text;
    return lineEdits(before, after).map((edit) => ({ ...edit, file: key }));
  });
}
