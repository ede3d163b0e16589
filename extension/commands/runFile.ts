/** Run File and Open Timeline: everything that can be wrong is looked at before the program starts. */
import path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter, type Interpreter, probe } from '../run/interpreter.ts';
import { commandLine, type RunDefinition, runSpec } from '../run/runSpec.ts';
import { taskType } from '../run/task.ts';
import { type CommandContext, pythonUri } from './context.ts';

export async function runFile(c: CommandContext, given: unknown): Promise<void> {
  const uri = await runnable(given);
  if (!uri) return;
  await saveDirtyPython();
  const interpreter = await usableInterpreter(c, uri);
  if (!interpreter) return;
  const definition: RunDefinition = { type: taskType, program: uri.fsPath };
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  await vscode.tasks.executeTask(c.runs.task(definition, { resource: uri, file: uri, folder }, interpreter));
}

export async function copyRunCommand(c: CommandContext, given: unknown): Promise<void> {
  const uri = await runnable(given);
  if (!uri) return;
  const interpreter = await findInterpreter(uri, c.log);
  if (!interpreter) return explainNoInterpreter();
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const spec = await runSpec({ type: taskType, program: uri.fsPath }, interpreter, c.runs.executor, {
    resource: uri,
    file: uri,
    folder,
  });
  await vscode.env.clipboard.writeText(commandLine(spec));
  vscode.window.setStatusBarMessage('Raceline: the command line is copied', 3000);
}

/** The file to run, or undefined after saying what is in the way. */
async function runnable(given: unknown): Promise<vscode.Uri | undefined> {
  const uri = pythonUri(given);
  if (!uri) throw new Error('open the Python file to run');
  if (!vscode.workspace.isTrusted) {
    const manage = 'Manage Trust';
    const choice = await vscode.window.showWarningMessage(
      'Raceline runs programs only in a trusted workspace. Findings and previews work without trust.',
      manage,
    );
    if (choice === manage) await vscode.commands.executeCommand('workbench.trust.manage');
    return undefined;
  }
  if (uri.scheme === 'untitled') {
    const document = await vscode.workspace.openTextDocument(uri);
    const save = 'Save…';
    const choice = await vscode.window.showInformationMessage(
      'Raceline runs files on disk: save this one first.',
      save,
    );
    if (choice === save && (await document.save())) return pythonUri(undefined);
    return undefined;
  }
  if (uri.scheme !== 'file')
    throw new Error(`programs can be run on the machine that holds them; ${uri.scheme}: is not a place on disk`);
  return uri;
}

/** The text that runs is the text that is shown. */
async function saveDirtyPython(): Promise<void> {
  for (const document of vscode.workspace.textDocuments)
    if (document.isDirty && document.languageId === 'python' && document.uri.scheme === 'file') await document.save();
}

async function usableInterpreter(c: CommandContext, uri: vscode.Uri): Promise<Interpreter | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Raceline: looking for Python' },
    async () => {
      const interpreter = await findInterpreter(uri, c.log);
      if (!interpreter) {
        void explainNoInterpreter();
        return undefined;
      }
      const { executable, version, torch } = await probe(interpreter, path.dirname(uri.fsPath));
      c.log.info(`Python ${version} at ${executable}, ${torch ? `PyTorch ${torch}` : 'no PyTorch'}`);
      if (torch) return interpreter;
      void explainNoTorch(executable, version);
      return undefined;
    },
  );
}

async function explainNoInterpreter(): Promise<void> {
  await offer('Raceline: no Python interpreter was found. A preview of the functions needs none.');
}

async function explainNoTorch(executable: string, version: string): Promise<void> {
  await offer(
    `Raceline: PyTorch is not installed for Python ${version} at ${executable}. Choose another interpreter, or see a preview, which needs neither PyTorch nor a GPU.`,
  );
}

async function offer(message: string): Promise<void> {
  const preview = 'Preview Without Running';
  const select = 'Select Interpreter…';
  const choice = await vscode.window.showWarningMessage(message, preview, select);
  if (choice === preview) await vscode.commands.executeCommand('raceline.previewFunction');
  if (choice === select) await vscode.commands.executeCommand('raceline.selectInterpreter');
}
