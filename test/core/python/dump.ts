/** Prints a syntax tree as a short S-expression, for tests. */
import type { Expression, Parameter, Statement } from '../../../core/python/ast.ts';

export function dump(node: Statement | Expression | undefined): string {
  if (!node) return '_';
  const all = (nodes: readonly (Statement | Expression | undefined)[]) => nodes.map(dump);
  const form = (...parts: string[]) => `(${parts.filter((part) => part !== '').join(' ')})`;
  const block = (body: readonly Statement[]) => `{${all(body).join('; ')}}`;
  const parameters = (list: readonly Parameter[]) => `[${list.map(parameter).join(' ')}]`;
  const keywords = (list: readonly { name?: string; value: Expression }[]) =>
    list.map((k) => (k.name === undefined ? `**${dump(k.value)}` : `${k.name}=${dump(k.value)}`));
  switch (node.kind) {
    case 'FunctionDef':
      return form(
        node.isAsync ? 'async def' : 'def',
        node.name,
        parameters(node.parameters),
        block(node.body),
        node.returns ? dump(node.returns) : '',
        ...node.decorators.map((d) => `@${dump(d)}`),
      );
    case 'ClassDef':
      return form(
        'class',
        node.name,
        ...all(node.bases),
        ...keywords(node.keywords),
        block(node.body),
        ...node.decorators.map((d) => `@${dump(d)}`),
      );
    case 'Return':
      return form('return', dump(node.value));
    case 'Delete':
      return form('del', ...all(node.targets));
    case 'Assign':
      return form('=', `[${all(node.targets).join(' ')}]`, dump(node.value));
    case 'AugAssign':
      return form(`${node.operator}=`, dump(node.target), dump(node.value));
    case 'AnnAssign':
      return form('annotated', dump(node.target), dump(node.annotation), dump(node.value));
    case 'For':
      return form(
        node.isAsync ? 'async for' : 'for',
        dump(node.target),
        dump(node.iterable),
        block(node.body),
        block(node.orelse),
      );
    case 'While':
      return form('while', dump(node.test), block(node.body), block(node.orelse));
    case 'If':
      return form('if', dump(node.test), block(node.body), block(node.orelse));
    case 'With':
      return form(
        node.isAsync ? 'async with' : 'with',
        ...node.items.map((item) => dump(item.context) + (item.target ? `>${dump(item.target)}` : '')),
        block(node.body),
      );
    case 'Raise':
      return form('raise', dump(node.exception), dump(node.cause));
    case 'Try':
      return form(
        'try',
        block(node.body),
        ...node.handlers.map((h) => form('except', dump(h.type), h.name ?? '_', block(h.body))),
        block(node.orelse),
        block(node.finalbody),
      );
    case 'Assert':
      return form('assert', dump(node.test), dump(node.message));
    case 'Import':
      return form('import', ...node.names.map((a) => (a.asname ? `${a.name}>${a.asname}` : a.name)));
    case 'ImportFrom':
      return `(from ${node.level} ${node.module} ${node.names
        .map((a) => (a.asname ? `${a.name}>${a.asname}` : a.name))
        .join(' ')})`;
    case 'Global':
    case 'Nonlocal':
      return form(node.kind.toLowerCase(), ...node.names);
    case 'ExpressionStatement':
      return dump(node.value);
    case 'Pass':
    case 'Break':
    case 'Continue':
      return node.kind.toLowerCase();
    case 'Match':
      return form(
        'match',
        dump(node.subject),
        ...node.cases.map((c) => `(case ${[...c.binds].sort().join(',')} ${dump(c.guard)} ${block(c.body)})`),
      );
    case 'Name':
      return node.id;
    case 'Constant':
      switch (node.type) {
        case 'str':
          return JSON.stringify(node.value);
        case 'bytes':
          return `b${JSON.stringify(node.value)}`;
        case 'complex':
          return `${node.value}j`;
        case 'none':
          return 'None';
        case 'ellipsis':
          return '...';
        default:
          return String(node.value);
      }
    case 'FString':
      return form('f', ...all(node.parts));
    case 'Tuple':
    case 'List':
    case 'Set':
      return form(node.kind.toLowerCase(), ...all(node.elements));
    case 'Dict':
      return form('dict', ...node.items.map((i) => (i.key ? `${dump(i.key)}:${dump(i.value)}` : `**${dump(i.value)}`)));
    case 'Attribute':
      return form('.', dump(node.value), node.name);
    case 'Subscript':
      return form('sub', dump(node.value), dump(node.index));
    case 'Slice':
      return form('slice', dump(node.lower), dump(node.upper), dump(node.step));
    case 'Call':
      return form('call', dump(node.callee), ...all(node.args), ...keywords(node.keywords));
    case 'Unary':
      return form(node.operator, dump(node.operand));
    case 'Binary':
      return form(node.operator, dump(node.left), dump(node.right));
    case 'Compare':
      return form(
        'compare',
        dump(node.left),
        ...node.operators.flatMap((operator, i) => [operator, dump(node.comparators[i])]),
      );
    case 'BoolOp':
      return form(node.operator, dump(node.left), dump(node.right));
    case 'Conditional':
      return form('if', dump(node.test), dump(node.body), dump(node.orelse));
    case 'Lambda':
      return form('lambda', parameters(node.parameters), dump(node.body));
    case 'Comprehension':
      return form(
        node.type,
        node.key ? `${dump(node.key)}:${dump(node.element)}` : dump(node.element),
        ...node.clauses.map((c) =>
          form(c.isAsync ? 'async for' : 'for', dump(c.target), dump(c.iterable), ...all(c.conditions)),
        ),
      );
    case 'Starred':
      return form('*', dump(node.value));
    case 'Await':
      return form('await', dump(node.value));
    case 'Yield':
      return form(node.isFrom ? 'yield from' : 'yield', dump(node.value));
    case 'NamedExpr':
      return form(':=', dump(node.target), dump(node.value));
    case 'Opaque':
      return node.parts.length ? form('?', ...all(node.parts)) : '?';
  }
}

function parameter(p: Parameter): string {
  const stars = { star: '*', 'double-star': '**' } as Partial<Record<Parameter['kind'], string>>;
  return [
    stars[p.kind] ?? '',
    p.name,
    p.kind === 'positional-only' ? '/' : '',
    p.default ? `=${dump(p.default)}` : '',
    p.annotation ? `:${dump(p.annotation)}` : '',
    p.kind === 'keyword-only' ? '!' : '',
  ].join('');
}
