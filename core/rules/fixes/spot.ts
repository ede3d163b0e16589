/**
 * Places at which a fix may put a statement, and how streams, events and tensors are written there. A name is used only
 * where it is surely bound; where a stream has none, `torch.cuda.current_stream()` may stand for it, and the analysis of
 * the fixed text tells whether that was right.
 */
import type { Activation, LoweredPath } from '../../lower/lowered.ts';
import type { SourceFrame, StepIndex, StreamId } from '../../program/program.ts';
import type { ClassDef, FunctionDef, Module, Statement } from '../../python/ast.ts';
import { originOf } from '../report.ts';
import { isBefore } from '../rule.ts';
import { type NamedTarget, namesOf, sameTarget } from '../source-names.ts';
import { blocksAround, classAround, isBound, type Link, statementOf } from './blocks.ts';
import { importTorch, insertAfter, insertBefore, type OffsetEdit, remove } from './edits.ts';

export interface Candidate {
  readonly title: string;
  readonly edits: readonly OffsetEdit[];
}

/** A statement in one frame, as a place before or after which another can be put. */
export interface Spot {
  readonly path: LoweredPath;
  readonly activation: Activation;
  readonly module: Module;
  readonly root: Module | FunctionDef;
  readonly links: readonly Link[];
  readonly side: 'before' | 'after';
  /** Names are those of this step's time. */
  readonly at: StepIndex;
}

/** The statement around one frame of a call chain; undefined in lambdas and generated code. */
export function spotAt(path: LoweredPath, place: SourceFrame, at: StepIndex, side: Spot['side']): Spot | undefined {
  const activation = path.activations[place.activation];
  if (!activation || activation.module.file !== place.file) return undefined;
  const root = activation.function ?? activation.module;
  const links = blocksAround(root, place);
  const last = links.at(-1);
  if (!last) return undefined;
  const { kind } = statementOf(last);
  if (kind === 'FunctionDef' || kind === 'ClassDef') return undefined;
  return { path, activation, module: activation.module, root, links, side, at };
}

/** The same for one frame of a step's own call chain, by its index. */
export function spotOf(path: LoweredPath, at: StepIndex, frame: number, side: Spot['side']): Spot | undefined {
  const place = originOf(path.program, at)?.frames[frame];
  return place && spotAt(path, place, at, side);
}

export function holder(spot: Spot): Statement {
  return statementOf(spot.links.at(-1)!);
}

/** The place around the `with` that directly holds this one; undefined if something else holds it. */
export function outside(spot: Spot): Spot | undefined {
  const parent = spot.links.at(-1)?.parent;
  return parent?.kind === 'With' && spot.links.length > 1 ? { ...spot, links: spot.links.slice(0, -1) } : undefined;
}

/** The place itself and those around the `with` blocks that hold it. */
export function outwards(spot: Spot): Spot[] {
  const spots: Spot[] = [];
  for (let next: Spot | undefined = spot; next; next = outside(next)) spots.push(next);
  return spots;
}

/** Those places in each frame of a step, the innermost frame first; behind a step what is farthest out comes first. */
export function placesOf(path: LoweredPath, at: StepIndex, side: Spot['side']): Spot[] {
  const depth = originOf(path.program, at)?.frames.length ?? 0;
  const spots: Spot[] = [];
  for (let frame = depth - 1; frame >= 0; frame--) {
    const inner = spotOf(path, at, frame, side);
    if (inner) spots.push(...(side === 'after' ? outwards(inner).reverse() : outwards(inner)));
  }
  return spots;
}

/** The places around a statement in the order in which a wait reads best: where a `with` starts with the statement, before the `with`. */
export function waitSpots(spot: Spot): Spot[] {
  const spots = outwards(spot);
  const starts = spots.findIndex((place) => place.links.at(-1)!.index !== 0);
  const first = spots.slice(1, starts < 0 ? spots.length : starts + 1).at(-1);
  return spot.links.at(-1)!.index === 0 && first ? [first, ...spots.filter((place) => place !== first)] : spots;
}

export function put(spot: Spot, lines: readonly string[]): OffsetEdit {
  const link = spot.links.at(-1)!;
  return spot.side === 'before' ? insertBefore(spot.module, link, lines) : insertAfter(spot.module, link, lines);
}

