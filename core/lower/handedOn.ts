/**
 * What code does with an object that it gets by calling a name: it gives it to its own caller, or to the constructor of
 * another object, which holds it from then on. Pure syntax, in the order of the source: which branch is taken is not asked.
 */
import type { Call, Expression, Node, Statement } from '../python/ast.ts';
import { namesClass, walk } from './names.ts';

/** The object itself, another one that was made with it, or what it is called to get it. */
type Carried = 'object' | 'holder' | 'maker';

export interface HandedOn {
  /** What its caller gets. */
  readonly gives: 'object' | 'holder' | undefined;
  /** Classes of other objects that are made with it. */
  readonly into: ReadonlySet<string>;
}

/** `calledFor`: what a call of the name gives. */
export function handedOn(code: readonly Node[], name: string, calledFor: 'object' | 'holder'): HandedOn {
  const carried = new Map<string, Carried>();
  let gives: HandedOn['gives'];
  const into = new Set<string>();

  const carries = (node: Expression | undefined): Carried | undefined => {
    switch (node?.kind) {
      case 'Name':
        return node.id === name ? 'maker' : carried.get(node.id);
      case 'Attribute':
        return node.name === name ? 'maker' : isSelf(node.value) ? carried.get(`self.${node.name}`) : undefined;
      case 'Call':
        return givenBy(node);
      case 'Tuple':
      case 'List':
        return first(node.elements);
      case 'Conditional':
        return first([node.body, node.orelse]);
      case 'BoolOp':
        return first([node.left, node.right]);
      case 'Starred':
      case 'Await':
      case 'NamedExpr':
        return carries(node.value);
      default:
        return undefined;
    }
  };
  const first = (nodes: readonly Expression[]): Carried | undefined => {
    for (const node of nodes) {
      const found = carries(node);
      if (found) return found;
    }
    return undefined;
  };
  const givenBy = ({ callee, args, keywords }: Call): Carried | undefined => {
    if (carries(callee) === 'maker') return calledFor;
    const given = first([...args, ...keywords.map(({ value }) => value)]);
    if (given === undefined || given === 'maker') return undefined;
    const called = callee.kind === 'Name' ? callee.id : callee.kind === 'Attribute' ? callee.name : '';
    if (!namesClass.test(called)) return wraps.test(called) ? given : undefined;
    into.add(called);
    return 'holder';
  };

  for (const part of code)
    walk(part, (node) => {
      const statement = node as Expression | StatementOfValues;
      switch (statement.kind) {
        case 'Assign':
        case 'AnnAssign': {
          const value = carries(statement.value);
          if (value)
            for (const target of statement.kind === 'Assign' ? statement.targets : [statement.target])
              for (const held of namesIn(target)) carried.set(held, value);
          break;
        }
        case 'Return': {
          const value = carries(statement.value);
          if (value && value !== 'maker') gives = gives === 'object' ? gives : value;
          break;
        }
        case 'Call':
          givenBy(statement);
          break;
      }
      return true;
    });
  return { gives, into };
}

type StatementOfValues = Extract<Statement, { kind: 'Assign' | 'AnnAssign' | 'Return' }>;

/** What is given comes out of these again. */
const wraps = /^(?:iter|enumerate|tqdm|wrap\w*|prepare\w*|\w*_wrapper)$/;

function namesIn(target: Expression): string[] {
  switch (target.kind) {
    case 'Name':
      return [target.id];
    case 'Attribute':
      return isSelf(target.value) ? [`self.${target.name}`] : [];
    case 'Tuple':
    case 'List':
      return target.elements.flatMap(namesIn);
    default:
      return [];
  }
}

function isSelf(node: Expression): boolean {
  return node.kind === 'Name' && node.id === 'self';
}
