/**
 * From a place that a trace names to a place in an editor. A trace is data from anywhere: its paths are only looked for,
 * never run, and network shares are not touched.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import type { FromWebview } from '../../webview/protocol.ts';

interface PathMapping {
  readonly localRoot: string;
  readonly remoteRoot: string;
}

export async function reveal(
  { file, line, beside }: Pick<Extract<FromWebview, { type: 'reveal' }>, 'file' | 'line' | 'beside'>,
  trace: vscode.Uri,
  column: vscode.ViewColumn | undefined,
): Promise<void> {
  const source = await findSource(file, trace);
  if (!source) return explainMissing(file);
  const document = await vscode.workspace.openTextDocument(source);
  const at = new vscode.Position(Math.min(Math.max(line - 1, 0), document.lineCount - 1), 0);
  const character = document.lineAt(at).firstNonWhitespaceCharacterIndex;
  const place = at.with(undefined, character);
  // The timeline stays visible: the source opens in another column, in the one that already shows it if there is one.
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === source.toString());
  const besideColumn = column === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.One;
  await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? (beside ? vscode.ViewColumn.Beside : besideColumn),
    selection: new vscode.Range(place, place),
    preview: true,
  });
}

/** First the path as recorded, then by the mappings, then its longest tail below a workspace folder or beside the trace. */
export async function findSource(file: string, trace: vscode.Uri): Promise<vscode.Uri | undefined> {
  for (const candidate of candidates(file, trace)) {
    try {
      if ((await vscode.workspace.fs.stat(candidate)).type & vscode.FileType.File) return candidate;
    } catch {
      // Not there: the next one may be.
    }
  }
  return undefined;
}

function* candidates(file: string, trace: vscode.Uri): Generator<vscode.Uri> {
  const folders = vscode.workspace.workspaceFolders?.map((folder) => folder.uri) ?? [];
  const isShare = /^(?:\\\\|\/\/)/.test(file);
  if (!isShare && (path.posix.isAbsolute(file) || path.win32.isAbsolute(file))) {
    const [first] = folders;
    yield first && first.scheme !== 'file' ? first.with({ path: file }) : vscode.Uri.file(file);
  }
  const mappings = vscode.workspace.getConfiguration('raceline', trace).get<PathMapping[]>('pathMappings') ?? [];
  for (const { localRoot, remoteRoot } of mappings)
    if (typeof localRoot === 'string' && typeof remoteRoot === 'string' && file.startsWith(remoteRoot))
      yield vscode.Uri.joinPath(vscode.Uri.file(localRoot), file.slice(remoteRoot.length));
  const parts = file.split(/[\\/]+/).filter((part) => part && part !== '.');
  // `..` must not lead out of the folder.
  if (parts.includes('..')) return;
  for (let from = 0; from < parts.length; from++)
    for (const folder of [...folders, vscode.Uri.joinPath(trace, '..'), vscode.Uri.joinPath(trace, '../..')])
      yield vscode.Uri.joinPath(folder, ...parts.slice(from));
}

async function explainMissing(file: string): Promise<void> {
  const open = 'Open Folder…';
  const map = 'Map Paths';
  const choice = await vscode.window.showWarningMessage(
    `Raceline: ${file} was recorded, and is not in this workspace. Open the folder that holds it, or map the recorded path to yours.`,
    open,
    map,
  );
  if (choice === open) await vscode.commands.executeCommand('vscode.openFolder');
  if (choice === map) await vscode.commands.executeCommand('workbench.action.openSettings', 'raceline.pathMappings');
}
