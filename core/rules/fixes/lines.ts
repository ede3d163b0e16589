/** The lines in which two texts differ: the shortest list of replacements by whole lines. */

export interface LineChange {
  /** Lines of the old text that go, `oldEnd` exclusive. */
  readonly oldStart: number;
  readonly oldEnd: number;
  /** Lines of the new text that come, `newEnd` exclusive. */
  readonly newStart: number;
  readonly newEnd: number;
  readonly newText: string;
}

/** Beyond this the middle is replaced as one piece. */
const largestMiddle = 400;

export function differences(old: string, text: string): LineChange[] {
  const before = linesOf(old);
  const after = linesOf(text);
  let prefix = 0;
  while (prefix < before.length && prefix < after.length && before[prefix] === after[prefix]) prefix++;
  let suffix = 0;
  while (
    suffix < before.length - prefix &&
    suffix < after.length - prefix &&
    before[before.length - 1 - suffix] === after[after.length - 1 - suffix]
  )
    suffix++;
  const a = before.slice(prefix, before.length - suffix);
  const b = after.slice(prefix, after.length - suffix);
  const changes: LineChange[] = [];
  const add = (oldStart: number, oldEnd: number, newStart: number, newEnd: number) => {
    if (oldStart === oldEnd && newStart === newEnd) return;
    changes.push({
      oldStart: prefix + oldStart,
      oldEnd: prefix + oldEnd,
      newStart: prefix + newStart,
      newEnd: prefix + newEnd,
      newText: b.slice(newStart, newEnd).join(''),
    });
  };
  if (a.length > largestMiddle || b.length > largestMiddle) {
    add(0, a.length, 0, b.length);
    return changes;
  }
  let oldAt = 0;
  let newAt = 0;
  for (const [i, j] of commonLines(a, b)) {
    add(oldAt, i, newAt, j);
    oldAt = i + 1;
    newAt = j + 1;
  }
  add(oldAt, a.length, newAt, b.length);
  return changes;
}

/** With their line ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
}

/** Pairs of a longest common subsequence. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}
