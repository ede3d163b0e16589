/**
 * Activation: registers, and starts nothing that is not asked for. The language client is loaded when a Python document is
 * open, the run machinery when a run starts; an opened trace starts neither. No Python interpreter is looked for here.
 */
import * as vscode from 'vscode';
import { registerCodeLens } from './codeLens.ts';
import { registerCommands } from './commands/register.ts';
import { LazyLanguageClient } from './languageClient.ts';
import { registerLaunch } from './run/launch.ts';
import { registerRunTasks } from './run/task.ts';
import { RunFindings } from './timeline/findings.ts';
import { registerTimelineEditor } from './timeline/editor.ts';
import { registerTorchFiles } from './torchFiles.ts';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Raceline', { log: true });
  const language = new LazyLanguageClient(context, log);
  const findings = new RunFindings((run) => language.tell('raceline/run', run));
  context.subscriptions.push(log, findings, language);
  registerTimelineEditor(context, findings, log);
  const runs = registerRunTasks(context, log);
  registerLaunch(context, runs);
  registerCommands({ context, log, language, findings, runs });
  registerTorchFiles(context);
  registerCodeLens(context);
  language.startWhenPythonIsOpen();
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(() => log.info('The workspace is trusted: programs can be run.')),
  );
}
