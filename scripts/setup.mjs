// Brings a fresh clone to a built state: npm packages as locked, then the bundles. Needs Node and npm alone.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Throws with what to do; prints only when it has to install. */
export function setUp({ build = true } = {}) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) throw new Error(`Node 20 or newer is needed, this is ${process.version}.`);
  if (!packagesAreCurrent()) {
    console.log('Installing the npm packages (once) …');
    must(npm(), ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  if (build && !bundlesAreCurrent()) {
    console.log('Building …');
    must(process.execPath, ['esbuild.mjs']);
  }
}

function npm() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm';
}

function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: command.endsWith('.cmd') });
  if (error) throw new Error(`${command} cannot be started: ${error.message}`);
  if (status !== 0)
    throw new Error(`'${[path.basename(command), ...args].join(' ')}' failed with exit code ${status}.`);
}

/** npm writes what it installed into node_modules/.package-lock.json, with the versions of the lock file. */
function packagesAreCurrent() {
  try {
    const wanted = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
    const installed = JSON.parse(readFileSync(path.join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(
      ([name, entry]) => name === '' || entry.optional || installed[name]?.version === entry.version,
    );
  } catch {
    return false;
  }
}

function bundlesAreCurrent() {
  const built = ['cli.js', 'server.js', 'extension.cjs', 'webview.js', 'worker.js', 'tree-sitter-python.wasm'].map(
    (name) => path.join(root, 'dist', name),
  );
  if (!built.every((file) => existsSync(file))) return false;
  const oldest = Math.min(...built.slice(0, -1).map((file) => statSync(file).mtimeMs));
  const sources = ['core', 'server', 'cli', 'extension', 'webview', 'esbuild.mjs', 'package-lock.json'];
  return sources.every((name) => newest(path.join(root, name)) <= oldest);
}

function newest(file) {
  const stat = statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(file).map((name) => newest(path.join(file, name))));
}

/** The first Chromium-like browser of this machine, or undefined. */
export function findChromium() {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  const candidates = [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ];
  return candidates.find((file) => existsSync(file));
}

/** An interpreter that imports torch: RACELINE_TEST_PYTHON, the project's .venv, python3. Undefined if none does. */
export function findTorchPython() {
  const candidates = [
    process.env.RACELINE_TEST_PYTHON,
    path.join(root, '.venv', 'bin', 'python'),
    path.join(root, '.venv', 'Scripts', 'python.exe'),
    'python3',
    'python',
  ];
  return candidates.find(
    (python) => python && spawnSync(python, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0,
  );
}

export function findPython() {
  return ['python3', 'python'].find((name) => spawnSync(name, ['-c', 'pass'], { stdio: 'ignore' }).status === 0);
}
