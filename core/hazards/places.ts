/**
 * Which steps come from the same place. A loop or a helper function makes many steps of one statement: a pair of call
 * chains is reported once, and advice holds only if it holds on every execution of the statement.
 */
import type { StepIndex, StreamProgram } from '../program/program.ts';

export class Places {
  readonly #program: StreamProgram;
  /** Per origin; computed when first asked for, -1: not yet. */
  readonly #chain: Int32Array;
  readonly #statement: Int32Array;
  readonly #ids = new Map<string, Map<string | number, number>>();
  #count = 0;

  constructor(program: StreamProgram) {
    this.#program = program;
    this.#chain = new Int32Array(program.origins.length).fill(-1);
    this.#statement = new Int32Array(program.origins.length).fill(-1);
  }

  /** Equal for steps that came through the same calls. Rows of a trace are all different. */
  chain(step: StepIndex): number {
    const at = this.#program.steps[step]!.origin;
    const origin = this.#program.origins[at];
    if (!origin || origin.kind === 'trace') return alone(step);
    if (this.#chain[at]! < 0)
      this.#chain[at] = this.#id('', origin.frames.map((f) => `${f.file}:${f.start}:${f.end}`).join(' '));
    return this.#chain[at]!;
  }

  /** Equal for executions of one call: two calls of a helper that is given its streams are two. */
  call(step: StepIndex): number {
    const origin = this.#program.origins[this.#program.steps[step]!.origin];
    if (origin?.kind === 'source') return this.chain(step);
    return origin?.site === undefined ? this.statement(step) : this.#id('site', origin.site);
  }

  /** Equal for steps of the same statement, whoever called it. */
  statement(step: StepIndex): number {
    const at = this.#program.steps[step]!.origin;
    const origin = this.#program.origins[at];
    if (!origin) return alone(step);
    if (this.#statement[at]! >= 0) return this.#statement[at]!;
    let id: number;
    if (origin.kind === 'trace') {
      if (origin.file === undefined) return alone(step);
      id = this.#id(origin.file, origin.line ?? 0);
    } else {
      const frame = origin.frames[origin.frames.length - 1];
      if (!frame) return alone(step);
      id = this.#id(frame.file, `${frame.start}:${frame.end}`);
    }
    this.#statement[at] = id;
    return id;
  }

  #id(file: string, place: string | number): number {
    let places = this.#ids.get(file);
    if (!places) {
      places = new Map();
      this.#ids.set(file, places);
    }
    let id = places.get(place);
    if (id === undefined) {
      id = this.#count++;
      places.set(place, id);
    }
    return id;
  }
}

/** A step without a known place stands for itself: a negative number, apart from all others. */
function alone(step: StepIndex): number {
  return -2 - step;
}
