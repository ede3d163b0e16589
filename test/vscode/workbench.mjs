// A real VS Code for a test: its server on a free loopback port with folders of its own, and a headless Chromium that shows
// the workbench. Knows nothing of what is tested.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { chromium, codeDir } from './machine.mjs';

const quietSettings = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'window.commandCenter': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  // On by default in a browser: a text that a test reverts would be on disk already.
  'files.autoSave': 'off',
  'window.autoDetectColorScheme': false,
  'workbench.colorTheme': 'Default Dark Modern',
};

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/** A temporary copy of a folder, under a name that is shown in the workbench. */
export function temporaryCopy(source, name) {
  const folder = path.join(realpathSync(mkdtempSync(path.join(tmpdir(), 'raceline-vscode-'))), name);
  cpSync(source, folder, { recursive: true });
  return folder;
}

export class Workbench {
  #server;
  #browser;
  #root;
  #port;
  #output = '';

  /** `vsix`: installed before the start. `environment`: of the server, so of the extension host too. */
  static async start({ vsix, settings = {}, environment = {} } = {}) {
    const workbench = new Workbench();
    workbench.#root = mkdtempSync(path.join(tmpdir(), 'raceline-code-'));
    const folder = (name) => {
      const made = path.join(workbench.#root, name);
      mkdirSync(made, { recursive: true });
      return made;
    };
    mkdirSync(path.join(folder('user'), 'User'), { recursive: true });
    writeFileSync(
      path.join(folder('user'), 'User', 'settings.json'),
      JSON.stringify({ ...quietSettings, ...settings }),
    );
    const base = [
      path.join(codeDir, 'out/server-main.js'),
      '--accept-server-license-terms',
      '--telemetry-level=off',
      `--server-data-dir=${folder('server')}`,
      `--user-data-dir=${folder('user')}`,
      `--extensions-dir=${folder('extensions')}`,
    ];
    // No extension gallery: its look-ups would go to the network.
    const env = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":""}', ...environment };
    if (vsix) await workbench.#run([...base, '--install-extension', vsix], env);
    workbench.#port = await freePort();
    await workbench.#serve(
      [...base, '--host=127.0.0.1', `--port=${workbench.#port}`, '--without-connection-token'],
      env,
    );
    workbench.#browser = await playwright.launch({
      executablePath: chromium(),
      headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
    });
    return workbench;
  }

  async #run(args, env) {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`installing the extension failed:\n${output}`);
  }

  async #serve(args, env) {
    // A process group of its own: the extension host and the language server can outlive the server.
    this.#server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    process.once('exit', () => this.#signal('SIGKILL'));
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the server did not start:\n${this.#output}`)), 90_000);
      const read = (chunk) => {
        this.#output += chunk;
        if (!this.#output.includes('Extension host agent listening')) return;
        clearTimeout(timer);
        resolve();
      };
      this.#server.stdout.on('data', read);
      this.#server.stderr.on('data', read);
      this.#server.once('exit', (code) => {
        clearTimeout(timer);
        reject(new Error(`the server ended with ${code}:\n${this.#output}`));
      });
    });
  }

  /** A page on `folder`. `payload`: pairs for the workbench, such as where the extension under development is. */
  async open(folder, payload, prepare = async () => {}) {
    const context = await this.#browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: 'dark' });
    const page = await context.newPage();
    await prepare(page);
    const url = new URL(`http://127.0.0.1:${this.#port}/`);
    url.searchParams.set('folder', folder);
    if (payload) url.searchParams.set('payload', JSON.stringify(payload));
    await page.goto(url.href, { waitUntil: 'commit' });
    return page;
  }

  /** The address of a file of this machine, as the workbench in the browser names it. */
  remote(file) {
    return `vscode-remote://127.0.0.1:${this.#port}${file}`;
  }

  /** What the server said, and what the extension logged. */
  get output() {
    const logs = readdirSync(this.#root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /Raceline[^/]*\.log$/.test(name))
      .map((name) => `${path.basename(name)}:\n${readFileSync(path.join(this.#root, name), 'utf8').slice(-6000)}`);
    return [this.#output.slice(-1500), ...logs].join('\n');
  }

  async stop() {
    await this.#browser?.close().catch(() => {});
    if (this.#server && this.#server.exitCode === null) {
      const gone = once(this.#server, 'exit');
      this.#signal('SIGTERM');
      await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
      this.#signal('SIGKILL');
    }
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #signal(signal) {
    try {
      process.kill(-this.#server.pid, signal);
    } catch {
      // The group is gone already.
    }
  }
}
