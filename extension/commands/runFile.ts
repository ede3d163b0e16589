/** Run File and Open Timeline: everything that can be wrong is looked at before the program starts. */
import path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter, type Interpreter, probe } from '../run/interpreter.ts';
import { commandLine, type RunDefinition, runSpec } from '../run/runSpec.ts';
import { taskType } from '../run/task.ts';
import { launchEntries } from '../run/launch.ts';
import { type CommandContext, pythonUri } from './context.ts';

export const runFile = (c: CommandContext, given: unknown) => runFileAs(c, given, {});

/** Each hazard of a recording is made to happen, or not. */
export const confirmFile = (c: CommandContext, given: unknown) => runFileAs(c, given, { action: 'confirm' });

/** Where a synchronization makes the result right. */
export const bisectFile = (c: CommandContext, given: unknown) => runFileAs(c, given, { action: 'bisect' });

export const runFileSerialized = (c: CommandContext, given: unknown) => runFileAs(c, given, { serialize: 'blocks' });

/** A program of launch.json, with its arguments, folder and variables, under the recorder instead of a debugger. */
export async function runConfiguration(c: CommandContext): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const items = folders.flatMap((folder) =>
    launchEntries(folder).map(({ name, definition }) => ({
      label: name,
      description: definition.program ?? definition.module,
      detail: folders.length > 1 ? folder.name : undefined,
      folder,
      definition,
    })),
  );
  if (!items.length)
    throw new Error('launch.json has no Python configuration that starts a program: there is nothing to choose from');
  const picked = await vscode.window.showQuickPick(items, { title: 'Run under the recorder, without a debugger' });
  if (!picked) return;
  const file = vscode.window.activeTextEditor?.document.uri;
  await saveDirtyPython();
  const scope = { resource: picked.folder.uri, file, folder: picked.folder };
  await vscode.tasks.executeTask(c.runs.task(picked.definition, scope));
}

async function runFileAs(c: CommandContext, given: unknown, how: Partial<RunDefinition>): Promise<void> {
  const uri = await runnable(given);
  if (!uri) return;
  await saveDirtyPython();
  const interpreter = await usableInterpreter(c, uri);
  if (!interpreter) return;
  const definition: RunDefinition = { type: taskType, program: uri.fsPath, ...how };
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  await vscode.tasks.executeTask(c.runs.task(definition, { resource: uri, file: uri, folder }, interpreter));
}

export async function copyRunCommand(c: CommandContext, given: unknown): Promise<void> {
  const uri = await runnable(given);
  if (!uri) return;
  const interpreter = await findInterpreter(uri, c.log);
  if (!interpreter) return explainNoInterpreter();
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const spec = await runSpec({ type: taskType, program: uri.fsPath }, interpreter, c.runs.parts, {
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
      if (!torch) void explainNoTorch(executable, version);
      else if (isTooOld(torch)) void explainOldTorch(executable, torch);
      else return interpreter;
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

async function explainOldTorch(executable: string, torch: string): Promise<void> {
  await offer(
    `Raceline: PyTorch ${torch} at ${executable} lacks the hooks that a recording needs. Install PyTorch 2.1 or newer there, choose another interpreter, or see a preview.`,
  );
}

/** A version that cannot be told may be new enough: the recorder itself says so if it is not. */
function isTooOld(torch: string): boolean {
  const [major, minor] = torch.split('.').map(Number);
  return major !== undefined && minor !== undefined && (major < 2 || (major === 2 && minor < 1));
}

async function offer(message: string): Promise<void> {
  const preview = 'Preview Without Running';
  const select = 'Select Interpreter…';
  const choice = await vscode.window.showWarningMessage(message, preview, select);
  if (choice === preview) await vscode.commands.executeCommand('raceline.previewFunction');
  if (choice === select) await vscode.commands.executeCommand('raceline.selectInterpreter');
}
