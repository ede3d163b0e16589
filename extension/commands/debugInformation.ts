/** Copy Debug Information: what a bug report needs, and no values of environment variables. */
import path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter, probe } from '../run/interpreter.ts';
import { type CommandContext, pythonUri } from './context.ts';

export async function debugInformation(c: CommandContext): Promise<void> {
  const uri = pythonUri(undefined);
  const lines = [
    `Raceline ${c.context.extension.packageJSON.version}`,
    `${vscode.env.appName} ${vscode.version}, ${process.platform} ${process.arch}, Node ${process.versions.node}`,
    `remote: ${vscode.env.remoteName ?? 'none'}, trusted: ${vscode.workspace.isTrusted}, folders: ${vscode.workspace.workspaceFolders?.length ?? 0}`,
    `server: ${await serverState(c)}`,
    `interpreter: ${uri?.scheme === 'file' && vscode.workspace.isTrusted ? await interpreterState(c, uri) : 'not looked for'}`,
    `settings: ${JSON.stringify(settings(uri))}`,
  ];
  await vscode.env.clipboard.writeText(lines.join('\n'));
  vscode.window.setStatusBarMessage('Raceline: debug information is copied', 3000);
}

async function serverState(c: CommandContext): Promise<string> {
  try {
    const client = await c.language.get();
    return await client.sendRequest<string>('workspace/executeCommand', {
      command: 'raceline.server.debugInformation',
      arguments: [],
    });
  } catch (error) {
    return `does not answer: ${(error as Error).message}`;
  }
}

async function interpreterState(c: CommandContext, uri: vscode.Uri): Promise<string> {
  const interpreter = await findInterpreter(uri, c.log);
  if (!interpreter) return 'none found';
  try {
    const { executable, version, torch } = await probe(interpreter, path.dirname(uri.fsPath));
    return `Python ${version} at ${executable} (${interpreter.from}), PyTorch ${torch ?? 'not installed'}`;
  } catch (error) {
    return `${interpreter.command} (${interpreter.from}): ${(error as Error).message}`;
  }
}

/** Settings that differ from their defaults; those that hold variables or paths are named without values. */
function settings(uri: vscode.Uri | undefined): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration('raceline', uri);
  const shown = [
    'enable',
    'diagnostics.run',
    'diagnostics.scope',
    'select',
    'ignore',
    'severity',
    'torchVersion',
    'codeLens',
    'run.record',
    'run.openTimeline',
  ];
  const hidden = [
    'perFileIgnores',
    'exclude',
    'baseline',
    'interpreter',
    'run.args',
    'run.env',
    'run.envFile',
    'run.cwd',
    'run.outputDirectory',
    'pathMappings',
  ];
  const changed = (name: string) => {
    const value = configuration.inspect(name);
    return [value?.globalValue, value?.workspaceValue, value?.workspaceFolderValue].some((v) => v !== undefined);
  };
  return Object.fromEntries([
    ...shown.filter(changed).map((name) => [name, configuration.get(name)]),
    ...hidden.filter(changed).map((name) => [name, 'set']),
  ]);
}
