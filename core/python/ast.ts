/**
 * Raceline's own small syntax tree of Python: what the interpreter in lower/ needs, and nothing of concrete syntax but
 * offsets. Every node has UTF-16 offsets into its file. What a construct cannot be told apart for is `Opaque`, whose
 * parts are still evaluated. Knows no torch.
 */

export interface Node {
  readonly start: number;
  readonly end: number;
}

export interface Module extends Node {
  readonly kind: 'Module';
  readonly file: string;
  readonly text: string;
  readonly body: readonly Statement[];
  /** Ranges that did not parse; a function that holds one is marked `broken`. */
  readonly errors: readonly Node[];
  /** Of an outline: whether a function that was looked into is broken. `errors` of it parses all of the rest. */
  readonly brokenSoFar?: () => boolean;
}

export type Statement =
  | FunctionDef
  | ClassDef
  | Return
  | Delete
  | Assign
  | AugAssign
  | AnnAssign
  | For
  | While
  | If
  | With
  | Raise
  | Try
  | Assert
  | Import
  | ImportFrom
  | Global
  | Nonlocal
  | ExpressionStatement
  | Pass
  | Break
  | Continue
  | Match;

export interface Parameter extends Node {
  readonly name: string;
  readonly kind: 'positional-only' | 'normal' | 'star' | 'keyword-only' | 'double-star';
  readonly default?: Expression;
  readonly annotation?: Expression;
}

export interface FunctionDef extends Node {
  readonly kind: 'FunctionDef';
  readonly name: string;
  readonly nameNode: Node;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
  readonly decorators: readonly Expression[];
  readonly returns?: Expression;
  readonly isAsync: boolean;
  readonly isGenerator: boolean;
  readonly broken: boolean;
}
export interface ClassDef extends Node {
  readonly kind: 'ClassDef';
  readonly name: string;
  readonly nameNode: Node;
  readonly bases: readonly Expression[];
  readonly keywords: readonly Keyword[];
  readonly body: readonly Statement[];
  readonly decorators: readonly Expression[];
}
export interface Return extends Node {
  readonly kind: 'Return';
  readonly value?: Expression;
}
export interface Delete extends Node {
  readonly kind: 'Delete';
  readonly targets: readonly Expression[];
}
export interface Assign extends Node {
  readonly kind: 'Assign';
  /** `a = b = value` has two targets, left to right. */
  readonly targets: readonly Expression[];
  readonly value: Expression;
}
export interface AugAssign extends Node {
  readonly kind: 'AugAssign';
  readonly target: Expression;
  /** `+`, `-`, `@`, … without the `=`. */
  readonly operator: string;
  readonly value: Expression;
}
export interface AnnAssign extends Node {
  readonly kind: 'AnnAssign';
  readonly target: Expression;
  readonly annotation: Expression;
  readonly value?: Expression;
}
export interface For extends Node {
  readonly kind: 'For';
  readonly target: Expression;
  readonly iterable: Expression;
  readonly body: readonly Statement[];
  readonly orelse: readonly Statement[];
  readonly isAsync: boolean;
}
export interface While extends Node {
  readonly kind: 'While';
  readonly test: Expression;
  readonly body: readonly Statement[];
  readonly orelse: readonly Statement[];
}
export interface If extends Node {
  readonly kind: 'If';
  readonly test: Expression;
  readonly body: readonly Statement[];
  /** `elif` is an `If` as the only statement here. */
  readonly orelse: readonly Statement[];
}
export interface WithItem extends Node {
  readonly context: Expression;
  readonly target?: Expression;
}
export interface With extends Node {
  readonly kind: 'With';
  readonly items: readonly WithItem[];
  readonly body: readonly Statement[];
  readonly isAsync: boolean;
}
export interface Raise extends Node {
  readonly kind: 'Raise';
  readonly exception?: Expression;
  readonly cause?: Expression;
}
export interface ExceptHandler extends Node {
  readonly type?: Expression;
  readonly name?: string;
  readonly body: readonly Statement[];
}
export interface Try extends Node {
  readonly kind: 'Try';
  readonly body: readonly Statement[];
  readonly handlers: readonly ExceptHandler[];
  readonly orelse: readonly Statement[];
  readonly finalbody: readonly Statement[];
}
export interface Assert extends Node {
  readonly kind: 'Assert';
  readonly test: Expression;
  readonly message?: Expression;
}
export interface ImportAlias extends Node {
  /** Dotted name. */
  readonly name: string;
  readonly asname?: string;
}
export interface Import extends Node {
  readonly kind: 'Import';
  readonly names: readonly ImportAlias[];
}
export interface ImportFrom extends Node {
  readonly kind: 'ImportFrom';
  /** Empty for `from . import x`. */
  readonly module: string;
  /** Number of leading dots. */
  readonly level: number;
  /** `*` as the only name for a star import. */
  readonly names: readonly ImportAlias[];
}
export interface Global extends Node {
  readonly kind: 'Global';
  readonly names: readonly string[];
}
export interface Nonlocal extends Node {
  readonly kind: 'Nonlocal';
  readonly names: readonly string[];
}
export interface ExpressionStatement extends Node {
  readonly kind: 'ExpressionStatement';
  readonly value: Expression;
}
export interface Pass extends Node {
  readonly kind: 'Pass';
}
export interface Break extends Node {
  readonly kind: 'Break';
}
export interface Continue extends Node {
  readonly kind: 'Continue';
}
export interface MatchCase extends Node {
  /** Patterns are kept as the names that they bind. */
  readonly binds: readonly string[];
  /** What the pattern compares with, where it is made of literals only; any one of them matches. */
  readonly literals?: readonly Expression[];
  readonly guard?: Expression;
  readonly body: readonly Statement[];
}
export interface Match extends Node {
  readonly kind: 'Match';
  readonly subject: Expression;
  readonly cases: readonly MatchCase[];
}

