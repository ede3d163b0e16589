/**
 * Owns the way from tree-sitter's concrete tree to ast.ts. One walk with a cursor, since each step into the wasm code
 * costs about as much as parsing a token does: leaves are read as slices of the text, anonymous tokens are only stepped
 * over. Each `#…` method finds the cursor on the node that it reads and leaves it there.
 *
 * Knows the grammar's node names; knows no torch.
 */
import type { Language, Node as TreeNode, Tree } from 'web-tree-sitter';
import type {
  ClassDef,
  Comprehension,
  ComprehensionClause,
  ExceptHandler,
  Expression,
  FunctionDef,
  If,
  ImportAlias,
  Keyword,
  MatchCase,
  Module,
  Name,
  Node,
  Parameter,
  Statement,
  WithItem,
} from './ast.ts';
import type { TreeWalk, WalkTree } from './cursor.ts';
import { numberValue, stringLiteral } from './literals.ts';
import { shifted } from './shifted.ts';

/** Deeper nesting than real programs have; below it, a construct is opaque, so that no walk can exhaust the stack. */
const maximumDepth = 300;

/** A module, and which of its statements came from which child of the tree's root. */
export interface BuiltSyntax {
  readonly module: Module;
  readonly pieces: readonly Piece[];
}

export interface Piece extends Node {
  readonly statements: readonly Statement[];
}

/**
 * What is left of an earlier syntax: pieces that end before `until` stand in the same text at the same place, those that
 * began behind `from` do so `by` characters further on.
 */
export interface EarlierSyntax {
  readonly pieces: readonly Piece[];
  readonly until: number;
  readonly from: number;
  readonly by: number;
}

/** Looks up what stands at a place in the new text; asked in the order of the text. */
class EarlierPieces {
  readonly #earlier: EarlierSyntax;
  #next = 0;

  constructor(earlier: EarlierSyntax) {
    this.#earlier = earlier;
  }

  at({ start, end }: Node): Piece | undefined {
    const { pieces, until, from, by } = this.#earlier;
    const moved = end < until ? 0 : start - by > from ? by : undefined;
    if (moved === undefined) return undefined;
    while (this.#next < pieces.length && pieces[this.#next]!.start + moved < start) this.#next++;
    const known = pieces[this.#next];
    return known?.start === start - moved && known.end === end - moved ? shifted(known, moved) : undefined;
  }
}

/** `known`: errors that the tree does not show. */
export type BuildSyntax = (
  file: string,
  text: string,
  tree: Tree,
  known?: readonly Node[],
  earlier?: EarlierSyntax,
) => BuiltSyntax;

export function createSyntaxBuilder(language: Language, walkTree: WalkTree): BuildSyntax {
  const types: string[] = [];
  for (let id = 0; id < language.nodeTypeCount; id++) types[id] = language.nodeTypeForId(id) ?? '';
  // tree-sitter's id of an ERROR node is outside of the language's own table.
  types[65535] = 'ERROR';
  const named: boolean[] = types.map((_, id) => id === 65535 || language.nodeTypeIsNamed(id));
  const fields: string[] = [];
  for (let id = 1; id <= language.fieldCount; id++) fields[id] = language.fieldNameForId(id) ?? '';

  return (file, text, tree, known = [], earlier) => {
    const root = tree.rootNode;
    const errors = [...known, ...(root.hasError ? errorRanges(root) : [])];
    const cursor = walkTree(tree);
    try {
      const builder = new SyntaxBuilder({ types, named, fields }, text, cursor, errors);
      const pieces = builder.pieces(errors.length ? undefined : earlier);
      const body = pieces.flatMap(({ statements }) => statements);
      errors.sort(compareNodes);
      return { module: { kind: 'Module', file, text, start: 0, end: text.length, body, errors }, pieces };
    } finally {
      cursor.delete();
    }
  };
}

/** The innermost ERROR nodes' ranges and the places of MISSING tokens, in order. */
function errorRanges(root: TreeNode): Node[] {
  const ranges: Node[] = [];
  const pending = [root];
  while (pending.length) {
    const node = pending.pop()!;
    if (node.isError || node.isMissing) {
      ranges.push({ start: node.startIndex, end: node.endIndex });
      continue;
    }
    for (const child of node.children) if (child?.hasError) pending.push(child);
  }
  return ranges.sort(compareNodes);
}

function compareNodes(a: Node, b: Node): number {
  return a.start - b.start || a.end - b.end;
}

/**
 * In `[*a.b()]` the grammar binds the star closer than the trailer; Python binds it last. Builds the trailer on what is
 * below the star, and puts the star around it.
 */
function unstarred(
  value: Expression,
  start: number,
  build: (base: Expression, start: number) => Expression,
): Expression {
  if (value.kind !== 'Starred') return build(value, start);
  const inner = build(value.value, value.value.start);
  return { kind: 'Starred', value: inner, start, end: inner.end };
}

/** `(a).b` as `type(a).b`. */
function onTypeOf(target: Expression, start: number, opening: number): Expression {
  if (target.kind === 'Attribute' || target.kind === 'Subscript')
    return { ...target, value: onTypeOf(target.value, start, opening), start };
  const callee: Name = { kind: 'Name', id: 'type', start, end: start + 4 };
  const args = target.kind === 'Tuple' ? target.elements : [target];
  return { kind: 'Call', callee, args, keywords: [], start, end: Math.max(target.end, opening) };
}

/**
 * Statements of one block begin in the same column. The grammar takes those that stand further right all the same, which
 * would make functions of the methods below a half-typed line.
 */
class Indentation {
  readonly #text: string;
  readonly #errors: Node[];
  #column: number | undefined;

  constructor(text: string, errors: Node[]) {
    this.#text = text;
    this.#errors = errors;
  }

  expect({ start, end }: Node, type: string): void {
    const column = columnOf(this.#text, start);
    if (column === undefined) return;
    this.#column ??= column;
    if (column === this.#column) return;
    // At the end of a function it is inside of it, whether there is a decorator or not.
    const at = type === 'function_definition' || type === 'decorated_definition' ? end : start;
    this.#errors.push({ start: at, end: at });
  }
}

/** The column of the first thing on its line; undefined for others. Tabs count as the grammar's scanner counts them. */
function columnOf(text: string, start: number): number | undefined {
  let column = 0;
  let at = start - 1;
  for (; at >= 0 && (text[at] === ' ' || text[at] === '\t'); at--) column += text[at] === '\t' ? 8 : 1;
  if (at < 0) return column;
  return text[at] === '\n' && !/\\\r?$/.test(text.slice(Math.max(0, at - 2), at)) ? column : undefined;
}

interface Grammar {
  readonly types: readonly string[];
  readonly named: readonly boolean[];
  readonly fields: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class SyntaxBuilder {
  readonly #types: readonly string[];
  readonly #named: readonly boolean[];
  readonly #fields: readonly string[];
  readonly #text: string;
  readonly #cursor: TreeWalk;
  readonly #errors: Node[];
  #depth = 0;
  /** Whether the function being read holds a `yield` of its own. */
  #yields = false;

  constructor(grammar: Grammar, text: string, cursor: TreeWalk, errors: Node[]) {
    this.#types = grammar.types;
    this.#named = grammar.named;
    this.#fields = grammar.fields;
    this.#text = text;
    this.#cursor = cursor;
    this.#errors = errors;
  }

  get #type(): string {
    return this.#types[this.#cursor.nodeTypeId] ?? '';
  }

  get #field(): string | undefined {
    return this.#fields[this.#cursor.currentFieldId];
  }

  get #isNamed(): boolean {
    return this.#named[this.#cursor.nodeTypeId] ?? false;
  }

  get #source(): string {
    return this.#text.slice(this.#cursor.startIndex, this.#cursor.endIndex);
  }

  get #range(): { start: number; end: number } {
    return { start: this.#cursor.startIndex, end: this.#cursor.endIndex };
  }

  /** Visits the children that are not comments; `visit` gets the type's name. */
  #each(visit: (type: string) => void): void {
    const cursor = this.#cursor;
    if (!cursor.gotoFirstChild()) return;
    do {
      const type = this.#types[cursor.nodeTypeId] ?? '';
      if (type !== 'comment' && type !== 'line_continuation') visit(type);
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }

  // Statements

  /** The children of the root, those that are as they were taken over. */
  pieces(earlier: EarlierSyntax | undefined): Piece[] {
    const pieces: Piece[] = [];
    const indentation = new Indentation(this.#text, this.#errors);
    const known = earlier && new EarlierPieces(earlier);
    this.#each((type) => {
      const range = this.#range;
      indentation.expect(range, type);
      const same = known?.at(range);
      if (same) {
        pieces.push(same);
        return;
      }
      const statements: Statement[] = [];
      this.#statement(type, statements);
      pieces.push({ ...range, statements });
    });
    return pieces;
  }

