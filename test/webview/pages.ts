/**
 * What the webview's tests stand on: the bundles built by esbuild, served on loopback with the real page and its content
 * security policy, and one headless Chromium.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { page as html } from '../../webview/page.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

export const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(executable);

/** With `judge`, the worker's judge is the module at this path in place of the engine. */
export async function buildBundles(judge?: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'raceline-webview-'));
  await build({
    entryPoints: {
      webview: path.join(root, 'webview/main.ts'),
      worker: path.join(root, 'webview/worker.ts'),
    },
    bundle: true,
    format: 'iife',
    target: 'chrome120',
    outdir: folder,
    logLevel: 'warning',
    plugins: judge === undefined ? [] : [instead(/judge(Trace)?\.ts$/, path.join(root, judge))],
  });
  return folder;
}

function instead(filter: RegExp, file: string): Plugin {
  return {
    name: 'instead',
    setup(build) {
      build.onResolve({ filter }, () => ({ path: file }));
    },
  };
}

export interface Site {
  readonly address: string;
  /** What the page posted to `reveal`. */
  readonly revealed: { file: string; line: number }[];
  /** The trace that is served; undefined: none. */
  trace: { name: string; bytes: Uint8Array } | undefined;
  /** How many times it is served, as so many traces. */
  count: number;
  /** How many bytes of traces were sent, each time. */
  readonly sent: number[];
  /** Another one than `trace` at a number. */
  readonly others: Map<number, { name: string; bytes: Uint8Array }>;
  /** The text that lies beside the trace. */
  notes: string;
  close(): Promise<void>;
}

/** The loopback side as `raceline view` has it. `script` is put before the bundle, to play another host. */
export async function serve(folder: string, script = ''): Promise<Site> {
  const revealed: Site['revealed'] = [];
  const sent: number[] = [];
  const site = { revealed, sent, trace: undefined as Site['trace'], count: 1, others: new Map(), notes: '' };
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const send = (type: string, body: string | Uint8Array): void => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
    if (pathname === '/') {
      const nonce = randomBytes(16).toString('base64');
      const text = html({
        nonce,
        scriptUri: 'webview.js',
        styleUri: 'webview.css',
        workerUri: 'worker.js',
        cspSource: "'self'",
        connect: true,
        title: 'test',
        traces: site.count,
      });
      send('text/html', text);
    } else if (pathname === '/webview.js')
      send('text/javascript', `${script}\n${readFileSync(path.join(folder, 'webview.js'), 'utf8')}`);
    else if (pathname === '/worker.js') send('text/javascript', readFileSync(path.join(folder, 'worker.js')));
    else if (pathname === '/webview.css') send('text/css', readFileSync(path.join(folder, 'webview.css')));
    else if (/^\/trace\/\d/.test(pathname)) {
      const at = Number(pathname[7]);
      const trace: Site['trace'] = site.others.get(at) ?? site.trace;
      if (!trace) response.writeHead(404).end();
      else if (pathname.endsWith('/name')) send('text/plain', `${at} ${trace.name}`);
      else if (pathname.endsWith('/stamp')) send('text/plain', `${trace.bytes.length}`);
      else {
        response.setHeader('x-stamp', `${trace.bytes.length}`);
        const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const part = start < trace.bytes.length ? trace.bytes.subarray(start) : trace.bytes;
        site.sent.push(part.length);
        response.writeHead(part.length < trace.bytes.length ? 206 : 200, {
          'content-type': 'application/octet-stream',
        });
        response.end(part);
      }
    } else if (/^\/notes\/\d$/.test(pathname) && request.method === 'GET') send('application/json', site.notes);
    else if (/^\/notes\/\d$/.test(pathname)) {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      request.on('end', () => {
        site.notes = body;
        response.writeHead(204).end();
      });
    } else if (pathname === '/reveal' && request.method === 'POST') {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      request.on('end', () => {
        revealed.push(JSON.parse(body));
        response.writeHead(204).end();
      });
    } else response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no address');
  return Object.assign(site, {
    address: `http://127.0.0.1:${bound.port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: executable,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
      '--font-render-hinting=none',
    ],
  });
}

/** A page that collects what goes wrong in it: console errors, exceptions, refused by the policy. */
export async function openPage(
  browser: Browser,
  size: { width: number; height: number },
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: size });
  const faults: string[] = [];
  page.on('console', (message) => {
    // Reading pixels back is what these tests do, not what the page does.
    if (message.text().includes('willReadFrequently')) return;
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  return { page, faults };
}
