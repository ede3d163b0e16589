/** What an operator was called with, and what a reader of it is: it is pushed the unpacked bytes of a file, and asked by row. */

export interface OperatorInput {
  /** '' where it is not known. */
  readonly type: string;
  /** `8 × 256`; of a list of tensors one for each; '' for what is no tensor. */
  readonly shape: string;
  readonly value: string;
}

/** Inputs that are listed of one operator. */
export const mostInputs = 64;

export interface InputsReader {
  push(bytes: Uint8Array): void;
  finish(): void;
  /** By the row of the file. */
  of(row: number): OperatorInput[];
}
