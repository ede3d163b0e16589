/**
 * Regions of a file that run on a side stream (`with torch.cuda.stream(side):`), and the fork and the join that one needs
 * whose work the analysis does not see: it calls what nobody can follow. The wait of the side stream before the region
 * also covers the memory that earlier regions gave back, so the two of them are enough without any record_stream.
 *
 * Read from syntax alone. An order that somebody wrote for the stream, in this function or, for the join, anywhere in its
 * class, is taken for the one that is meant.
 */
import { walk } from './lower/names.ts';
import type { Expression, FunctionDef, Module, Statement, With } from './python/ast.ts';
import { childBlocks, type Link } from './rules/fixes/blocks.ts';
import { insertAfter, insertBefore, type OffsetEdit } from './rules/fixes/edits.ts';
import { freshName } from './rules/fixes/spot.ts';

export interface OpenRegion {
  readonly stream: string;
  readonly start: number;
  /** The edits that close it; undefined where there is no place for one of them. */
  readonly edits: readonly OffsetEdit[] | undefined;
  readonly lacks: 'fork' | 'join' | 'fork and join';
}

/** `isSeen`: whether the analysis found work, or an order, in the call that stands there. */
export function openRegions(module: Module, isSeen: (start: number, end: number) => boolean): OpenRegion[] {
  const found: OpenRegion[] = [];
  const visit = (block: readonly Statement[], parent: Statement | undefined, around: Surroundings): void => {
    block.forEach((statement, index) => {
      if (statement.kind === 'FunctionDef') visit(statement.body, statement, { ...around, definition: statement });
      else if (statement.kind === 'ClassDef') visit(statement.body, statement, { ...around, holder: statement });
      else for (const child of childBlocks(statement)) visit(child, statement, around);
      const open =
        statement.kind === 'With' ? openRegion(module, { block, index, parent }, statement, around, isSeen) : undefined;
      if (open) found.push(open);
    });
  };
  visit(module.body, undefined, { definition: undefined, holder: undefined });
  return found;
}

interface Surroundings {
  readonly definition: FunctionDef | undefined;
  readonly holder: Statement | undefined;
}

