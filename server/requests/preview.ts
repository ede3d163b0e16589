/**
 * The function around a place, run on the built-in executor: answers a `.raceline` file's text. Nothing is started
 * outside this process, so it also works in an untrusted workspace.
 */
import { ErrorCodes, ResponseError } from 'vscode-languageserver';
import { LineMap } from '../../core/base/text.ts';
import { preview } from '../../core/preview.ts';
import type { Module, Statement } from '../../core/python/ast.ts';
import type { Session } from '../session.ts';

export interface PreviewAnswer {
  readonly entry: string;
  readonly raceline: string;
}

/** Arguments: the URI of a document, and a line from 0; without a line the file's first entry is run. */
export function previewFunction(session: Session, [uri, line]: readonly unknown[]): PreviewAnswer {
  if (typeof uri !== 'string') throw new ResponseError(ErrorCodes.InvalidParams, 'preview needs the URI of a document');
  const key = session.uris.seen(uri);
  const files = session.files();
  const file = files.find((candidate) => candidate.file === key);
  if (!file) throw new ResponseError(ErrorCodes.InvalidParams, 'open the Python file to preview a function of it');
  const module = session.parser.parse(key, file.text);
  const name = typeof line === 'number' ? functionAt(module, new LineMap(file.text), line) : undefined;
  // The file itself goes first: the entry is looked for there.
  const { raceline, entry } = preview(session.parser, [file, ...files.filter((other) => other !== file)], name);
  return { entry, raceline };
}

/** `train`, `Prefetcher.next`: the outermost function around a line, as entries are named. Undefined: module code. */
function functionAt(module: Module, map: LineMap, line: number): string | undefined {
  const start = map.offset({ line, character: 0 });
  const end = map.offset({ line: line + 1, character: 0 });
  const find = (body: readonly Statement[], prefix: string): string | undefined => {
    for (const statement of body) {
      if (statement.kind !== 'FunctionDef' && statement.kind !== 'ClassDef') continue;
      if (statement.end < start || statement.start >= end) continue;
      const name = prefix + statement.name;
      return statement.kind === 'FunctionDef' ? name : find(statement.body, `${name}.`);
    }
    return undefined;
  };
  return find(module.body, '');
}
