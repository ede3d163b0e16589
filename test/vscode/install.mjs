// Brings a real VS Code for the tests: the VS Code server inside the npm package code-server, in the ignored folder
// .cache/vscode/. Only the npm registry is needed, and Debian's chromium and ripgrep. No compiler: the native modules
// that it does without are the terminal's, the file watcher's and the logger's.
//
//   node test/vscode/install.mjs          installs, or does nothing when it is there
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODE_SERVER_VERSION, cacheDir, codeDir, executable, ready } from './machine.mjs';

function npm(args, cwd) {
  const result = spawnSync('npm', [...args, '--no-fund', '--no-audit'], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.status !== 0) throw new Error(`npm ${args.join(' ')} failed in ${cwd}`);
}

export function install() {
  if (ready()) return;
  const ripgrep = executable('rg');
  if (!ripgrep)
    throw new Error('ripgrep is missing; bring it with: apt-get install -y --no-install-recommends ripgrep');
  mkdirSync(cacheDir, { recursive: true });
  // A package.json of its own, so that npm does not take the repository for the place to install into.
  writeFileSync(path.join(cacheDir, 'package.json'), '{"private":true}\n');
  if (!existsSync(path.join(codeDir, 'package.json')))
    npm(['install', '--ignore-scripts', `code-server@${CODE_SERVER_VERSION}`], cacheDir);
  npm(['install', '--omit=dev', '--ignore-scripts'], codeDir);
  // Without it workspace.findFiles and search fail: the package's own download step was not run.
  const link = path.join(codeDir, 'node_modules/@vscode/ripgrep/bin/rg');
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(ripgrep, link);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    install();
    console.log(`VS Code for the tests: ${codeDir}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
