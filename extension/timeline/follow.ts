/**
 * Follows a trace that a run is still writing: what was appended is read alone, and the whole file only where another one
 * has taken its place. Knows nothing of what a trace holds.
 */
import { open } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { appendedTo, type Growth, grownBy, growthOf, seamStart } from '../../core/trace/growth.ts';

export class Follower {
  readonly #uri: vscode.Uri;
  #had: Growth | undefined;

  constructor(uri: vscode.Uri) {
    this.#uri = uri;
  }

  /** The file was read whole. */
  has(bytes: Uint8Array): void {
    this.#had = growthOf(bytes);
  }

  /** What was appended since; undefined: the file is to be read whole. */
  async appended(): Promise<Uint8Array | undefined> {
    const had = this.#had;
    this.#had = undefined;
    if (!had || this.#uri.scheme !== 'file') return undefined;
    const bytes = await readFrom(this.#uri.fsPath, seamStart(had)).catch(() => undefined);
    const appended = bytes && appendedTo(had, bytes);
    if (!appended || appended.length === 0) return undefined;
    this.#had = grownBy(had, appended);
    // A copy: a part of a larger buffer would cross to the page with all of it.
    return appended.slice();
  }
}

/** The bytes from `start` to the present end of the file. */
async function readFrom(file: string, start: number): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(Math.max(0, size - start));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
