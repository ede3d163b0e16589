/**
 * A language client for tests: real framing over a child's stdin and stdout, nothing of the server's own code. It keeps
 * texts and versions as an editor would and applies workspace edits to them.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { applyEdits, type TextEdit } from '../../core/base/text.ts';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

export interface Place {
  line: number;
  character: number;
}
export interface Span {
  start: Place;
  end: Place;
}
export interface ShownDiagnostic {
  range: Span;
  severity: number;
  code: string;
  source: string;
  message: string;
  tags?: number[];
  codeDescription?: { href: string };
  relatedInformation?: { location: { uri: string; range: Span }; message: string }[];
  data?: unknown;
}
export interface Published {
  uri: string;
  version?: number;
  diagnostics: ShownDiagnostic[];
}
export interface Edit {
  changes?: Record<string, TextEdit[]>;
  documentChanges?: { textDocument: { uri: string; version: number | null }; edits: TextEdit[] }[];
}
export interface Action {
  title: string;
  kind: string;
  isPreferred?: boolean;
  diagnostics?: ShownDiagnostic[];
  edit?: Edit;
  data?: unknown;
}
interface Message {
  jsonrpc: '2.0';
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

export class ResponseFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export interface StartOptions {
  capabilities?: object;
  workspaceFolders?: { uri: string; name: string }[] | null;
  rootUri?: string | null;
  initializationOptions?: unknown;
  /** Answers of `workspace/configuration`, by section. */
  configuration?: Record<string, unknown>;
  /** Left out: dist/server.js. */
  command?: readonly string[];
}

export const fullCapabilities = {
  workspace: {
    configuration: true,
    applyEdit: true,
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
    didChangeConfiguration: { dynamicRegistration: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
  },
  window: { workDoneProgress: true },
  textDocument: {
    publishDiagnostics: {
      relatedInformation: true,
      versionSupport: true,
      codeDescriptionSupport: true,
      dataSupport: true,
      tagSupport: { valueSet: [1, 2] },
    },
    codeAction: {
      dataSupport: true,
      isPreferredSupport: true,
      resolveSupport: { properties: ['edit'] },
      codeActionLiteralSupport: { codeActionKind: { valueSet: ['', 'quickfix', 'source', 'source.fixAll'] } },
    },
  },
};

export class Client {
  readonly published = new Map<string, Published>();
  readonly log: string[] = [];
  readonly registered: string[] = [];
  readonly exited: Promise<number | null>;
  configuration: Record<string, unknown>;
  #child: ChildProcessWithoutNullStreams;
  #buffer = Buffer.alloc(0);
  #nextId = 1;
  #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #texts = new Map<string, { text: string; version: number }>();
  #listeners = new Set<() => void>();

  private constructor(options: StartOptions) {
    const command = options.command ?? [path.join(root, 'dist/server.js'), '--stdio'];
    this.configuration = options.configuration ?? {};
    this.#child = spawn(process.execPath, command, { stdio: 'pipe' });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#child.stderr.on('data', (chunk: Buffer) => this.log.push(chunk.toString()));
    this.exited = new Promise((resolve) =>
      this.#child.on('close', (code) => {
        for (const { reject } of this.#waiting.values())
          reject(new Error(`the server ended with ${code}: ${this.log}`));
        this.#waiting.clear();
        resolve(code);
      }),
    );
  }

  /** Starts a server that was not greeted yet. */
  static spawn(options: StartOptions = {}): Client {
    return new Client(options);
  }

  static async start(options: StartOptions = {}): Promise<Client> {
    const client = new Client(options);
    await client.initialize(options);
    return client;
  }

  async initialize(options: StartOptions = {}): Promise<unknown> {
    const answer = await this.request('initialize', {
      processId: process.pid,
      rootUri: options.rootUri ?? null,
      workspaceFolders: options.workspaceFolders ?? null,
      capabilities: options.capabilities ?? fullCapabilities,
      initializationOptions: options.initializationOptions,
    });
    this.notify('initialized', {});
    return answer;
  }

  request<T = unknown>(method: string, params?: unknown): Promise<T> {
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method: string, params?: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  /** Bytes as they are, framed or not. */
  raw(bytes: string | Buffer): void {
    this.#child.stdin.write(bytes);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  open(uri: string, text: string, languageId = 'python'): void {
    this.#texts.set(uri, { text, version: 1 });
    this.notify('textDocument/didOpen', { textDocument: { uri, languageId, version: 1, text } });
  }

  /** Incremental changes, each against the text that the one before it left. */
  change(uri: string, ...edits: TextEdit[]): number {
    const document = this.#texts.get(uri)!;
    for (const edit of edits) document.text = applyEdits(document.text, [edit]);
    document.version++;
    this.notify('textDocument/didChange', {
      textDocument: { uri, version: document.version },
      contentChanges: edits.map((edit) => ({ range: edit.range, text: edit.newText })),
    });
    return document.version;
  }

  replace(uri: string, text: string): number {
    const document = this.#texts.get(uri)!;
    document.text = text;
    document.version++;
    this.notify('textDocument/didChange', {
      textDocument: { uri, version: document.version },
      contentChanges: [{ text }],
    });
    return document.version;
  }

  save(uri: string): void {
    this.notify('textDocument/didSave', { textDocument: { uri } });
  }

  close(uri: string): void {
    this.#texts.delete(uri);
    this.notify('textDocument/didClose', { textDocument: { uri } });
  }

  text(uri: string): string {
    return this.#texts.get(uri)!.text;
  }

  /** Applies an edit as an editor does: all edits of a document are against one text. Returns whether versions fit. */
  apply(edit: Edit): boolean {
    const documents = edit.documentChanges ?? [];
    for (const { textDocument } of documents)
      if (textDocument.version !== null && textDocument.version !== this.#texts.get(textDocument.uri)?.version)
        return false;
    for (const { textDocument, edits } of documents)
      this.replace(textDocument.uri, applyEdits(this.text(textDocument.uri), edits));
    for (const [uri, edits] of Object.entries(edit.changes ?? {})) this.replace(uri, applyEdits(this.text(uri), edits));
    return true;
  }

  /** The diagnostics of the document's present version, once they come. */
  async diagnostics(uri: string, test: (shown: Published) => boolean = () => true): Promise<ShownDiagnostic[]> {
    const version = this.#texts.get(uri)?.version;
    const fits = () => {
      const shown = this.published.get(uri);
      return shown && (version === undefined || shown.version === version) && test(shown) ? shown : undefined;
    };
    return (await this.#until(fits, `diagnostics of ${uri} version ${version}`)).diagnostics;
  }

  actions(uri: string, range: Span, context: object = {}): Promise<Action[]> {
    return this.request('textDocument/codeAction', {
      textDocument: { uri },
      range,
      context: { diagnostics: this.published.get(uri)?.diagnostics ?? [], ...context },
    });
  }

  async logged(pattern: RegExp): Promise<string> {
    return this.#until(() => this.log.find((line) => pattern.test(line)), `a log line like ${pattern}`);
  }

  async stop(): Promise<number | null> {
    await this.request('shutdown');
    this.notify('exit');
    return this.exited;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #until<T>(test: () => T | undefined, what: string): Promise<T> {
    const now = test();
    if (now !== undefined) return Promise.resolve(now);
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#listeners.delete(listener);
        reject(new Error(`no ${what}; the server said:\n${this.log.join('\n')}`));
      }, 15_000);
      const listener = () => {
        const found = test();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(found);
      };
      this.#listeners.add(listener);
    });
  }

  #send(message: Message): void {
    const body = Buffer.from(JSON.stringify(message));
    this.#child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#child.stdin.write(body);
  }

  #read(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const head = this.#buffer.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(this.#buffer.toString('ascii', 0, head))![1]);
      if (this.#buffer.length < head + 4 + length) return;
      const body = this.#buffer.toString('utf8', head + 4, head + 4 + length);
      this.#buffer = this.#buffer.subarray(head + 4 + length);
      this.#receive(JSON.parse(body) as Message);
    }
  }

  #receive(message: Message): void {
    if (message.method !== undefined && message.id !== undefined) this.#answer(message);
    else if (message.method !== undefined) this.#notified(message.method, message.params);
    else if (typeof message.id === 'number') {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.reject(new ResponseFailure(message.error.code, message.error.message));
      else waiting?.resolve(message.result);
    }
    for (const listener of [...this.#listeners]) listener();
  }

  #notified(method: string, params: unknown): void {
    if (method === 'textDocument/publishDiagnostics') {
      const shown = params as Published;
      this.published.set(shown.uri, shown);
    } else if (method === 'window/logMessage') this.log.push((params as { message: string }).message);
  }

  #answer({ id, method, params }: Message): void {
    let result: unknown = null;
    if (method === 'workspace/configuration')
      result = (params as { items: { section: string }[] }).items.map(
        ({ section }) => this.configuration[section] ?? null,
      );
    else if (method === 'client/registerCapability')
      for (const { method: name } of (params as { registrations: { method: string }[] }).registrations)
        this.registered.push(name);
    else if (method === 'workspace/applyEdit') result = { applied: this.apply((params as { edit: Edit }).edit) };
    this.#send({ jsonrpc: '2.0', id, result });
  }
}

export const uriOf = (file: string) => pathToFileURL(file).href;

/** A place by its text: `at(text, 'y = x')` covers the first occurrence. */
export function at(text: string, needle: string): Span {
  const offset = text.indexOf(needle);
  if (offset < 0) throw new Error(`${needle} is not in the text`);
  const place = (index: number): Place => {
    const before = text.slice(0, index).split('\n');
    return { line: before.length - 1, character: before.at(-1)!.length };
  };
  return { start: place(offset), end: place(offset + needle.length) };
}
