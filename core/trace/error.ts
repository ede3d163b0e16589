/**
 * The one error that reading a trace throws: the file as a whole cannot be opened. Its message says what the file looks
 * like and what to do. Everything smaller is a `TraceProblem` of the trace, and what could be read is there all the same.
 */
export class TraceError extends Error {
  override readonly name = 'TraceError';
  /** Byte offset in the (unpacked) file, -1 if it does not apply. */
  readonly offset: number;

  constructor(message: string, offset = -1) {
    super(message);
    this.offset = offset;
  }
}
