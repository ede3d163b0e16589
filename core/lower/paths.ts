/**
 * Decisions of one path. A test whose outcome is not known is decided once, under a key made of the identity of the
 * value and the operator, and kept; the plan of a path lists the keys that are decided against their default. Knows
 * nothing of what a test is about.
 */
import type { Node } from '../python/ast.ts';

export interface Decision {
  readonly key: string;
  readonly file: string;
  readonly test: Node;
  readonly fallback: boolean;
  readonly taken: boolean;
  /** Whether another path should try the other outcome. */
  readonly open: boolean;
  /** Made by the entry's own code, or by a function that itself speaks of streams: tried first. */
  readonly near: boolean;
}

export class Decisions {
  readonly #plan: ReadonlySet<string>;
  readonly #taken = new Map<string, boolean>();
  readonly made: Decision[] = [];

  constructor(plan: ReadonlySet<string>) {
    this.#plan = plan;
  }

  known(key: string): boolean | undefined {
    return this.#taken.get(key);
  }

  /** `turn`: the key under which a path goes the other way, where several values do so together. */
  decide(
    key: string,
    fallback: boolean,
    file: string,
    test: Node,
    open = true,
    near = true,
    turn: string = key,
  ): boolean {
    const before = this.#taken.get(key);
    if (before !== undefined) return before;
    const taken = open && this.#plan.has(turn) ? !fallback : fallback;
    this.#taken.set(key, taken);
    this.made.push({ key: turn, file, test, fallback, taken, open, near });
    return taken;
  }
}
