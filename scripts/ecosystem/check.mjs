// One `raceline check` of one package, as its user would run it: a process of its own, in its own process group.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup.mjs';

const reportCpu = pathToFileURL(path.join(root, 'scripts', 'ecosystem', 'report-cpu.mjs')).href;
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const child of running) end(child);
    process.exit(130);
  });

/** {findings: [{file, line, column, code, severity, message}], problems: [text], seconds, wall}; rejects if it fails. */
export function checkFolder(folder, { minutes = 30 } = {}) {
  const child = spawn(process.execPath, ['--import', reportCpu, path.join(root, 'dist', 'cli.js'), 'check', '.'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const started = performance.now();
  const timer = setTimeout(() => end(child), minutes * 60_000);
  const texts = [1, 2, 3].map((i) => collect(child.stdio[i]));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', async (status, signal) => {
      running.delete(child);
      clearTimeout(timer);
      const wall = (performance.now() - started) / 1000;
      const [out, err, cpu] = await Promise.all(texts);
      if (signal) return reject(new Error(`ended by ${signal} after ${wall.toFixed(0)} s`));
      // The sums at the end: without them it has not checked anything, whatever the exit code says.
      if (!/^\d+ files?, \d+ errors?/m.test(out))
        return reject(new Error(err.trim().slice(-500) || `exit code ${status}`));
      resolve({
        findings: findingsIn(out),
        problems: err.split('\n').filter(Boolean),
        seconds: cpu ? JSON.parse(cpu).user / 1e6 : Number.NaN,
        wall,
      });
    });
  });
}

function end(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

async function collect(stream) {
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}

const place = /^(\S.*?):(\d+):(\d+): (error|warning|hint) ([a-z-]+)/;

/** The text for people: a line with the place and the code, the message on the next one, the code below. */
function findingsIn(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    const parts = place.exec(line);
    if (!parts) return [];
    const [, file, row, column, severity, code] = parts;
    return [{ file, line: Number(row), column: Number(column), code, severity, message: lines[i + 1].trim() }];
  });
}
