// What the VS Code tests need of the machine, where it is looked for, and the one command that brings what is missing.
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last one on VS Code 1.100, the oldest that the manifest admits, and on Node 20. */
export const CODE_SERVER_VERSION = '4.100.3';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const cacheDir = path.join(root, '.cache/vscode');
export const codeDir = path.join(cacheDir, 'node_modules/code-server/lib/vscode');

export function executable(...names) {
  for (const name of names)
    for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
      const file = path.join(dir, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Not in this folder: look in the next.
      }
    }
  return undefined;
}

export function ready() {
  return (
    existsSync(path.join(codeDir, 'out/server-main.js')) &&
    existsSync(path.join(codeDir, 'node_modules/@vscode/ripgrep/bin/rg'))
  );
}

export function chromium() {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  return executable('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
}

/** What is missing, each with the command that brings it. Empty: the tests can run. */
export function missing() {
  const needs = [];
  if (!chromium()) needs.push('Chromium: apt-get install -y --no-install-recommends chromium');
  if (!ready()) needs.push('VS Code: node test/vscode/install.mjs');
  return needs;
}
