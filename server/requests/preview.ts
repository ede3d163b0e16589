/**
 * The function around a place, run on the built-in executor: answers a `.raceline` file's text. Nothing is started
 * outside this process, so it also works in an untrusted workspace.
 */
import { ErrorCodes, ResponseError } from 'vscode-languageserver';
import { LineMap } from '../../core/base/text.ts';
import { lower } from '../../core/lower/lower.ts';
import type { LoweredEntry } from '../../core/lower/lowered.ts';
import { previewEntry, previewWitnesses } from '../../core/preview.ts';
import type { FunctionDef, Module, Statement } from '../../core/python/ast.ts';
import { lazyModule } from '../../core/python/lazy.ts';
import type { Session } from '../session.ts';

export interface PreviewAnswer {
  /** What ran: the function itself, or a caller that runs through it. */
  readonly entry: string;
  readonly raceline: string;
}

export interface WitnessAnswer {
  readonly entry: string;
  readonly witnesses: readonly {
    readonly code: string;
    /** What goes wrong: ``mul` reads what `fill_` has not written`. */
    readonly wrong: string;
    readonly message: string;
    /** Lines from 1 of the document that the hazard's report stands on, outermost call first. */
    readonly lines: readonly number[];
    /** Texts of two `.raceline` files. */
    readonly intended: string;
    readonly witness: string;
  }[];
}

/** Arguments: the URI of a document, and a line from 0; without a line, or outside of functions, the file's module code. */
export function previewFunction(session: Session, args: readonly unknown[]): PreviewAnswer {
  const { entries, place } = entriesAround(session, args);
  for (const entry of entries) {
    const raceline = previewEntry(entry);
    if (raceline !== undefined) return { entry: entry.name, raceline };
  }
  throw new ResponseError(
    ErrorCodes.InvalidRequest,
    place
      ? `nothing to preview: ${place.name} does no work on a stream, and nothing that calls it does`
      : 'nothing to preview: no function of this file works with streams',
  );
}

/** Schedules in which hazards happen; arguments as for a preview. Hazards of the line itself come first. */
export function showWitness(session: Session, args: readonly unknown[]): WitnessAnswer {
  const { entries, place, key, line } = entriesAround(session, args);
  for (const entry of entries) {
    const witnesses = previewWitnesses(entry).map(({ code, wrong, message, frames, intended, witness }) => {
      const lines = frames.filter(({ file }) => file === key).map((frame) => frame.line);
      return { code, wrong, message, lines, intended, witness };
    });
    if (!witnesses.length) continue;
    const here = (lines: readonly number[]) => (line !== undefined && lines.includes(line + 1) ? 0 : 1);
    witnesses.sort((a, b) => here(a.lines) - here(b.lines));
    return { entry: entry.name, witnesses };
  }
  throw new ResponseError(
    ErrorCodes.InvalidRequest,
    `there is no witness: no value of ${place ? place.name : 'this file’s functions'} can come out wrong for want of an order, as far as is known`,
  );
}

function entriesAround(session: Session, [uri, line]: readonly unknown[]) {
  if (typeof uri !== 'string') throw new ResponseError(ErrorCodes.InvalidParams, 'preview needs the URI of a document');
  const key = session.uris.seen(uri);
  const modules = session.files().map(({ file, text }) => lazyModule(session.parser, file, text));
  const module = modules.find(({ file }) => file === key);
  if (!module) throw new ResponseError(ErrorCodes.InvalidParams, 'open the Python file to preview a function of it');
  const place = typeof line === 'number' ? functionAt(module, line) : undefined;
  const entries = lower(modules, { entered: (file) => file === key });
  return { entries: inOrder(entries, key, place), place, key, line: typeof line === 'number' ? line : undefined };
}

/** The function itself where it is an entry, then callers that run through it; without a function all of the file. */
function* inOrder(entries: readonly LoweredEntry[], file: string, place: Place | undefined): Generator<LoweredEntry> {
  const own = entries.filter((entry) => entry.file === file);
  if (!place) {
    yield* own;
    return;
  }
  const isIn = ({ node }: Place, entry: LoweredEntry) =>
    entry.paths.some(({ activations }) =>
      activations.some(
        (a) => a.module.file === file && a.function?.start === node.start && a.function.end === node.end,
      ),
    );
  yield* own.filter((entry) => entry.name === place.name);
  yield* entries.filter((entry) => !(entry.file === file && entry.name === place.name) && isIn(place, entry));
}

interface Place {
  /** `train`, `Prefetcher.next`, as entries are named. */
  readonly name: string;
  readonly node: FunctionDef;
}

/** The outermost function around a line. */
function functionAt(module: Module, line: number): Place | undefined {
  const map = new LineMap(module.text);
  const start = map.offset({ line, character: 0 });
  const end = map.offset({ line: line + 1, character: 0 });
  const find = (body: readonly Statement[], prefix: string): Place | undefined => {
    for (const statement of body) {
      if (statement.kind !== 'FunctionDef' && statement.kind !== 'ClassDef') continue;
      if (statement.end < start || statement.start >= end) continue;
      const name = prefix + statement.name;
      const found = statement.kind === 'FunctionDef' ? { name, node: statement } : find(statement.body, `${name}.`);
      if (found) return found;
    }
    return undefined;
  };
  return find(module.body, '');
}
