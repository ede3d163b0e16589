/**
 * What a run is: made in one place for the command, the lens and the task, so that all of them run the same line.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import { environment, readEnvFile, runDefaults, type Variables } from './environment.ts';
import type { Interpreter } from './interpreter.ts';
import { newTraceFile } from './output.ts';
import { substitute } from './variables.ts';

/** A `raceline` task as it stands in tasks.json. Exactly one of `program` and `module`. */
export interface RunDefinition extends vscode.TaskDefinition {
  readonly program?: string;
  readonly module?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Variables;
  readonly envFile?: string;
  readonly python?: readonly string[];
  readonly record?: 'full' | 'timeline';
  readonly output?: string;
}

/** What a run is about: `resource` decides settings and output, `file` is what `${file}` stands for. */
export interface RunScope {
  readonly resource: vscode.Uri;
  readonly file?: vscode.Uri;
  readonly folder?: vscode.WorkspaceFolder;
}

export interface RunSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly output: string;
  /** What is run, for titles and messages: `train.py`. */
  readonly name: string;
}

export async function runSpec(
  definition: RunDefinition,
  interpreter: Interpreter,
  executor: string,
  scope: RunScope,
): Promise<RunSpec> {
  const settings = vscode.workspace.getConfiguration('raceline', scope.resource);
  const expand = (text: string) => substitute(text, scope);
  const target = definition.program ?? definition.module;
  if (!target || (definition.program && definition.module))
    throw new Error('a raceline task names exactly one of "program" and "module"');
  const setCwd = definition.cwd ?? settings.get<string>('run.cwd');
  const cwd = setCwd ? expand(setCwd) : (scope.folder?.uri.fsPath ?? path.dirname(scope.resource.fsPath));
  const program = definition.program && path.resolve(cwd, expand(definition.program));
  const name = path.basename(program ?? target);
  const output = definition.output
    ? path.resolve(cwd, expand(definition.output))
    : await newTraceFile(scope.resource, name);
  const envFile = definition.envFile ?? settings.get<string>('run.envFile') ?? '';
  const level = definition.record ?? settings.get<string>('run.record') ?? 'full';
  const args = definition.args ?? settings.get<string[]>('run.args') ?? [];
  return {
    command: interpreter.command,
    args: [
      ...interpreter.args,
      executor,
      '-o',
      output,
      '--level',
      level,
      ...(program ? [program] : ['-m', target]),
      ...args.map(expand),
    ],
    cwd,
    env: environment(
      runDefaults(interpreter),
      envFile ? await readEnvFile(path.resolve(cwd, expand(envFile))) : {},
      expandValues(settings.get<Variables>('run.env') ?? {}, expand),
      expandValues(definition.env ?? {}, expand),
    ),
    output,
    name,
  };
}

/** The line as a shell would take it, to read and to copy; it is never given to one here. */
export function commandLine({ command, args }: Pick<RunSpec, 'command' | 'args'>): string {
  const quoted = (word: string) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return [command, ...args].map(quoted).join(' ');
}

const expandValues = (variables: Variables, expand: (text: string) => string): Variables =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value && expand(value)]));
