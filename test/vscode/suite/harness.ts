/** Waiting and looking, shared by the suites in the extension host. */
import * as vscode from 'vscode';

export const extension = () => vscode.extensions.getExtension('raceline.raceline')!;

export const inWorkspace = (...names: string[]) =>
  vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, ...names);

/** Polls until a value comes: what VS Code shows has no event for everything. */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not come in 60 s`);
}

export async function show(name: string): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(inWorkspace(name));
  return vscode.window.showTextDocument(document);
}

export const findings = (uri: vscode.Uri, source = 'raceline') =>
  vscode.languages.getDiagnostics(uri).filter((diagnostic) => diagnostic.source === source);

export const code = (diagnostic: vscode.Diagnostic) =>
  typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code;

export async function closeAll(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor').then(undefined, () => {});
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}

export const customTabs = () =>
  vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => tab.input instanceof vscode.TabInputCustom)
    .map((tab) => tab.input as vscode.TabInputCustom);
