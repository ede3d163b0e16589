/**
 * The server around an analysis that is told what to find: versions, settings, scopes, and what happens when a check or a
 * fix throws. A finding is made for each line that holds `RACE`; its fix takes the word away.
 */
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import type { CheckResult, SourceChecker, SourceFile } from '../../core/checkSource.ts';
import type { PythonParser } from '../../core/python/parse.ts';
import type { Finding, Fix } from '../../core/rules/finding.ts';
import { startServer } from '../../server/start.ts';
import { fullCapabilities, type Published } from './client.ts';

class Fake implements SourceChecker {
  checks: SourceFile[][] = [];
  failNext = false;
  failFixes = false;

  check(files: readonly SourceFile[]): CheckResult {
    this.checks.push([...files]);
    if (this.failNext) {
      this.failNext = false;
      throw new Error('the analysis broke');
    }
    return { findings: files.flatMap(findings), problems: [] };
  }

  fixesFor(finding: Finding): readonly Fix[] {
    if (this.failFixes) throw new Error('the fix broke');
    return [
      { title: 'take it away', preferred: true, edits: [{ file: finding.file, range: finding.range, newText: '' }] },
    ];
  }
}

function findings({ file, text }: SourceFile): Finding[] {
  return text.split('\n').flatMap((content, line) => {
    const character = content.indexOf('RACE');
    if (character < 0) return [];
    const range = { start: { line, character }, end: { line, character: character + 4 } };
    const code = content.includes('RACE-REDUNDANT') ? 'redundant-record-stream' : 'missing-wait';
    return [
      {
        file,
        range,
        code,
        severity: code === 'missing-wait' ? ('error' as const) : ('hint' as const),
        certainty: content.includes('maybe') ? ('some-paths' as const) : ('always' as const),
        message: `${code} on line ${line + 1}`,
        related: [{ file, range, message: 'earlier' }],
        fixes: [],
      },
    ];
  });
}

interface Running {
  readonly client: MessageConnection;
  readonly fake: Fake;
  readonly published: Published[];
  readonly log: string[];
  latest(uri: string): Published | undefined;
  until(test: () => boolean): Promise<void>;
}

const open: MessageConnection[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.dispose();
});

const neverAsked = new Proxy({} as PythonParser, { get: () => () => expect.unreachable() });

interface Options {
  readonly settings?: Record<string, unknown>;
  readonly capabilities?: object;
  /** Requests beyond the protocol that the client knows. */
  readonly known?: readonly string[];
}

