/** Codes as they stand in settings and on the command line: `missing-wait`, `capture-*`, `ALL`. */
import { rules } from '../rules/index.ts';
import { nearestOf } from './nearest.ts';

const known: readonly string[] = rules.map(({ code }) => code);

/** The codes that are meant; a string is what is wrong with the word, and what to write instead. */
export function codesNamed(word: string): readonly string[] | string {
  if (word === 'ALL') return known;
  const named = word.endsWith('*')
    ? known.filter((code) => code.startsWith(word.slice(0, -1)))
    : known.filter((code) => code === word);
  if (named.length) return named;
  return unknownCode(word);
}

/** What to write instead of a word that is no code. */
export function unknownCode(word: string): string {
  const near = nearestOf(word.replace(/\*$/, ''), known, 3).map((code) => `'${code}'`);
  const meant = near.length ? `did you mean ${near.join(' or ')}? ` : '';
  return `there is no code '${word}'; ${meant}'raceline explain --list' names them all`;
}

/** The codes of a list with what is wrong in it; the codes that are there hold. */
export function codesOf(words: readonly string[]): { readonly codes: ReadonlySet<string>; readonly faults: string[] } {
  const codes = new Set<string>();
  const faults: string[] = [];
  for (const word of words) {
    const named = codesNamed(word);
    if (typeof named === 'string') faults.push(named);
    else for (const code of named) codes.add(code);
  }
  return { codes, faults };
}
