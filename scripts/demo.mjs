// `npm run demo`: from a fresh clone to an open timeline, on a machine with Node alone. `-- --once` ends by itself.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { root, setUp } from './setup.mjs';

const once = process.argv.includes('--once');
setUp();
const cli = path.join(root, 'dist', 'cli.js');
const example = path.join('examples', 'pipeline.py');
const recording = path.join('out', 'demo.raceline');
mkdirSync(path.join(root, 'out'), { recursive: true });

heading(`1. Check: raceline check ${example}`);
const found = raceline(['check', example]);
if (found !== 1) fail(`the example's faults were not found (exit code ${found})`);

heading('2. The same text with the preferred fixes: raceline check --diff');
raceline(['check', '--diff', example]);

heading('3. Run it on the built-in executor: raceline preview');
const ran = raceline(['preview', example, '-o', recording]);
if (ran === 2) fail('the built-in executor did not run the example');

heading('4. The timeline: raceline view');
const server = spawn(process.execPath, [cli, 'view', recording, ...(once ? ['--no-open'] : [])], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
let printed = '';
server.stdout.on('data', async (chunk) => {
  process.stdout.write(chunk);
  const before = printed.includes('\n');
  printed += chunk;
  const address = /timeline: (http\S+)/.exec(printed)?.[1];
  if (!once || before || !address) return;
  try {
    for (const name of ['', 'webview.js', 'webview.css', 'worker.js', 'trace/0']) {
      const answer = await fetch(address + name);
      const size = (await answer.arrayBuffer()).byteLength;
      if (!answer.ok || !size) throw new Error(`'${name || 'the page'}' answered ${answer.status} with ${size} bytes`);
    }
    console.log('The page, its bundles and the trace were served; done.');
    server.kill();
    process.exit(0);
  } catch (error) {
    server.kill();
    fail(error.message);
  }
});
server.on('exit', (code) => process.exit(code ?? 0));
process.on('SIGINT', () => server.kill());

function raceline(args) {
  return spawnSync(process.execPath, [cli, ...args], { cwd: root, stdio: 'inherit' }).status ?? 2;
}

function heading(text) {
  console.log(`\n── ${text} ${'─'.repeat(Math.max(0, 96 - text.length))}\n`);
}

function fail(message) {
  console.error(`demo: ${message}`);
  process.exit(2);
}