async function start(options: Options = {}): Promise<Running> {
  const up = new PassThrough();
  const down = new PassThrough();
  const fake = new Fake();
  startServer(
    createConnection(ProposedFeatures.all, new StreamMessageReader(up), new StreamMessageWriter(down)),
    async () => ({ createChecker: () => fake, parser: neverAsked }),
  );
  const client = createMessageConnection(new StreamMessageReader(down), new StreamMessageWriter(up));
  const published: Published[] = [];
  const log: string[] = [];
  client.onNotification('textDocument/publishDiagnostics', (params: Published) => {
    published.push(params);
  });
  client.onNotification('window/logMessage', ({ message }: { message: string }) => {
    log.push(message);
  });
  client.onRequest('workspace/configuration', ({ items }: { items: unknown[] }) =>
    items.map(() => options.settings ?? {}),
  );
  client.onRequest('client/registerCapability', () => null);
  client.listen();
  open.push(client);
  await client.sendRequest('initialize', {
    processId: null,
    rootUri: null,
    capabilities: options.capabilities ?? fullCapabilities,
    initializationOptions: { docsUri: 'file:///docs/rules', client: options.known ?? [] },
  });
  await client.sendNotification('initialized', {});
  return {
    client,
    fake,
    published,
    log,
    latest: (uri) => published.findLast((p) => p.uri === uri),
    async until(test) {
      for (let i = 0; i < 500 && !test(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
      if (!test()) throw new Error(`it did not come to that; log:\n${log.join('\n')}`);
    },
  };
}

const uri = 'untitled:one';
const didOpen = (text: string, at = uri, languageId = 'python') => ({
  textDocument: { uri: at, languageId, version: 1, text },
});
const didChange = (text: string, version: number) => ({
  textDocument: { uri, version },
  contentChanges: [{ text }],
});

it('maps severity, tags, code, description and related places', async () => {
  const { client, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\nRACE-REDUNDANT\n'));
  await until(() => latest(uri) !== undefined);
  const [first, second] = latest(uri)!.diagnostics;
  expect(first).toMatchObject({
    severity: 1,
    code: 'missing-wait',
    source: 'raceline',
    codeDescription: { href: 'file:///docs/rules/missing-wait.md' },
    relatedInformation: [{ location: { uri }, message: 'earlier' }],
  });
  expect(first!.tags).toBeUndefined();
  expect(second).toMatchObject({ severity: 4, tags: [1] });
});

it('leaves out what the client cannot show', async () => {
  const { client, latest, until } = await start({ capabilities: {} });
  await client.sendNotification('textDocument/didOpen', didOpen('RACE-REDUNDANT\n'));
  await until(() => latest(uri) !== undefined);
  const [only] = latest(uri)!.diagnostics;
  expect(Object.keys(only!).sort()).toEqual(['code', 'message', 'range', 'severity', 'source']);
});

it('joins the edits of a burst into few checks, and publishes the last version', async () => {
  const { client, fake, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('x\n'));
  await until(() => latest(uri)?.version === 1);
  const before = fake.checks.length;
  for (let version = 2; version <= 40; version++)
    await client.sendNotification('textDocument/didChange', didChange(`${'x'.repeat(version)} RACE\n`, version));
  await until(() => latest(uri)?.version === 40);
  expect(latest(uri)!.diagnostics[0]!.range.start.character).toBe(41);
  expect(fake.checks.length - before).toBeLessThan(20);
});

it('survives a check that throws: findings stay, the next edit is checked', async () => {
  const { client, fake, latest, log, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  fake.failNext = true;
  await client.sendNotification('textDocument/didChange', didChange('RACE \n', 2));
  await until(() => log.some((line) => line.includes('the analysis broke')));
  expect(latest(uri)!.diagnostics).toHaveLength(1);
  await client.sendNotification('textDocument/didChange', didChange('fine\n', 3));
  await until(() => latest(uri)?.version === 3);
  expect(latest(uri)!.diagnostics).toEqual([]);
});

it('answers a request that fails with an error, and lives on', async () => {
  const { client, fake, log, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  const ask = () =>
    client.sendRequest('textDocument/codeAction', {
      textDocument: { uri },
      range: latest(uri)!.diagnostics[0]!.range,
      context: { diagnostics: [] },
    });
  fake.failFixes = true;
  await expect(ask()).rejects.toThrow('the fix broke');
  expect(log.some((line) => line.includes('the fix broke'))).toBe(true);
  fake.failFixes = false;
  await expect(ask()).resolves.toHaveLength(2);
});

it('makes an edit for the text that is there now, though the check of it was still to come', async () => {
  const { client, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  await client.sendNotification('textDocument/didChange', didChange('\n\n  RACE\n', 2));
  const [fix] = await client.sendRequest<{ edit: { documentChanges: unknown[] } }[]>('textDocument/codeAction', {
    textDocument: { uri },
    range: { start: { line: 2, character: 3 }, end: { line: 2, character: 3 } },
    context: { diagnostics: [] },
  });
  expect(fix!.edit.documentChanges).toMatchObject([
    { textDocument: { uri, version: 2 }, edits: [{ range: { start: { line: 2, character: 2 } } }] },
  ]);
});

it('offers the preferred fix first and the ignore comment last, and not at all when the setting is off', async () => {
  const titles = async (settings?: Record<string, unknown>) => {
    const { client, latest, until } = await start({ settings });
    await client.sendNotification('textDocument/didOpen', didOpen('RACE\nRACE\n'));
    await until(() => latest(uri)?.diagnostics.length === 2);
    const actions = await client.sendRequest<{ title: string; isPreferred?: boolean; kind: string }[]>(
      'textDocument/codeAction',
      { textDocument: { uri }, range: latest(uri)!.diagnostics[0]!.range, context: { diagnostics: [] } },
    );
    return actions.map(({ title, isPreferred }) => (isPreferred ? `${title}!` : title));
  };
  expect(await titles()).toEqual([
    'take it away!',
    'Fix all missing-wait in this file',
    'Ignore missing-wait on this line',
  ]);
  expect(await titles({ codeAction: { ignoreComment: false } })).not.toContain('Ignore missing-wait on this line');
});

it('offers the page of the rule before the ignore comment, by the way that the client has', async () => {
  const explained = async (capabilities: object, known: readonly string[]) => {
    const { client, latest, until } = await start({ capabilities, known });
    const shown: unknown[] = [];
    client.onRequest('window/showDocument', (params) => {
      shown.push(params);
      return { success: true };
    });
    await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
    await until(() => latest(uri)?.diagnostics.length === 1);
    const actions = await client.sendRequest<{ title: string; command?: { command: string; arguments: unknown[] } }[]>(
      'textDocument/codeAction',
      { textDocument: { uri }, range: latest(uri)!.diagnostics[0]!.range, context: { diagnostics: [] } },
    );
    const command = actions.find(({ title }) => title === 'Explain missing-wait')?.command;
    if (command?.command === 'raceline.server.explain')
      await client.sendRequest('workspace/executeCommand', { command: command.command, arguments: command.arguments });
    return { titles: actions.map(({ title }) => title), command: command?.command, shown };
  };
  const vscode = await explained(fullCapabilities, ['raceline/explain', 'raceline/commands']);
  expect(vscode.command).toBe('raceline.explain');
  expect(vscode.titles).toEqual(['take it away', 'Explain missing-wait', 'Ignore missing-wait on this line']);
  const other = await explained({ ...fullCapabilities, window: { showDocument: { support: true } } }, []);
  expect(other.shown).toEqual([{ uri: 'file:///docs/rules/missing-wait.md', takeFocus: true }]);
  expect((await explained(fullCapabilities, [])).command).toBeUndefined();
});

it('fixes all that is certain to a fixed point, and puts the findings back', async () => {
  const { client, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE a\nkeep\nRACE maybe\nRACE b\n'));
  await until(() => latest(uri)?.diagnostics.length === 3);
  const [action] = await client.sendRequest<object[]>('textDocument/codeAction', {
    textDocument: { uri },
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
    context: { diagnostics: [], only: ['source.fixAll'] },
  });
  expect(action).toMatchObject({ kind: 'source.fixAll.raceline' });
  expect(action).not.toHaveProperty('edit');
  const resolved = await client.sendRequest<{ edit: { documentChanges: { edits: object[] }[] } }>(
    'codeAction/resolve',
    action,
  );
  expect(resolved.edit.documentChanges[0]!.edits).toMatchObject([
    { range: { start: { line: 0 }, end: { line: 1 } }, newText: ' a\n' },
    { range: { start: { line: 3 }, end: { line: 4 } }, newText: ' b\n' },
  ]);
});

it('does not resolve an action of a text that is gone', async () => {
  const { client, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  const [action] = await client.sendRequest<object[]>('textDocument/codeAction', {
    textDocument: { uri },
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
    context: { diagnostics: [], only: ['source.fixAll.raceline'] },
  });
  await client.sendNotification('textDocument/didChange', didChange('\nRACE\n', 2));
  expect(await client.sendRequest('codeAction/resolve', action)).not.toHaveProperty('edit');
});

it('waits for the save where the setting says so', async () => {
  const { client, latest, until } = await start({ settings: { diagnostics: { run: 'onSave' } } });
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  await client.sendNotification('textDocument/didChange', didChange('fine\n', 2));
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(latest(uri)!.version).toBe(1);
  await client.sendNotification('textDocument/didSave', { textDocument: { uri } });
  await until(() => latest(uri)?.version === 2);
  expect(latest(uri)!.diagnostics).toEqual([]);
});

it('takes findings away at once when it is turned off', async () => {
  const settings: Record<string, unknown> = {};
  const { client, latest, until } = await start({ settings });
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  settings.enable = false;
  await client.sendNotification('workspace/didChangeConfiguration', { settings: null });
  await until(() => latest(uri)?.diagnostics.length === 0);
});

it('obeys pushed settings of a client that is not asked', async () => {
  const { client, latest, until } = await start({ capabilities: {} });
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  await client.sendNotification('workspace/didChangeConfiguration', { settings: { raceline: { enable: false } } });
  await until(() => latest(uri)?.diagnostics.length === 0);
});

it('clears the diagnostics of a closed document, and reads no other language', async () => {
  const { client, fake, latest, until } = await start();
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n'));
  await client.sendNotification('textDocument/didOpen', didOpen('RACE\n', 'untitled:two', 'cpp'));
  await until(() => latest(uri)?.diagnostics.length === 1);
  expect(fake.checks.flat().some(({ file }) => file === 'untitled:two')).toBe(false);
  await client.sendNotification('textDocument/didClose', { textDocument: { uri } });
  await until(() => latest(uri)?.diagnostics.length === 0);
});
