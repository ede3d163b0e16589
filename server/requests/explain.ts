/**
 * The page of a rule, shown by the client: VS Code by a command of its own, any other editor that shows documents through
 * `window/showDocument`.
 */
import { CodeActionKind, type CodeAction, ErrorCodes, ResponseError } from 'vscode-languageserver';
import { rules } from '../../core/rules/index.ts';
import type { Session } from '../session.ts';

/** Undefined where the client has no way to show it. */
export function explainAction({ client }: Session, code: string): CodeAction | undefined {
  const title = `Explain ${code}`;
  const command = client.knows.has('raceline/explain')
    ? 'raceline.explain'
    : client.showsDocuments && client.diagnostics.docsUri && client.listsCommands
      ? 'raceline.server.explain'
      : undefined;
  return command && { title, kind: CodeActionKind.QuickFix, command: { title, command, arguments: [code] } };
}

export async function explain({ client, connection }: Session, [code]: readonly unknown[]): Promise<boolean> {
  if (!rules.some((rule) => rule.code === code))
    throw new ResponseError(ErrorCodes.InvalidParams, `there is no rule '${String(code)}'`);
  const { docsUri } = client.diagnostics;
  if (!client.showsDocuments || !docsUri)
    throw new ResponseError(ErrorCodes.InvalidRequest, `this client shows no documents; see raceline explain ${code}`);
  const { success } = await connection.window.showDocument({ uri: `${docsUri}${code}.md`, takeFocus: true });
  return success;
}
