/** Open Trace… and Open Last Trace. */
import * as vscode from 'vscode';
import { outputFolder, traces } from '../run/output.ts';
import { viewType } from '../timeline/editor.ts';

export async function openTrace(): Promise<void> {
  const picked = await vscode.window.showOpenDialog({
    title: 'Open Trace',
    canSelectMany: true,
    filters: { Traces: ['raceline', 'gz', 'json', 'pickle', 'sqlite'], 'All Files': ['*'] },
  });
  for (const uri of picked ?? []) await vscode.commands.executeCommand('vscode.openWith', uri, viewType);
}

export async function openLastTrace(): Promise<void> {
  const resources = vscode.workspace.workspaceFolders?.map((folder) => folder.uri) ?? [];
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.scheme === 'file') resources.push(active);
  const found = (await Promise.all(resources.map((uri) => traces(outputFolder(uri))))).flat();
  const newest = found.sort((a, b) => b.time - a.time)[0];
  if (!newest) {
    const run = 'Run File';
    const open = 'Open Trace…';
    const choice = await vscode.window.showInformationMessage('Raceline: no run was recorded here yet.', run, open);
    if (choice === run) await vscode.commands.executeCommand('raceline.runFile');
    if (choice === open) await openTrace();
    return;
  }
  await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(newest.file), viewType);
}
