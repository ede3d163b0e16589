/**
 * The context key `raceline.torchFiles`: open Python files that name torch, so that menus offer runs there and nowhere
 * else. A look at the text, not an analysis.
 */
import * as vscode from 'vscode';

const namesTorch = /^\s*(?:import|from)\s+torch\b/m;

export const mentionsTorch = (document: vscode.TextDocument) =>
  document.languageId === 'python' && namesTorch.test(document.getText());

export function registerTorchFiles(context: vscode.ExtensionContext): void {
  let known = '';
  const update = () => {
    const paths = vscode.workspace.textDocuments.filter(mentionsTorch).map((document) => document.uri.path);
    const now = JSON.stringify(paths.sort());
    if (now === known) return;
    known = now;
    void vscode.commands.executeCommand('setContext', 'raceline.torchFiles', paths);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    if (timer) clearTimeout(timer);
    timer = setTimeout(update, 300);
  };
  update();
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(later),
    vscode.workspace.onDidCloseTextDocument(later),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.languageId === 'python') later();
    }),
    { dispose: () => timer && clearTimeout(timer) },
  );
}
