/** What a `check` has to say, whatever the format. */
import type { Finding, Problem } from '../../core/rules/finding.ts';
import { displayPath } from '../display-path.ts';

export interface CheckReport {
  readonly findings: readonly Finding[];
  readonly problems: readonly Problem[];
  /** Texts of the files that findings are in. */
  readonly texts: ReadonlyMap<string, string>;
  /** How many files were read, how many findings were fixed, and how many a baseline knows. */
  readonly files: number;
  readonly fixed: number;
  readonly known: number;
  readonly milliseconds: number;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A problem as a person reads it: on standard error, whatever the format of the findings. */
export function problemLine({ file, line, message }: Problem): string {
  return `${displayPath(file)}${line === undefined ? '' : `:${line + 1}`}: ${message}`;
}
