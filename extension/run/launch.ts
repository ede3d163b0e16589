/**
 * Programs that launch.json starts. Configurations of the type `raceline` are runs of their own: they start the task and no
 * debug session. Those of Python's debuggers can be run under the recorder as they stand; runs never go through a debugger,
 * which changes what they do in time.
 */
import * as vscode from 'vscode';
import type { RunDefinition } from './runSpec.ts';
import { type Runs, taskType } from './task.ts';

export interface LaunchEntry {
  readonly name: string;
  readonly definition: RunDefinition;
}

/** The Python programs in the launch.json of a folder. */
export function launchEntries(folder: vscode.WorkspaceFolder): readonly LaunchEntry[] {
  const all = vscode.workspace.getConfiguration('launch', folder.uri).get<unknown[]>('configurations') ?? [];
  return all.flatMap((entry) => {
    const found = asDefinition(entry);
    return found ? [found] : [];
  });
}

function asDefinition(entry: unknown): LaunchEntry | undefined {
  if (typeof entry !== 'object' || !entry) return undefined;
  const { type, request, name, program, module, args, cwd, env, envFile, python } = entry as Record<string, unknown>;
  if (typeof type !== 'string' || !/^(?:python|debugpy)$/.test(type) || request !== 'launch') return undefined;
  // A test or a shell has neither.
  if (typeof program !== 'string' && typeof module !== 'string') return undefined;
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  const texts = (value: unknown) =>
    Array.isArray(value) && value.every((word) => typeof word === 'string') ? (value as string[]) : undefined;
  const single = text(python);
  return {
    name: text(name) ?? String(program ?? module),
    definition: {
      type: taskType,
      ...(typeof program === 'string' ? { program } : { module: module as string }),
      args: texts(args) ?? (text(args) ? (args as string).split(/\s+/) : []),
      cwd: text(cwd),
      env: typeof env === 'object' && env ? (env as Record<string, string | null>) : undefined,
      envFile: text(envFile),
      python: texts(python) ?? (single ? [single] : undefined),
    },
  };
}

/** Run and Debug: a configuration of the type `raceline` has a task's properties. */
export function registerLaunch(context: vscode.ExtensionContext, runs: Runs): void {
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider(taskType, {
      provideDebugConfigurations: () => [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of VS Code's.
        { type: taskType, request: 'launch', name: 'Raceline: Record Current File', program: '${file}' },
      ],
      async resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
        const { name: _name, request: _request, ...definition } = configuration;
        const file = vscode.window.activeTextEditor?.document.uri;
        const resource = folder?.uri ?? file;
        if (!resource) throw new Error('open the Python file or the folder to run');
        if (!definition.program && !definition.module) definition.program = file?.fsPath;
        await vscode.tasks.executeTask(runs.task(definition as RunDefinition, { resource, file, folder }));
        // No debug session: what was asked for runs as a task.
        return undefined;
      },
    }),
  );
}
