// All tests in VS Code: the suite in the extension host and the workbench as a user drives it, each on this folder and on
// the installed package. Brings VS Code itself; names what else is missing with the one command that brings it.
//
//   node test/vscode/run.mjs                 all
//   node test/vscode/run.mjs inhost ui       only these, on this folder
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { install } from './install.mjs';
import { missing, root } from './machine.mjs';

const wanted = process.argv.slice(2);
try {
  install();
} catch (error) {
  console.error(error.message);
}
const needs = missing();
if (needs.length) {
  for (const need of needs) console.log(`the tests in VS Code need ${need}`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}

let passed = 0;
let failed = 0;
const must = (what, command, args) => {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (result.status === 0) return true;
  console.log(`${what} failed:\n${result.stdout}${result.stderr}`);
  failed++;
  return false;
};

async function suite(script, ...args) {
  const env = { ...process.env, ...(args[0] === 'restricted' ? { RESTRICTED: '1' } : {}) };
  const files = args.filter((arg) => arg !== 'restricted');
  const child = spawn(process.execPath, [path.join('test/vscode', script), ...files], { cwd: root, env });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk) => process.stderr.write(chunk));
  const [code] = await once(child, 'close');
  const counts = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  passed += Number(counts?.[1] ?? 0);
  failed += Number(counts?.[2] ?? 0) || (code === 0 && counts ? 0 : 1);
}

const runs = (name) => !wanted.length || wanted.includes(name);
if (must('the build', process.execPath, ['esbuild.mjs'])) {
  if (runs('inhost')) await suite('inhost.mjs');
  if (runs('restricted')) await suite('inhost.mjs', 'restricted');
  if (runs('ui')) await suite('ui.mjs');
  if (runs('vsix')) {
    // As `npm run package` makes it.
    const vsix = path.join(root, 'raceline.vsix');
    rmSync(vsix, { force: true });
    if (must('packaging', process.execPath, ['scripts/package.mjs'])) {
      await suite('inhost.mjs', vsix);
      await suite('ui.mjs', vsix);
    }
  }
}
console.log(`in VS Code, all runs:`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