/** The statement goes from one place to another, with the comment on its line; all its lines are indented anew. */
export function moved(from: Spot, to: Spot): OffsetEdit[] {
  const statement = holder(from);
  const { text } = from.module;
  const lines = linesOf(text, statement);
  const removal = remove(from.module, from.links.at(-1)!);
  const comment = removal.newText === '' ? (/^[ \t]*(#[^\n\r]*)/.exec(text.slice(statement.end))?.[1] ?? '') : '';
  const [plain, full] = [put(to, lines), put(to, [...lines.slice(0, -1), `${lines.at(-1)}  ${comment}`])];
  // Among several statements on one line a comment would end them.
  const among = plain.newText.includes('; ');
  const insertion = among ? put(to, [lines.map((line) => line.trim()).join(' ')]) : comment ? full : plain;
  return joined(removal, [insertion], text);
}

/** The lines of a statement, without the indentation of its block. A string of several lines stays as it is. */
function linesOf(text: string, { start, end }: Statement): string[] {
  const source = text.slice(start, end).trimEnd();
  const indent = /[ \t]*$/.exec(text.slice(0, start))![0];
  if (/"""|'''|\\[\r\n]/.test(source)) return [source];
  return source.split(/\r\n|\n|\r/).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
}

/** What comes in where the removed statement stands takes its place: edits never touch. */
export function joined(removal: OffsetEdit, edits: readonly OffsetEdit[], text: string): OffsetEdit[] {
  const touches = (edit: OffsetEdit) =>
    edit.file === removal.file && edit.start <= removal.end && edit.end >= removal.start;
  const whole = removal.newText === '' && /[\n\r]$/.test(text.slice(removal.start, removal.end));
  const newText = edits.filter(touches).map((edit) => {
    // Behind the last line of a block: the line end that it begins with is there already.
    const begins = whole && edit.start < removal.end ? /^(\r\n|\n|\r)/.exec(edit.newText)?.[0] : undefined;
    return begins ? edit.newText.slice(begins.length) + begins : edit.newText;
  });
  return [{ ...removal, newText: removal.newText + newText.join('') }, ...edits.filter((edit) => !touches(edit))];
}

/** Puts the lines before the statement, or between the value of a `return` and the `return` itself. */
export function putBefore(spot: Spot, first: StepIndex, lines: readonly string[]): OffsetEdit[] {
  const statement = holder(spot);
  if (!startsIn(spot, first, statement)) return [put(spot, lines)];
  if (statement.kind !== 'Return' || !statement.value) return [];
  const { value } = statement;
  const name = freshName(spot.module.text, 'result');
  const edit = insertBefore(spot.module, spot.links.at(-1)!, [
    `${name} = ${spot.module.text.slice(value.start, value.end)}`,
    ...lines,
  ]);
  return [edit, { file: edit.file, start: value.start, end: value.end, newText: name }];
}

/** Whether the step happens in this very statement of the frame. */
function startsIn(spot: Spot, first: StepIndex, statement: Statement): boolean {
  if (isBefore(spot.path.program, first)) return false;
  return (originOf(spot.path.program, first)?.frames ?? []).some(
    (frame) =>
      spot.path.activations[frame.activation] === spot.activation &&
      statement.start <= frame.start &&
      frame.end <= statement.end,
  );
}

/** The expressions that surely name the target at this place, the frame's own and latest first. */
export function expressionsAt(spot: Spot, target: NamedTarget): string[] {
  const names = [...namesOf(spot.activation, target, spot.at), ...namesElsewhere(spot, target)];
  return [...new Set(names)].filter((expression) => isNamedAt(spot, expression));
}

/** The way to the place: after the statement, that statement has run. */
function linksAt({ links, side }: Spot): readonly Link[] {
  const last = links.at(-1)!;
  return side === 'after' ? [...links.slice(0, -1), { ...last, index: last.index + 1 }] : links;
}

/** What other frames call it, as far as this one can say it too: globals of the module, attributes of its objects. */
function namesElsewhere(spot: Spot, target: NamedTarget): string[] {
  const own = spot.root.kind === 'FunctionDef' ? selfOf(spot.root) : undefined;
  const ownClass = spot.root.kind === 'FunctionDef' ? classAround(spot.module, spot.root) : undefined;
  const found: string[] = [];
  for (const other of spot.path.activations) {
    if (other === spot.activation) continue;
    for (const binding of other.bindings) {
      if (!sameTarget(binding.target, target)) continue;
      const root = rootName(binding.expression);
      if (root === undefined) continue;
      const self = other.function && selfOf(other.function);
      if (other.function && root === self && binding.expression.startsWith(`${self}.`)) {
        const rest = binding.expression.slice(root.length);
        const otherClass = classAround(other.module, other.function);
        const sameClass = own && other.module === spot.module && otherClass === ownClass;
        if (sameClass && ownClass) found.push(own + rest);
        else
          for (const object of objectsIn(spot))
            if (object !== own || areRelated(ownClass, otherClass)) found.push(object + rest);
      } else if (other.module === spot.module && !isLocal(other.function, root)) found.push(binding.expression);
    }
  }
  return found;
}

/** Whether one class may be a base of the other, so that `self` is one object in both. */
function areRelated(a: ClassDef | undefined, b: ClassDef | undefined): boolean {
  const extend = (one: ClassDef | undefined, other: ClassDef | undefined) =>
    one?.bases.some(
      (base) => (base.kind === 'Name' ? base.id : base.kind === 'Attribute' ? base.name : '') === other?.name,
    );
  return Boolean(a && b && (extend(a, b) || extend(b, a)));
}

/** What this frame names and has attributes of, the inner objects first: it may be the object whose attribute is meant. */
function objectsIn(spot: Spot): string[] {
  const objects = new Set<string>();
  for (const { expression } of spot.activation.bindings) {
    const path = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+/u.exec(expression)?.[0];
    for (let object = path; object?.includes('.'); ) {
      object = object.slice(0, object.lastIndexOf('.'));
      objects.add(object);
    }
  }
  for (const { block } of spot.links)
    for (const statement of block)
      if (statement.kind === 'Assign' && statement.value.kind === 'Call' && statement.targets[0]?.kind === 'Name') {
        const { callee } = statement.value;
        if (callee.kind === 'Name' && /^_*[A-Z]/.test(callee.id)) objects.add(statement.targets[0].id);
      }
  return [...objects].slice(0, 4);
}

export function rootName(expression: string): string | undefined {
  return /^[\p{L}_][\p{L}\p{N}_]*/u.exec(expression)?.[0];
}

function selfOf(definition: FunctionDef): string | undefined {
  return definition.parameters[0]?.name;
}

function isLocal(definition: FunctionDef | undefined, name: string): boolean {
  return (
    definition !== undefined && (definition.parameters.some((p) => p.name === name) || !isBound(definition, [], name))
  );
}

/** Whether the expression's first name is surely bound here. */
export function isNamedAt(spot: Spot, expression: string): boolean {
  const base = rootName(expression);
  return base !== undefined && (isBound(spot.root, linksAt(spot), base) || isRead(spot, base));
}

/** Whether the statement itself cannot do without the name: in the first turn of the loop it does not run. */
function isRead(spot: Spot, name: string): boolean {
  const statement = holder(spot);
  if (statement.kind !== 'ExpressionStatement' && statement.kind !== 'Assign' && statement.kind !== 'Return')
    return false;
  if (!statement.value) return false;
  const text = spot.module.text.slice(statement.value.start, statement.value.end);
  // What these bind is bound nowhere else.
  if (/\bfor\b|\blambda\b|:=|["'#]/.test(text)) return false;
  return new RegExp(`(?<![\\p{L}\\p{N}_.])${name}(?![\\p{L}\\p{N}_]|\\s*=[^=])`, 'u').test(text);
}

export function streamAt(spot: Spot, stream: StreamId): string | undefined {
  return expressionsAt(spot, { kind: 'stream', stream })[0];
}

export function currentStream(spot: Spot): string {
  return `${spot.activation.torchName ?? 'torch'}.cuda.current_stream()`;
}

/** The edits, and the import that they need where `torch` has no name in the module. */
export function withImports(spot: Spot, edits: readonly OffsetEdit[]): OffsetEdit[] {
  const needed = !spot.activation.torchName && edits.some((edit) => /\btorch\./.test(edit.newText));
  return needed ? [importTorch(spot.module), ...edits] : [...edits];
}

/** A name that the text does not use: `copy_done`, `copy_done_2`. */
export function freshName(text: string, wanted: string): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}_${i}`;
    if (!new RegExp(`\\b${name}\\b`).test(text)) return name;
  }
}

/** `copy_done` for `self.copy`, `refresh_done` for `REFRESH`: after the last plain word of the expression. */
export function eventNameFor(stream: string | undefined): string {
  if (!stream || stream.includes('current_stream')) return 'done';
  const word =
    stream
      .match(/[A-Za-z_]\w*/g)
      ?.at(-1)
      ?.replace(/^_+|_+$/g, '') ?? '';
  // A constant's event is a variable.
  return word ? `${word === word.toUpperCase() ? word.toLowerCase() : word}_done` : 'done';
}

export function spoken(stream: string): string {
  return stream.endsWith('current_stream()') ? 'the current stream' : `\`${stream}\``;
}
