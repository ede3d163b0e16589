/**
 * States in which entries begin, kept: what comes before the call of a method (the code of modules, the constructor of
 * its object, methods that fill it) is the same on all paths that do not decide any of it otherwise, and up to the
 * object also for all methods of a class. Knows nothing of what is prepared.
 */
import type { Node } from '../../python/ast.ts';
import type { Value } from '../values.ts';
import { copier, NotCopyable } from './copy.ts';
import { OutOfBudget } from './frame.ts';
import type { Machine } from './machine.ts';

interface State {
  /** Undefined where it cannot be copied. */
  readonly machine: Machine | undefined;
  readonly values: readonly Value[];
  /** The entry that it was prepared for. */
  readonly entry: Node;
  /** The steps were spent before it was there. */
  readonly isCut: boolean;
}

/** Paths that decide otherwise come to other states under the same key. */
const mostOfOne = 6;

export class PreparedStates {
  readonly #states = new Map<string, State[]>();
  readonly #most: number;
  readonly #least: number;

  /** Of so many keys, the latest ones; only what took so many steps since the machine was last kept, or went on from what was. */
  constructor(most: number, least: number) {
    this.#most = most;
    this.#least = least;
  }

  /**
   * What `prepare` gives, and the machine as it leaves it; from what was kept under the key, where the path can have come
   * to nothing else. `entry`: the node that the outermost frame stands at.
   */
  prepared(m: Machine, key: string, entry: Node, prepare: () => readonly Value[]): readonly Value[] {
    const states = this.#statesOf(key);
    const known = states.find(({ machine }) => !machine || m.canResume(machine));
    if (known?.machine) {
      const copy = copier();
      const values = known.values.map(copy);
      m.resume(known.machine, copy);
      m.begin(entry, known.entry);
      if (known.isCut) throw new OutOfBudget();
      return values;
    }
    const isWanted = !known && states.length < mostOfOne;
    try {
      const values = prepare();
      if (isWanted && m.stepsSinceKept >= this.#least) states.push(stateOf(m, values, entry, false));
      return values;
    } catch (error) {
      if (isWanted && error instanceof OutOfBudget) states.push(stateOf(m, [], entry, true));
      throw error;
    }
  }

  #statesOf(key: string): State[] {
    let states = this.#states.get(key);
    if (!states) {
      states = [];
      this.#states.set(key, states);
      if (this.#states.size > this.#most) this.#states.delete(this.#states.keys().next().value!);
    }
    return states;
  }
}

function stateOf(m: Machine, values: readonly Value[], entry: Node, isCut: boolean): State {
  const copy = copier();
  try {
    return { machine: m.shelved(isCut, copy), values: values.map(copy), entry, isCut };
  } catch (error) {
    if (!(error instanceof NotCopyable)) throw error;
    return { machine: undefined, values: [], entry, isCut };
  }
}
