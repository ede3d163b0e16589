/**
 * Applies preferred fixes one after another until none is left. One at a time, since a fix can move or settle other
 * findings: the wait that one finding needs is often the wait that its neighbours need too.
 */
import { applyFileEdits } from './base/text.ts';
import type { CheckResult, SourceChecker, SourceFile } from './checkSource.ts';
import type { Finding } from './rules/finding.ts';

export interface FixAllOptions {
  /** Which findings to fix; the others stay. */
  readonly only?: (finding: Finding) => boolean;
  /** Files that may be edited; a fix that touches another is not taken. Left out: all. */
  readonly files?: ReadonlySet<string>;
}

export interface FixAllResult {
  readonly files: readonly SourceFile[];
  /** Of the fixed files. The checker's last check is the one that gave it. */
  readonly result: CheckResult;
  readonly applied: number;
}

export function fixAll(
  checker: SourceChecker,
  files: readonly SourceFile[],
  { only = () => true, files: editable }: FixAllOptions = {},
): FixAllResult {
  let current = files;
  let result = checker.check(current, { fixes: false });
  let applied = 0;
  // Every fix that is offered removes its finding and adds none, so their number bounds the rounds.
  for (let rounds = result.findings.length; rounds > 0; rounds--) {
    const next = firstFix(checker, result.findings.filter(only), editable);
    if (!next) break;
    current = applyFileEdits(current, next.edits);
    result = checker.check(current, { fixes: false });
    applied++;
  }
  return { files: current, result, applied };
}

function firstFix(checker: SourceChecker, findings: readonly Finding[], editable: ReadonlySet<string> | undefined) {
  for (const finding of findings) {
    const fix = checker.fixesFor(finding).find((candidate) => candidate.preferred);
    if (fix && (!editable || fix.edits.every((edit) => editable.has(edit.file)))) return fix;
  }
  return undefined;
}
