/**
 * Conservative first, then lean: inserts every order that could be needed into a document, and lists the calls of it that
 * can go. Both look at the whole workspace and speak of the one document.
 */
import { ErrorCodes, type Range, ResponseError } from 'vscode-languageserver';
import { conservative } from '../../core/conservative.ts';
import { spareCalls } from '../../core/lean.ts';
import { applyEdits } from '../applyEdits.ts';
import { lineEdits } from '../lineEdits.ts';
import type { Session } from '../session.ts';

export interface InsertedOrders {
  readonly inserted: number;
  /** Orders that found no place. Lines from 0. */
  readonly left: readonly { readonly line: number; readonly message: string }[];
}

export async function insertOrders(session: Session, args: readonly unknown[]): Promise<InsertedOrders> {
  const key = documentKey(session, args, 'conservative');
  const files = session.files();
  const before = files.find(({ file }) => file === key)?.text;
  if (before === undefined) throw notOpen('insert orders into it');
  const version = session.version(key);
  const { files: safe, inserted, left, problems } = conservative(session.parser, files, new Set([key]));
  for (const { file, message } of problems)
    if (file === key) throw new ResponseError(ErrorCodes.InvalidRequest, `this file is ${message}`);
  const edits = lineEdits(before, safe.find(({ file }) => file === key)!.text).map((edit) => ({ ...edit, file: key }));
  const answer = { inserted, left: left.map(({ line, message }) => ({ line, message })) };
  if (!edits.length) return answer;
  await applyEdits(session, edits, {
    label: 'Raceline: insert every order that could be needed',
    versionOf: () => version,
    instead: 'raceline conservative',
  });
  return answer;
}

export interface SpareOrder {
  readonly range: Range;
  readonly call: string;
  readonly proof: string;
}

export function listSpareOrders(session: Session, args: readonly unknown[]): readonly SpareOrder[] {
  const key = documentKey(session, args, 'lean');
  const files = session.files();
  if (!files.some(({ file }) => file === key)) throw notOpen('list its orders that can go');
  return spareCalls(session.parser, files)
    .calls.filter(({ file }) => file === key)
    .map(({ range, call, proof }) => ({ range, call, proof }));
}

function documentKey(session: Session, [uri]: readonly unknown[], command: string): string {
  if (typeof uri !== 'string')
    throw new ResponseError(ErrorCodes.InvalidParams, `${command} needs the URI of a document`);
  return session.uris.seen(uri);
}

function notOpen(purpose: string): ResponseError {
  return new ResponseError(ErrorCodes.InvalidParams, `open the Python file to ${purpose}`);
}
