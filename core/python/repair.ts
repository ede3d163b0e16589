/**
 * What the parser is shown in the place of a text that it refuses, of the same length, so that all offsets hold:
 *
 *     return a, *(b,)        the star of a list without parentheses, before a bracket, which the grammar takes for a
 *     return a, +(b,)        pattern's; a plus binds as it does, and syntax.ts sees the star in the text
 *
 *     f(g(x)                 a bracket that is still open where a statement begins, which would take the definitions
 *     f g(x)                 that follow along; it is an error of its own
 *     def next():
 */
import type { Node } from './ast.ts';
import { codeOf } from './code.ts';

export interface Repair {
  readonly text: string;
  /** The brackets that are shown as blanks. */
  readonly errors: readonly Node[];
}

/** undefined: nothing to repair. */
export function repairOf(text: string): Repair | undefined {
  const open = unclosed(text);
  if (!open.length && !text.match(bareStar)) return undefined;
  let shown = '';
  let kept = 0;
  for (const at of open) {
    shown += `${text.slice(kept, at)} `;
    kept = at + 1;
  }
  shown += text.slice(kept);
  return { text: shown.replace(bareStar, '+'), errors: open.map((at) => behind(text, at)) };
}

/** Behind the last character before a bracket: it is of the statement also where nothing stands for the bracket. */
function behind(text: string, at: number): Node {
  const end = text.slice(0, at).trimEnd().length;
  return { start: end, end };
}

const bareStar = /(?<=(?:[,=]|\breturn|\byield)[ \t]*)\*(?=[ \t]*[([])/g;

/** Offsets of brackets that are open where a line begins as only a statement does, in order. */
function unclosed(text: string): number[] {
  const code = codeOf(text);
  const found: number[] = [];
  let open: number[] = [];
  for (let at = 0; at < code.length; at++) {
    const c = code.charCodeAt(at);
    if (c === 0x28 || c === 0x5b || c === 0x7b) open.push(at);
    else if (c === 0x29 || c === 0x5d || c === 0x7d) open.pop();
    else if (c === 0x0a && open.length) {
      if (beginsStatement(code, at + 1)) {
        found.push(...open);
        open = [];
      }
    }
  }
  return found.sort((a, b) => a - b);
}

/** Whether the line that begins at `at` does so as only a statement can, whatever brackets are open. */
export function beginsStatement(code: string, at: number): boolean {
  statement.lastIndex = at;
  return statement.test(code);
}

/** Keywords that no expression has. */
const statement =
  /[ \t]*(?:def|class|return|with|while|try|import|raise|del|global|nonlocal|pass|break|continue|assert|except|finally|elif)\b/y;
