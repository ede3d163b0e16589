/**
 * Edits as they are in the middle of typing, and what must hold after each of them in a checker that lives as long as an
 * editor's: nothing thrown, the findings of all other functions in their places, and those of the start when it is undone.
 */
import type { SourceChecker } from '../../core/checkSource.ts';
import type { PythonParser } from '../../core/python/parse.ts';
import type { Finding } from '../../core/rules/finding.ts';

export interface Edit {
  readonly kind: string;
  /** The edited line in the old text, and how many lines the edit adds. */
  readonly line: number;
  readonly added: number;
  readonly text: string;
}

type Typing = (line: string, indent: string) => string;

/** What becomes of one line; the same line where the kind has nothing to do there. */
const kinds: Readonly<Record<string, Typing>> = {
  'cut in the middle': (line, indent) => line.slice(0, indent.length + Math.ceil((line.length - indent.length) / 2)),
  'open bracket': (line) => `${line.replace(/:$/, '')} + call(`,
  'open string': (line) => `${line} "half`,
  'open triple quote': (line, indent) => `${indent}"""\n${line}`,
  'dangling with': (line, indent) => `${indent}with torch.cuda.stream(\n${line}`,
  'with without a body': (line, indent) => `${line}\n${indent}with self.stream:`,
  'deleted colon': (line) => line.replace(/:$/, ''),
  'one space more': (line) => ` ${line}`,
  'no indentation': (line) => line.trimStart(),
  'name and dot': (line, indent) => `${line}\n${indent}torch.`,
  'closing bracket gone': (line) => line.replace(/\)([^)]*)$/, '$1'),
  'definition without an end': (line, indent) => `${line}\n${indent}def `,
};

export const kindNames: readonly string[] = Object.keys(kinds);

/** The edits of one line: of these kinds, as far as they change anything. */
export function editsAt(text: string, line: number, names: readonly string[] = kindNames): Edit[] {
  const lines = text.split('\n');
  const old = lines[line]!;
  if (!old.trim()) return [];
  const indent = /^\s*/.exec(old)![0];
  return names.flatMap((kind) => {
    const typed = kinds[kind]!(old, indent);
    if (typed === old) return [];
    const now = [...lines.slice(0, line), typed, ...lines.slice(line + 1)].join('\n');
    return [{ kind, line, added: typed.split('\n').length - 1, text: now }];
  });
}

/** First and last line of each top-level function, method, and piece of code around them: what an edit may take along. */
export function unitsOf(text: string): { readonly first: number; readonly last: number }[] {
  const units: { first: number; last: number }[] = [];
  let indent = -1;
  text.split('\n').forEach((line, i) => {
    if (!line.trim()) return;
    const own = /^\s*/.exec(line)![0].length;
    const opens = /^\s*(?:(?:async\s+)?def|class|@)/.test(line) && (indent < 0 || own <= indent);
    const after = indent >= 0 && own <= indent && !/^\s*[)\]}]/.test(line);
    const decorated = /^\s*@/.test(text.split('\n')[units.at(-1)?.last ?? -1] ?? '');
    if (!units.length || ((opens || after) && !decorated)) units.push({ first: i, last: i });
    if (opens) indent = /^\s*class/.test(line) ? -1 : own;
    else if (after) indent = -1;
    units.at(-1)!.last = i;
  });
  return units;
}

/** A file in a checker, and the findings that it has as it is. */
export interface Opened {
  readonly checker: SourceChecker;
  readonly parser: PythonParser;
  readonly file: string;
  readonly text: string;
  readonly known: readonly Finding[];
}

/** What went wrong with an edit, in words. */
export function faultsOf({ checker, parser, file, text, known }: Opened, edit: Edit): string[] {
  const faults: string[] = [];
  const { findings, problems } = checker.check([{ file, text: edit.text }], { fixes: false });
  for (const { message } of problems) faults.push(`problem: ${message}`);
  // What parses in the middle of typing is another program, with findings of its own.
  const isHalf = parser.parse('half-typed.py', edit.text).errors.length > 0;
  const own = unitsOf(text).find(({ first, last }) => first <= edit.line && edit.line <= last)!;
  const isElsewhere = (line: number) => isHalf && (line < own.first || line > own.last);
  const moved = (line: number) => (line > edit.line ? line + edit.added : line);
  const there = new Set(findings.map(({ code, range: { start, end } }) => nameOf(code, start, end, (line) => line)));
  const expected = new Set<string>();
  for (const { code, range } of known) {
    const name = nameOf(code, range.start, range.end, moved);
    expected.add(name);
    if (isElsewhere(range.start.line) && !there.has(name)) faults.push(`lost: ${name}`);
  }
  const undone = (line: number) => (line > edit.line ? Math.max(edit.line, line - edit.added) : line);
  for (const { code, range } of findings) {
    const name = nameOf(code, range.start, range.end, (line) => line);
    if (isElsewhere(undone(range.start.line)) && !expected.has(name)) faults.push(`new: ${name}`);
  }
  const again = checker.check([{ file, text }], { fixes: false });
  for (const { message } of again.problems) faults.push(`problem when undone: ${message}`);
  if (JSON.stringify(again.findings) !== JSON.stringify(known)) faults.push('other findings when undone');
  return faults;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

function nameOf(code: string, start: Position, end: Position, line: (line: number) => number): string {
  return `${code} ${line(start.line) + 1}:${start.character + 1}-${line(end.line) + 1}:${end.character + 1}`;
}
