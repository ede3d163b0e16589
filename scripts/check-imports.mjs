// Holds the allowed import edges between the parts of the project (ARCHITECTURE.md draws them). Run by `npm test`.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** part → parts it may import, each with the reason. `core/*` never sees Node, the DOM, vscode or a clock. */
const allowed = {
  'core/base': [],
  'core/program': [],
  'core/python': ['core/base'],
  'core/torch': ['core/base'],
  'core/order': ['core/base', 'core/program'],
  'core/hazards': ['core/base', 'core/program', 'core/order'],
  'core/lower': ['core/base', 'core/program', 'core/python', 'core/torch'],
  'core/rules': ['core/base', 'core/program', 'core/hazards', 'core/lower', 'core/python', 'core/trace', 'core/torch'],
  'core/settings': ['core/base', 'core/rules'],
  'core/trace': ['core/base', 'core/program'],
  'core/execute': ['core/base', 'core/program', 'core/trace'],
  'core/timeline': ['core/base', 'core/program', 'core/trace'],
  'core/answers': ['core/base', 'core/program', 'core/trace', 'core/order', 'core/hazards'],
  'core/export': ['core/base', 'core/program', 'core/trace', 'core/timeline'],
  // core/*.ts at the top: the pipelines that put the parts together.
  core: ['core/*'],
  server: ['core', 'core/*'],
  cli: ['core', 'core/*', 'server', 'webview/page.ts', 'webview/reportPage.ts'],
  webview: ['core', 'core/*'],
  extension: ['core', 'core/*', 'webview/protocol.ts', 'webview/page.ts', 'webview/reportPage.ts'],
};
const packages = {
  'core/python': ['web-tree-sitter'],
  'core/settings': ['smol-toml'],
  'core/trace': ['fflate'],
  'core/export': ['fflate'],
  server: ['vscode-languageserver', 'vscode-languageserver-textdocument', 'vscode-uri', 'node:'],
  cli: ['node:', 'fflate', 'diff', 'vscode-languageserver'],
  webview: ['d3'],
  extension: ['vscode', 'vscode-languageclient', 'node:'],
};

function partOf(file) {
  const relative = path.relative(root, file).split(path.sep);
  if (relative[0] !== 'core') return relative[0];
  return relative.length > 2 ? `core/${relative[1]}` : 'core';
}

const files = [];
(function walk(dir) {
  for (const name of readdirSync(dir)) {
    const file = path.join(dir, name);
    if (statSync(file).isDirectory()) walk(file);
    else if (/\.tsx?$/.test(name)) files.push(file);
  }
})(path.join(root, 'core'));
for (const part of ['server', 'cli', 'webview', 'extension'])
  (function walk(dir) {
    let names = [];
    try {
      names = readdirSync(dir);
    } catch {
      return;
    }
    for (const name of names) {
      const file = path.join(dir, name);
      if (statSync(file).isDirectory()) walk(file);
      else if (/\.tsx?$/.test(name)) files.push(file);
    }
  })(path.join(root, part));

const faults = [];
for (const file of files) {
  const part = partOf(file);
  const text = readFileSync(file, 'utf8');
  for (const match of text.matchAll(
    /^\s*(?:import|export)\s[^;]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  )) {
    const target = match[1] ?? match[2] ?? match[3];
    const where = `${path.relative(root, file)}: imports '${target}'`;
    if (target.startsWith('.')) {
      const resolved = path.resolve(path.dirname(file), target);
      const other = partOf(resolved);
      if (other === part) continue;
      const relative = path.relative(root, resolved).split(path.sep).join('/');
      const edges = allowed[part] ?? [];
      const fine = edges.some(
        (edge) => edge === other || edge === relative || (edge.endsWith('/*') && other.startsWith(edge.slice(0, -1))),
      );
      if (!fine) faults.push(`${where}; ${part} may import ${edges.join(', ') || 'nothing'}`);
    } else {
      const fine = (packages[part] ?? []).some(
        (name) => target === name || target.startsWith(name.endsWith(':') ? name : `${name}/`),
      );
      if (!fine)
        faults.push(`${where}; ${part} may import the packages ${(packages[part] ?? []).join(', ') || 'none'}`);
    }
  }
}
for (const fault of faults) console.error(fault);
if (faults.length) process.exit(1);
console.log(`imports: ${files.length} files keep to the allowed edges`);
