/**
 * Copies the state of a path as a whole: two names for one object are two names for one copy. Syntax is shared. What
 * keeps its state in closures (a generator that runs, an iterator) cannot be copied.
 */
import { ProgramBuilder } from '../builder.ts';
import { DeviceClass, identitiesSoFar, ModuleV, Obj, resumeIdentities, Scope } from '../values.ts';
import { OpenActivation } from './activation.ts';
import { Ranges } from './ranges.ts';

export type Copy = <T>(value: T) => T;

/** An object part of whose state nobody else can see. */
export interface Hiding {
  takeHidden(from: this, copy: Copy): void;
}

/** An object of a class of which there are many: it names its fields, all of them, which is many times faster. */
export interface CopyingItself {
  copyFields(from: this, copy: Copy): void;
}

export class NotCopyable {}

/** Functions that keep nothing: any copy may share them. */
const stateless = new WeakSet<object>();

export function withoutState<F extends object>(fn: F): F {
  stateless.add(fn);
  return fn;
}

/**
 * One copy of everything that is reached through the function that it gives. Not by recursion: a chain of tensors, each
 * made of the one before, may be as long as it likes. What `takeHidden` or `copyFields` gets is therefore filled after it.
 */
export function copier(): Copy {
  const copies = new Map<object, object>();
  const unfilled: object[] = [];
  let isFilling = false;
  const copyOf = (value: object): object => {
    let made = copies.get(value);
    if (!made) {
      made = emptyCopy(value);
      copies.set(value, made);
      if (made !== value) unfilled.push(value);
    }
    return made;
  };
  const part = (value: unknown): unknown => (isHeld(value) ? copyOf(value) : value);
  const copy: Copy = (value) => {
    if (!isHeld(value)) return value;
    const made = copyOf(value);
    if (!isFilling) {
      isFilling = true;
      for (let next = unfilled.pop(); next; next = unfilled.pop()) fill(copies.get(next)!, next);
      isFilling = false;
    }
    return made as typeof value;
  };
  const fill = (made: object, from: object): void => {
    if (Array.isArray(from)) for (const item of from) (made as unknown[]).push(part(item));
    else if (from instanceof Map)
      for (const [key, item] of from) (made as Map<unknown, unknown>).set(part(key), part(item));
    else if (from instanceof Set) for (const item of from) (made as Set<unknown>).add(part(item));
    else if ((made as Partial<CopyingItself>).copyFields)
      (made as CopyingItself).copyFields(from as CopyingItself, copy);
    else {
      const shared = from instanceof ModuleV ? 'binders' : undefined;
      const [target, source] = [made, from] as [Record<string, unknown>, Record<string, unknown>];
      for (const key in source) target[key] = key === shared ? source[key] : part(source[key]);
      (made as Partial<Hiding>).takeHidden?.(from as Hiding, copy);
    }
  };
  return copy;
}

/** What is shared, itself. */
function emptyCopy(value: object): object {
  if (value instanceof Obj) return sameKind(value);
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (hasState(value)) return sameKind(value);
  if (stateless.has(value) || isSyntax(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new NotCopyable();
  return {};
}

function isHeld(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Made as all of its kind are, so that the engine takes them for the same kind of object; no new one by its identity. */
function sameKind(value: object): object {
  const identities = identitiesSoFar();
  const made = new (value.constructor as new () => object)();
  resumeIdentities(identities);
  return made;
}

function hasState(value: object): boolean {
  return (
    value instanceof OpenActivation ||
    value instanceof Scope ||
    value instanceof DeviceClass ||
    value instanceof Ranges ||
    value instanceof ProgramBuilder
  );
}

/** A piece of a text, which nobody changes: a node of the syntax, a module, a place. */
function isSyntax(value: object): boolean {
  const { start, end } = value as { start?: unknown; end?: unknown };
  return typeof start === 'number' && typeof end === 'number';
}
