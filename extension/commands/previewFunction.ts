/**
 * Preview Timeline of Function: the language server runs it on the built-in executor; the trace lies in the extension's
 * storage, not in the workspace. Starts no process, so it needs no trust.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { previewFolder, viewType } from '../timeline/editor.ts';
import { type CommandContext, pythonUri } from './context.ts';

interface PreviewAnswer {
  readonly entry: string;
  readonly raceline: string;
}

export async function previewFunction(c: CommandContext, given: unknown, givenLine: unknown): Promise<void> {
  const uri = pythonUri(given);
  if (!uri) throw new Error('open the Python file whose function to preview');
  const editor = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
  const line = typeof givenLine === 'number' ? givenLine : editor?.selection.active.line;
  await vscode.workspace.openTextDocument(uri);
  const client = await c.language.get();
  const { entry, raceline } = await client.sendRequest<PreviewAnswer>('workspace/executeCommand', {
    command: 'raceline.server.preview',
    arguments: [client.code2ProtocolConverter.asUri(uri), line],
  });
  // The same function of the same file is the same document: a second preview refreshes the open timeline.
  const place = createHash('sha256').update(uri.toString()).digest('hex').slice(0, 8);
  const file = path.posix.basename(uri.path, '.py');
  const name = entry === '<module>' ? file : `${file}-${entry.replace(/[^\w.]+/g, '_')}`;
  const trace = vscode.Uri.joinPath(previewFolder(c.context), place, `${name}.raceline`);
  await vscode.workspace.fs.writeFile(trace, new TextEncoder().encode(raceline));
  await vscode.commands.executeCommand('vscode.openWith', trace, viewType, vscode.ViewColumn.Beside);
}
