/** The texts of a workspace, in an order that does not depend on when each came. */
import type { SourceFile } from './checkSource.ts';

export class SourceFiles {
  readonly #texts = new Map<string, string>();
  #sorted: readonly SourceFile[] | undefined;

  set(file: string, text: string): void {
    if (this.#texts.get(file) === text) return;
    this.#texts.set(file, text);
    this.#sorted = undefined;
  }

  delete(file: string): void {
    if (this.#texts.delete(file)) this.#sorted = undefined;
  }

  clear(): void {
    this.#texts.clear();
    this.#sorted = undefined;
  }

  sorted(): readonly SourceFile[] {
    this.#sorted ??= [...this.#texts]
      .map(([file, text]) => ({ file, text }))
      .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
    return this.#sorted;
  }
}
