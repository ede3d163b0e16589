/**
 * What comparisons with numbers that a path has decided say about others of the same value: `n > 1` was true, so `n >= 1`
 * is. Without it a path would take turns that no run can take.
 */
import { Unknown, type Value } from '../values.ts';
import type { Copy } from './copy.ts';

export interface Comparison {
  readonly of: Unknown;
  readonly operator: string;
  readonly than: number;
}

/** Numbers between `low` and `high`; an open end is no part of it. */
interface Range {
  low: number;
  lowOpen: boolean;
  high: number;
  highOpen: boolean;
}

/** Turns that a loop takes beyond its elements: as deep as pipelines get. */
const mostSettled = 8;

const mirrored: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=', '==': '==' };

export function comparisonOf(operator: string, left: Value, right: Value): Comparison | undefined {
  if (!(operator in mirrored)) return undefined;
  if (left instanceof Unknown && typeof right === 'number') return { of: left, operator, than: right };
  if (right instanceof Unknown && typeof left === 'number')
    return { of: right, operator: mirrored[operator]!, than: left };
  return undefined;
}

export class Ranges {
  readonly #ranges = new Map<Unknown, Range>();
  /** Unknown numbers that are another one and a known number. */
  readonly #sums = new Map<Unknown, { readonly of: Unknown; readonly plus: number }>();
  /** What the turns that a loop takes make of a number. */
  readonly #settled = new Map<Unknown, number>();

  takeHidden(from: Ranges, copy: Copy): void {
    for (const [value, range] of from.#ranges) this.#ranges.set(copy(value), { ...range });
    for (const [value, { of, plus }] of from.#sums) this.#sums.set(copy(value), { of: copy(of), plus });
    for (const [value, turns] of from.#settled) this.#settled.set(copy(value), turns);
  }

  sum(result: Unknown, of: Unknown, plus: number): void {
    const inner = this.#sums.get(of);
    this.#sums.set(result, inner ? { of: inner.of, plus: inner.plus + plus } : { of, plus });
  }

  /** `range(n + 2)` takes two turns more than there are elements: from then on `n` is that number of them. */
  settleBySum(value: Value, elements: number): void {
    const sum = value instanceof Unknown ? this.#sums.get(value) : undefined;
    if (sum && sum.plus >= 1 && sum.plus <= mostSettled) this.settle(sum.of, elements);
  }

  /** The turns that a loop takes say what the number is from then on: `i < n - 1` is so in all but the last. */
  settle(value: Value, turns: number): void {
    if (!(value instanceof Unknown) || this.#sums.has(value) || this.#settled.has(value)) return;
    if (this.implied({ of: value, operator: '==', than: turns }) !== false) this.#settled.set(value, turns);
  }

  /** The number that the value is by now, or the value. */
  settled(value: Value): Value {
    if (this.#settled.size === 0 || !(value instanceof Unknown)) return value;
    const own = this.#settled.get(value);
    if (own !== undefined) return own;
    const sum = this.#sums.get(value);
    const base = sum && this.#settled.get(sum.of);
    return base === undefined ? value : base + sum!.plus;
  }

  #rangeOf(value: Unknown): Range {
    let range = this.#ranges.get(value);
    if (!range) {
      // A group has a member, at least the one that asks.
      const low = /(?:^|[._])(?:world_size|group_size|size|get_world_size)$/.test(value.name) ? 1 : -Infinity;
      range = { low, lowOpen: false, high: Infinity, highOpen: false };
      this.#ranges.set(value, range);
    }
    return range;
  }

  /** Whether the comparison holds, as far as that follows. */
  implied({ of, operator, than }: Comparison): boolean | undefined {
    const { low, lowOpen, high, highOpen } = this.#rangeOf(of);
    const above = low > than || (low === than && lowOpen);
    const below = high < than || (high === than && highOpen);
    switch (operator) {
      case '>':
        return above ? true : high <= than ? false : undefined;
      case '>=':
        return low >= than ? true : below ? false : undefined;
      case '<':
        return below ? true : low >= than ? false : undefined;
      case '<=':
        return high <= than ? true : above ? false : undefined;
      case '==':
        return above || below ? false : low === than && high === than ? true : undefined;
    }
    return undefined;
  }

  /** What a value is made of says this much of it. */
  bound(value: Unknown, operator: '<=' | '>=', than: number): void {
    this.decided({ of: value, operator, than }, true);
  }

  /** The least that the value can be, if that is known. */
  least(value: Unknown): number | undefined {
    const low = this.#ranges.get(value)?.low;
    return low === -Infinity ? undefined : low;
  }

  /** The most that it can be. */
  most(value: Unknown): number | undefined {
    const high = this.#ranges.get(value)?.high;
    return high === Infinity ? undefined : high;
  }

  decided({ of, operator, than }: Comparison, holds: boolean): void {
    const range = this.#rangeOf(of);
    const atLeast = (open: boolean): void => {
      if (than < range.low) return;
      range.lowOpen = open || (than === range.low && range.lowOpen);
      range.low = than;
    };
    const atMost = (open: boolean): void => {
      if (than > range.high) return;
      range.highOpen = open || (than === range.high && range.highOpen);
      range.high = than;
    };
    if (operator === '==') {
      if (!holds) return;
      atLeast(false);
      atMost(false);
      return;
    }
    // `not x > 1` is `x <= 1`.
    const asked = holds ? operator : ({ '>': '<=', '>=': '<', '<': '>=', '<=': '>' } as const)[operator as '<'];
    if (asked.startsWith('>')) atLeast(asked === '>');
    else atMost(asked === '<');
  }
}
