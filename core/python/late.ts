/**
 * Puts functions whose bodies are read when they are first asked for in the place of those that an outline has. Such a
 * function has the same enumerable properties as any other.
 */
import type { FunctionDef, Module, Node, Statement } from './ast.ts';
import type { Body } from './outline.ts';

export function withLateBodies(
  outline: Module,
  text: string,
  bodies: readonly Body[],
  read: (body: Body) => FunctionDef | undefined,
  errors: () => readonly Node[],
): Module {
  const byFirst = new Map(bodies.map((body) => [body.first, body]));
  let known: readonly Node[] | undefined;
  let broken = false;
  const watched = (body: Body): FunctionDef | undefined => {
    const found = read(body);
    broken ||= found === undefined || found.broken;
    return found;
  };
  return {
    ...outline,
    text,
    body: outline.body.map((statement) => late(statement, byFirst, watched)),
    brokenSoFar: () => broken,
    get errors() {
      known ??= errors();
      return known;
    },
  };
}

function late(
  statement: Statement,
  bodies: ReadonlyMap<number, Body>,
  read: (body: Body) => FunctionDef | undefined,
): Statement {
  // Most hold none; a chain of thousands of `elif` is not walked for nothing.
  if (!holdsSome(statement, bodies)) return statement;
  const all = (statements: readonly Statement[]) => statements.map((inner) => late(inner, bodies, read));
  switch (statement.kind) {
    case 'FunctionDef': {
      const body = statement.body.length === 1 ? bodies.get(statement.body[0]!.start) : undefined;
      return body ? lateFunction(statement, body.end, () => read(body)) : statement;
    }
    case 'ClassDef':
    case 'With': {
      const body = all(statement.body);
      return { ...statement, body, end: endOf(statement, body) };
    }
    case 'If':
    case 'For':
    case 'While': {
      const body = all(statement.body);
      const orelse = all(statement.orelse);
      return { ...statement, body, orelse, end: endOf(statement, body, orelse) };
    }
    case 'Try': {
      const body = all(statement.body);
      const handlers = statement.handlers.map((handler) => {
        const handled = all(handler.body);
        return { ...handler, body: handled, end: endOf(handler, handled) };
      });
      const orelse = all(statement.orelse);
      const finalbody = all(statement.finalbody);
      return {
        ...statement,
        body,
        handlers,
        orelse,
        finalbody,
        end: endOf(statement, body, handlers, orelse, finalbody),
      };
    }
    case 'Match': {
      const cases = statement.cases.map((one) => {
        const body = all(one.body);
        return { ...one, body, end: endOf(one, body) };
      });
      return { ...statement, cases, end: endOf(statement, cases) };
    }
    default:
      return statement;
  }
}

function holdsSome({ start, end }: Node, bodies: ReadonlyMap<number, Body>): boolean {
  for (const first of bodies.keys()) if (first >= start) return first <= end;
  return false;
}

/** In the outline a block ends where the `0` of its last function is. */
function endOf(node: Node, ...parts: readonly (readonly Node[])[]): number {
  return Math.max(node.end, ...parts.map((part) => part.at(-1)?.end ?? 0));
}

function lateFunction(outline: FunctionDef, end: number, read: () => FunctionDef | undefined): FunctionDef {
  let found: FunctionDef | undefined;
  // A function that cannot be read is one that does nothing, and is not entered.
  const whole = (): FunctionDef => {
    found ??= read() ?? { ...outline, body: [], broken: true };
    return found;
  };
  return {
    kind: 'FunctionDef',
    name: outline.name,
    nameNode: outline.nameNode,
    parameters: outline.parameters,
    get body() {
      return whole().body;
    },
    decorators: outline.decorators,
    returns: outline.returns,
    isAsync: outline.isAsync,
    get isGenerator() {
      return whole().isGenerator;
    },
    get broken() {
      return whole().broken;
    },
    start: outline.start,
    end,
  };
}
