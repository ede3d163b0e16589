/** Explain Rule…: the page of a rule, rendered. The pages lie in the extension, since GPU machines are often offline. */
import * as vscode from 'vscode';
import type { CommandContext } from './context.ts';

export async function explain({ context }: CommandContext, given: unknown): Promise<void> {
  const folder = vscode.Uri.joinPath(context.extensionUri, 'docs', 'rules');
  const code = typeof given === 'string' ? given : await pick(folder);
  if (code === undefined) return;
  if (!/^[a-z-]+$/.test(code)) throw new Error(`there is no rule '${code}'`);
  await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.joinPath(folder, `${code}.md`));
}

async function pick(folder: vscode.Uri): Promise<string | undefined> {
  const pages = (await vscode.workspace.fs.readDirectory(folder))
    .map(([name]) => /^([a-z-]+)\.md$/.exec(name)?.[1])
    .filter((code) => code !== undefined);
  return vscode.window.showQuickPick(pages.sort(), { title: 'Explain Rule', placeHolder: 'A code of a finding' });
}
