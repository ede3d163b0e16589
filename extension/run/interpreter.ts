/**
 * Which Python runs a program. Asked only when a run starts; each step is logged and has a time limit, since other
 * extensions may be slow, absent, or never answer. No dependency on them is declared.
 */
import { spawn } from 'node:child_process';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { substitute } from './variables.ts';

export interface Interpreter {
  readonly command: string;
  readonly args: readonly string[];
  /** Where it came from, in words. */
  readonly from: string;
  /** What the environment adds; undefined removes a variable. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Probe {
  readonly executable: string;
  readonly version: string;
  /** Version of PyTorch; undefined: not installed. */
  readonly torch: string | undefined;
}

const otherExtensionsLimit = 5000;
const probeLimit = 20_000;
const windows = process.platform === 'win32';

/** The parts of the two Python extensions' interfaces that are used here. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri): Promise<
    | {
        readonly error?: string;
        readonly displayName?: string;
        readonly execInfo?: { readonly run?: { readonly executable: string; readonly args?: string[] } };
      }
    | undefined
  >;
  getEnvironmentVariables?(scope: vscode.Uri): Promise<Record<string, string | undefined>>;
}
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(scope: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: unknown): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
  };
}

export async function findInterpreter(uri: vscode.Uri, log: vscode.LogOutputChannel): Promise<Interpreter | undefined> {
  for (const [from, look] of steps) {
    try {
      const found = await look(uri);
      if (found) {
        log.info(`Interpreter: ${[found.command, ...found.args].join(' ')} (${found.from})`);
        return found;
      }
      log.debug(`Interpreter: nothing from ${from}`);
    } catch (error) {
      log.warn(`Interpreter: ${from}: ${(error as Error).message}`);
    }
  }
  return undefined;
}

const steps: readonly (readonly [string, (uri: vscode.Uri) => Promise<Interpreter | undefined>])[] = [
  ['the setting raceline.interpreter', fromSetting],
  ['the Python Environments extension', (uri) => limited(fromEnvironmentsExtension(uri))],
  ['the Python extension', (uri) => limited(fromPythonExtension(uri))],
  ['a virtual environment beside the file', fromVirtualEnvironment],
  ['PATH', fromPath],
];

async function fromSetting(uri: vscode.Uri): Promise<Interpreter | undefined> {
  const setting = vscode.workspace.getConfiguration('raceline', uri).get<string[]>('interpreter') ?? [];
  const [command, ...args] = setting.map((part) =>
    substitute(part, { file: uri, folder: vscode.workspace.getWorkspaceFolder(uri) }),
  );
  return command ? described(command, args, 'setting raceline.interpreter') : undefined;
}

async function fromEnvironmentsExtension(uri: vscode.Uri): Promise<Interpreter | undefined> {
  const api = await exportsOf<EnvironmentsApi>('ms-python.vscode-python-envs');
  const environment = await api?.getEnvironment(uri);
  if (environment?.error) throw new Error(environment.error);
  const run = environment?.execInfo?.run;
  if (!run?.executable) return undefined;
  const variables = await api?.getEnvironmentVariables?.(uri).catch(() => undefined);
  return {
    ...described(run.executable, run.args ?? [], `Python Environments: ${environment?.displayName ?? run.executable}`),
    ...(variables ? { environment: { ...environmentOf(run.executable), ...variables } } : {}),
  };
}

async function fromPythonExtension(uri: vscode.Uri): Promise<Interpreter | undefined> {
  const environments = (await exportsOf<PythonApi>('ms-python.python'))?.environments;
  if (!environments) return undefined;
  const active = environments.getActiveEnvironmentPath(uri);
  const resolved = await environments.resolveEnvironment(active);
  const executable = resolved?.executable.uri?.fsPath;
  return executable ? described(executable, [], 'Python extension') : undefined;
}

async function fromVirtualEnvironment(uri: vscode.Uri): Promise<Interpreter | undefined> {
  const top = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
  for (let folder = path.dirname(uri.fsPath); ; folder = path.dirname(folder)) {
    for (const name of ['.venv', 'venv']) {
      const executable = inEnvironment(path.join(folder, name));
      if (await exists(executable)) return described(executable, [], `${name} in ${folder}`);
    }
    if (folder === top || folder === path.dirname(folder)) break;
  }
  const conda = process.env.CONDA_PREFIX;
  const executable = conda && (windows ? path.join(conda, 'python.exe') : path.join(conda, 'bin', 'python'));
  return executable && (await exists(executable)) ? described(executable, [], 'CONDA_PREFIX') : undefined;
}

async function fromPath(): Promise<Interpreter | undefined> {
  const names = windows ? ['python.exe', 'py.exe'] : ['python3', 'python'];
  for (const name of names)
    for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
      // The stubs of the Windows Store open the Store instead of running.
      if (!folder || /WindowsApps/i.test(folder)) continue;
      const file = path.join(folder, name);
      if (await exists(file)) return { ...described(file, name === 'py.exe' ? ['-3'] : [], 'PATH'), environment: {} };
    }
  return undefined;
}

const described = (command: string, args: readonly string[], from: string): Interpreter => ({
  command,
  args,
  from,
  environment: environmentOf(command),
});

/** What activating an environment would set: tools and libraries of the environment come first. */
function environmentOf(executable: string): Record<string, string | undefined> {
  const bin = path.dirname(executable);
  const isEnvironmentBin = /^(?:bin|scripts)$/i.test(path.basename(bin));
  const prefix = isEnvironmentBin ? path.dirname(bin) : bin;
  if (!path.isAbsolute(executable) || /^(?:\/usr|\/usr\/local|\/)$/.test(prefix)) return {};
  const folders = windows ? [prefix, path.join(prefix, 'Library', 'bin'), path.join(prefix, 'Scripts')] : [bin];
  return {
    PATH: [...folders, process.env.PATH ?? ''].join(path.delimiter),
    VIRTUAL_ENV: prefix,
    PYTHONHOME: undefined,
  };
}

