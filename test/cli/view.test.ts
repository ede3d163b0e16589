import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { serveTimeline } from '../../cli/view.ts';
import { severalFiles } from '../../core/trace/several.ts';
import { cli, folder } from './raceline.ts';

const lines = '{"raceline":1,"producer":"test","mode":"builtin","unix":"0"}\n{"k":"end","t":1,"status":"ok"}\n';
let child: ChildProcess;
let address: URL;
let at: string;

beforeAll(async () => {
  at = folder({ 'run.raceline': lines });
  child = spawn(process.execPath, [cli, 'view', path.join(at, 'run.raceline'), '--no-open'], { cwd: at });
  address = await new Promise<URL>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      const found = /timeline: (\S+)/.exec(chunk.toString())?.[1];
      if (found) resolve(new URL(found));
    });
    child.stderr!.on('data', (chunk: Buffer) => reject(new Error(chunk.toString())));
  });
});
afterAll(() => child?.kill());

function get(
  pathname: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; body: string; csp: string }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    request({ host: address.hostname, port: address.port, path: pathname, headers, method }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body,
          csp: String(response.headers['content-security-policy'] ?? ''),
        }),
      );
    })
      .on('error', reject)
      .end(body);
  });
}

describe('raceline view', () => {
  it('listens on the loopback address only', () => {
    expect(address.hostname).toBe('127.0.0.1');
  });

  it('says when the file has grown', async () => {
    const before = (await get(`${address.pathname}trace/0/stamp`)).body;
    appendFileSync(path.join(at, 'run.raceline'), '\n');
    expect((await get(`${address.pathname}trace/0/stamp`)).body).not.toBe(before);
    writeFileSync(path.join(at, 'run.raceline'), lines);
  });

  it('sends what was appended alone, to who has what comes before', async () => {
    const from = (range: string): ReturnType<typeof get> => get(`${address.pathname}trace/0`, { range });
    const part = await from('bytes=10-');
    expect([part.status, part.body]).toEqual([206, lines.slice(10)]);
    expect((await from(`bytes=${lines.length}-`)).body).toBe(lines);
    for (const range of ['bytes=-5', 'bytes=2-5', 'lines=1-', 'bytes=99999999999999999999-']) {
      const whole = await from(range);
      expect([range, whole.status, whole.body]).toEqual([range, 200, lines]);
    }
  });

  it('keeps notes beside the trace, for those who know the token', async () => {
    const beside = path.join(at, 'run.raceline.notes.json');
    expect((await get(`${address.pathname}notes/0`)).body).toBe('');
    expect((await get(`${address.pathname}notes/0`, {}, '{"version":1,"notes":[]}')).status).toBe(204);
    expect(readFileSync(beside, 'utf8')).toBe('{"version":1,"notes":[]}');
    expect((await get(`${address.pathname}notes/0`)).body).toBe('{"version":1,"notes":[]}');
    expect((await get('/wrong/notes/0', {}, 'no')).status).toBe(404);
    expect((await get(`${address.pathname}notes/1`, {}, 'no')).status).toBe(404);
    expect(readFileSync(beside, 'utf8')).toBe('{"version":1,"notes":[]}');
  });

  it('serves the page, its bundles and the trace', async () => {
    const page = await get(address.pathname);
    expect(page.status).toBe(200);
    expect(page.body).toContain('webview.js');
    expect(page.body).toMatch(/default-src 'none'/);
    for (const name of ['webview.js', 'worker.js', 'webview.css'])
      expect((await get(address.pathname + name)).status).toBe(200);
    expect((await get(`${address.pathname}trace/0`)).body).toBe(lines);
    expect((await get(`${address.pathname}trace/0/name`)).body).toBe('run.raceline');
  });

  it('answers nobody who does not know the token, or who comes by another host name', async () => {
    expect((await get('/')).status).toBe(404);
    expect((await get('/trace/0')).status).toBe(404);
    expect((await get(`${address.pathname}trace/0`, { host: 'attacker.example' })).status).toBe(404);
  });

  it('serves no other file', async () => {
    for (const name of ['trace/1', 'cli.js', '../package.json', '%2e%2e/package.json', 'trace/0/../../etc/passwd'])
      expect((await get(address.pathname + name)).status).toBe(404);
  });
});

describe('raceline view of several files', () => {
  it('has one more choice: all of them together', async () => {
    const at = folder({ 'a.raceline': lines, 'b.raceline': lines });
    const { address, server } = await serveTimeline(['a', 'b'].map((name) => path.join(at, `${name}.raceline`)));
    try {
      const ask = async (name: string) => Buffer.from(await (await fetch(`${address}${name}`)).arrayBuffer());
      expect((await ask('')).toString()).toContain('data-traces="3"');
      expect((await ask('trace/2/name')).toString()).toBe('together: a.raceline, b.raceline');
      const files = severalFiles(new Uint8Array(await ask('trace/2')))!;
      expect(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
        ['a.raceline', lines],
        ['b.raceline', lines],
      ]);
      expect((await fetch(`${address}trace/3`)).status).toBe(404);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
