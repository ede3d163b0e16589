/** What the commands work on, and which file they are about. */
import * as vscode from 'vscode';
import type { LazyLanguageClient } from '../languageClient.ts';
import type { Runs } from '../run/task.ts';
import type { RunFindings } from '../timeline/findings.ts';

export interface CommandContext {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly language: LazyLanguageClient;
  readonly findings: RunFindings;
  readonly runs: Runs;
}

/** The Python file that a command is about: its argument, else the active editor, else a visible one. */
export function pythonUri(given: unknown): vscode.Uri | undefined {
  if (given instanceof vscode.Uri) return given;
  const editors = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors];
  return editors.find((editor) => editor?.document.languageId === 'python')?.document.uri;
}
