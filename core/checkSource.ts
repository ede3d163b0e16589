/**
 * The source pipeline: texts → syntax → stream programs → hazards → findings with fixes. Used alike by the language
 * server and the command line, so that the same program gets the same findings from both.
 */
import type { Finding, Fix, Problem } from './rules/finding.ts';

export interface SourceFile {
  /** Key of the file in findings: an absolute path or a URI. */
  readonly file: string;
  readonly text: string;
}

export interface CheckOptions {
  /** Compute fixes with the findings. Each offered fix is re-analysed. The server asks for them later, one by one. */
  readonly fixes: boolean;
}

export interface CheckResult {
  /** Sorted by file and place; the same input gives the same findings. */
  readonly findings: readonly Finding[];
  readonly problems: readonly Problem[];
}

export interface SourceChecker {
  /** Replaces the set of files. Unchanged texts are not parsed again; unchanged functions are not executed again. */
  check(files: readonly SourceFile[], options: CheckOptions): CheckResult;
  /** Fixes of one finding of the last check, best first. Only fixes that remove the finding and add none. */
  fixesFor(finding: Finding): readonly Fix[];
}
