/**
 * Decisions of one path. A test whose outcome is not known is decided once, under a key made of the identity of the
 * value and the operator, and kept; the plan of a path lists the keys that are decided against their default. Knows
 * nothing of what a test is about.
 */
import type { Node } from '../python/ast.ts';

export interface Decision {
  readonly key: string;
  /** The key of the one value that it was first made for. */
  readonly asked: string;
  readonly file: string;
  readonly test: Node;
  readonly fallback: boolean;
  readonly taken: boolean;
  /** Whether another path should try the other outcome. */
  readonly open: boolean;
  /** The test says the opposite of what was decided. */
  readonly negated: boolean;
  /** Made by the entry's own code, or by a function that itself speaks of streams: tried first. */
  readonly near: boolean;
  /** The entry's own parameter, whose default says no, or yes. */
  readonly flag?: string | undefined;
}

/** Who asks, and where. */
type Asked = Pick<Decision, 'file' | 'test' | 'open' | 'near' | 'negated' | 'flag'>;

export class Decisions {
  readonly #taken = new Map<string, boolean>();
  /** Keys that were met where no other path may turn them, and nowhere else yet. */
  readonly #closed = new Set<string>();
  readonly made: Decision[] = [];
  #asked: { readonly known: Set<string>; fresh: boolean } | undefined;

  constructor(readonly plan: ReadonlySet<string>) {}

  /** Whether a path with this plan would have decided the same, of all that was decided there. */
  agreeWith(others: Decisions): boolean {
    for (const key of this.plan) if (others.#taken.has(key) && !others.plan.has(key)) return false;
    for (const key of others.plan) if (others.#taken.has(key) && !this.plan.has(key)) return false;
    return true;
  }

  /** Has decided what the others have. */
  takeOver(from: Decisions): void {
    this.#taken.clear();
    for (const [key, taken] of from.#taken) this.#taken.set(key, taken);
    this.#closed.clear();
    for (const key of from.#closed) this.#closed.add(key);
    this.made.length = 0;
    for (const decision of from.made) this.made.push(decision);
  }

  known(key: string): boolean | undefined {
    const taken = this.#taken.get(key);
    if (taken !== undefined) this.#asked?.known.add(key);
    return taken;
  }

  /** Something is decided that has no key: what asked for it does not follow from decisions alone. */
  implied(): void {
    if (this.#asked) this.#asked.fresh = true;
  }

  /**
   * The decision that is why `ask` gave false: undefined where it is true, or where that follows from more than what the
   * program's own tests have decided before.
   */
  refusal(ask: () => boolean): Decision | undefined {
    const outer = this.#asked;
    const asked = { known: new Set<string>(), fresh: false };
    this.#asked = asked;
    try {
      if (ask() || asked.fresh) return undefined;
    } finally {
      this.#asked = outer;
    }
    const { known } = asked;
    const reasons = this.made.filter((decision) => known.has(decision.asked));
    const chosen = reasons.every(({ open, taken, fallback }) => open || taken !== fallback);
    return reasons.length === known.size && chosen ? reasons.at(-1) : undefined;
  }

  /** `turn`: the key under which a path goes the other way, where several values do so together. */
  decide(key: string, fallback: boolean, asked: Asked, turn: string = key): boolean {
    const { open } = asked;
    const before = this.#taken.get(key);
    if (before !== undefined) {
      this.#asked?.known.add(key);
      this.#reopen(key, before, asked);
      return before;
    }
    const turned = this.plan.has(key) || (open && this.plan.has(turn));
    if (turned) this.#asked?.known.add(key);
    else this.implied();
    const taken = turned ? !fallback : fallback;
    this.#taken.set(key, taken);
    if (!open) this.#closed.add(key);
    this.made.push({ ...asked, key: turn, asked: key, fallback, taken });
    return taken;
  }

  /**
   * What a constructor or a guard has decided may be just what the entry's own code branches on: another path then has
   * it the other way from the start.
   */
  #reopen(key: string, taken: boolean, asked: Asked): void {
    if (!asked.open || !asked.near || !this.#closed.delete(key)) return;
    const fallback = this.plan.has(key) ? !taken : taken;
    const first = this.made.findIndex((decision) => decision.key === key && !decision.open);
    if (first >= 0) this.made.splice(first, 1);
    this.made.push({ ...asked, key, asked: key, fallback, taken });
  }
}
