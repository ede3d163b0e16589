/**
 * Wires a connection to a session: capabilities, notifications, requests. Every handler is guarded here: what one request
 * throws is logged and answered, and the server lives on. Knows the protocol's order of life (initialize, initialized,
 * shutdown, exit); knows nothing of Python.
 */
import path from 'node:path';
import {
  CodeActionKind,
  type Connection,
  type DidChangeConfigurationParams,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  PositionEncodingKind,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { createProjectChecker } from '../core/projectChecker.ts';
import { clientSupport } from './client.ts';
import { fileKey } from './convert.ts';
import { type EngineParts, loadEngine } from './engine.ts';
import { projectFile, Projects } from './projects.ts';
import { ProjectWatch } from './projectWatch.ts';
import { codeActions, fixAllKind, resolveCodeAction } from './requests/codeAction.ts';
import { DiagnosticsPublisher } from './requests/diagnostics.ts';
import { commands, executeCommand } from './requests/executeCommand.ts';
import { Session } from './session.ts';
import type { RunMessage } from './runs.ts';
import { SettingsSource } from './settings.ts';

export function startServer(connection: Connection, load: () => Promise<EngineParts> = loadEngine): void {
  const documents = new TextDocuments(TextDocument);
  const publisher = new DiagnosticsPublisher();
  let session: Session | undefined;
  let projectWatch: ProjectWatch | undefined;
  let shutDown = false;

  /** A request before `initialize` or after `shutdown` is refused; one that fails is logged and answered. */
  const request = async <T>(name: string, run: (session: Session) => T | Promise<T>): Promise<T | ResponseError> => {
    if (shutDown) return new ResponseError(ErrorCodes.InvalidRequest, 'the server was shut down');
    if (!session) return new ResponseError(ErrorCodes.ServerNotInitialized, 'the server is not initialized');
    try {
      return await run(session);
    } catch (error) {
      if (error instanceof ResponseError) return error;
      connection.console.error(`${name} failed: ${(error as Error).stack ?? String(error)}`);
      return new ResponseError(LSPErrorCodes.RequestFailed, `${name} failed: ${(error as Error).message}`);
    }
  };
  const notification = async (name: string, run: (session: Session) => unknown): Promise<void> => {
    if (!session || shutDown) return;
    try {
      await run(session);
    } catch (error) {
      connection.console.error(`${name} failed: ${(error as Error).stack ?? String(error)}`);
    }
  };

  connection.onInitialize(async (params: InitializeParams): Promise<InitializeResult> => {
    const client = clientSupport(params);
    const { parser, createChecker } = await load();
    const settings = new SettingsSource(connection, client.configuration, client.initialSettings);
    const projects = new Projects({ under: (file) => editorLayer(session, file) });
    const checker = createProjectChecker(
      createChecker,
      (file) => projects.settingsOf(file),
      (file) => projects.isExcluded(file),
    );
    settings.onChanged = () => projects.forget();
    const watch = new ProjectWatch(connection, projects, client);
    projectWatch = watch;
    session = new Session(connection, documents, { parser, checker }, settings, client, (checked) => {
      publisher.publish(checked);
      watch.checked(checked);
      if (client.knows.has('raceline/status')) void connection.sendNotification('raceline/status', checked.status());
    });
    return {
      serverInfo: { name: 'raceline' },
      capabilities: {
        positionEncoding: PositionEncodingKind.UTF16,
        textDocumentSync: {
          openClose: true,
          change: TextDocumentSyncKind.Incremental,
          save: { includeText: false },
        },
        codeActionProvider: {
          codeActionKinds: [CodeActionKind.QuickFix, fixAllKind],
          resolveProvider: client.resolvesEdits,
        },
        // A client that sends the requests itself would only register the ids a second time after a restart.
        executeCommandProvider: client.listsCommands ? { commands: [...commands.keys()] } : undefined,
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  });

  connection.onInitialized(() =>
    notification('initialized', async (s) => {
      if (s.client.configurationRegistration)
        void connection.client.register(DidChangeConfigurationNotification.type, { section: 'raceline' });
      if (s.client.watchesFiles)
        void connection.client.register(DidChangeWatchedFilesNotification.type, {
          watchers: [{ globPattern: '**/*.py' }, { globPattern: `**/${projectFile}` }],
        });
      if (s.client.folderChanges)
        connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) =>
          notification('workspace/didChangeWorkspaceFolders', () => {
            const gone = new Set(removed.map((folder) => fileKey(folder.uri)));
            return s.setFolders([...s.folders.filter((key) => !gone.has(key)), ...added.map((folder) => folder.uri)]);
          }),
        );
      await s.settings.loadWorkspace();
      const progress =
        s.client.progress && s.folders.length ? await connection.window.createWorkDoneProgress() : undefined;
      progress?.begin('Raceline', undefined, 'reading stream-using files');
      try {
        await s.scan();
      } finally {
        progress?.done();
      }
    }),
  );

  documents.onDidOpen(({ document }) => notification('textDocument/didOpen', (s) => s.opened(document)));
  documents.onDidChangeContent(({ document }) => notification('textDocument/didChange', (s) => s.changed(document)));
  documents.onDidSave(({ document }) =>
    notification('textDocument/didSave', (s) => {
      projectWatch?.saved();
      s.saved(document);
    }),
  );
  documents.onDidClose(({ document }) => notification('textDocument/didClose', (s) => s.closed(document)));
  documents.listen(connection);

  connection.onDidChangeWatchedFiles(({ changes }) =>
    notification('workspace/didChangeWatchedFiles', (s) => {
      const keys = changes.map(({ uri }) => s.uris.seen(uri));
      if (projectWatch?.changed(keys)) s.schedule();
      return Promise.all(keys.map((key) => s.diskChanged(key)));
    }),
  );
  connection.onDidChangeConfiguration((params: DidChangeConfigurationParams) =>
    notification('workspace/didChangeConfiguration', async (s) => {
      await s.settings.changed(
        params?.settings,
        s.openDocuments().map((document) => document.uri),
      );
      s.schedule();
    }),
  );

  connection.onNotification('raceline/run', (message: RunMessage) =>
    notification('raceline/run', (s) => {
      if (s.runs.take(message)) publisher.publish(s);
    }),
  );

  connection.onCodeAction((params) => request('textDocument/codeAction', (s) => codeActions(s, params)));
  connection.onCodeActionResolve(
    (action) => request('codeAction/resolve', (s) => resolveCodeAction(s, action)) as Promise<typeof action>,
  );
  connection.onExecuteCommand((params) =>
    request('workspace/executeCommand', (s) => executeCommand(s, params.command, params.arguments ?? [])),
  );

  connection.onShutdown(() => {
    shutDown = true;
    session?.dispose();
  });
  connection.listen();
}

/** What the editor says about a file, with the folder that its paths are relative to. */
function editorLayer(session: Session | undefined, file: string) {
  if (!session) return { settings: {} };
  const folder = session.folders.find((candidate) => file.startsWith(candidate + path.sep));
  return { ...session.settingsOf(session.uris.uri(file)).rules, folder };
}
