/**
 * Keystroke to diagnostics, as an editor feels it: the server over stdio, a 2,000-line file that uses streams throughout,
 * one character typed at a time in the middle of it. Next to it three full parses of the same text by tree-sitter.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';

interface Row {
  readonly name: string;
  readonly value: string | number;
  readonly unit: string;
  readonly note?: string;
}

export async function bench({ root }: { root: string }): Promise<Row[]> {
  const text = program(2000);
  const uri = 'file:///bench/pipelines.py';
  const client = new Client(spawn(process.execPath, [path.join(root, 'dist', 'server.js'), '--stdio']));
  await client.request('initialize', { processId: process.pid, rootUri: null, capabilities: {} });
  client.notify('initialized', {});
  const opened = client.diagnostics(uri);
  client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'python', version: 1, text } });
  await opened;

  const lines = text.split('\n');
  const line = lines.findIndex((source, i) => i > lines.length / 2 && source.includes('out.mul_('));
  const times: number[] = [];
  for (let i = 0; i < 60; i++) {
    const typed = i % 2 === 0;
    const start = { line, character: lines[line]!.length };
    const published = client.diagnostics(uri);
    const began = performance.now();
    client.notify('textDocument/didChange', {
      textDocument: { uri, version: i + 2 },
      contentChanges: [
        typed
          ? { range: { start, end: start }, text: ' ' }
          : { range: { start, end: { line, character: start.character + 1 } }, text: '' },
      ],
    });
    await published;
    if (i >= 10) times.push(performance.now() - began);
  }
  client.end();

  await Parser.init({ wasmBinary: readFileSync(path.join(root, 'dist', 'web-tree-sitter.wasm')) });
  const parser = new Parser();
  parser.setLanguage(await Language.load(readFileSync(path.join(root, 'dist', 'tree-sitter-python.wasm'))));
  const parses: number[] = [];
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    parser.parse(text)?.delete();
    parses.push(performance.now() - began);
  }
  const p95 = quantile(times, 0.95);
  const three = 3 * quantile(parses, 0.5);
  return [
    { name: 'keystroke to diagnostics, 2,000 lines, median', value: quantile(times, 0.5).toFixed(1), unit: 'ms' },
    { name: 'keystroke to diagnostics, 2,000 lines, p95', value: p95.toFixed(1), unit: 'ms', note: 'budget 50' },
    { name: 'three full tree-sitter parses of the same text', value: three.toFixed(1), unit: 'ms' },
    { name: 'p95 / three parses', value: (p95 / three).toFixed(2), unit: '×', note: 'budget 1' },
  ];
}

/** Functions as users write them, each a little different, until there are `lines` lines. */
function program(lines: number): string {
  const out = ['import torch', ''];
  for (let i = 0; out.length < lines; i++)
    out.push(
      `class Pipeline${i}:`,
      '    def __init__(self):',
      '        self.copy = torch.cuda.Stream()',
      '        self.ready = torch.cuda.Event()',
      '',
      `    def stage(self, host, scale${i}):`,
      '        with torch.cuda.stream(self.copy):',
      "            batch = host.to('cuda', non_blocking=True)",
      '            self.ready.record(self.copy)',
      '        torch.cuda.current_stream().wait_event(self.ready)',
      '        batch.record_stream(torch.cuda.current_stream())',
      `        out = batch * scale${i}`,
      `        for step in range(${2 + (i % 3)}):`,
      '            out.mul_(0.5)',
      '        return out',
      '',
      '',
      `def run${i}(pipeline, hosts):`,
      `    total = torch.zeros(8, device='cuda')`,
      '    for host in hosts:',
      `        total += pipeline.stage(host, ${i}).sum()`,
      '    return total',
      '',
      '',
    );
  return `${out.slice(0, lines).join('\n')}\n`;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly uri?: string };
  readonly result?: unknown;
}

/** A bare LSP client: enough of the protocol to measure with. */
class Client {
  readonly #process: ChildProcess;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #waiting = new Map<string, () => void>();
  #buffer = Buffer.alloc(0);
  #next = 1;

  constructor(process: ChildProcess) {
    this.#process = process;
    process.stdout!.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      for (;;) {
        const head = this.#buffer.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString('latin1', 0, head))?.[1]);
        if (this.#buffer.length < head + 4 + length) return;
        const message = JSON.parse(this.#buffer.toString('utf8', head + 4, head + 4 + length)) as Message;
        this.#buffer = this.#buffer.subarray(head + 4 + length);
        this.#receive(message);
      }
    });
  }

  request(method: string, params: object): Promise<unknown> {
    const id = this.#next++;
    this.#send({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  notify(method: string, params: object): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  /** The next diagnostics of a file. */
  diagnostics(uri: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(uri, resolve));
  }

  end(): void {
    this.#process.kill();
  }

  #receive(message: Message): void {
    if (message.method === 'textDocument/publishDiagnostics') {
      const uri = message.params?.uri ?? '';
      const resolve = this.#waiting.get(uri);
      this.#waiting.delete(uri);
      resolve?.();
    } else if (message.method !== undefined && message.id !== undefined)
      this.#send({ jsonrpc: '2.0', id: message.id, result: null });
    else if (message.id !== undefined) this.#answers.get(message.id)?.(message.result);
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify(message));
    this.#process.stdin!.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin!.write(body);
  }
}
