/** One running (or suspended) execution of a function body or of module code, and generators, which keep theirs. */
import type { ExceptHandler, Node, Try } from '../../python/ast.ts';
import { namesUsed } from '../names.ts';
import { type FunctionV, type ModuleV, Obj, type Scope, type Value } from '../values.ts';

export interface Frame {
  readonly activation: number;
  readonly module: ModuleV;
  readonly fn: FunctionV | undefined;
  scope: Scope;
  /** What runs now: the innermost call or statement. */
  node: Node;
  /** Results that the running statement holds. */
  temps: Obj[];
  /** Iterators, context managers and so on, for as long as a compound statement runs. */
  readonly held: Value[];
  /** Former values of names, attributes and items that the running statement replaced. */
  dropped: Obj[];
  returned: Value;
  /** The `return` that ran: leaving its `with` blocks moves `node` on. */
  returnedAt?: Node;
  /** Enclosing `try` statements whose body runs, from the outside inwards. */
  readonly tries: Try[];
  /** Results of `yield` expressions inside the running statement. */
  yielded: Map<Node, Value> | undefined;
  readonly firstArgument: Value | undefined;
  /** Stands for the entry's unknown caller: no place in the source. */
  hidden: boolean;
  /** The expression in the middle of `fn` that runs here by itself, each time that an item of it is asked for. */
  inside: Node | undefined;
}

export function visitFrame(frame: Frame, visit: (value: Value | undefined) => void): void {
  for (let scope: Scope | undefined = frame.scope; scope; scope = scope.parent) {
    for (const value of scope.vars.values()) visit(value);
    if (scope.kind === 'function' || scope.kind === 'module') break;
  }
  for (const value of frame.temps) visit(value);
  for (const value of frame.held) visit(value);
  for (const value of frame.dropped) visit(value);
  visit(frame.returned);
  visit(frame.fn);
}

export class GeneratorV extends Obj {
  readonly kind = 'generator';
  done = false;
  running = false;
  returned: Value = null;
  constructor(
    readonly frame: Frame,
    readonly body: Generator<Value, void, Value>,
  ) {
    super();
  }
  override children(visit: (value: Value | undefined) => void): void {
    if (this.done) return;
    const { inside, scope, temps, held } = this.frame;
    if (!inside) {
      visitFrame(this.frame, visit);
      return;
    }
    for (const value of [...scope.vars.values(), ...temps, ...held]) visit(value);
    // Of the function around it, it keeps what it names, no more.
    for (let outer = scope.parent; outer && outer.kind !== 'module'; outer = outer.parent)
      for (const name of namesUsed(inside)) visit(outer.vars.get(name));
  }
}

/** A Python exception on its way up. */
export class Raised {
  constructor(
    readonly name: string,
    readonly value: Value,
  ) {}
}

export function catches(handler: ExceptHandler, name: string): boolean {
  if (!handler.type) return true;
  const names = handler.type.kind === 'Tuple' ? handler.type.elements : [handler.type];
  return names.some((type) => {
    const text = type.kind === 'Name' ? type.id : type.kind === 'Attribute' ? type.name : '';
    return text === name || text === 'Exception' || text === 'BaseException';
  });
}

/** Whether one of the frames would catch such an exception. */
export function isCaught(frames: readonly Frame[], name: string): boolean {
  return frames.some(({ tries }) => tries.some(({ handlers }) => handlers.some((handler) => catches(handler, name))));
}

/** The entry's budget of steps is spent. */
export class OutOfBudget {}
