/** Unified diffs of two texts, with three lines of context, as `diff -u` prints them; empty if they are equal. */

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return '';
  const lines = compare(split(before), split(after));
  const context = 3;
  const keep = lines.map((line) => line.sign !== ' ');
  const out = [`--- ${file}`, `+++ ${file} (fixed)`];
  let i = 0;
  let oldLine = 1;
  let newLine = 1;
  const advance = (line: Line) => {
    if (line.sign !== '+') oldLine++;
    if (line.sign !== '-') newLine++;
  };
  while (i < lines.length) {
    const next = keep.indexOf(true, i);
    if (next < 0) break;
    const start = Math.max(i, next - context);
    for (; i < start; i++) advance(lines[i]!);
    // A hunk ends where more than two contexts of unchanged lines follow.
    let end = next;
    for (let j = next; j < lines.length && j <= end + 2 * context; j++) if (keep[j]) end = j;
    const stop = Math.min(lines.length, end + context + 1);
    const hunk = lines.slice(start, stop);
    const from = oldLine;
    const to = newLine;
    for (const line of hunk) advance(line);
    out.push(`@@ -${from},${oldLine - from} +${to},${newLine - to} @@`);
    out.push(...hunk.map((line) => line.sign + line.text));
    i = stop;
  }
  return `${out.join('\n')}\n`;
}

function split(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * Greedy shortest edit script (Myers 1986, "An O(ND) Difference Algorithm and Its Variations"). Fixes change few lines,
 * so D is small.
 */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  const max = a.length + b.length;
  const trace: Map<number, number>[] = [];
  let frontier = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= max; d++) {
    trace.push(new Map(frontier));
    const next = new Map(frontier);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (frontier.get(k - 1) ?? -1) < (frontier.get(k + 1) ?? -1));
      let x = down ? (frontier.get(k + 1) ?? 0) : (frontier.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, trace, d);
    }
    frontier = next;
  }
  return [];
}

function backtrack(a: readonly string[], b: readonly string[], trace: readonly Map<number, number>[], depth: number): Line[] {
  const out: Line[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = depth; d >= 0; d--) {
    const frontier = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && (frontier.get(k - 1) ?? -1) < (frontier.get(k + 1) ?? -1));
    const previous = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : (frontier.get(previous) ?? 0);
    const fromY = d === 0 ? 0 : fromX - previous;
    const afterX = d === 0 ? 0 : down ? fromX : fromX + 1;
    while (x > afterX && y > (d === 0 ? 0 : afterX - k)) out.push({ sign: ' ', text: a[--x]! }) && y--;
    if (d === 0) break;
    if (down) out.push({ sign: '+', text: b[--y]! });
    else out.push({ sign: '-', text: a[--x]! });
    x = fromX;
    y = fromY;
  }
  return out.reverse();
}
