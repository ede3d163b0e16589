/** One execution of one function body as long as it may go on: the names that it gives to streams, events and tensors. */
import type { FunctionDef, Module } from '../../python/ast.ts';
import type { Activation, Binding } from '../lowered.ts';
import { EventV, StreamV, TensorV, Unknown, type Value } from '../values.ts';

type OpenBinding = { -readonly [K in keyof Binding]: Binding[K] };

/** Most bind nothing, and there are many: what holds bindings is made late. */
export class OpenActivation {
  #bindings: OpenBinding[] | undefined;
  /** Of the names that stand now, which binding. */
  #standing: Map<string, number> | undefined;

  constructor(
    readonly module: Module,
    readonly fn: FunctionDef | undefined,
    readonly caller: number,
    /** Steps before it. */
    readonly start: number,
    readonly torchName: string | undefined,
  ) {}

  copyFields(from: OpenActivation): void {
    const own = this as { -readonly [K in keyof OpenActivation]: OpenActivation[K] };
    own.module = from.module;
    own.fn = from.fn;
    own.caller = from.caller;
    own.start = from.start;
    own.torchName = from.torchName;
    if (!from.#bindings) return;
    this.#bindings = from.#bindings.map(({ expression, target, from, until }) =>
      bindingOf(expression, target, from, until),
    );
    this.#standing = new Map(from.#standing);
  }

  /** Whether the name has a new meaning from step `at` on. `sinceStart`: if it had none before, since the beginning. */
  bind(expression: string, value: Value | undefined, at: number, sinceStart: boolean): boolean {
    const index = this.#standing?.get(expression);
    const before = index === undefined ? undefined : this.#bindings![index];
    const target = targetOf(value);
    if (before && target && sameTarget(before.target, target)) return false;
    if (before) {
      before.until = at;
      this.#standing!.delete(expression);
    }
    if (!target) return false;
    this.#bindings ??= [];
    this.#standing ??= new Map();
    this.#standing.set(expression, this.#bindings.length);
    this.#bindings.push(bindingOf(expression, target, sinceStart && !before ? this.start : at));
    return true;
  }

  /** As it is told of the path. `placed`: where a step ends up. */
  told(placed: (index: number) => number): Activation {
    const bindings =
      this.#bindings?.map(({ expression, target, from, until }) =>
        bindingOf(expression, target, from === 0 ? 0 : placed(from), until === undefined ? undefined : placed(until)),
      ) ?? none;
    const told: Activation = { module: this.module, caller: this.caller, bindings };
    return {
      ...told,
      ...(this.fn ? { function: this.fn } : {}),
      ...(this.torchName === undefined ? {} : { torchName: this.torchName }),
    };
  }
}

const none: readonly Binding[] = [];

function bindingOf(expression: string, target: Binding['target'], from: number, until?: number): OpenBinding {
  return until === undefined ? { expression, target, from } : { expression, target, from, until };
}

function targetOf(value: Value | undefined): Binding['target'] | undefined {
  if (value instanceof StreamV) return { kind: 'stream', stream: value.stream };
  if (value instanceof EventV) return { kind: 'event', event: value.event };
  if (value instanceof TensorV) return { kind: 'tensor', block: value.storage.block };
  if (value instanceof Unknown) return targetOf(value.stream ?? value.event ?? value.tensor ?? value.parameters);
  return undefined;
}

function sameTarget(a: Binding['target'], b: Binding['target']): boolean {
  if (a.kind === 'stream') return b.kind === 'stream' && a.stream === b.stream;
  if (a.kind === 'event') return b.kind === 'event' && a.event === b.event;
  return b.kind === 'tensor' && a.block === b.block;
}
