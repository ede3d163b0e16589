/** Findings: what the faces (editor, command line) show. The JSON of `check --format json` is made of these. */
import type { Certainty } from '../program/program.ts';
import type { FileEdit, Range } from '../base/text.ts';

export type Severity = 'error' | 'warning' | 'hint';

export interface RelatedPlace {
  readonly file: string;
  readonly range: Range;
  readonly message: string;
}

export interface Fix {
  readonly title: string;
  readonly edits: readonly FileEdit[];
  /** The better fix comes first; only it is part of fix-all. */
  readonly preferred?: boolean;
}

export interface Finding {
  readonly file: string;
  readonly range: Range;
  readonly code: string;
  readonly severity: Severity;
  readonly certainty: Certainty;
  /** One line that stands alone: both accesses, both streams. */
  readonly message: string;
  readonly related: readonly RelatedPlace[];
  readonly fixes: readonly Fix[];
}

export interface Problem {
  readonly file: string;
  readonly message: string;
  /** From 0, where the problem has a place. */
  readonly line?: number;
  /** What is worth to know, although the file was read and analysed. */
  readonly note?: true;
}
