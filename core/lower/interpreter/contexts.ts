/** `with`: entering and leaving context managers of every kind. */
import type { Node } from '../../python/ast.ts';
import { BoundMethodV, ContextV, FunctionV, InstanceV, NativeV, StreamV, Unknown, type Value } from '../values.ts';
import { call } from './calls.ts';
import { lookup } from './classes.ts';
import { withoutState } from './copy.ts';
import { type GeneratorV, Raised } from './frame.ts';
import { resumeGenerator } from './functions.ts';
import type { Machine } from './machine.ts';
import { selectStream } from './streams.ts';
import { enterLock } from './threads.ts';
import { resolved } from './truth.ts';

export interface Entered {
  readonly value: Value;
  readonly exit: () => void;
  readonly suppresses: boolean;
  readonly keep?: Value;
}

export function enterContext(m: Machine, manager: Value, node: Node): Entered {
  const value = resolved(m, manager);
  if (value instanceof ContextV) {
    const result = value.enter(value);
    return { value: result, exit: () => value.exit(value), suppresses: value.suppresses };
  }
  if (value instanceof StreamV || (value instanceof Unknown && value.stream)) {
    const stream = value instanceof StreamV ? value : value.stream!;
    return { value, exit: selectStream(m, stream), suppresses: false };
  }
  if (value instanceof NativeV && m.exitStacks.has(value))
    return { value, exit: () => leaveStack(m, value), suppresses: false, keep: value };
  const leave = enterLock(m, value);
  if (leave) return { value: true, exit: leave, suppresses: false, keep: value };
  if (value instanceof InstanceV) {
    const enter = lookup(value.cls, '__enter__');
    const exit = lookup(value.cls, '__exit__');
    const result = enter instanceof FunctionV ? call(m, new BoundMethodV(value, enter), [], new Map(), node) : value;
    return {
      value: result,
      suppresses: false,
      keep: value,
      exit: () => {
        if (exit instanceof FunctionV) call(m, new BoundMethodV(value, exit), [null, null, null], new Map(), node);
      },
    };
  }
  if (value instanceof Unknown) {
    const currents = new Map([...m.currents].map(([device, selection]) => [device, { ...selection }]));
    return {
      value: value.attributes.get('…entered') ?? value,
      suppresses: false,
      exit: () => {
        m.currents = currents;
      },
    };
  }
  return { value, exit: () => {}, suppresses: false };
}

/** What an `ExitStack` has entered is left, the last one first. */
export function leaveStack(m: Machine, stack: NativeV): void {
  const entered = m.exitStacks.get(stack) ?? [];
  while (entered.length > 0) entered.pop()!();
  stack.parts = [];
}

/** What a function under `@contextmanager` gives: the generator runs to its yield, and on after the body. */
export function generatorContext(m: Machine, generator: GeneratorV): ContextV {
  return m.temp(
    new ContextV(() => resumeGenerator(m, generator, null) ?? null, () => {
      try {
        resumeGenerator(m, generator, null);
      } catch (error) {
        if (!(error instanceof Raised)) throw error;
      }
    }, [generator]),
  );
}

const enterPlain = withoutState(({ source }: ContextV): Value => source[0]!);
const leavePlain = withoutState((): void => {});

/** A context manager without effect. */
export function plainContext(m: Machine, value: Value = null): ContextV {
  return m.temp(new ContextV(enterPlain, leavePlain, [value]));
}
