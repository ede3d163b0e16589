/** The known word that a mistyped one was probably meant to be. */

/** Undefined where none is near enough to be offered. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return nearestOf(word, known, 1)[0];
}

/** The nearest ones, best first. A word that contains the typed one counts as near. */
export function nearestOf(word: string, known: Iterable<string>, most: number): string[] {
  const typed = word.toLowerCase();
  return [...known]
    .map((name) => ({ name, distance: distanceTo(typed, name) }))
    .filter(({ distance, name }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name);
}

function distanceTo(typed: string, name: string): number {
  if (typed.length >= 3 && name.includes(typed)) return 1;
  return editDistance(typed, name);
}

/** Letters to add, to drop or to change, or neighbours to swap, until one word is the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
