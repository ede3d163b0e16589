/**
 * Which steps come from the same place. A loop or a helper function makes many steps of one statement: a pair of call
 * chains is reported once, and advice holds only if it holds on every execution of the statement.
 */
import type { Origin, StepIndex, StreamProgram } from '../program/program.ts';

export class Places {
  readonly #program: StreamProgram;
  /** Per origin; computed when first asked for, -1: not yet. */
  readonly #chain: Int32Array;
  readonly #statement: Int32Array;
  readonly #ids = new Map<string, number>();

  constructor(program: StreamProgram) {
    this.#program = program;
    this.#chain = new Int32Array(program.origins.length).fill(-1);
    this.#statement = new Int32Array(program.origins.length).fill(-1);
  }

  /** Equal for steps that came through the same calls. Rows of a trace are all different. */
  chain(step: StepIndex): number {
    return this.#id(this.#chain, step, (origin) =>
      origin.kind === 'source' ? origin.frames.map((f) => `${f.file}:${f.start}:${f.end}`).join(' ') : undefined,
    );
  }

  /** Equal for steps of the same statement, whoever called it. */
  statement(step: StepIndex): number {
    return this.#id(this.#statement, step, (origin) => {
      if (origin.kind === 'trace') return origin.file === undefined ? undefined : `${origin.file}:${origin.line}`;
      const frame = origin.frames[origin.frames.length - 1];
      return frame && `${frame.file}:${frame.start}:${frame.end}`;
    });
  }

  #id(column: Int32Array, step: StepIndex, key: (origin: Origin) => string | undefined): number {
    const at = this.#program.steps[step]!.origin;
    // Steps without an origin of their own stand for themselves, apart from all ids below.
    if (at < 0 || at >= column.length) return -2 - step;
    if (column[at]! >= 0) return column[at]!;
    const text = key(this.#program.origins[at]!);
    if (text === undefined) return -2 - step;
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(text, id);
    }
    column[at] = id;
    return id;
  }
}
