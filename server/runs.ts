/**
 * Runs that the client has opened: `raceline/run` brings what was found in one and which lines it went through, and with
 * `closed` takes it away. Keeps the texts as they were then, so that lines find their places again after edits.
 */
import { readFileSync } from 'node:fs';
import { movedLine, type RunHazard, type RunRecord } from '../core/runEvidence.ts';
import { isPath } from './convert.ts';

/** What the client sends. Lines from 1. */
export interface RunMessage {
  /** URI of the trace; the same one again takes the place of what was sent before. */
  readonly uri: string;
  readonly name: string;
  readonly closed?: boolean;
  readonly ran?: readonly { readonly uri: string; readonly lines: readonly number[] }[];
  readonly hazards?: readonly {
    readonly code: string;
    readonly status: 'confirmed' | 'latent';
    readonly uri: string;
    readonly line: number;
    readonly related?: readonly { readonly uri: string; readonly line: number }[];
  }[];
}

export class Runs {
  readonly #runs = new Map<string, { readonly record: RunRecord; readonly texts: ReadonlyMap<string, string> }>();
  readonly #keyOf: (uri: string) => string;
  /** The text of a document that is open, undefined for others. */
  readonly #textOf: (key: string) => string | undefined;

  constructor(keyOf: (uri: string) => string, textOf: (key: string) => string | undefined) {
    this.#keyOf = keyOf;
    this.#textOf = textOf;
  }

  /** Returns whether anything changed. */
  take(message: RunMessage): boolean {
    if (typeof message?.uri !== 'string') return false;
    if (message.closed) return this.#runs.delete(message.uri);
    const ran = new Map<string, Set<number>>();
    for (const { uri, lines } of list(message.ran)) {
      if (typeof uri !== 'string' || !Array.isArray(lines)) continue;
      const key = this.#keyOf(uri);
      ran.set(key, new Set([...(ran.get(key) ?? []), ...lines.filter(Number.isInteger)]));
    }
    const hazards = list(message.hazards).flatMap((hazard): RunHazard[] => {
      if (typeof hazard?.uri !== 'string' || !Number.isInteger(hazard.line)) return [];
      return [
        {
          code: String(hazard.code),
          status: hazard.status === 'confirmed' ? 'confirmed' : 'latent',
          file: this.#keyOf(hazard.uri),
          line: hazard.line,
          related: list(hazard.related).map(({ uri, line }) => ({ file: this.#keyOf(String(uri)), line })),
        },
      ];
    });
    const texts = new Map<string, string>();
    for (const key of ran.keys()) {
      const text = this.#text(key);
      if (text !== undefined) texts.set(key, text);
    }
    const name = typeof message.name === 'string' ? message.name : 'the run';
    this.#runs.set(message.uri, { record: { name, ran, hazards }, texts });
    return true;
  }

  get any(): boolean {
    return this.#runs.size > 0;
  }

  /** The runs with their lines where they are now. */
  current(): RunRecord[] {
    return [...this.#runs.values()].map(({ record, texts }): RunRecord => {
      const moves = new Map<string, (line: number) => number>();
      const moved = (file: string, line: number): number => {
        let move = moves.get(file);
        if (!move) {
          const before = texts.get(file);
          move = before === undefined ? (same) => same : movedLine(before, this.#text(file) ?? before);
          moves.set(file, move);
        }
        return move(line);
      };
      const ran = new Map(
        [...record.ran].map(([file, lines]) => [
          file,
          new Set([...lines].map((line) => moved(file, line)).filter((line) => line > 0)),
        ]),
      );
      const hazards = record.hazards.map((hazard) => ({
        ...hazard,
        line: moved(hazard.file, hazard.line),
        related: hazard.related.map(({ file, line }) => ({ file, line: moved(file, line) })),
      }));
      return { ...record, ran, hazards: hazards.filter((hazard) => hazard.line > 0) };
    });
  }

  #text(key: string): string | undefined {
    const open = this.#textOf(key);
    if (open !== undefined || !isPath(key)) return open;
    try {
      return readFileSync(key, 'utf8');
    } catch {
      return undefined;
    }
  }
}

/** Messages come from any client. */
const list = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : []);
