/**
 * Streams that may be None: `with torch.cuda.stream(None)` does nothing, `None.wait_stream(…)` raises. Where the source says
 * of an expression that it may be None, a call on it stands under a test.
 */
import type { Expression, FunctionDef, Statement } from '../../python/ast.ts';
import { indentUnit } from './edits.ts';
import type { Spot } from './spot.ts';

/** The lines as they are, or below `if stream is not None:` where that is not sure at the place. */
export function guarded(spot: Spot, stream: string, lines: readonly string[]): string[] {
  if (!mayBeNone(spot, stream)) return [...lines];
  const unit = indentUnit(spot.module.text);
  return [`if ${stream} is not None:`, ...lines.map((line) => unit + line)];
}

/** Whether the function tests the expression for None, or has it as a parameter that may be, and no test is above the place. */
export function mayBeNone(spot: Spot, stream: string): boolean {
  const { root, links, module } = spot;
  if (root.kind !== 'FunctionDef' || !/^[\w.]+$/.test(stream)) return false;
  const code = module.text.slice(root.start, root.end);
  if (!isTested(code, stream) && !isOptional(root, stream, module.text)) return false;
  const text = ({ start, end }: Expression): string => module.text.slice(start, end);
  return !links.some(({ block, index, parent }) => {
    if (parent?.kind === 'If') {
      const positive = parent.body === block;
      if (saysOf(text(parent.test), stream) === (positive ? 'some' : 'none')) return true;
    }
    return block.slice(0, index).some((statement) => settles(statement, stream, text));
  });
}

function isTested(code: string, stream: string): boolean {
  const name = escaped(stream);
  return new RegExp(
    `(?<![\\w.])${name} is (?:not )?None\\b|\\b(?:if|not|and|or) ${name}\\s*(?::|\\)|$|and\\b|or\\b|else\\b)`,
    'm',
  ).test(code);
}

function isOptional(root: FunctionDef, stream: string, text: string): boolean {
  const parameter = root.parameters.find(({ name }) => name === stream);
  if (!parameter) return false;
  const { default: given, annotation } = parameter;
  if (given?.kind === 'Constant' && given.value === null) return true;
  return annotation !== undefined && /\bOptional\b|\bNone\b/.test(text.slice(annotation.start, annotation.end));
}

/** What a test that holds tells of the expression. */
function saysOf(test: string, stream: string): 'some' | 'none' | undefined {
  const name = escaped(stream);
  if (new RegExp(`^\\(?(?:.*\\band )?${name}(?: is not None)?(?:\\)|$| and\\b)`).test(test)) return 'some';
  if (new RegExp(`^(?:not ${name}|${name} is None)$`).test(test)) return 'none';
  return undefined;
}

/** Behind the statement the expression is not None: it was made, or the function was left, where it was. */
function settles(statement: Statement, stream: string, text: (node: Expression) => string): boolean {
  if (statement.kind === 'Assert') return saysOf(text(statement.test), stream) === 'some';
  if (statement.kind !== 'If' || saysOf(text(statement.test), stream) !== 'none') return false;
  const last = statement.body.at(-1);
  if (last?.kind === 'Return' || last?.kind === 'Raise' || last?.kind === 'Continue' || last?.kind === 'Break')
    return true;
  return statement.body.some(
    (inner) => inner.kind === 'Assign' && inner.targets.some((target) => text(target) === stream),
  );
}

function escaped(stream: string): string {
  return stream.replaceAll('.', '\\.');
}
