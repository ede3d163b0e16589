/**
 * A text without the bodies of its functions. What is left has the same offsets and a fraction of the tokens, so that a
 * large file is read in little time, and a body only when somebody looks into it:
 *
 *     def step(self, x):          def step(self, x):
 *         y = x * 2                   0
 *         return y
 *
 * Works on logical lines: brackets, strings and continued lines are seen, nothing else of the grammar. Where brackets do
 * not match, there is no outline.
 */
import { codeOf } from './code.ts';
import { beginsStatement } from './repair.ts';

export interface Body {
  /** Offset of `def` or `async`. */
  readonly start: number;
  /** Offset of the first statement of the body, where the outline has a `0`. */
  readonly first: number;
  /** Offset behind the last token of the body. */
  readonly end: number;
}

export interface Outline {
  readonly text: string;
  /** In the order of the text; none lies inside of another. */
  readonly bodies: readonly Body[];
}

/** Bodies shorter than this are left where they are: to read one later costs more. */
const shortest = 80;

/** undefined: a bracket is open where a statement begins. */
export function outlineOf(text: string): Outline | undefined {
  const code = codeOf(text);
  const bodies: Body[] = [];
  const pieces: string[] = [];
  let kept = 0;
  let open: { readonly start: number; readonly indent: number; first: number; last: number; inner: number } | undefined;

  const close = (): void => {
    if (open && open.first >= 0 && open.last - open.first >= shortest) {
      const end = endWithComments(text, open.last, open.inner);
      bodies.push({ start: open.start, first: open.first, end });
      pieces.push(text.slice(kept, open.first), '0', ' '.repeat(end - open.first - 1));
      kept = end;
    }
    open = undefined;
  };

  for (const line of logicalLines(code)) {
    if (!line) return undefined;
    if (open && line.indent > open.indent) {
      if (open.first < 0) {
        open.first = line.start;
        open.inner = line.indent;
      }
      open.last = line.end;
      continue;
    }
    close();
    definition.lastIndex = line.start;
    if (definition.test(code) && code[line.end - 1] === ':')
      open = { start: line.start, indent: line.indent, first: -1, last: -1, inner: 0 };
  }
  close();
  pieces.push(text.slice(kept));
  return { text: pieces.join(''), bodies };
}

/** Comments beside the last statement are of the body, and those below it as long as they are indented like it. */
function endWithComments(text: string, last: number, indent: number): number {
  let end = last;
  beside.lastIndex = last;
  const rest = beside.exec(text);
  if (!rest) return end;
  end += rest[1]!.length;
  for (below.lastIndex = beside.lastIndex; below.lastIndex < text.length; ) {
    const from = below.lastIndex;
    const found = below.exec(text);
    if (!found) return end;
    const [, blanks, comment] = found;
    if (!comment) continue;
    if (widthOf(blanks!) < indent) return end;
    end = from + blanks!.length + comment.length;
  }
  return end;
}

const beside = /([ \t]*#[^\n]*|)\s*?(?:\n|$)/y;
const below = /([ \t\f\r]*)(#[^\n]*)?(?:\n|$)/y;

/** Tree-sitter counts a tab as eight wherever it stands; a form feed starts afresh. */
function widthOf(blanks: string): number {
  let width = 0;
  for (const blank of blanks) width = blank === '\t' ? width + 8 : blank === ' ' ? width + 1 : 0;
  return width;
}

const definition = /(?:async[ \t]+)?def[ \t]/y;

interface Line {
  readonly indent: number;
  /** Offsets of the first character that is not blank, and behind the last one. */
  readonly start: number;
  readonly end: number;
}

/** Lines with code, each with all the lines that continue it; undefined in the place of one in which a statement begins. */
function* logicalLines(code: string): Generator<Line | undefined> {
  const { length } = code;
  let at = 0;
  while (at < length) {
    let blank = at;
    let c = code.charCodeAt(at);
    for (; c === space || c === tab || c === formFeed; c = code.charCodeAt(++at)) if (c === formFeed) blank = at + 1;
    const start = at;
    const indent = widthOf(code.slice(blank, start));
    let end = at;
    let depth = 0;
    for (; at < length; at++) {
      c = code.charCodeAt(at);
      if (c === newline) {
        if (depth === 0 && !(code.charCodeAt(at - 1) === backslash || isContinued(code, at))) break;
        if (depth > 0 && beginsStatement(code, at + 1)) {
          yield undefined;
          return;
        }
      } else if (c === 0x28 || c === 0x5b || c === 0x7b) depth++;
      else if (c === 0x29 || c === 0x5d || c === 0x7d) {
        if (depth > 0) depth--;
      }
      if (c !== space && c !== newline && c !== carriageReturn && c !== tab) end = at + 1;
    }
    at++;
    if (end > start) yield { indent, start, end };
  }
}

/** A backslash before `\r\n`. */
function isContinued(code: string, newlineAt: number): boolean {
  return code.charCodeAt(newlineAt - 1) === carriageReturn && code.charCodeAt(newlineAt - 2) === backslash;
}

const tab = 9;
const newline = 10;
const formFeed = 12;
const carriageReturn = 13;
const space = 32;
const backslash = 0x5c;
