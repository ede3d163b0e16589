/** Select Interpreter for Runs…: writes the setting `raceline.interpreter` of the folder, or takes it away. */
import * as vscode from 'vscode';
import { findInterpreter } from '../run/interpreter.ts';
import { type CommandContext, pythonUri } from './context.ts';

export async function selectInterpreter(c: CommandContext, given: unknown): Promise<void> {
  const uri = pythonUri(given) ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!vscode.workspace.isTrusted) throw new Error('an interpreter can be chosen in a trusted workspace');
  const current = uri && (await findInterpreter(uri, c.log));
  const items: (vscode.QuickPickItem & { readonly choose: () => Promise<string[] | undefined | null> })[] = [
    {
      label: '$(folder-opened) Choose a file…',
      choose: async () => {
        const picked = await vscode.window.showOpenDialog({ title: 'Python interpreter for runs' });
        return picked?.[0] ? [picked[0].fsPath] : null;
      },
    },
    {
      label: '$(edit) Enter a path or command…',
      choose: async () => {
        const text = await vscode.window.showInputBox({
          prompt: 'Path of a Python interpreter',
          value: current?.command,
        });
        return text ? [text.trim()] : null;
      },
    },
    {
      label: '$(discard) Find it automatically',
      description: 'the Python extension, a virtual environment beside the file, PATH',
      choose: async () => undefined,
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Interpreter for Raceline runs',
    placeHolder: current ? `Now: ${current.command} (${current.from})` : 'No interpreter was found',
  });
  const value = picked ? await picked.choose() : null;
  if (value === null) return;
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  await vscode.workspace
    .getConfiguration('raceline', uri)
    .update(
      'interpreter',
      value,
      folder ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Global,
    );
}
