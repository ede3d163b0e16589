/** Command lines: flags with and without a value, the rest, and what follows `--`. */
import { nearest } from '../core/settings/nearest.ts';

export class UsageError extends Error {}

export interface Arguments {
  readonly values: ReadonlyMap<string, string>;
  readonly flags: ReadonlySet<string>;
  readonly rest: readonly string[];
  /** What follows `--`; undefined if there is none. */
  readonly after: readonly string[] | undefined;
}

/**
 * `valued` options take the next word (or `--name=value`); `flags` take none; the words of `lists` given twice are joined by
 * a comma. Any other `-…` is an error that names it.
 */
export function parseArguments(
  args: readonly string[],
  valued: readonly string[],
  flags: readonly string[] = [],
  lists: readonly string[] = [],
): Arguments {
  const values = new Map<string, string>();
  const seen = new Set<string>();
  const rest: string[] = [];
  const cut = args.indexOf('--');
  const own = cut < 0 ? args : args.slice(0, cut);
  for (let i = 0; i < own.length; i++) {
    const word = own[i]!;
    if (!word.startsWith('-') || word === '-') {
      rest.push(word);
      continue;
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    const name = equals < 0 ? word : word.slice(0, equals);
    if (valued.includes(name) || lists.includes(name)) {
      const value = equals < 0 ? own[++i] : word.slice(equals + 1);
      if (value === undefined) throw new UsageError(`${name} needs a value`);
      const before = lists.includes(name) ? values.get(name) : undefined;
      values.set(name, before === undefined ? value : `${before},${value}`);
    } else if (flags.includes(name) && equals < 0) seen.add(name);
    else {
      const near = nearest(name, [...valued, ...lists, ...flags]);
      throw new UsageError(`unknown option '${word}'${near ? `; did you mean '${near}'?` : ''}`);
    }
  }
  return { values, flags: seen, rest, after: cut < 0 ? undefined : args.slice(cut + 1) };
}

/** The value of an option that allows only some words. */
export function choice<T extends string>(args: Arguments, name: string, allowed: readonly T[], fallback: T): T {
  const value = args.values.get(name);
  if (value === undefined) return fallback;
  if (!(allowed as readonly string[]).includes(value))
    throw new UsageError(`${name} must be one of ${allowed.join(', ')}, not '${value}'`);
  return value as T;
}
