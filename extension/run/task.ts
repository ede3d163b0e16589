/**
 * The task type `raceline`: a program under the recorder, in its own pseudo terminal, with a status bar item while it
 * lives. Trust is checked here, where processes start, whoever asked for the run.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import { viewType } from '../timeline/editor.ts';
import { findInterpreter, type Interpreter } from './interpreter.ts';
import type { RunEnd, RunningProgram } from './process.ts';
import { type Parts, type RunDefinition, type RunScope, type RunSpec, runSpec } from './runSpec.ts';
import { RunTerminal } from './terminal.ts';
import { substitute } from './variables.ts';

export const taskType = 'raceline';

export class Runs {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #running = new Map<RunningProgram, { spec: RunSpec; since: number }>();
  readonly #ended = new vscode.EventEmitter<{ spec: RunSpec; end: RunEnd }>();
  readonly onDidEnd = this.#ended.event;
  #item: vscode.StatusBarItem | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  get parts(): Parts {
    const inside = (...names: string[]) => vscode.Uri.joinPath(this.#context.extensionUri, ...names).fsPath;
    return { executor: inside('executor'), cli: inside('dist', 'cli.js') };
  }

  stopAll(): void {
    for (const program of this.#running.keys()) program.stop();
  }

  /** `interpreter` is given where it was looked for already. */
  task(definition: RunDefinition, scope: RunScope, interpreter?: Interpreter): vscode.Task {
    const name = path.basename(definition.program ?? definition.module ?? 'program');
    const execution = new vscode.CustomExecution(async (resolved) => {
      const asked = { ...definition, ...(resolved as RunDefinition) };
      return new RunTerminal(() => this.#prepare(asked, scope, interpreter), {
        started: (spec, program) => this.#started(spec, program),
        ended: (spec, end) => void this.#finished(spec, end),
      });
    });
    const task = new vscode.Task(
      definition,
      scope.folder ?? vscode.TaskScope.Workspace,
      `${words(definition)} ${name}`,
      taskType,
      execution,
      [],
    );
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true, showReuseMessage: false };
    return task;
  }

  async #prepare(definition: RunDefinition, scope: RunScope, known: Interpreter | undefined): Promise<RunSpec> {
    if (!vscode.workspace.isTrusted) throw new Error('this workspace is not trusted, so nothing of it is run');
    const named = definition.python?.length ? definition.python.map((word) => substitute(word, scope)) : undefined;
    const interpreter: Interpreter | undefined = named
      ? { command: named[0]!, args: named.slice(1), from: 'the task', environment: {} }
      : (known ?? (await findInterpreter(scope.resource, this.#log)));
    if (!interpreter)
      throw new Error("no Python interpreter was found; choose one with 'Raceline: Select Interpreter for Runs…'");
    return runSpec(definition, interpreter, this.parts, scope);
  }

  #started(spec: RunSpec, program: RunningProgram): void {
    this.#running.set(program, { spec, since: Date.now() });
    program.ended.then(() => {
      this.#running.delete(program);
      this.#update();
    });
    this.#update();
  }

  async #finished(spec: RunSpec, end: RunEnd): Promise<void> {
    this.#log.info(`${spec.name}: exit code ${end.code}${end.stopped ? ', stopped' : ''}; ${spec.output}`);
    this.#ended.fire({ spec, end });
    const uri = vscode.Uri.file(spec.output);
    const written = await vscode.workspace.fs.stat(uri).then(
      ({ size }) => size > 0,
      () => false,
    );
    if (!written) {
      if (!end.stopped && !spec.quiet) await explainNoTrace(spec, end);
      return;
    }
    void vscode.commands.executeCommand('setContext', 'raceline.hasTrace', true);
    const when = vscode.workspace.getConfiguration('raceline').get('run.openTimeline');
    if (when !== 'never')
      await vscode.commands.executeCommand('vscode.openWith', uri, viewType, vscode.ViewColumn.Beside);
  }

  #update(): void {
    const running = [...this.#running.values()];
    void vscode.commands.executeCommand('setContext', 'raceline.running', running.length > 0);
    if (!running.length) {
      clearInterval(this.#clock);
      this.#clock = undefined;
      this.#item?.dispose();
      this.#item = undefined;
      return;
    }
    if (!this.#item) {
      this.#item = vscode.window.createStatusBarItem('raceline.run', vscode.StatusBarAlignment.Left);
      this.#item.name = 'Raceline Run';
      this.#item.command = 'raceline.stopRun';
      this.#item.show();
    }
    const seconds = Math.floor((Date.now() - Math.min(...running.map(({ since }) => since))) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    this.#item.text = `$(sync~spin) Raceline ${time}`;
    this.#item.tooltip = `Recording ${running.map(({ spec }) => spec.name).join(', ')}. Click to stop.`;
    this.#clock ??= setInterval(() => this.#update(), 1000);
  }

  dispose(): void {
    this.stopAll();
    clearInterval(this.#clock);
    this.#item?.dispose();
    this.#ended.dispose();
  }
}

const words = ({ action, serialize, with: peer }: RunDefinition): string =>
  peer
    ? `run with ${peer}`
    : action === 'confirm' || action === 'bisect'
      ? action
      : serialize
        ? 'run serialized'
        : 'run';

export function registerRunTasks(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Runs {
  const runs = new Runs(context, log);
  context.subscriptions.push(
    runs,
    vscode.tasks.registerTaskProvider(taskType, {
      // A task for every file would flood the list; tasks.json and the commands name what to run.
      provideTasks: () => [],
      resolveTask(task) {
        const folder = typeof task.scope === 'object' ? task.scope : vscode.workspace.workspaceFolders?.[0];
        const file = vscode.window.activeTextEditor?.document.uri;
        const resource = folder?.uri ?? file;
        if (!resource) return undefined;
        const resolved = runs.task(task.definition as RunDefinition, { resource, file, folder });
        // The editor matches a resolved task by its definition: it stays the object that was given.
        resolved.definition = task.definition;
        return resolved;
      },
    }),
  );
  return runs;
}

async function explainNoTrace(spec: RunSpec, end: RunEnd): Promise<void> {
  const preview = 'Preview Without Running';
  const choice = await vscode.window.showErrorMessage(
    `Raceline: ${spec.name} ended with exit code ${end.code} and wrote no trace. Its terminal shows why. A preview of its functions needs neither PyTorch nor a GPU.`,
    preview,
  );
  if (choice === preview) await vscode.commands.executeCommand('raceline.previewFunction');
}
