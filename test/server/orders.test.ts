/** The two commands on orders, as an editor calls them. */
import { afterEach, expect, it } from 'vitest';
import { Client, type StartOptions } from './client.ts';

const clients: Client[] = [];
async function start(options: StartOptions = {}): Promise<Client> {
  const client = await Client.start(options);
  clients.push(client);
  return client;
}
afterEach(() => {
  for (const client of clients.splice(0)) client.kill();
});

const bare = `import torch

side = torch.cuda.Stream()


def run(model, x):
    with torch.cuda.stream(side):
        h = model(x)
    return h
`;

const careful = `import torch

side = torch.cuda.Stream()


def doubled(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`;

const uri = 'file:///w/program.py';

function ask<T>(client: Client, command: string, ...args: unknown[]): Promise<T> {
  return client.request<T>('workspace/executeCommand', { command: `raceline.server.${command}`, arguments: args });
}

it('every order that could be needed goes in, once', async () => {
  const client = await start();
  client.open(uri, bare);
  expect(await client.diagnostics(uri)).toEqual([]);
  expect(await ask(client, 'conservative', uri)).toEqual({ inserted: 2, left: [] });
  expect(await ask(client, 'conservative', uri)).toEqual({ inserted: 0, left: [] });
  await client.stop();
});

it('what can go is listed with the order that remains', async () => {
  const client = await start();
  client.open(uri, careful);
  await client.diagnostics(uri);
  expect(await ask(client, 'lean', uri)).toEqual([
    {
      range: { start: { line: 9, character: 4 }, end: { line: 9, character: 26 } },
      call: 'side.wait_stream(here)',
      proof: '`side` is after the same work already: `side.wait_stream(here)` at line 9',
    },
  ]);
  await client.stop();
});

it('both speak of the one document, whatever else is open', async () => {
  const client = await start();
  const other = 'file:///w/other.py';
  client.open(uri, bare);
  client.open(other, careful);
  await client.diagnostics(other);
  expect(await ask(client, 'lean', uri)).toEqual([]);
  expect(await ask(client, 'conservative', other)).toEqual({ inserted: 0, left: [] });
  expect(client.text(uri)).toBe(bare);
  await client.stop();
});

it('a document that is not there is refused in words', async () => {
  const client = await start();
  await expect(ask(client, 'conservative', uri)).rejects.toMatchObject({
    message: expect.stringContaining('open the Python file'),
  });
  await expect(ask(client, 'lean')).rejects.toMatchObject({ message: expect.stringContaining('URI') });
  await client.stop();
});
