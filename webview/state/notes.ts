/**
 * Notes of a trace: a moment or a stretch of time with words. They are kept beside the trace as JSON, by whoever has the
 * file; this file reads and writes that text and knows nothing of where it lies.
 */

export interface Note {
  /** Nanoseconds from the start of the trace; `end` is `start` for a moment. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const longest = 10_000;
const most = 1_000;

/** What is not a note is left out: the file may have been edited by hand. */
export function parseNotes(text: string): Note[] {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return [];
  }
  const list = (given as { notes?: unknown } | null)?.notes;
  if (!Array.isArray(list)) return [];
  return list
    .filter(
      (note): note is Note =>
        typeof note === 'object' &&
        note !== null &&
        Number.isFinite(note.start) &&
        Number.isFinite(note.end) &&
        note.end >= note.start &&
        typeof note.text === 'string',
    )
    .slice(0, most)
    .map(({ start, end, text: words }) => ({ start, end, text: words.slice(0, longest) }));
}

export const writeNotes = (notes: readonly Note[]): string =>
  `${JSON.stringify({ version: 1, notes }, undefined, 2)}\n`;

export const inOrder = (notes: readonly Note[]): Note[] => notes.toSorted((a, b) => a.start - b.start || a.end - b.end);
