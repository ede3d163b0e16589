/**
 * `workspace/executeCommand`. The ids differ from the extension's commands: a client registers the server's ids as its
 * own, and two registrations of one id clash.
 */
import { ErrorCodes, ResponseError } from 'vscode-languageserver';
import { applyEdits } from '../applyEdits.ts';
import type { Session } from '../session.ts';
import { explain } from './explain.ts';
import { fixAllEdits } from './fixAll.ts';
import { insertOrders, listSpareOrders } from './orders.ts';
import { previewFunction, showWitness } from './preview.ts';

type Command = (session: Session, args: readonly unknown[]) => unknown;

export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['raceline.server.fixAll', applyFixAll],
  ['raceline.server.preview', previewFunction],
  ['raceline.server.witness', showWitness],
  ['raceline.server.conservative', insertOrders],
  ['raceline.server.lean', listSpareOrders],
  ['raceline.server.explain', explain],
  ['raceline.server.debugInformation', (session) => session.describe()],
]);

export function executeCommand(session: Session, command: string, args: readonly unknown[]): unknown {
  const run = commands.get(command);
  if (!run) return new ResponseError(ErrorCodes.InvalidParams, `there is no command '${command}'`);
  return run(session, args);
}

/** Applies all certain fixes of a document; answers how many edits were made. */
async function applyFixAll(session: Session, [uri]: readonly unknown[]): Promise<number> {
  if (typeof uri !== 'string') throw new ResponseError(ErrorCodes.InvalidParams, 'fixAll needs the URI of a document');
  const edits = fixAllEdits(session, session.uris.seen(uri));
  if (!edits.length) return 0;
  await applyEdits(session, edits, {
    label: 'Raceline: fix all in file',
    versionOf: (key) => session.version(key),
    instead: 'source.fixAll.raceline',
  });
  return edits.length;
}
