// The mutants of a text: each has one statement that orders streams replaced by `pass`.
import { LineMap } from '../../core/base/text.ts';
import type { ExpressionStatement } from '../../core/python/ast.ts';
import type { PythonParser } from '../../core/python/parse.ts';

export type Kind = 'waits' | 'record_stream' | 'synchronize';

export interface Mutant {
  /** One-based, of the unchanged text. */
  readonly line: number;
  readonly statement: string;
  readonly kind: Kind;
  readonly text: string;
}

const kinds: ReadonlyMap<string, Kind> = new Map([
  ['wait_stream', 'waits'],
  ['wait_event', 'waits'],
  ['wait', 'waits'],
  ['record_stream', 'record_stream'],
  ['synchronize', 'synchronize'],
]);

export function mutantsOf(parser: PythonParser, file: string, text: string): Mutant[] {
  const module = parser.parse(file, text);
  const lines = new LineMap(text);
  const mutants: Mutant[] = [];
  for (const statement of statementsIn(module)) {
    const call = statement.value;
    if (call.kind !== 'Call' || call.callee.kind !== 'Attribute') continue;
    const kind = kinds.get(call.callee.name);
    if (!kind) continue;
    mutants.push({
      line: lines.position(statement.start).line + 1,
      statement: text.slice(statement.start, statement.end).replace(/\s+/g, ' '),
      kind,
      // The lines stay, so that findings of both texts can be compared by line.
      text: `${text.slice(0, statement.start)}pass${text.slice(statement.start, statement.end).replace(/[^\n]/g, '')}${text.slice(statement.end)}`,
    });
  }
  return mutants;
}

function* statementsIn(node: unknown): Generator<ExpressionStatement> {
  if (Array.isArray(node)) for (const one of node) yield* statementsIn(one);
  else if (typeof node === 'object' && node !== null) {
    if ('kind' in node && node.kind === 'ExpressionStatement') yield node as ExpressionStatement;
    else for (const part of Object.values(node)) yield* statementsIn(part);
  }
}
