/** Conservative first, then lean: every order that could be needed goes in, and what can go without a race is listed. */
import * as vscode from 'vscode';
import type { CommandContext } from './context.ts';

interface InsertedOrders {
  readonly inserted: number;
  readonly left: readonly { readonly line: number; readonly message: string }[];
}

interface SpareOrder {
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly call: string;
  readonly proof: string;
}

export async function insertOrders(c: CommandContext): Promise<void> {
  const document = activePython('insert orders into it');
  const { inserted, left } = await ask<InsertedOrders>(c, 'raceline.server.conservative', document);
  for (const { line, message } of left)
    c.log.warn(`${vscode.workspace.asRelativePath(document.uri)}:${line + 1}: no place for this order: ${message}`);
  const rest = left.length ? `, ${left.length} found no place (see the log)` : '';
  const text = inserted || left.length ? `${inserted} inserted${rest}` : 'every order is there already';
  vscode.window.setStatusBarMessage(`Raceline: ${text}`, 8000);
}

export async function listSpareOrders(c: CommandContext): Promise<void> {
  const document = activePython('list its orders that can go');
  const spare = await ask<readonly SpareOrder[]>(c, 'raceline.server.lean', document);
  if (!spare.length) {
    vscode.window.setStatusBarMessage('Raceline: no call of this file is known to be needless', 8000);
    return;
  }
  const picked = await vscode.window.showQuickPick(
    spare.map(({ range, call, proof }) => ({
      label: call,
      description: `line ${range.start.line + 1}`,
      detail: proof,
      range,
    })),
    { title: 'Orders That Can Go', placeHolder: 'All of them can go together', matchOnDetail: true },
  );
  if (!picked) return;
  const { start, end } = picked.range;
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(start.line, start.character, end.line, end.character),
  });
}

function activePython(purpose: string): vscode.TextDocument {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== 'python') throw new Error(`open a Python file to ${purpose}`);
  return document;
}

async function ask<T>(c: CommandContext, command: string, { uri }: vscode.TextDocument): Promise<T> {
  const client = await c.language.get();
  return client.sendRequest<T>('workspace/executeCommand', {
    command,
    arguments: [client.code2ProtocolConverter.asUri(uri)],
  });
}
