/**
 * Text edits on whole statements: a new one before or after another, one removed. They keep the block's own indentation
 * and the file's line ends. Knows offsets and layout, no torch.
 */
import type { Module, Statement } from '../../python/ast.ts';
import { type Link, statementOf } from './blocks.ts';

export interface OffsetEdit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** New statements before the link's own. */
export function insertBefore(module: Module, link: Link, lines: readonly string[]): OffsetEdit {
  const { text, file } = module;
  const { start } = statementOf(link);
  const indent = indentOf(text, start);
  // Several statements on one line: stay on it.
  if (indent === undefined) return { file, start, end: start, newText: `${lines.join('; ')}; ` };
  const at = start - indent.length;
  const eol = lineEnd(text);
  return { file, start: at, end: at, newText: lines.map((line) => indent + line + eol).join('') };
}

/** New statements after the link's own. */
export function insertAfter(module: Module, link: Link, lines: readonly string[]): OffsetEdit {
  const { text, file } = module;
  const { start } = statementOf(link);
  const end = endOf(text, statementOf(link));
  const indent = indentOf(text, firstOnLine(link, text, start));
  const rest = /^[^\n\r]*/.exec(text.slice(end))![0];
  if (indent === undefined || !/^\s*(#.*)?$/.test(rest))
    return { file, start: end, end, newText: `; ${lines.join('; ')}` };
  const at = end + rest.length;
  const eol = lineEnd(text);
  return { file, start: at, end: at, newText: lines.map((line) => eol + indent + line).join('') };
}

/** The link's statement goes, with its line; a block is never left empty. */
export function remove(module: Module, link: Link): OffsetEdit {
  const { text, file } = module;
  const { start } = statementOf(link);
  const end = endOf(text, statementOf(link));
  if (link.block.length === 1) return { file, start, end, newText: 'pass' };
  const indent = indentOf(text, start);
  const rest = /^[^\n\r]*/.exec(text.slice(end))![0];
  if (indent !== undefined && /^\s*(#.*)?$/.test(rest)) {
    const lineStart = start - indent.length;
    const after = end + rest.length;
    const eol = /^(\r\n|\n|\r)/.exec(text.slice(after, after + 2))?.[0] ?? '';
    return { file, start: lineStart, end: after + eol.length, newText: '' };
  }
  // One of several on a line: take the separator that follows, or else the one before.
  const following = /^\s*;[ \t]*/.exec(rest)?.[0];
  if (following !== undefined && link.index + 1 < link.block.length)
    return { file, start, end: end + following.length, newText: '' };
  const before = /[ \t]*;[ \t]*$/.exec(text.slice(0, start))?.[0] ?? '';
  return { file, start: start - before.length, end, newText: '' };
}

/** `import torch`, after the docstring and the imports from `__future__`. */
export function importTorch(module: Module): OffsetEdit {
  const { body, text, file } = module;
  const eol = lineEnd(text);
  let last: Statement | undefined;
  for (const statement of body) {
    const isDocstring =
      statement === body[0] && statement.kind === 'ExpressionStatement' && statement.value.kind === 'Constant';
    const isImport = statement.kind === 'Import' || statement.kind === 'ImportFrom';
    if (!isDocstring && !isImport) break;
    last = statement;
  }
  if (last) {
    const end = endOf(text, last);
    const rest = /^[^\n\r]*/.exec(text.slice(end))![0];
    const at = end + rest.length;
    return { file, start: at, end: at, newText: `${eol}import torch` };
  }
  const first = /^(?:#[^\n\r]*(?:\r\n|\n|\r))*/.exec(text)![0].length;
  return { file, start: first, end: first, newText: `import torch${eol}` };
}

/** The grammar's comments reach over a carriage return: a block that ends in one would end in the middle of a line end. */
function endOf(text: string, { end }: Statement): number {
  return text[end - 1] === '\r' && text[end] === '\n' ? end - 1 : end;
}

/** The white space before `start`, if nothing else stands on the line before it. */
function indentOf(text: string, start: number): string | undefined {
  let at = start;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--;
  return at === 0 || text[at - 1] === '\n' || text[at - 1] === '\r' ? text.slice(at, start) : undefined;
}

/** For a statement that follows others on its line: the start of the first one. */
function firstOnLine(link: Link, text: string, start: number): number {
  const before = link.block[link.index - 1];
  if (!before || /[\n\r]/.test(text.slice(before.end, start))) return start;
  return firstOnLine({ ...link, index: link.index - 1 }, text, before.start);
}

/** What a block of this file is indented by. */
export function indentUnit(text: string): string {
  return /^\t/m.test(text) ? '\t' : '    ';
}

function lineEnd(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}
