/** dist/server.js as an editor drives it: over stdio, with real framing, on real Python. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { at, Client, fullCapabilities, type StartOptions, uriOf } from './client.ts';

const racy = `import torch


def score(frames, weights):
    upload = torch.cuda.Stream()
    math = torch.cuda.Stream()
    math.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(upload):
        batch = torch.empty_like(frames, device="cuda")
        batch.copy_(frames, non_blocking=True)
    with torch.cuda.stream(math):
        scores = batch @ weights
    math.synchronize()
    upload.synchronize()
    return scores.cpu()
`;

const clients: Client[] = [];
const folders: string[] = [];
async function start(options: StartOptions = {}): Promise<Client> {
  const client = await Client.start(options);
  clients.push(client);
  return client;
}
function folder(files: Record<string, string>): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'raceline-lsp-')));
  folders.push(made);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(made, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return made;
}
const workspace = (dir: string): StartOptions => ({ workspaceFolders: [{ uri: uriOf(dir), name: 'w' }] });

afterEach(() => {
  for (const client of clients.splice(0)) client.kill();
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe('a racy program', () => {
  it('gets a diagnostic on the read, with the earlier write and the page of the rule', async () => {
    const client = await start({ initializationOptions: { docsUri: 'file:///ext/docs/rules/' } });
    const uri = 'file:///w/racy.py';
    client.open(uri, racy);
    const shown = await client.diagnostics(uri);
    expect(shown).toHaveLength(1);
    const [finding] = shown;
    expect(finding).toMatchObject({
      code: 'missing-wait',
      severity: 1,
      source: 'raceline',
      codeDescription: { href: 'file:///ext/docs/rules/missing-wait.md' },
    });
    expect(finding!.range.start.line).toBe(at(racy, 'batch @').start.line);
    expect(finding!.message).toMatch(/upload/);
    expect(finding!.message).toMatch(/math/);
    expect(finding!.message).not.toContain('\n');
    const earlier = finding!.relatedInformation!.map(({ location }) => [location.uri, location.range.start.line]);
    expect(earlier).toContainEqual([uri, at(racy, 'batch.copy_').start.line]);
    await client.stop();
  });

  it('loses it to the preferred quick fix, which inserts the wait', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    client.open(uri, racy);
    const [finding] = await client.diagnostics(uri);
    const actions = await client.actions(uri, finding!.range);
    const fix = actions.find(({ isPreferred }) => isPreferred)!;
    expect(fix.kind).toBe('quickfix');
    expect(fix.diagnostics).toEqual([finding]);
    expect(fix.edit!.documentChanges![0]!.textDocument).toEqual({ uri, version: 1 });
    expect(client.apply(fix.edit!)).toBe(true);
    expect(client.text(uri)).toMatch(/math\.wait_event\(/);
    expect(await client.diagnostics(uri)).toEqual([]);
    await client.stop();
  });

  it('loses it to source.fixAll.raceline too, resolved or not', async () => {
    for (const capabilities of [fullCapabilities, {}]) {
      const client = await start({ capabilities });
      const uri = 'untitled:Untitled-1';
      client.open(uri, racy);
      const [finding] = await client.diagnostics(uri);
      const [listed] = await client.actions(uri, finding!.range, { only: ['source.fixAll.raceline'] });
      const resolved = listed!.edit ? listed! : await client.request<typeof listed>('codeAction/resolve', listed);
      expect(client.apply(resolved!.edit!)).toBe(true);
      expect(await client.diagnostics(uri)).toEqual([]);
      await client.stop();
    }
  });

  it('is fixed by the command, through workspace/applyEdit', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    client.open(uri, racy);
    await client.diagnostics(uri);
    const edits = await client.request('workspace/executeCommand', {
      command: 'raceline.server.fixAll',
      arguments: [uri],
    });
    expect(edits).toBeGreaterThan(0);
    expect(await client.diagnostics(uri)).toEqual([]);
    await client.stop();
  });
});

describe('while somebody types', () => {
  it('keeps the finding of a function that does not parse, and lets it go when it is mended', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    client.open(uri, racy);
    expect(await client.diagnostics(uri)).toHaveLength(1);
    const { start: place } = at(racy, '    math.synchronize');
    client.change(uri, { range: { start: place, end: place }, newText: '    for row in scores[\n' });
    const kept = await client.diagnostics(uri);
    expect(kept.map(({ code }) => code)).toEqual(['missing-wait']);
    const mended = client.text(uri).replace('    for row in scores[\n', '').replace('batch @', 'weights @');
    client.replace(uri, mended);
    expect(await client.diagnostics(uri)).toEqual([]);
    await client.stop();
  });

  it('follows incremental edits, several in one notification', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    client.open(uri, racy.replace('batch @', 'weights @'));
    expect(await client.diagnostics(uri)).toEqual([]);
    const top = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    const { line } = at(racy, 'batch @').start;
    client.change(
      uri,
      { range: top, newText: '# one\n# two\n' },
      { range: { start: { line: line + 2, character: 17 }, end: { line: line + 2, character: 24 } }, newText: 'batch' },
    );
    const [finding] = await client.diagnostics(uri);
    expect(finding!.range.start.line).toBe(line + 2);
    await client.stop();
  });

  it('counts characters in UTF-16, and keeps line ends', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    const text = racy.replace('        scores = batch', '        "🚀🚀 naïve"; scores = batch').replace(/\n/g, '\r\n');
    client.open(uri, text);
    const [finding] = await client.diagnostics(uri);
    const plain = await (async () => {
      const other = 'file:///w/plain.py';
      client.open(other, racy);
      return (await client.diagnostics(other))[0]!;
    })();
    // Each rocket is two units: the prefix is 14 units long.
    expect(finding!.range.start.character).toBe(plain.range.start.character + '"🚀🚀 naïve"; '.length);
    const [fix] = await client.actions(uri, finding!.range);
    expect(client.apply(fix!.edit!)).toBe(true);
    expect(client.text(uri)).not.toMatch(/[^\r]\n/);
    expect(await client.diagnostics(uri)).toEqual([]);
    await client.stop();
  });
});

describe('a preview', () => {
  const program = `import torch

side = torch.cuda.Stream()


def work(x):
    with torch.cuda.stream(side):
        return x * 2


def plain(x):
    return x


def main():
    print(work(torch.ones(4, device="cuda")).cpu())


main()
`;
  const preview = async (client: Client, uri: string, line?: number) =>
    client.request<{ entry: string; raceline: string }>('workspace/executeCommand', {
      command: 'raceline.server.preview',
      arguments: [uri, line],
    });

  it('runs the function under the cursor, or a caller that runs through it', async () => {
    const client = await start();
    const uri = 'file:///w/program.py';
    client.open(uri, program);
    client.open('file:///w/racy.py', racy);
    const own = await preview(client, 'file:///w/racy.py', at(racy, 'batch.copy_').start.line);
    expect(own.entry).toBe('score');
    const [header, ...lines] = own.raceline
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(header).toMatchObject({ raceline: 1, mode: 'builtin' });
    expect(lines.filter(({ k }) => k === 'gpu').length).toBeGreaterThan(1);
    const through = await preview(client, uri, at(program, 'return x * 2').start.line);
    expect(through.entry).toBe('<module>');
    await expect(preview(client, uri, at(program, 'return x\n').start.line)).rejects.toThrow(/plain does no work/);
    await expect(preview(client, 'file:///w/other.py', 0)).rejects.toThrow(/open the Python file/);
    await client.stop();
  });

  it('shows a schedule in which a hazard happens', async () => {
    const client = await start();
    client.open('file:///w/program.py', program);
    client.open('file:///w/racy.py', racy);
    const witness = (uri: string, line?: number) =>
      client.request<{ entry: string; witnesses: Record<'code' | 'wrong' | 'intended' | 'witness', string>[] }>(
        'workspace/executeCommand',
        { command: 'raceline.server.witness', arguments: [uri, line] },
      );
    const { entry, witnesses } = await witness('file:///w/racy.py', at(racy, 'batch.copy_').start.line);
    expect(entry).toBe('score');
    const [first] = witnesses;
    expect(first!.code).toBe('missing-wait');
    expect(JSON.parse(first!.witness.split('\n')[0]!).note).toBe(first!.wrong);
    expect(first!.wrong).toMatch(/ has not written$/);
    expect(JSON.parse(first!.intended.split('\n')[0]!).note).toBeUndefined();
    await expect(witness('file:///w/program.py', at(program, 'return x\n').start.line)).rejects.toThrow(/no witness/);
    await client.stop();
  });
});

describe('a workspace', () => {
  const helpers = `import torch


def upload(frames, stream):
    with torch.cuda.stream(stream):
        return frames.to("cuda", non_blocking=True)
`;
  const caller = `import torch

from helpers import upload


def score(frames, weights):
    copies = torch.cuda.Stream()
    batch = upload(frames, copies)
    scores = batch @ weights
    torch.cuda.synchronize()
    return scores.cpu()
`;

  it('follows a helper of a closed file, and a change of it on disk', async () => {
    const dir = folder({ 'helpers.py': helpers, 'caller.py': caller });
    const client = await start(workspace(dir));
    const uri = uriOf(path.join(dir, 'caller.py'));
    client.open(uri, caller);
    const [finding] = await client.diagnostics(uri, ({ diagnostics }) => diagnostics.length > 0);
    expect(finding!.code).toBe('missing-wait');
    const helperUri = uriOf(path.join(dir, 'helpers.py'));
    expect(finding!.relatedInformation!.map(({ location }) => location.uri)).toContain(helperUri);
    expect(client.registered).toContain('workspace/didChangeWatchedFiles');

    const waiting = helpers.replace(
      'return frames.to("cuda", non_blocking=True)',
      'batch = frames.to("cuda", non_blocking=True)\n    torch.cuda.current_stream().wait_stream(stream)\n    batch.record_stream(torch.cuda.current_stream())\n    return batch',
    );
    writeFileSync(path.join(dir, 'helpers.py'), waiting);
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri: helperUri, type: 2 }] });
    await client.diagnostics(uri, ({ diagnostics }) => !diagnostics.some(({ code }) => code === 'missing-wait'));
    await client.stop();
  });

  it('takes the open text of a helper, not the one on disk', async () => {
    const dir = folder({ 'helpers.py': 'def upload(frames, stream):\n    return frames\n', 'caller.py': caller });
    const client = await start({ rootUri: uriOf(dir) });
    const uri = uriOf(path.join(dir, 'caller.py'));
    client.open(uri, caller);
    expect(await client.diagnostics(uri)).toEqual([]);
    client.open(uriOf(path.join(dir, 'helpers.py')), helpers);
    await client.diagnostics(uri, ({ diagnostics }) => diagnostics.length > 0);
    await client.stop();
  });

  it('shows findings of closed files where the scope is the workspace, and takes them back', async () => {
    const dir = folder({ 'racy.py': racy, 'node_modules/x/racy.py': racy });
    const client = await start({
      ...workspace(dir),
      configuration: { raceline: { diagnostics: { scope: 'workspace' } } },
    });
    const uri = uriOf(path.join(dir, 'racy.py'));
    expect(await client.diagnostics(uri)).toHaveLength(1);
    expect([...client.published.keys()]).toEqual([uri]);
    client.configuration = {};
    client.notify('workspace/didChangeConfiguration', { settings: null });
    await client.diagnostics(uri, ({ diagnostics }) => diagnostics.length === 0);
    await client.stop();
  });

  it('works without any folder', async () => {
    const client = await start({ capabilities: {} });
    client.open('file:///nowhere/racy.py', racy);
    expect(await client.diagnostics('file:///nowhere/racy.py')).toHaveLength(1);
    await client.stop();
  });
});

describe('the life of the server', () => {
  it('ends with 0 after shutdown, with 1 without', async () => {
    expect(await (await start()).stop()).toBe(0);
    const rude = await start();
    rude.notify('exit');
    expect(await rude.exited).toBe(1);
  });

  it('ends when its input is closed', async () => {
    const client = await start();
    client.closeInput();
    expect(await client.exited).toBe(1);
  });

  it('refuses what comes before initialize and after shutdown', async () => {
    const client = Client.spawn();
    clients.push(client);
    await expect(client.request('textDocument/codeAction', {})).rejects.toMatchObject({ code: -32002 });
    const answer = await client.initialize();
    expect(answer).toMatchObject({ capabilities: { positionEncoding: 'utf-16', textDocumentSync: { change: 2 } } });
    await client.request('shutdown');
    await expect(client.request('textDocument/codeAction', {})).rejects.toMatchObject({ code: -32600 });
    client.notify('exit');
    expect(await client.exited).toBe(0);
  });

  it('lives through garbage', async () => {
    const client = await start();
    const uri = 'file:///w/racy.py';
    client.open(uri, racy);
    await client.diagnostics(uri);
    await expect(client.request('no/such/method', { a: 1 })).rejects.toMatchObject({ code: -32601 });
    await expect(client.request('workspace/executeCommand', { command: 'rm -rf' })).rejects.toMatchObject({
      code: -32602,
    });
    for (const params of [undefined, null, 7, {}, { textDocument: null }, { textDocument: { uri }, range: 'x' }])
      await client.request('textDocument/codeAction', params).catch(() => {});
    await client.request('codeAction/resolve', { title: 'x', data: { kind: 'fixAll', uri: 3 } }).catch(() => {});
    for (const method of [
      'textDocument/didOpen',
      'textDocument/didChange',
      'textDocument/didClose',
      'workspace/didChangeWatchedFiles',
      'workspace/didChangeConfiguration',
    ])
      for (const params of [undefined, {}, { textDocument: {} }, { changes: 'x' }]) client.notify(method, params);
    client.notify('textDocument/didChange', {
      textDocument: { uri: 'file:///not/open.py', version: 9 },
      contentChanges: [{ text: 'x' }],
    });
    // A check comes by while a document without a name is open.
    client.notify('textDocument/didOpen', { textDocument: { languageId: 'python', version: 1, text: racy } });
    client.replace(uri, `${racy}# typed`);
    expect(await client.diagnostics(uri)).toHaveLength(1);
    client.raw('Content-Length: 12\r\n\r\n{"jsonrpc":!');
    client.raw(`Content-Length: 2\r\n\r\n[]`);
    client.replace(uri, racy.replace('batch @', 'weights @'));
    expect(await client.diagnostics(uri)).toEqual([]);
    client.replace(uri, racy);
    expect(await client.diagnostics(uri)).toHaveLength(1);
    expect(await client.stop()).toBe(0);
  });

  it('reads any text: not Python, empty, deep, with a zero byte', async () => {
    const client = await start();
    const texts = [
      '',
      '\0',
      'Stream',
      '(((('.repeat(3000),
      `${racy}\0${racy}`,
      '\ud800 Stream',
      'def f(:\n'.repeat(500),
    ];
    for (const [i, text] of texts.entries()) {
      const uri = `file:///w/odd${i}.py`;
      client.open(uri, text);
      await client.diagnostics(uri);
    }
    expect(await client.stop()).toBe(0);
  });

  it('is what `raceline lsp --stdio` starts', async () => {
    const client = await start({ command: [path.resolve('dist/cli.js'), 'lsp', '--stdio'] });
    client.open('file:///w/racy.py', racy);
    expect(await client.diagnostics('file:///w/racy.py')).toHaveLength(1);
    expect(await client.stop()).toBe(0);
  });
});

describe('a run of the program', () => {
  const uri = 'file:///w/racy.py';
  const lineOf = (text: string, part: string) => at(text, part).start.line + 1;
  const ran = [{ uri, lines: racy.split('\n').map((_, i) => i + 1) }];

  it('says of each finding what it saw, until it is closed', async () => {
    const client = await start();
    client.open(uri, racy);
    const [before] = await client.diagnostics(uri);
    const hazards = [{ code: 'missing-wait', status: 'confirmed', uri, line: lineOf(racy, 'batch @'), related: [] }];
    const shown = async (message: object, seen: (text: string) => boolean) => {
      client.notify('raceline/run', { uri: 'file:///w/run.raceline', name: 'run.raceline', ...message });
      const isShown = () => client.published.get(uri)?.diagnostics.every((d) => seen(d.message));
      await expect.poll(isShown, { timeout: 20_000 }).toBe(true);
      return client.published.get(uri)!.diagnostics[0]!;
    };
    const confirmed = await shown({ ran, hazards }, (text) => text.includes('it went wrong in run.raceline'));
    expect(confirmed).toMatchObject({ severity: 1, data: { evidence: 'confirmed' } });
    expect(confirmed.message.startsWith(before!.message)).toBe(true);
    const [fix] = await client.actions(uri, confirmed.range, { diagnostics: [confirmed] });
    expect(fix!.diagnostics).toEqual([confirmed]);
    await shown({ ran, hazards: [] }, (text) => text.includes('not seen in run.raceline'));
    await shown({ ran: [{ uri, lines: [1] }], hazards: [] }, (text) => text.includes('not run in run.raceline'));
    await shown({ closed: true }, (text) => text === before!.message);
    await client.stop();
  });

  it('offers the fix at the line that it names, and follows edits', async () => {
    const client = await start();
    client.open(uri, racy);
    await client.diagnostics(uri);
    // The run tells of the write; the source of the read.
    const write = lineOf(racy, 'batch.copy_');
    const hazards = [
      { code: 'missing-wait', status: 'latent', uri, line: write, related: [{ uri, line: lineOf(racy, 'batch @') }] },
    ];
    client.notify('raceline/run', { uri: 'file:///w/run.raceline', name: 'run.raceline', ran, hazards });
    const titles = async (line: number) =>
      (await client.actions(uri, { start: { line, character: 8 }, end: { line, character: 8 } }))
        .filter(({ edit }) => edit)
        .map(({ title }) => title);
    const offered = await titles(write - 1);
    expect(offered[0]).toMatch(/`math` wait for `upload`/);
    client.replace(uri, `# a comment\n${racy}`);
    expect(await titles(write - 1)).toEqual([]);
    expect(await titles(write)).toEqual(offered);
    await client.stop();
  });

  it('may send anything: the server goes on', async () => {
    const client = await start();
    client.open(uri, racy);
    for (const message of [null, 7, {}, { uri: 3 }, { uri: 'file:///r', ran: 5, hazards: [null, { uri: 1 }] }])
      client.notify('raceline/run', message);
    // What the run told is published at once, on a slow machine before the text was analysed.
    expect(await client.diagnostics(uri, ({ diagnostics }) => diagnostics.length > 0)).toHaveLength(1);
    await client.stop();
  });
});