  /** The statements below a module, block or ERROR node. */
  suite(): Statement[] {
    const body: Statement[] = [];
    const indentation = new Indentation(this.#text, this.#errors);
    this.#each((type) => {
      indentation.expect(this.#range, type);
      this.#statement(type, body);
    });
    return body;
  }

  #statement(type: string, body: Statement[]): void {
    if (this.#depth >= maximumDepth) return;
    this.#depth++;
    switch (type) {
      case 'expression_statement':
        this.#expressionStatement(body);
        break;
      case 'return_statement':
        body.push({ kind: 'Return', value: this.#only(), ...this.#range });
        break;
      case 'if_statement':
        body.push(this.#if());
        break;
      case 'for_statement':
        this.#for(body);
        break;
      case 'while_statement':
        this.#while(body);
        break;
      case 'with_statement':
        this.#with(body);
        break;
      case 'try_statement':
        this.#try(body);
        break;
      case 'function_definition':
        body.push(this.#function([]));
        break;
      case 'class_definition':
        body.push(this.#class([]));
        break;
      case 'decorated_definition':
        this.#decorated(body);
        break;
      case 'import_statement':
        body.push({ kind: 'Import', names: this.#importNames(), ...this.#range });
        break;
      case 'import_from_statement':
      case 'future_import_statement':
        this.#importFrom(type, body);
        break;
      case 'delete_statement': {
        const targets = this.#expressions().flatMap((target) =>
          target.kind === 'Tuple' || target.kind === 'List' ? target.elements : [target],
        );
        body.push({ kind: 'Delete', targets, ...this.#range });
        break;
      }
      case 'raise_statement':
        this.#raise(body);
        break;
      case 'assert_statement': {
        const [test, message] = this.#expressions();
        if (test) body.push({ kind: 'Assert', test, message, ...this.#range });
        break;
      }
      case 'global_statement':
        body.push({ kind: 'Global', names: this.#identifiers(), ...this.#range });
        break;
      case 'nonlocal_statement':
        body.push({ kind: 'Nonlocal', names: this.#identifiers(), ...this.#range });
        break;
      case 'pass_statement':
        body.push({ kind: 'Pass', ...this.#range });
        break;
      case 'break_statement':
        body.push({ kind: 'Break', ...this.#range });
        break;
      case 'continue_statement':
        body.push({ kind: 'Continue', ...this.#range });
        break;
      case 'match_statement':
        this.#match(body);
        break;
      case 'type_alias_statement':
        this.#typeAlias(body);
        break;
      case 'print_statement':
      case 'exec_statement': {
        const value: Expression = { kind: 'Opaque', parts: this.#expressions(), ...this.#range };
        body.push({ kind: 'ExpressionStatement', value, ...this.#range });
        break;
      }
      case 'block':
      case 'ERROR':
        body.push(...this.suite());
        break;
      default:
        // Inside an ERROR node expressions may stand where statements should.
        if (this.#isNamed) {
          const value = this.#expression();
          body.push({ kind: 'ExpressionStatement', value, start: value.start, end: value.end });
        }
    }
    this.#depth--;
  }

  #expressionStatement(body: Statement[]): void {
    const range = this.#range;
    const parts: Expression[] = [];
    let commas = 0;
    let done = false;
    this.#each((type) => {
      if (type === 'assignment') {
        this.#assignment(body, range);
        done = true;
      } else if (type === 'augmented_assignment') {
        this.#augmented(body, range);
        done = true;
      } else if (type === ',') commas++;
      else parts.push(this.#expression());
    });
    if (done || !parts.length) return;
    const value: Expression = commas ? { kind: 'Tuple', elements: parts, ...range } : parts[0]!;
    body.push({ kind: 'ExpressionStatement', value, ...range });
  }

  #assignment(body: Statement[], range: Node): void {
    const targets: Expression[] = [];
    let annotation: Expression | undefined;
    let value: Expression | undefined;
    const read = () =>
      this.#each((type) => {
        const field = this.#field;
        if (field === 'left') targets.push(this.#expression());
        else if (field === 'type') annotation = this.#annotation();
        else if (field === 'right') {
          if (type === 'assignment') read();
          else value = this.#expression();
        }
      });
    read();
    const target = targets[0];
    if (!target) return;
    if (annotation) body.push({ kind: 'AnnAssign', target, annotation, value, ...range });
    else if (value) body.push({ kind: 'Assign', targets, value, ...range });
  }

  #augmented(body: Statement[], range: Node): void {
    let target: Expression | undefined;
    let operator = '';
    let value: Expression | undefined;
    this.#each((type) => {
      const field = this.#field;
      if (field === 'left') target = this.#expression();
      else if (field === 'operator') operator = type.slice(0, -1);
      else if (field === 'right') value = this.#expression();
    });
    if (target && value) body.push({ kind: 'AugAssign', target, operator, value, ...range });
  }

  #if(): If {
    const range = this.#range;
    let test: Expression | undefined;
    let body: Statement[] = [];
    const alternatives: Statement[][] = [];
    let innermost: Statement[] = [];
    alternatives.push(innermost);
    this.#each((type) => {
      const field = this.#field;
      if (field === 'condition') test = this.#expression();
      else if (field === 'consequence') body = this.suite();
      else if (type === 'elif_clause') {
        const clause = this.#elif(range.end);
        innermost.push(clause.statement);
        innermost = clause.orelse;
      } else if (type === 'else_clause') innermost.push(...this.#clauseBody());
      else if (type === 'ERROR') body.push(...this.suite());
    });
    return { kind: 'If', test: test ?? this.#opaque(range), body, orelse: alternatives[0]!, ...range };
  }

  #elif(end: number): { statement: If; orelse: Statement[] } {
    const start = this.#cursor.startIndex;
    let test: Expression | undefined;
    let body: Statement[] = [];
    this.#each(() => {
      const field = this.#field;
      if (field === 'condition') test = this.#expression();
      else if (field === 'consequence') body = this.suite();
    });
    const orelse: Statement[] = [];
    return {
      statement: { kind: 'If', test: test ?? this.#opaque({ start, end }), body, orelse, start, end },
      orelse,
    };
  }

  /** The block of an `else` or `finally` clause. */
  #clauseBody(): Statement[] {
    let body: Statement[] = [];
    this.#each((type) => {
      if (type === 'block') body = this.suite();
    });
    return body;
  }

  #for(out: Statement[]): void {
    const range = this.#range;
    let target: Expression | undefined;
    let iterable: Expression | undefined;
    let body: Statement[] = [];
    let orelse: Statement[] = [];
    let isAsync = false;
    this.#each((type) => {
      if (type === 'async') isAsync = true;
      else if (type === 'else_clause') orelse = this.#clauseBody();
      else {
        const field = this.#field;
        if (field === 'left') target = this.#expression();
        else if (field === 'right') iterable = this.#expression();
        else if (field === 'body') body = this.suite();
      }
    });
    target ??= this.#opaque(range);
    iterable ??= this.#opaque(range);
    out.push({ kind: 'For', target, iterable, body, orelse, isAsync, ...range });
  }

  #while(out: Statement[]): void {
    const range = this.#range;
    let test: Expression | undefined;
    let body: Statement[] = [];
    let orelse: Statement[] = [];
    this.#each((type) => {
      if (type === 'else_clause') orelse = this.#clauseBody();
      else {
        const field = this.#field;
        if (field === 'condition') test = this.#expression();
        else if (field === 'body') body = this.suite();
      }
    });
    out.push({ kind: 'While', test: test ?? this.#opaque(range), body, orelse, ...range });
  }

  #with(out: Statement[]): void {
    const range = this.#range;
    let items: WithItem[] = [];
    let body: Statement[] = [];
    let isAsync = false;
    this.#each((type) => {
      if (type === 'async') isAsync = true;
      else if (type === 'with_clause') items = this.#withItems();
      else if (this.#field === 'body') body = this.suite();
    });
    out.push({ kind: 'With', items, body, isAsync, ...range });
  }

  #withItems(): WithItem[] {
    const items: WithItem[] = [];
    this.#each((type) => {
      if (type !== 'with_item') return;
      const range = this.#range;
      this.#each((inner) => {
        // `with (a, b):` and `with (a as b):` are one bracketed expression in the grammar and items in Python.
        if (inner === 'tuple' || inner === 'parenthesized_expression') {
          this.#each((element) => {
            if (this.#isNamed) items.push(this.#withItem(element, this.#range));
          });
        } else items.push(this.#withItem(inner, range));
      });
    });
    return items;
  }

  #withItem(type: string, range: Node): WithItem {
    if (type !== 'as_pattern') return { context: this.#expression(), start: range.start, end: range.end };
    const [context, target] = this.#asPattern();
    return { context: context ?? this.#opaque(range), target, start: range.start, end: range.end };
  }

  /** `expression as target`, target undefined where it is missing. */
  #asPattern(): [Expression | undefined, Expression | undefined] {
    let value: Expression | undefined;
    let target: Expression | undefined;
    this.#each((type) => {
      if (type === 'as_pattern_target') target = this.#only();
      else if (this.#isNamed && !value) value = this.#expression();
    });
    return [value, target];
  }

  #try(out: Statement[]): void {
    const range = this.#range;
    let body: Statement[] = [];
    const handlers: ExceptHandler[] = [];
    let orelse: Statement[] = [];
    let finalbody: Statement[] = [];
    this.#each((type) => {
      if (type === 'block') body = this.suite();
      else if (type === 'except_clause' || type === 'except_group_clause') handlers.push(this.#handler());
      else if (type === 'else_clause') orelse = this.#clauseBody();
      else if (type === 'finally_clause') finalbody = this.#clauseBody();
    });
    out.push({ kind: 'Try', body, handlers, orelse, finalbody, ...range });
  }

  #handler(): ExceptHandler {
    const range = this.#range;
    const values: Expression[] = [];
    let name: string | undefined;
    let body: Statement[] = [];
    this.#each((type) => {
      if (type === 'block') body = this.suite();
      else if (type === 'as_pattern') {
        const [value, target] = this.#asPattern();
        if (value) values.push(value);
        if (target?.kind === 'Name') name = target.id;
      } else if (this.#isNamed) {
        const isAlias = this.#field === 'alias';
        const value = this.#expression();
        if (!isAlias) values.push(value);
        else if (value.kind === 'Name') name = value.id;
      }
    });
    const type: Expression | undefined =
      values.length > 1
        ? { kind: 'Tuple', elements: values, start: values[0]!.start, end: values.at(-1)!.end }
        : values[0];
    return { type, name, body, ...range };
  }

  #decorated(out: Statement[]): void {
    const decorators: Expression[] = [];
    this.#each((type) => {
      if (type === 'decorator') {
        const decorator = this.#only();
        if (decorator) decorators.push(decorator);
      } else if (type === 'function_definition') out.push(this.#function(decorators));
      else if (type === 'class_definition') out.push(this.#class(decorators));
      else if (type === 'ERROR') out.push(...this.suite());
    });
  }

  #function(decorators: readonly Expression[]): FunctionDef {
    const range = this.#range;
    const outerYields = this.#yields;
    this.#yields = false;
    let nameNode: Node = { start: range.start, end: range.start };
    let parameters: Parameter[] = [];
    let returns: Expression | undefined;
    let body: Statement[] = [];
    let isAsync = false;
    this.#each((type) => {
      if (type === 'async') isAsync = true;
      else if (type === 'parameters') parameters = this.#parameters();
      else {
        const field = this.#field;
        if (field === 'name') nameNode = this.#range;
        else if (field === 'return_type') returns = this.#annotation();
        else if (field === 'body') body = this.suite();
        else if (type === 'ERROR') body.push(...this.suite());
      }
    });
    const isGenerator = this.#yields;
    this.#yields = outerYields;
    return {
      kind: 'FunctionDef',
      name: this.#text.slice(nameNode.start, nameNode.end),
      nameNode,
      parameters,
      body,
      decorators,
      returns,
      isAsync,
      isGenerator,
      broken: this.#errors.some((error) => range.start <= error.start && error.end <= range.end),
      ...range,
    };
  }

  #parameters(): Parameter[] {
    const parameters: Mutable<Parameter>[] = [];
    let after: 'normal' | 'keyword-only' = 'normal';
    this.#each((type) => {
      const range = this.#range;
      switch (type) {
        case 'identifier':
          parameters.push({ name: this.#source, kind: after, ...range });
          break;
        case 'default_parameter':
        case 'typed_default_parameter':
        case 'typed_parameter': {
          const parameter: Mutable<Parameter> = { name: '', kind: after, ...range };
          this.#each((inner) => {
            const field = this.#field;
            if (field === 'value') parameter.default = this.#expression();
            else if (field === 'type') parameter.annotation = this.#annotation();
            else if (inner === 'list_splat_pattern' || inner === 'dictionary_splat_pattern') {
              parameter.kind = inner === 'list_splat_pattern' ? 'star' : 'double-star';
              parameter.name = this.#source.replace(/^[*\s]+/, '');
            } else if (this.#isNamed) parameter.name = this.#source;
          });
          if (parameter.kind === 'star') after = 'keyword-only';
          parameters.push(parameter);
          break;
        }
        case 'list_splat_pattern':
          parameters.push({ name: this.#source.replace(/^[*\s]+/, ''), kind: 'star', ...range });
          after = 'keyword-only';
          break;
        case 'dictionary_splat_pattern':
          parameters.push({ name: this.#source.replace(/^[*\s]+/, ''), kind: 'double-star', ...range });
          break;
        case 'keyword_separator':
          after = 'keyword-only';
          break;
        case 'positional_separator':
          for (const earlier of parameters) if (earlier.kind === 'normal') earlier.kind = 'positional-only';
          break;
        case 'tuple_pattern':
          parameters.push({ name: this.#source, kind: after, ...range });
          break;
      }
    });
    return parameters;
  }

  #class(decorators: readonly Expression[]): ClassDef {
    const range = this.#range;
    let nameNode: Node = { start: range.start, end: range.start };
    let bases: Expression[] = [];
    let keywords: Keyword[] = [];
    let body: Statement[] = [];
    this.#each((type) => {
      const field = this.#field;
      if (field === 'name') nameNode = this.#range;
      else if (field === 'superclasses') [bases, keywords] = this.#arguments();
      else if (field === 'body') body = this.suite();
      else if (type === 'ERROR') body.push(...this.suite());
    });
    const name = this.#text.slice(nameNode.start, nameNode.end);
    return { kind: 'ClassDef', name, nameNode, bases, keywords, body, decorators, ...range };
  }

  #importNames(): ImportAlias[] {
    const names: ImportAlias[] = [];
    this.#each((type) => {
      if (type === 'wildcard_import') names.push({ name: '*', ...this.#range });
      else if (this.#field === 'name') {
        const range = this.#range;
        if (type === 'dotted_name') names.push({ name: this.#dotted(), ...range });
        else if (type === 'aliased_import') {
          let name = '';
          let asname: string | undefined;
          this.#each(() => {
            const field = this.#field;
            if (field === 'name') name = this.#dotted();
            else if (field === 'alias') asname = this.#source;
          });
          names.push({ name, asname, ...range });
        }
      }
    });
    return names;
  }

  #importFrom(type: string, out: Statement[]): void {
    let module = type === 'future_import_statement' ? '__future__' : '';
    let level = 0;
    this.#each((inner) => {
      if (this.#field !== 'module_name') return;
      const dotted = this.#dotted();
      if (inner === 'relative_import') {
        module = dotted.replace(/^\.+/, '');
        level = dotted.length - module.length;
      } else module = dotted;
    });
    out.push({ kind: 'ImportFrom', module, level, names: this.#importNames(), ...this.#range });
  }

  #dotted(): string {
    return this.#source.replace(/[\s\\]+/g, '');
  }

  #raise(out: Statement[]): void {
    let exception: Expression | undefined;
    let cause: Expression | undefined;
    this.#each(() => {
      if (this.#field === 'cause') cause = this.#expression();
      else if (this.#isNamed) exception = this.#expression();
    });
    out.push({ kind: 'Raise', exception, cause, ...this.#range });
  }

  #identifiers(): string[] {
    const names: string[] = [];
    this.#each((type) => {
      if (type === 'identifier') names.push(this.#source);
    });
    return names;
  }

  #typeAlias(out: Statement[]): void {
    const range = this.#range;
    let target: Expression | undefined;
    let value: Expression | undefined;
    let opening = range.start;
    this.#each(() => {
      const field = this.#field;
      if (field === 'left') {
        opening = this.#cursor.startIndex;
        target = this.#annotation();
      } else if (field === 'right') value = this.#annotation();
    });
    if (!target || !value) return;
    // `type(a).b = c` is an assignment that the grammar takes for an alias named `(a).b`.
    if (this.#text[opening] === '(') target = onTypeOf(target, range.start, opening);
    else {
      if (target.kind === 'Subscript') target = target.value;
      value = this.#opaque(range);
    }
    out.push({ kind: 'Assign', targets: [target], value, ...range });
  }

  #match(out: Statement[]): void {
    const range = this.#range;
    const subjects: Expression[] = [];
    let commas = 0;
    const cases: MatchCase[] = [];
    this.#each((type) => {
      if (type === ',') commas++;
      else if (type === 'block')
        this.#each((inner) => {
          if (inner === 'case_clause') cases.push(this.#case());
        });
      else if (this.#field === 'subject') subjects.push(this.#expression());
    });
    const subject: Expression =
      !commas && subjects[0] ? subjects[0] : { kind: 'Tuple', elements: subjects, start: range.start, end: range.end };
    out.push({ kind: 'Match', subject, cases, ...range });
  }

  #case(): MatchCase {
    const range = this.#range;
    const binds: string[] = [];
    const patterns: (readonly Expression[] | undefined)[] = [];
    let guard: Expression | undefined;
    let body: Statement[] = [];
    this.#each((type) => {
      if (type === 'case_pattern') {
        this.#pattern(binds);
        patterns.push(this.#literals());
      } else if (type === 'if_clause') guard = this.#only();
      else if (type === 'block') body = this.suite();
    });
    const literals = patterns.length === 1 ? patterns[0] : undefined;
    return { binds: [...new Set(binds)], ...(literals ? { literals } : {}), guard, body, ...range };
  }

  /** The literals that a pattern compares with, where it is made of nothing else: `"a"`, `1 | 2`. */
  #literals(): readonly Expression[] | undefined {
    const found: Expression[] = [];
    let others = false;
    const visit = (type: string): void => {
      if (type === 'union_pattern') this.#each(visit);
      else if (/^(?:string|integer|true|false|none)$/.test(type)) found.push(this.#expression());
      else if (type !== '|') others = true;
    };
    this.#each(visit);
    return others || found.length === 0 ? undefined : found;
  }

  /** Collects the names that a pattern binds. */
  #pattern(binds: string[]): void {
    if (this.#depth >= maximumDepth) return;
    this.#depth++;
    this.#each((type) => {
      switch (type) {
        case 'dotted_name': {
          // `Colour.RED` compares, `colour` binds.
          const name = this.#dotted();
          if (name !== '_' && !name.includes('.')) binds.push(name);
          break;
        }
        case 'identifier':
          binds.push(this.#source);
          break;
        case 'class_pattern':
          this.#eachAfterFirst(() => this.#pattern(binds));
          break;
        case 'keyword_pattern':
          this.#eachAfterFirst((inner) => {
            if (inner === 'dotted_name') {
              const name = this.#dotted();
              if (name !== '_' && !name.includes('.')) binds.push(name);
            } else this.#pattern(binds);
          });
          break;
        default:
          if (this.#isNamed) this.#pattern(binds);
      }
    });
    this.#depth--;
  }

  #eachAfterFirst(visit: (type: string) => void): void {
    let first = true;
    this.#each((type) => {
      if (!first) visit(type);
      first = false;
    });
  }

  // Expressions

  /** The expressions among the named children; a lone expression list is opened. */
  #expressions(): Expression[] {
    const found: Expression[] = [];
    this.#each((type) => {
      if (type === 'expression_list') {
        this.#each(() => {
          if (this.#isNamed) found.push(this.#expression());
        });
      } else if (this.#isNamed) found.push(this.#expression());
    });
    return found;
  }

  /** The first named child. */
  #only(): Expression | undefined {
    let found: Expression | undefined;
    this.#each(() => {
      if (!found && this.#isNamed) found = this.#expression();
    });
    return found;
  }

  #opaque(range: Node): Expression {
    return { kind: 'Opaque', parts: [], start: range.start, end: range.end };
  }

  #expression(): Expression {
    const cursor = this.#cursor;
    const start = cursor.startIndex;
    const end = cursor.endIndex;
    const type = this.#type;
    if (type === 'identifier') return { kind: 'Name', id: this.#text.slice(start, end), start, end };
    if (this.#depth >= maximumDepth) return { kind: 'Opaque', parts: [], start, end };
    this.#depth++;
    const result = this.#compound(type, start, end);
    this.#depth--;
    return result;
  }

  #compound(type: string, start: number, end: number): Expression {
    switch (type) {
      case 'attribute':
        return this.#attribute(start, end);
      case 'call':
        return this.#call(start, end);
      case 'subscript':
        return this.#subscript(start, end);
      case 'integer':
      case 'float': {
        const [numberType, value] = numberValue(this.#text.slice(start, end), type);
        return { kind: 'Constant', type: numberType, value, start, end };
      }
      case 'true':
        return { kind: 'Constant', type: 'bool', value: true, start, end };
      case 'false':
        return { kind: 'Constant', type: 'bool', value: false, start, end };
      case 'none':
        return { kind: 'Constant', type: 'none', value: null, start, end };
      case 'ellipsis':
        return { kind: 'Constant', type: 'ellipsis', value: null, start, end };
      case 'string':
        return this.#string(start, end);
      case 'concatenated_string':
        return this.#concatenated(start, end);
      case 'binary_operator':
        return this.#binary(start, end);
      case 'comparison_operator':
        return this.#compare(start, end);
      case 'boolean_operator': {
        let operator: 'and' | 'or' = 'and';
        const operands: Expression[] = [];
        this.#each((inner) => {
          if (inner === 'and' || inner === 'or') operator = inner;
          else operands.push(this.#expression());
        });
        const [left, right] = operands;
        if (!left || !right) return { kind: 'Opaque', parts: operands, start, end };
        return { kind: 'BoolOp', operator, left, right, start, end };
      }
      case 'not_operator': {
        const operand = this.#only();
        if (!operand) return { kind: 'Opaque', parts: [], start, end };
        return { kind: 'Unary', operator: 'not', operand, start, end };
      }
      case 'unary_operator': {
        const operator = this.#text[start];
        const operand = this.#only();
        // The parser was shown a plus (see repair.ts).
        if (operand && operator === '*') return { kind: 'Starred', value: operand, start, end };
        if (!operand || (operator !== '-' && operator !== '+' && operator !== '~'))
          return { kind: 'Opaque', parts: operand ? [operand] : [], start, end };
        return { kind: 'Unary', operator, operand, start, end };
      }
      case 'parenthesized_expression':
        return this.#only() ?? { kind: 'Opaque', parts: [], start, end };
      case 'tuple':
      case 'expression_list':
      case 'pattern_list':
        return { kind: 'Tuple', elements: this.#elements(), start, end };
      case 'tuple_pattern':
        return this.#tuplePattern(start, end);
      case 'list':
      case 'list_pattern':
        return { kind: 'List', elements: this.#elements(), start, end };
      case 'set':
        return { kind: 'Set', elements: this.#elements(), start, end };
      case 'dictionary':
        return this.#dictionary(start, end);
      case 'list_comprehension':
        return this.#comprehension('list', start, end);
      case 'set_comprehension':
        return this.#comprehension('set', start, end);
      case 'dictionary_comprehension':
        return this.#comprehension('dict', start, end);
      case 'generator_expression':
        return this.#comprehension('generator', start, end);
      case 'conditional_expression': {
        const parts = this.#elements();
        const [body, test, orelse] = parts;
        if (!body || !test || !orelse) return { kind: 'Opaque', parts, start, end };
        return { kind: 'Conditional', test, body, orelse, start, end };
      }
      case 'lambda':
        return this.#lambda(start, end);
      case 'list_splat':
      case 'list_splat_pattern':
      case 'splat_type':
      case 'dictionary_splat':
      case 'dictionary_splat_pattern': {
        const value = this.#only();
        if (!value) return { kind: 'Opaque', parts: [], start, end };
        return { kind: 'Starred', value, start, end };
      }
      case 'await': {
        const value = this.#only();
        if (!value) return { kind: 'Opaque', parts: [], start, end };
        return { kind: 'Await', value, start, end };
      }
      case 'yield':
        return this.#yield(start, end);
      case 'named_expression':
        return this.#walrus(start, end);
      case 'slice':
        return this.#slice(start, end);
      case 'type':
      case 'as_pattern_target':
        return this.#only() ?? { kind: 'Opaque', parts: [], start, end };
      case 'generic_type':
        return this.#genericType(start, end);
      case 'union_type':
        return this.#binary(start, end);
      case 'member_type':
        return this.#attribute(start, end);
      default:
        return { kind: 'Opaque', parts: this.#elements(), start, end };
    }
  }

  /** All named children as expressions. */
  #elements(): Expression[] {
    const elements: Expression[] = [];
    this.#each(() => {
      if (this.#isNamed) elements.push(this.#expression());
    });
    return elements;
  }

  /** `(a)` as a target is `a`, `(a,)` is a tuple of one. */
  #tuplePattern(start: number, end: number): Expression {
    const elements: Expression[] = [];
    let commas = 0;
    this.#each((type) => {
      if (type === ',') commas++;
      else if (this.#isNamed) elements.push(this.#expression());
    });
    return elements.length === 1 && !commas ? elements[0]! : { kind: 'Tuple', elements, start, end };
  }

  #attribute(start: number, end: number): Expression {
    const cursor = this.#cursor;
    let value: Expression | undefined;
    let nameNode: Node | undefined;
    this.#each((type) => {
      if (type === '.') return;
      if (!value) value = this.#expression();
      else nameNode = { start: cursor.startIndex, end: cursor.endIndex };
    });
    if (!value || !nameNode) return { kind: 'Opaque', parts: value ? [value] : [], start, end };
    const name = this.#text.slice(nameNode.start, nameNode.end);
    return unstarred(value, start, (base, from) => ({
      kind: 'Attribute',
      value: base,
      name,
      nameNode: nameNode!,
      start: from,
      end,
    }));
  }

  #call(start: number, end: number): Expression {
    let callee: Expression | undefined;
    let args: Expression[] = [];
    let keywords: Keyword[] = [];
    this.#each((type) => {
      if (!callee) callee = this.#expression();
      else if (type === 'argument_list') [args, keywords] = this.#arguments();
      else if (this.#isNamed) args.push(this.#expression());
    });
    if (!callee) return { kind: 'Opaque', parts: args, start, end };
    return unstarred(callee, start, (base, from) => ({ kind: 'Call', callee: base, args, keywords, start: from, end }));
  }

  #arguments(): [Expression[], Keyword[]] {
    const args: Expression[] = [];
    const keywords: Keyword[] = [];
    this.#each((type) => {
      if (type === 'keyword_argument') {
        const range = this.#range;
        let name: string | undefined;
        let value: Expression | undefined;
        this.#each((inner) => {
          if (inner === '=') return;
          if (name === undefined) name = this.#source;
          else value = this.#expression();
        });
        if (value) keywords.push({ name, value, ...range });
      } else if (type === 'dictionary_splat') {
        const range = this.#range;
        const value = this.#only();
        if (value) keywords.push({ value, ...range });
      } else if (this.#isNamed) args.push(this.#expression());
    });
    return [args, keywords];
  }

  #subscript(start: number, end: number): Expression {
    let value: Expression | undefined;
    const indices: Expression[] = [];
    let commas = 0;
    this.#each((type) => {
      if (type === ',') commas++;
      else if (this.#isNamed) {
        if (!value) value = this.#expression();
        else indices.push(this.#expression());
      }
    });
    const first = indices[0];
    if (!value || !first) return { kind: 'Opaque', parts: value ? [value] : [], start, end };
    const index: Expression = commas
      ? { kind: 'Tuple', elements: indices, start: first.start, end: indices.at(-1)!.end }
      : first;
    return unstarred(value, start, (base, from) => ({ kind: 'Subscript', value: base, index, start: from, end }));
  }

  #slice(start: number, end: number): Expression {
    const bounds: (Expression | undefined)[] = [undefined, undefined, undefined];
    let at = 0;
    this.#each((type) => {
      if (type === ':') at++;
      else if (at < 3 && this.#isNamed) bounds[at] = this.#expression();
    });
    return { kind: 'Slice', lower: bounds[0], upper: bounds[1], step: bounds[2], start, end };
  }

  #binary(start: number, end: number): Expression {
    let left: Expression | undefined;
    let operator = '';
    let right: Expression | undefined;
    this.#each((type) => {
      if (!left) left = this.#expression();
      else if (!operator) operator = type;
      else right = this.#expression();
    });
    if (!left || !right) return { kind: 'Opaque', parts: left ? [left] : [], start, end };
    const operand = right;
    return unstarred(left, start, (base, from) => ({
      kind: 'Binary',
      operator,
      left: base,
      right: operand,
      start: from,
      end,
    }));
  }

  #compare(start: number, end: number): Expression {
    const operators: string[] = [];
    const operands: Expression[] = [];
    this.#each((type) => {
      if (this.#isNamed) operands.push(this.#expression());
      else operators.push(type);
    });
    const [left, ...comparators] = operands;
    if (!left || comparators.length !== operators.length) return { kind: 'Opaque', parts: operands, start, end };
    return { kind: 'Compare', left, operators, comparators, start, end };
  }

  #dictionary(start: number, end: number): Expression {
    const items: { key?: Expression; value: Expression }[] = [];
    this.#each((type) => {
      if (type === 'pair') items.push(this.#pair());
      else if (type === 'dictionary_splat') {
        const value = this.#only();
        if (value) items.push({ value });
      }
    });
    return { kind: 'Dict', items, start, end };
  }

  #pair(): { key: Expression; value: Expression } {
    const range = this.#range;
    const [key, value] = this.#elements();
    return { key: key ?? this.#opaque(range), value: value ?? this.#opaque(range) };
  }

  #comprehension(type: Comprehension['type'], start: number, end: number): Expression {
    let element: Expression | undefined;
    let key: Expression | undefined;
    const clauses: Mutable<ComprehensionClause>[] = [];
    this.#each((inner) => {
      if (inner === 'for_in_clause') clauses.push(this.#forIn());
      else if (inner === 'if_clause') {
        const condition = this.#only();
        const clause = clauses.at(-1);
        if (condition && clause) clause.conditions = [...clause.conditions, condition];
      } else if (inner === 'pair') {
        const pair = this.#pair();
        key = pair.key;
        element = pair.value;
      } else if (this.#isNamed) element = this.#expression();
    });
    return { kind: 'Comprehension', type, element: element ?? this.#opaque({ start, end }), key, clauses, start, end };
  }

  #forIn(): Mutable<ComprehensionClause> {
    const range = this.#range;
    let target: Expression | undefined;
    const iterables: Expression[] = [];
    let isAsync = false;
    this.#each((type) => {
      if (type === 'async') isAsync = true;
      else if (this.#isNamed) {
        if (!target) target = this.#expression();
        else iterables.push(this.#expression());
      }
    });
    const first = iterables[0];
    const iterable: Expression =
      iterables.length > 1 && first
        ? { kind: 'Tuple', elements: iterables, start: first.start, end: iterables.at(-1)!.end }
        : (first ?? this.#opaque(range));
    return { target: target ?? this.#opaque(range), iterable, conditions: [], isAsync };
  }

  #lambda(start: number, end: number): Expression {
    // A yield in a lambda makes the lambda a generator, not the function around it.
    const outerYields = this.#yields;
    let parameters: Parameter[] = [];
    let body: Expression | undefined;
    this.#each((type) => {
      if (type === 'lambda_parameters') parameters = this.#parameters();
      else if (this.#isNamed) body = this.#expression();
    });
    this.#yields = outerYields;
    return { kind: 'Lambda', parameters, body: body ?? this.#opaque({ start, end }), start, end };
  }

  #yield(start: number, end: number): Expression {
    this.#yields = true;
    let isFrom = false;
    let value: Expression | undefined;
    this.#each((type) => {
      if (type === 'from') isFrom = true;
      else if (this.#isNamed) value = this.#expression();
    });
    return { kind: 'Yield', value, isFrom, start, end };
  }

  #walrus(start: number, end: number): Expression {
    let target: Name | undefined;
    let value: Expression | undefined;
    this.#each((type) => {
      if (type === ':=') return;
      const part = this.#expression();
      if (!target && part.kind === 'Name') target = part;
      else value = part;
    });
    if (!target || !value) return { kind: 'Opaque', parts: value ? [value] : [], start, end };
    return { kind: 'NamedExpr', target, value, start, end };
  }

  // Annotations

  #annotation(): Expression {
    return this.#expression();
  }

  #genericType(start: number, end: number): Expression {
    let value: Expression | undefined;
    let index: Expression | undefined;
    this.#each((type) => {
      if (!value && this.#isNamed) value = this.#expression();
      else if (type === 'type_parameter') {
        const range = this.#range;
        const elements = this.#elements();
        index = elements.length === 1 ? elements[0] : { kind: 'Tuple', elements, ...range };
      }
    });
    if (!value || !index) return { kind: 'Opaque', parts: value ? [value] : [], start, end };
    return { kind: 'Subscript', value, index, start, end };
  }

  // Strings

  #string(start: number, end: number): Expression {
    const literal = stringLiteral(this.#text, start, end);
    if (!literal.formatted) return { kind: 'Constant', type: literal.type, value: literal.value, start, end };
    return { kind: 'FString', parts: this.#interpolations(), start, end };
  }

  /** The expressions of an f-string's replacement fields, those in format specifiers included. */
  #interpolations(): Expression[] {
    const parts: Expression[] = [];
    this.#each((type) => {
      if (type !== 'interpolation' && type !== 'format_expression') return;
      this.#each((inner) => {
        if (inner === 'format_specifier') parts.push(...this.#interpolations());
        else if (inner !== 'type_conversion' && this.#isNamed) parts.push(this.#expression());
      });
    });
    return parts;
  }

  #concatenated(start: number, end: number): Expression {
    const strings = this.#elements();
    const parts: Expression[] = [];
    let value = '';
    let type: 'str' | 'bytes' = 'str';
    let formatted = false;
    for (const string of strings) {
      if (string.kind === 'FString') {
        formatted = true;
        parts.push(...string.parts);
      } else if (string.kind === 'Constant') {
        value += String(string.value);
        if (string.type === 'bytes') type = 'bytes';
      } else parts.push(string);
    }
    if (formatted || parts.length) return { kind: 'FString', parts, start, end };
    return { kind: 'Constant', type, value, start, end };
  }
}
