/**
 * The edits that turn one text into another, line by line, so that an editor keeps its carets, folds and markers where
 * nothing changed. Knows nothing of what the texts are.
 */
import type { TextEdit } from '../core/base/text.ts';

export function lineEdits(before: string, after: string): TextEdit[] {
  const a = lines(before);
  const b = lines(after);
  const edits: TextEdit[] = [];
  let i = 0;
  let j = 0;
  for (const [x, y] of [...commonLines(a, b), [a.length, b.length] as const]) {
    if (x > i || y > j) edits.push(replacement(a, i, x, b.slice(j, y).join('')));
    i = x + 1;
    j = y + 1;
  }
  return edits;
}

/** Lines with their ends; joined they are the text. */
function lines(text: string): string[] {
  const found = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g);
  return found ?? [];
}

function replacement(a: readonly string[], start: number, end: number, newText: string): TextEdit {
  // A last line without an end has no line after it to stop at.
  const openEnd = end === a.length && end > 0 && !/[\r\n]$/.test(a[end - 1]!);
  const place = (line: number) =>
    openEnd && line === a.length ? { line: line - 1, character: a[line - 1]!.length } : { line, character: 0 };
  return { range: { start: place(start), end: place(end) }, newText };
}

/** Pairs of equal lines of a longest common subsequence, in order (Myers' greedy walk with its trace kept). */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] {
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  const limit = a.length + b.length;
  for (let d = 0; d <= limit; d++) {
    trace.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      furthest.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(trace, a.length, b.length, d);
    }
  }
  return [];
}

function walkBack(
  trace: readonly Map<number, number>[],
  endX: number,
  endY: number,
  depth: number,
): [number, number][] {
  const pairs: [number, number][] = [];
  let x = endX;
  let y = endY;
  for (let d = depth; d >= 0; d--) {
    const furthest = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const previousK = down ? k + 1 : k - 1;
    const previousX = d === 0 ? 0 : (furthest.get(previousK) ?? 0);
    const previousY = d === 0 ? 0 : previousX - previousK;
    while (x > previousX && y > previousY) pairs.push([--x, --y]);
    if (d === 0) break;
    x = previousX;
    y = previousY;
  }
  return pairs.reverse();
}