function openRegion(
  module: Module,
  link: Link,
  region: With,
  { definition, holder }: Surroundings,
  isSeen: (start: number, end: number) => boolean,
): OpenRegion | undefined {
  const { text } = module;
  const chosen = region.items.length === 1 ? chosenStream(text, region.items[0]!.context) : undefined;
  if (!chosen || !hidesWork(text, region, isSeen)) return undefined;
  const { stream, current } = chosen;
  // In a place of its own a join is somebody else's business; in a generator it is the consumer's.
  const scope = definition ?? module;
  const before = text.slice(scope.start, region.start);
  const whole = holder ?? scope;
  const all = text.slice(whole.start, whole.end);
  const name = escaped(stream);
  const forked =
    new RegExp(`\\b${name}\\.wait_(?:stream|event)\\(|\\.wait\\(\\s*(?:stream\\s*=\\s*)?${name}\\s*\\)`).test(before) ||
    /\b(?:wait|wait_event|wait_stream)\(/.test(headOf(text, region));
  const joined =
    new RegExp(`\\.wait_stream\\(\\s*${name}\\s*\\)|\\b${name}\\.synchronize\\(|\\.record\\(\\s*${name}\\s*\\)`).test(
      all,
    ) ||
    /\.cuda\.synchronize\(/.test(text.slice(region.end, scope.end)) ||
    /\.(?:record|record_event)\(/.test(text.slice(region.start, region.end));
  if (forked && joined) return undefined;
  const lacks = forked ? 'join' : joined ? 'fork' : 'fork and join';
  const open = { stream, start: region.start, lacks } as const;
  if (mayBeNone(all, name) || leavesEarly(region)) return { ...open, edits: undefined };
  const edits: OffsetEdit[] = [];
  const last = region.body.at(-1)!;
  const caller = freshName(text, 'caller');
  const ahead = forked ? [] : [`${stream}.wait_stream(${current})`];
  if (joined) edits.push(insertBefore(module, link, ahead));
  else if (last.kind === 'Return') {
    const inner: Link = { block: region.body, index: region.body.length - 1, parent: region };
    const result = freshName(text, 'result');
    if (!last.value) return { ...open, edits: undefined };
    const value = text.slice(last.value.start, last.value.end);
    if (value.includes('\n')) return { ...open, edits: undefined };
    edits.push(insertBefore(module, link, [`${caller} = ${current}`, ...ahead]));
    edits.push(insertBefore(module, inner, [`${result} = ${value}`, `${caller}.wait_stream(${stream})`]));
    edits.push({ file: module.file, start: last.value.start, end: last.value.end, newText: result });
  } else {
    if (ahead.length) edits.push(insertBefore(module, link, ahead));
    edits.push(insertAfter(module, link, [`${current}.wait_stream(${stream})`]));
  }
  return { ...open, edits };
}

/** The stream that `torch.cuda.stream(side)` selects, if it has a name that stays, and how the current one is asked for. */
function chosenStream(text: string, context: Expression): { stream: string; current: string } | undefined {
  if (context.kind !== 'Call' || context.args.length !== 1 || context.keywords.length) return undefined;
  const callee = text.slice(context.callee.start, context.callee.end);
  const argument = context.args[0]!;
  const stream = text.slice(argument.start, argument.end);
  if (!/^\w[\w.]*\.stream$/.test(callee) || !/^[A-Za-z_]\w*(?:\.\w+)*$/.test(stream)) return undefined;
  return { stream, current: callee.replace(/stream$/, 'current_stream()') };
}

/** Calls that do nothing on a stream, whatever they are given. */
const harmless = new Set(
  'abs all any bool dict enumerate float getattr hasattr id int isinstance issubclass iter len list max min next print range repr reversed round set setattr sorted str sum super tuple type zip'.split(
    ' ',
  ),
);

/** Whether the region calls something with an argument of which the analysis has seen nothing. */
function hidesWork(text: string, region: With, isSeen: (start: number, end: number) => boolean): boolean {
  let hides = false;
  for (const statement of region.body)
    walk(statement, (node) => {
      if (node.kind === 'FunctionDef' || node.kind === 'Lambda' || node.kind === 'ClassDef') return false;
      if (node.kind !== 'Call') return true;
      const { callee, args, keywords } = node as unknown as Extract<Expression, { kind: 'Call' }>;
      const name = text.slice(callee.start, callee.end);
      const takes = args.length + keywords.length > 0;
      if (
        takes &&
        !harmless.has(name) &&
        !/\b(?:torch|logg\w*|warnings|math|os|time)\b/.test(name) &&
        !isSeen(node.start, node.end)
      )
        hides = true;
      return true;
    });
  return hides;
}

/** The first statement of the region, which may be the fork. */
function headOf(text: string, region: With): string {
  const first = region.body[0]!;
  return first.kind === 'ExpressionStatement' ? text.slice(first.start, first.end) : '';
}

/** To wait on None would fail where entering its context does nothing. */
function mayBeNone(text: string, name: string): boolean {
  return new RegExp(
    `(?<![\\w.])${name}\\s*(?::[^=\\n]*)?=\\s*None\\b|(?<![\\w.])${name}\\s+is\\s+(?:not\\s+)?None\\b|(?<![\\w.])if\\s+(?:not\\s+)?${name}\\s*[:\\n]|(?<![\\w.])${name}\\s*=[^=\\n]*\\belse\\b`,
  ).test(text);
}

/** Whether the region is left, or suspended, anywhere but at its end. */
function leavesEarly(region: With): boolean {
  let early = false;
  const last = region.body.at(-1);
  for (const statement of region.body)
    walk(statement, (node) => {
      if (node.kind === 'FunctionDef' || node.kind === 'Lambda' || node.kind === 'ClassDef') return false;
      if (node.kind === 'Yield' || node.kind === 'YieldFrom' || node.kind === 'Await') early = true;
      if ((node.kind === 'Return' || node.kind === 'Break' || node.kind === 'Continue') && (node as unknown) !== last)
        early = true;
      return true;
    });
  return early || last?.kind === 'Break' || last?.kind === 'Continue';
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
