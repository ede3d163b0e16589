/**
 * Problems met while a file is read, by kind: the first few of a kind are told with their place, the rest are counted,
 * so that a file with a million faults gives a short list.
 */
import type { TraceProblem } from './trace.ts';

const toldPerKind = 5;

export class Problems {
  readonly #told: TraceProblem[] = [];
  readonly #counts = new Map<string, number>();

  add(kind: string, message: string, offset: number, row: number): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= toldPerKind) this.#told.push({ message, offset, row });
  }

  /** Once per kind, whatever the count. */
  once(kind: string, message: string, offset: number, row: number): void {
    if (this.#counts.has(kind)) return;
    this.#counts.set(kind, 1);
    this.#told.push({ message, offset, row });
  }

  finish(): TraceProblem[] {
    const result = [...this.#told];
    for (const [kind, count] of this.#counts)
      if (count > toldPerKind)
        result.push({
          message: `${count - toldPerKind} more problems of the kind “${kind}” are not listed.`,
          offset: -1,
          row: -1,
        });
    return result;
  }
}
