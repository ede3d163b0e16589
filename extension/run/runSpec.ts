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
  /** What is done with the program; `record` by itself. */
  readonly action?: 'record' | 'confirm' | 'bisect';
  /** Without overlap of streams. */
  readonly serialize?: 'blocks' | 'stream';
  /** Under another checker, without Raceline's recorder. */
  readonly with?: 'csan' | 'compute-sanitizer';
  /** When a result is right, for `bisect`: an expression over the program's names. */
  readonly check?: string;
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
  /** It need not write a trace: what it finds stands in its terminal. */
  readonly quiet?: boolean;
}

/** What of the extension does the work: the recorder's folder, and the command line's bundle. */
export interface Parts {
  readonly executor: string;
  readonly cli: string;
}

export async function runSpec(
  definition: RunDefinition,
  interpreter: Interpreter,
  parts: Parts,
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
  const line = [...(program ? [program] : ['-m', target]), ...args.map(expand)];
  const own = ownCommand(definition, interpreter, parts, output, line);
  const serialize = definition.serialize ? ['--serialize', definition.serialize] : [];
  return {
    command: own?.command ?? interpreter.command,
    args: own?.args ?? [...interpreter.args, parts.executor, '-o', output, '--level', level, ...serialize, ...line],
    cwd,
    env: environment(
      runDefaults(interpreter),
      own?.env ?? {},
      envFile ? await readEnvFile(path.resolve(cwd, expand(envFile))) : {},
      expandValues(settings.get<Variables>('run.env') ?? {}, expand),
      expandValues(definition.env ?? {}, expand),
    ),
    output,
    name,
    quiet: definition.with !== undefined,
  };
}

/** What runs the program many times, or under another checker, is a command of Raceline's own command line. */
function ownCommand(
  { action = 'record', check, with: peer }: RunDefinition,
  interpreter: Interpreter,
  { cli }: Parts,
  output: string,
  line: readonly string[],
): Pick<RunSpec, 'command' | 'args' | 'env'> | undefined {
  if (action === 'record' && !peer) return undefined;
  if (interpreter.args.length)
    throw new Error(
      `'${[interpreter.command, ...interpreter.args].join(' ')}' cannot be used here: name the interpreter itself, without arguments`,
    );
  const options = ['--python', interpreter.command];
  const words = peer
    ? ['run', '--with', peer, '-o', output.replace(/\.raceline$/, `.${peer}.txt`), ...options]
    : [action, '--record', output, ...(action === 'bisect' && check ? ['--check', check] : []), ...options];
  return {
    command: process.execPath,
    args: [cli, ...words, '--', ...line],
    // VS Code's own runtime, told to be Node.
    env: { ELECTRON_RUN_AS_NODE: '1' },
  };
}

/** The line as a shell would take it, to read and to copy; it is never given to one here. */
export function commandLine({ command, args }: Pick<RunSpec, 'command' | 'args'>): string {
  const quoted = (word: string) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return [command, ...args].map(quoted).join(' ');
}

const expandValues = (variables: Variables, expand: (text: string) => string): Variables =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value && expand(value)]));
