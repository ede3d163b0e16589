/** Messages that are framed wrongly: said on standard error, and a clear end. */
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Framing } from '../../server/framing.ts';
import { Client } from './client.ts';

const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.kill();
});

const message = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('framing', () => {
  const read = (...chunks: string[]) => {
    const framing = new Framing();
    for (const chunk of chunks) {
      const fault = framing.read(Buffer.from(chunk));
      if (fault) return fault;
    }
    return framing.end();
  };

  it.each([
    [[message('{}'), message('{"é":"🚀"}')]],
    [[message('{}') + message('[]'), '']],
    [[...message('{"a":"Content-Length: 3"}')]],
    [['Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n{}']],
    [[message('')]],
    [[]],
  ])('takes what is right, however it is cut: %#', (chunks) => {
    expect(read(...chunks)).toBeUndefined();
  });

  it.each([
    ['hello\n', /must end with CR LF/],
    ['Content-Length: 2\n\n{}', /must end with CR LF, but "Content-Length: 2\\n" does not/],
    ['Content-Type: x\r\n\r\n{}', /must start with Content-Length, not with "Content-Type: x"/],
    ['\r\n', /must start with Content-Length/],
    ['Content-Length: many\r\n\r\n{}', /must be a number of bytes up to \d+, not "many"/],
    ['Content-Length: -3\r\n\r\n{}', /not "-3"/],
    ['Content-Length: 99999999999\r\n\r\n{}', /not "99999999999"/],
    [`${message('{}').replace('2', '1')}${message('{}')}`, /not with "}Content-Length: 2"/],
    ['Content-Length: 20\r\n\r\n{}', /ended after 2 of the 20 bytes/],
    ['Content-Length: 20', /ended in a header/],
    ['x'.repeat(5000), /longer than 4096 bytes/],
  ])('says what is wrong with %j', (text, fault) => {
    expect(read(text)).toMatch(fault);
  });
});

it.each([
  ['dist/server.js', ['--stdio']],
  ['dist/cli.js', ['lsp', '--stdio']],
])('%s says so on standard error, and ends with 2', async (file, args) => {
  const client = await Client.start({ command: [path.resolve(file), ...args] });
  clients.push(client);
  client.raw('Content-Length: twelve\r\n\r\n{"jsonrpc":"2.0"}');
  expect(await client.exited).toBe(2);
  expect(client.log.join('')).toMatch(
    /^raceline: the input is no Language Server Protocol: Content-Length must be .*"twelve"/m,
  );
});

it('ends with 2 where the input ends within a message', async () => {
  const client = await Client.start();
  clients.push(client);
  client.raw('Content-Length: 100\r\n\r\n{"jsonrpc":');
  client.closeInput();
  expect(await client.exited).toBe(2);
  expect(client.log.join('')).toMatch(/ended after 11 of the 100 bytes of a message/);
});
