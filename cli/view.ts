/**
 * `raceline view`: the timeline in a browser, served on the loopback interface. The page is the same bundle that runs in
 * the editor's panel; this server gives it its files and the trace's bytes and nothing else.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { spawn } from 'node:child_process';
import { severalHead } from '../core/trace/several.ts';
import { page } from '../webview/page.ts';
import { readBundle } from './bundles.ts';
import { displayPath } from './display-path.ts';
import { parseArguments, UsageError } from './arguments.ts';

export interface ViewServer {
  /** With the token without which nothing is served. */
  readonly address: string;
  readonly server: Server;
}

export async function view(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--port'], ['--no-open']);
  if (!given.rest.length) throw new UsageError('view needs a file');
  const port = Number(given.values.get('--port') ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new UsageError('--port must be a number up to 65535');
  for (const file of given.rest)
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`there is no file '${file}'`);
  const { address } = await serveTimeline(given.rest, port);
  console.log(`timeline: ${address}\nCtrl+C ends it.`);
  if (!given.flags.has('--no-open')) openInBrowser(address);
  return new Promise(() => {});
}

export async function serveTimeline(files: readonly string[], port = 0): Promise<ViewServer> {
  // Other users and other pages of this machine can reach loopback too: only who knows the token is answered.
  const token = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    try {
      answer(request, response, files, token);
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end((error as Error).message);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no address to listen on');
  return { address: `http://127.0.0.1:${bound.port}/${token}/`, server };
}

const bundles: Readonly<Record<string, string>> = {
  'webview.js': 'text/javascript',
  'webview.css': 'text/css',
  'worker.js': 'text/javascript',
};

function answer(request: IncomingMessage, response: ServerResponse, files: readonly string[], token: string): void {
  const headers = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  const host = request.headers.host ?? '';
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [first, ...rest] = url.pathname.split('/').filter(Boolean);
  // A page of another origin that was made to point here by its name server has another host name.
  if (first !== token || !/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) {
    response.writeHead(404, { ...headers, 'content-type': 'text/plain' }).end('not found');
    return;
  }
  const name = rest.join('/');
  const send = (type: string, body: string | Uint8Array) =>
    response.writeHead(200, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body);
  if (name === '') {
    const nonce = randomBytes(16).toString('base64');
    send(
      'text/html',
      page({
        nonce,
        scriptUri: 'webview.js',
        styleUri: 'webview.css',
        workerUri: 'worker.js',
        cspSource: "'self'",
        connect: true,
        // Files of one run can be seen together, as one more choice.
        traces: files.length > 1 ? files.length + 1 : 1,
        title: files.map((file) => path.basename(file)).join(', '),
      }),
    );
    return;
  }
  const type = bundles[name];
  if (type) {
    send(type, readBundle(name));
    return;
  }
  const trace = /^trace\/(\d+)(\/name|\/stamp)?$/.exec(name);
  const file = trace ? files[Number(trace[1])] : undefined;
  const together = files.length > 1 && Number(trace?.[1] ?? -1) === files.length;
  const noted = files[Number(/^notes\/(\d+)$/.exec(name)?.[1] ?? -1)];
  if (noted !== undefined) notes(noted, request, response, headers);
  else if (file !== undefined && trace?.[2] === '/name') send('text/plain', path.basename(file));
  else if (file !== undefined && trace?.[2] === '/stamp') send('text/plain', stampOf(file));
  else if (file !== undefined) sendFile(file, request, response, headers);
  else if (together && trace?.[2] === '/name')
    send('text/plain', `together: ${files.map((each) => path.basename(each)).join(', ')}`);
  else if (together && trace?.[2] === undefined) void sendTogether(files, response, headers);
  else if (name === 'reveal' && request.method === 'POST') reveal(request, response, headers);
  else response.writeHead(404, { ...headers, 'content-type': 'text/plain' }).end('not found');
}

/** Piece by piece: a trace of several gigabytes is no buffer. */
function sendFile(
  file: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): void {
  // A run may be writing it: what comes after its present end is left for the next time.
  const { size } = statSync(file);
  const stamp = stampOf(file);
  // A page that follows a run has what comes before.
  const wanted = Number(/^bytes=(\d{1,15})-$/.exec(request.headers.range ?? '')?.[1] ?? -1);
  const isPart = wanted >= 0 && wanted < size;
  const start = isPart ? wanted : 0;
  const bytes = createReadStream(file, { start, end: Math.max(0, size - 1) });
  bytes.once('error', (error) =>
    response.writeHead(500, { ...headers, 'content-type': 'text/plain' }).end(error.message),
  );
  bytes.once('open', () => {
    response.writeHead(isPart ? 206 : 200, {
      ...headers,
      'content-type': 'application/octet-stream',
      'content-length': size - start,
      ...(isPart ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
      'x-stamp': stamp,
    });
    bytes.pipe(response);
  });
}

/** All files one behind the other; the page's reader merges them. */
async function sendTogether(
  files: readonly string[],
  response: ServerResponse,
  headers: Record<string, string>,
): Promise<void> {
  const sizes = files.map((file) => statSync(file).size);
  const head = severalHead(files.map((file, i) => ({ name: path.basename(file), size: sizes[i]! })));
  response.writeHead(200, {
    ...headers,
    'content-type': 'application/octet-stream',
    'content-length': sizes.reduce((sum, size) => sum + size, head.length),
  });
  response.write(head);
  try {
    for (const [i, file] of files.entries())
      if (sizes[i]! > 0) await pipeline(createReadStream(file, { end: sizes[i]! - 1 }), response, { end: false });
    response.end();
  } catch {
    // The page is gone, or a file is: a short answer is an error to it.
    response.destroy();
  }
}

/** Another text when the file has changed. */
function stampOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${size} ${Math.round(mtimeMs)}`;
}

const largestNotes = 16 << 20;

/** Notes lie beside the trace, so that they go where it goes. */
function notes(
  file: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): void {
  const beside = `${file}.notes.json`;
  if (request.method !== 'POST') {
    const text = existsSync(beside) ? readFileSync(beside) : '';
    response.writeHead(200, { ...headers, 'content-type': 'application/json; charset=utf-8' }).end(text);
    return;
  }
  const pieces: Buffer[] = [];
  let size = 0;
  request.on('data', (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size > largestNotes) request.destroy();
  });
  request.on('end', () => {
    try {
      writeFileSync(beside, Buffer.concat(pieces));
      response.writeHead(204, headers).end();
    } catch (error) {
      console.error(`the notes cannot be kept: ${(error as Error).message}`);
      response.writeHead(500, headers).end();
    }
  });
}

/** There is no editor beside the page: the place is printed, where a terminal makes it a link. */
function reveal(request: IncomingMessage, response: ServerResponse, headers: Record<string, string>): void {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString('utf8');
    if (body.length > 65536) request.destroy();
  });
  request.on('end', () => {
    try {
      const { file, line } = JSON.parse(body) as { file: unknown; line: unknown };
      if (typeof file === 'string') console.log(`${displayPath(file)}:${Number(line)}`);
      response.writeHead(204, headers).end();
    } catch {
      response.writeHead(400, headers).end();
    }
  });
}

/** Best effort: a machine without a browser still has the printed address. */
export function openInBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', address]
        : ['xdg-open', address];
  const child = spawn(command!, args, { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