export type Expression =
  | Name
  | Constant
  | FString
  | Tuple
  | List
  | SetDisplay
  | Dict
  | Attribute
  | Subscript
  | Slice
  | Call
  | Unary
  | Binary
  | Compare
  | BoolOp
  | Conditional
  | Lambda
  | Comprehension
  | Starred
  | Await
  | Yield
  | NamedExpr
  | Opaque;

export interface Name extends Node {
  readonly kind: 'Name';
  readonly id: string;
}
export interface Constant extends Node {
  readonly kind: 'Constant';
  /** `'...'` for Ellipsis is type 'ellipsis'. Bytes are strings of type 'bytes'. */
  readonly type: 'int' | 'float' | 'complex' | 'str' | 'bytes' | 'bool' | 'none' | 'ellipsis';
  readonly value: number | string | boolean | null;
}
export interface FString extends Node {
  readonly kind: 'FString';
  readonly parts: readonly Expression[];
}
export interface Tuple extends Node {
  readonly kind: 'Tuple';
  readonly elements: readonly Expression[];
}
export interface List extends Node {
  readonly kind: 'List';
  readonly elements: readonly Expression[];
}
export interface SetDisplay extends Node {
  readonly kind: 'Set';
  readonly elements: readonly Expression[];
}
export interface Dict extends Node {
  readonly kind: 'Dict';
  /** A key of undefined is `**value`. */
  readonly items: readonly { readonly key?: Expression; readonly value: Expression }[];
}
export interface Attribute extends Node {
  readonly kind: 'Attribute';
  readonly value: Expression;
  readonly name: string;
  readonly nameNode: Node;
}
export interface Subscript extends Node {
  readonly kind: 'Subscript';
  readonly value: Expression;
  readonly index: Expression;
}
export interface Slice extends Node {
  readonly kind: 'Slice';
  readonly lower?: Expression;
  readonly upper?: Expression;
  readonly step?: Expression;
}
export interface Keyword extends Node {
  /** Undefined for `**value`. */
  readonly name?: string;
  readonly value: Expression;
}
export interface Call extends Node {
  readonly kind: 'Call';
  readonly callee: Expression;
  /** `*value` is a Starred. */
  readonly args: readonly Expression[];
  readonly keywords: readonly Keyword[];
}
export interface Unary extends Node {
  readonly kind: 'Unary';
  readonly operator: '-' | '+' | '~' | 'not';
  readonly operand: Expression;
}
export interface Binary extends Node {
  readonly kind: 'Binary';
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}
export interface Compare extends Node {
  readonly kind: 'Compare';
  readonly left: Expression;
  /** `==`, `<`, `in`, `not in`, `is`, `is not`, … */
  readonly operators: readonly string[];
  readonly comparators: readonly Expression[];
}
export interface BoolOp extends Node {
  readonly kind: 'BoolOp';
  readonly operator: 'and' | 'or';
  readonly left: Expression;
  readonly right: Expression;
}
export interface Conditional extends Node {
  readonly kind: 'Conditional';
  readonly test: Expression;
  readonly body: Expression;
  readonly orelse: Expression;
}
export interface Lambda extends Node {
  readonly kind: 'Lambda';
  readonly parameters: readonly Parameter[];
  readonly body: Expression;
}
export interface ComprehensionClause {
  readonly target: Expression;
  readonly iterable: Expression;
  readonly conditions: readonly Expression[];
  readonly isAsync: boolean;
}
export interface Comprehension extends Node {
  readonly kind: 'Comprehension';
  readonly type: 'list' | 'set' | 'dict' | 'generator';
  /** For a dict: the value; `key` is the key. */
  readonly element: Expression;
  readonly key?: Expression;
  readonly clauses: readonly ComprehensionClause[];
}
export interface Starred extends Node {
  readonly kind: 'Starred';
  readonly value: Expression;
}
export interface Await extends Node {
  readonly kind: 'Await';
  readonly value: Expression;
}
export interface Yield extends Node {
  readonly kind: 'Yield';
  readonly value?: Expression;
  readonly isFrom: boolean;
}
export interface NamedExpr extends Node {
  readonly kind: 'NamedExpr';
  readonly target: Name;
  readonly value: Expression;
}
export interface Opaque extends Node {
  readonly kind: 'Opaque';
  readonly parts: readonly Expression[];
}
