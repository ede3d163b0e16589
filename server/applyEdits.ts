/** Has the client apply the edits of a command. One that cannot is told what else does the same. */
import { ErrorCodes, ResponseError } from 'vscode-languageserver';
import type { FileEdit } from '../core/base/text.ts';
import { workspaceEdit } from './convert.ts';
import type { Session } from './session.ts';

export interface Application {
  /** What undoing it is called. */
  readonly label: string;
  /** The version of a document that the edits are for. */
  readonly versionOf: (key: string) => number | null;
  /** What a client that applies no edits can use. */
  readonly instead: string;
}

export async function applyEdits(
  { client, connection, uris }: Session,
  edits: readonly FileEdit[],
  { label, versionOf, instead }: Application,
): Promise<void> {
  if (!client.appliesEdits)
    throw new ResponseError(ErrorCodes.InvalidRequest, `this client does not apply edits; use ${instead}`);
  const edit = workspaceEdit(edits, uris, versionOf, client.documentChanges);
  const { applied, failureReason } = await connection.workspace.applyEdit({ label, edit });
  if (!applied) throw new Error(failureReason ?? 'the client did not apply the edits');
}
