// `npm test`: sets a fresh clone up, runs every suite that this machine can run, and closes with 'N passed, N failed'.
// What it cannot run is named with the one command that brings it; with CI=true that is a failure.
//   npm test                 all suites
//   npm test -- SUITE…       some of: static, unit, executor, vscode
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findChromium, findPython, findTorchPython, root, setUp } from './setup.mjs';

const ci = /^(1|true)$/i.test(process.env.CI ?? '');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const results = [];
const missing = [];

function record(name, passed, failed) {
  results.push({ name, passed, failed });
}

/** A tool that is not there: its suite is left out and named, in CI a failure. */
function lacks(what, command) {
  missing.push(`${what}\n    ${command}`);
  if (ci) record(`${what} (required in CI)`, 0, 1);
}

function execute(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const [stream, out] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      stream.on('data', (chunk) => {
        output += chunk;
        out.write(chunk);
      });
    child.on('error', (error) => resolve({ status: 127, output: String(error) }));
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

const bin = (name) => path.join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);

const suites = {
  async static() {
    for (const [name, command, args] of [
      ['types', bin('tsc'), ['--noEmit', '-p', '.']],
      ['types of core without Node and DOM', bin('tsc'), ['--noEmit', '-p', 'core']],
      ['lint and format', bin('biome'), ['check', '.']],
      ['import boundaries', process.execPath, ['scripts/check-imports.mjs']],
      ['generated files are current', process.execPath, ['scripts/generate.mjs', '--check']],
    ]) {
      const { status } = await execute(command, args);
      record(name, status === 0 ? 1 : 0, status === 0 ? 0 : 1);
    }
  },

  async unit() {
    const chromium = findChromium();
    if (!chromium)
      lacks('a Chromium browser: the timeline is not tested', 'apt-get install chromium   (or set CHROMIUM)');
    const report = path.join(root, 'out', 'vitest.json');
    mkdirSync(path.dirname(report), { recursive: true });
    rmSync(report, { force: true });
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    if (!chromium) args.push('--exclude', 'test/webview/**');
    const { status } = await execute(bin('vitest'), args, chromium ? { CHROMIUM: chromium } : {});
    try {
      const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
      // A file that does not load has no test of its own that could fail.
      const broken = testResults.filter((file) => file.status === 'failed' && !file.assertionResults.length).length;
      const failed = numFailedTests + broken;
      record('unit, server, command line, timeline', numPassedTests, failed || (status === 0 ? 0 : 1));
    } catch {
      record('unit, server, command line, timeline', 0, 1);
    }
  },

  async executor() {
    const torch = findTorchPython();
    const python = torch ?? findPython();
    if (!python) return lacks('Python: the native executor is not tested', 'apt-get install python3');
    if (!torch)
      lacks(
        'PyTorch: the native executor is tested without it only',
        'python3 -m venv .venv && .venv/bin/pip install torch==2.13.0 numpy',
      );
    const { status, output } = await execute(python, ['-m', 'unittest', 'discover', '-s', 'executor/tests'], {
      PYTHONPATH: path.join(root, 'executor'),
      RACELINE_TEST_TORCH: torch ? '1' : '',
    });
    const ran = Number(/^Ran (\d+) tests? in/m.exec(output)?.[1] ?? 0);
    const count = (word) =>
      Number(new RegExp(`${word}=(\\d+)`).exec(output.slice(output.lastIndexOf('Ran ')))?.[1] ?? 0);
    const failed = count('failures') + count('errors') + count('unexpected successes');
    record('native executor', ran - failed - count('skipped'), failed || (status === 0 && ran > 0 ? 0 : 1));
  },

  async vscode() {
    const chromium = findChromium();
    if (!chromium)
      return lacks('a Chromium browser: the extension is not tested in VS Code', 'apt-get install chromium');
    const { status, output } = await execute(process.execPath, ['test/vscode/run.mjs'], { CHROMIUM: chromium });
    const counts = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
    if (!counts) return record('extension in VS Code', 0, 1);
    const failed = Number(counts[2]);
    record('extension in VS Code', Number(counts[1]), failed || (status === 0 ? 0 : 1));
  },
};

for (const name of wanted)
  if (!suites[name]) {
    console.error(`there is no suite '${name}'; there are ${Object.keys(suites).join(', ')}`);
    process.exit(2);
  }
setUp();
for (const [name, suite] of Object.entries(suites)) if (!wanted.length || wanted.includes(name)) await suite();

console.log('');
for (const { name, passed, failed } of results)
  console.log(`${failed ? '✗' : '✓'} ${name}: ${passed} passed, ${failed} failed`);
for (const line of missing) console.log(`not run for want of ${line}`);
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') ? 1 : 0;
