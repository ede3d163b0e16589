/** Settings of projects in dist/server.js over stdio: the same as on the command line, watched while it runs. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { raceline, racy } from '../cli/raceline.ts';
import { Client, fullCapabilities, type Published, type StartOptions, uriOf } from './client.ts';

const clients: Client[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.kill();
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function folder(files: Readonly<Record<string, string>>): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'raceline-projects-')));
  folders.push(made);
  for (const [name, text] of Object.entries(files)) write(made, name, text);
  return made;
}
function write(dir: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), text);
}
async function open(dir: string, name: string, options: StartOptions = {}): Promise<{ client: Client; uri: string }> {
  const client = await Client.start({ workspaceFolders: [{ uri: uriOf(dir), name: 'w' }], ...options });
  clients.push(client);
  const uri = uriOf(path.join(dir, name));
  client.open(uri, readFileSync(path.join(dir, name), 'utf8'));
  return { client, uri };
}
const none = ({ diagnostics }: Published) => diagnostics.length === 0;
const some = ({ diagnostics }: Published) => diagnostics.length > 0;

/** Watches files and is asked for no settings: that they arrive would have everything read again, whatever was watched. */
const onlyWatching = {
  capabilities: { ...fullCapabilities, workspace: { ...fullCapabilities.workspace, configuration: false } },
};

describe('[tool.raceline] in the server', () => {
  it('decides what is shown, and how severe it is; a change of the file is followed', async () => {
    const dir = folder({ 'pyproject.toml': '[tool.raceline.severity]\nmissing-wait = "hint"\n', 'sub/racy.py': racy });
    const { client, uri } = await open(dir, 'sub/racy.py', onlyWatching);
    expect((await client.diagnostics(uri, some))[0]).toMatchObject({ code: 'missing-wait', severity: 4 });
    write(dir, 'pyproject.toml', '[tool.raceline]\nignore = ["missing-wait"]\n');
    client.notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: uriOf(path.join(dir, 'pyproject.toml')), type: 2 }],
    });
    await client.diagnostics(uri, none);
    await client.stop();
  });

  it('is followed at a save where the client watches nothing', async () => {
    const dir = folder({ 'pyproject.toml': '[tool.raceline]\nselect = ["unused-event"]\n', 'racy.py': racy });
    const { client, uri } = await open(dir, 'racy.py', { capabilities: {} });
    await client.diagnostics(uri, none);
    write(dir, 'pyproject.toml', '');
    client.save(uri);
    await client.diagnostics(uri, some);
    await client.stop();
  });

  it('leaves excluded files alone, open ones too', async () => {
    const dir = folder({
      'pyproject.toml': '[tool.raceline]\nexclude = ["third_party"]\n',
      'third_party/racy.py': racy,
    });
    const { client, uri } = await open(dir, 'third_party/racy.py');
    await client.diagnostics(uri, none);
    expect(await client.actions(uri, { start: { line: 9, character: 0 }, end: { line: 9, character: 9 } })).toEqual([]);
    await client.stop();
  });

  it('has its faults shown on their lines, until they are mended', async () => {
    const dir = folder({ 'pyproject.toml': '[tool.raceline]\n\nselct = ["missing-wait"]\n', 'racy.py': racy });
    const { client, uri } = await open(dir, 'racy.py', onlyWatching);
    await client.diagnostics(uri, some);
    const toml = uriOf(path.join(dir, 'pyproject.toml'));
    const [fault] = await client.diagnostics(toml, some);
    expect(fault).toMatchObject({ severity: 2, source: 'raceline', range: { start: { line: 2 } } });
    expect(fault!.message).toMatch(/did you mean 'select'/);
    write(dir, 'pyproject.toml', '[tool.raceline]\n');
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri: toml, type: 2 }] });
    await client.diagnostics(toml, none);
    await client.stop();
  });

  it('uses the baseline that the command line wrote, and follows it', async () => {
    const dir = folder({ 'pyproject.toml': '[tool.raceline]\nbaseline = "known.json"\n', 'racy.py': racy });
    expect(raceline(dir, 'check', '--write-baseline', 'known.json').code).toBe(0);
    const { client, uri } = await open(dir, 'racy.py', onlyWatching);
    await client.diagnostics(uri, none);
    write(dir, 'known.json', '{"version": 1, "findings": []}');
    client.notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: uriOf(path.join(dir, 'known.json')), type: 2 }],
    });
    await client.diagnostics(uri, some);
    await client.stop();
  });

  it('wins over the settings of the editor, which fill in the rest', async () => {
    const dir = folder({ 'pyproject.toml': '[tool.raceline]\nignore = ["unused-event"]\n', 'racy.py': racy });
    const settings = { ignore: ['missing-wait'], severity: { 'missing-wait': 'warning' } };
    const { client, uri } = await open(dir, 'racy.py', { configuration: { raceline: settings } });
    await client.diagnostics(uri, ({ diagnostics }) => diagnostics[0]?.severity === 2);
    await client.stop();
  });
});

it('settings of the editor hold where no project says anything, and when they change', async () => {
  const dir = folder({ 'racy.py': racy });
  const { client, uri } = await open(dir, 'racy.py', { configuration: { raceline: { ignore: ['missing-wait'] } } });
  await client.diagnostics(uri, none);
  client.configuration = { raceline: { ignore: ['missing-*', 'no-such'], perFileIgnores: { 'other.py': ['ALL'] } } };
  client.notify('workspace/didChangeConfiguration', { settings: null });
  client.configuration = { raceline: {} };
  client.notify('workspace/didChangeConfiguration', { settings: null });
  await client.diagnostics(uri, some);
  await client.stop();
});

it('a client that is not asked pushes them', async () => {
  const dir = folder({ 'racy.py': racy });
  const { client, uri } = await open(dir, 'racy.py', {
    capabilities: { ...fullCapabilities, workspace: {} },
    initializationOptions: { settings: { severity: { 'missing-wait': 'warning' } } },
  });
  expect((await client.diagnostics(uri, some))[0]).toMatchObject({ severity: 2 });
  await client.stop();
});
