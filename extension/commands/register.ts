/** The commands of the manifest, each tied to what it does. A failure is logged and shown in one sentence. */
import * as vscode from 'vscode';
import type { CommandContext } from './context.ts';
import { debugInformation } from './debugInformation.ts';
import { explain } from './explain.ts';
import { openLastTrace, openTrace } from './openTrace.ts';
import { insertOrders, listSpareOrders } from './orders.ts';
import { previewFunction, showWitness } from './previewFunction.ts';
import { bisectFile, confirmFile, copyRunCommand, runConfiguration, runFile, runFileSerialized } from './runFile.ts';
import { selectInterpreter } from './selectInterpreter.ts';

export function registerCommands(c: CommandContext): void {
  const commands: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
    runFile: (uri) => runFile(c, uri),
    runFileSerialized: (uri) => runFileSerialized(c, uri),
    confirmFile: (uri) => confirmFile(c, uri),
    bisectFile: (uri) => bisectFile(c, uri),
    runConfiguration: () => runConfiguration(c),
    copyRunCommand: (uri) => copyRunCommand(c, uri),
    stopRun: () => c.runs.stopAll(),
    openTrace: () => openTrace(),
    openLastTrace: () => openLastTrace(),
    previewFunction: (uri, line) => previewFunction(c, uri, line),
    showWitness: (uri, line) => showWitness(c, uri, line),
    fixAll: () => fixAll(c),
    insertOrders: () => insertOrders(c),
    listSpareOrders: () => listSpareOrders(c),
    explain: (code) => explain(c, code),
    clearRunFindings: () => c.findings.clear(),
    selectInterpreter: (uri) => selectInterpreter(c, uri),
    restart: () => c.language.restart(),
    showLogs: () => c.log.show(true),
    showServerLogs: () => c.language.showLogs(),
    debugInformation: () => debugInformation(c),
    openWalkthrough: () =>
      vscode.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${c.context.extension.id}#raceline.start`,
        false,
      ),
  };
  for (const [name, run] of Object.entries(commands))
    c.context.subscriptions.push(
      vscode.commands.registerCommand(`raceline.${name}`, async (...args: unknown[]) => {
        try {
          return await run(...args);
        } catch (error) {
          c.log.error(`raceline.${name}: ${(error as Error).stack ?? String(error)}`);
          void vscode.window.showErrorMessage(`Raceline: ${(error as Error).message}`);
          return undefined;
        }
      }),
    );
}

async function fixAll(c: CommandContext): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== 'python') throw new Error('open a Python file to fix its findings');
  const client = await c.language.get();
  const edits = await client.sendRequest<number>('workspace/executeCommand', {
    command: 'raceline.server.fixAll',
    arguments: [client.code2ProtocolConverter.asUri(document.uri)],
  });
  if (edits === 0)
    vscode.window.setStatusBarMessage('Raceline: no finding of this file has a fix that is certain', 5000);
}
