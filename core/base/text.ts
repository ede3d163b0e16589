/**
 * Places in text, counted as the Language Server Protocol counts them: lines and characters from 0, characters in
 * UTF-16 code units. Knows nothing of Python, of files on disk, or of an editor.
 */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface TextEdit {
  readonly range: Range;
  readonly newText: string;
}

/** An edit of one file. `file` is the key under which the file was handed to the analysis (a path or a URI). */
export interface FileEdit extends TextEdit {
  readonly file: string;
}

/** A place in a file. */
export interface Location {
  readonly file: string;
  readonly range: Range;
}

/** Offsets of line starts; `\n`, `\r\n` and a lone `\r` end a line, as in LSP. */
export class LineMap {
  readonly #starts: number[] = [0];
  readonly #length: number;

  constructor(text: string) {
    this.#length = text.length;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === 10) this.#starts.push(i + 1);
      else if (c === 13) {
        if (text.charCodeAt(i + 1) === 10) i++;
        this.#starts.push(i + 1);
      }
    }
  }

  get lineCount(): number {
    return this.#starts.length;
  }

  position(offset: number): Position {
    const clamped = Math.max(0, Math.min(offset, this.#length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= clamped) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: clamped - this.#starts[low]! };
  }

  offset(position: Position): number {
    if (position.line < 0) return 0;
    if (position.line >= this.#starts.length) return this.#length;
    const start = this.#starts[position.line]!;
    const next = this.#starts[position.line + 1] ?? this.#length + 1;
    return Math.max(start, Math.min(start + position.character, next - 1, this.#length));
  }
}

export function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** The text after the edits. Edits must not overlap; edits at one place are applied in the order given. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const map = new LineMap(text);
  const sorted = edits
    .map((edit, index) => ({ index, start: map.offset(edit.range.start), end: map.offset(edit.range.end), edit }))
    .sort((a, b) => a.start - b.start || a.end - b.end || a.index - b.index);
  let result = '';
  let at = 0;
  for (const { start, end, edit } of sorted) {
    if (start < at) throw new Error(`overlapping edits at ${edit.range.start.line}:${edit.range.start.character}`);
    result += text.slice(at, start) + edit.newText;
    at = end;
  }
  return result + text.slice(at);
}

/** The files after the edits; one without an edit stays the same object. */
export function applyFileEdits(
  files: readonly { readonly file: string; readonly text: string }[],
  edits: readonly FileEdit[],
): { readonly file: string; readonly text: string }[] {
  return files.map((file) => {
    const own = edits.filter((edit) => edit.file === file.file);
    return own.length ? { file: file.file, text: applyEdits(file.text, own) } : file;
  });
}