function inEnvironment(folder: string): string {
  return windows ? path.join(folder, 'Scripts', 'python.exe') : path.join(folder, 'bin', 'python');
}

const probes = new Map<string, Promise<Probe>>();

/** Version and PyTorch of an interpreter, without importing PyTorch: that takes seconds. Once per executable and age. */
export async function probe(interpreter: Interpreter, cwd: string): Promise<Probe> {
  const age = await stat(interpreter.command).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const key = JSON.stringify([interpreter.command, interpreter.args, age]);
  let known = probes.get(key);
  if (!known) {
    known = askInterpreter(interpreter, cwd);
    probes.set(key, known);
    // PyTorch may be installed meanwhile: only a good answer is kept.
    known.then(
      ({ torch }) => torch ?? probes.delete(key),
      () => probes.delete(key),
    );
  }
  return known;
}

const question = `
import importlib.util, json, platform, sys
torch = None
if importlib.util.find_spec("torch"):
    try:
        from importlib.metadata import version
        torch = version("torch")
    except Exception:
        torch = "unknown"
print(json.dumps([sys.executable, platform.python_version(), torch]))
`;

function askInterpreter({ command, args, environment }: Interpreter, cwd: string): Promise<Probe> {
  return new Promise((resolve, reject) => {
    // Isolated (-I): a torch.py beside the program is not PyTorch, and asking must not run it.
    const child = spawn(command, [...args, '-I', '-c', question], {
      cwd,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: probeLimit,
    });
    let out = '';
    let problem = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      problem += chunk;
    });
    child.on('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.on('close', (code) => {
      try {
        const [executable, version, torch] = JSON.parse(out.trim().split('\n').at(-1)!) as [
          string,
          string,
          string | null,
        ];
        resolve({ executable, version, torch: torch ?? undefined });
      } catch {
        reject(
          new Error(`${command} does not answer as a Python interpreter (exit code ${code}) ${problem.slice(0, 200)}`),
        );
      }
    });
  });
}

async function exportsOf<T>(id: string): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<T>(id);
  if (!extension) return undefined;
  return (extension.isActive ? extension.exports : await extension.activate()) ?? undefined;
}

/** Some answers never come: an interpreter search may hang inside another extension. */
async function limited<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${otherExtensionsLimit} ms`)), otherExtensionsLimit);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );
