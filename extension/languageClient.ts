/**
 * The language client's life: loaded with the first Python document, restarted on request, its state shown in the
 * language status. Knows the server's file and options; knows nothing of what it finds.
 */
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

/** A server that checks a large workspace answers its shutdown late. */
const stopLimit = 10_000;

interface ServerStatus {
  readonly findings: number;
  readonly milliseconds: number;
}

export class LazyLanguageClient implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  #starting: Promise<LanguageClient> | undefined;
  #restarting: Promise<void> | undefined;
  #serverLog: vscode.LogOutputChannel | undefined;
  #status: vscode.LanguageStatusItem | undefined;
  readonly #subscriptions: vscode.Disposable[] = [];
  /** The last notification of each kind about each thing. */
  readonly #told = new Map<string, { readonly method: string; readonly content: object }>();

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  startWhenPythonIsOpen(): void {
    const start = (document: vscode.TextDocument) => {
      if (document.languageId === 'python') void this.get().catch(() => {});
    };
    for (const document of vscode.workspace.textDocuments) start(document);
    this.#subscriptions.push(vscode.workspace.onDidOpenTextDocument(start));
  }

  /** The running client. A failed start is logged, shown in the status, and tried again by the next caller. */
  get(): Promise<LanguageClient> {
    this.#starting ??= this.#begin();
    return this.#starting;
  }

  /** Several requests at once make one restart; whoever asks for the client meanwhile gets the new one. */
  async restart(): Promise<void> {
    if (!this.#restarting) {
      const before = this.#starting;
      this.#restarting = (async () => {
        // A client can only be stopped once it runs.
        const running = await before?.catch(() => undefined);
        await running?.dispose(stopLimit).catch((error) => this.#log.warn(`Stopping the server: ${String(error)}`));
        this.#restarting = undefined;
      })();
      this.#starting = this.#restarting.then(() => this.#begin());
    }
    await this.#starting;
  }

  /**
   * A notification for the server: now if it runs, and again for each server that starts later. An opened trace starts
   * none: there is nobody whose findings it could speak of.
   */
  tell(method: string, content: { readonly uri: string }): void {
    this.#told.set(`${method} ${content.uri}`, { method, content });
    void this.#starting?.then((client) => client.sendNotification(method, content)).catch(() => {});
  }

  showLogs(): void {
    this.#serverChannel().show(true);
  }

  async dispose(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#status?.dispose();
    const running = await this.#starting?.catch(() => undefined);
    await running?.dispose(2000).catch(() => {});
    this.#serverLog?.dispose();
  }

  async #begin(): Promise<LanguageClient> {
    try {
      return await this.#start();
    } catch (error) {
      this.#starting = undefined;
      this.#log.error(`The language server did not start: ${(error as Error).stack ?? String(error)}`);
      this.#show('did not start', vscode.LanguageStatusSeverity.Error);
      throw error;
    }
  }

  async #start(): Promise<LanguageClient> {
    const started = performance.now();
    const { LanguageClient, RevealOutputChannelOn, State, TransportKind } = await import('./clientLibrary.ts');
    const module = vscode.Uri.joinPath(this.#context.extensionUri, 'dist', 'server.js').fsPath;
    const client = new LanguageClient(
      'raceline',
      'Raceline',
      {
        run: { module, transport: TransportKind.ipc },
        debug: { module, transport: TransportKind.ipc, options: { execArgv: ['--nolazy', '--inspect=6019'] } },
      },
      {
        documentSelector: ['file', 'untitled', 'vscode-vfs'].map((scheme) => ({ language: 'python', scheme })),
        outputChannel: this.#serverChannel(),
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        connectionOptions: { maxRestartCount: 3 },
        initializationOptions: {
          docsUri: vscode.Uri.joinPath(this.#context.extensionUri, 'docs', 'rules').toString(),
          client: ['raceline/status', 'raceline/commands', 'raceline/explain'],
        },
      },
    );
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) this.#show('starting', vscode.LanguageStatusSeverity.Information, true);
      if (newState === State.Stopped) this.#show('stopped', vscode.LanguageStatusSeverity.Warning);
    });
    client.onNotification('raceline/status', ({ findings, milliseconds }: ServerStatus) =>
      this.#show(
        `${findings === 1 ? '1 finding' : `${findings} findings`}, checked in ${milliseconds} ms`,
        vscode.LanguageStatusSeverity.Information,
      ),
    );
    await client.start();
    for (const { method, content } of this.#told.values()) void client.sendNotification(method, content);
    this.#log.info(`The language server runs (${Math.round(performance.now() - started)} ms).`);
    return client;
  }

  #serverChannel(): vscode.LogOutputChannel {
    this.#serverLog ??= vscode.window.createOutputChannel('Raceline Language Server', { log: true });
    return this.#serverLog;
  }

  #show(text: string, severity: vscode.LanguageStatusSeverity, busy = false): void {
    if (!this.#status) {
      this.#status = vscode.languages.createLanguageStatusItem('raceline.status', { language: 'python' });
      this.#status.name = 'Raceline';
      this.#status.command = { title: 'Show Logs', command: 'raceline.showServerLogs' };
    }
    this.#status.text = 'Raceline';
    this.#status.detail = text;
    this.#status.severity = severity;
    this.#status.busy = busy;
  }
}
