/** What the client said of itself in `initialize`: its folders, what it can show, what it answers. */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { DocumentUri, InitializeParams } from 'vscode-languageserver';
import type { DiagnosticSupport } from './convert.ts';

export interface ClientSupport {
  readonly folders: readonly DocumentUri[];
  readonly diagnostics: DiagnosticSupport;
  readonly documentChanges: boolean;
  readonly resolvesEdits: boolean;
  readonly configuration: boolean;
  readonly configurationRegistration: boolean;
  readonly folderChanges: boolean;
  readonly watchesFiles: boolean;
  readonly progress: boolean;
  readonly appliesEdits: boolean;
  readonly showsDocuments: boolean;
  /** Sends the server's commands by the ids that it was given. */
  readonly listsCommands: boolean;
  /** Requests beyond the protocol that this client knows, from `initializationOptions.client`. */
  readonly knows: ReadonlySet<string>;
  readonly initialSettings: unknown;
}

interface InitializationOptions {
  readonly settings?: unknown;
  readonly docsUri?: unknown;
  readonly client?: unknown;
}

export function clientSupport(params: InitializeParams): ClientSupport {
  const { workspace, textDocument, window } = params.capabilities ?? {};
  const options: InitializationOptions =
    typeof params.initializationOptions === 'object' && params.initializationOptions !== null
      ? params.initializationOptions
      : {};
  const diagnostics = textDocument?.publishDiagnostics;
  const knows = new Set(Array.isArray(options.client) ? options.client.filter((name) => typeof name === 'string') : []);
  return {
    folders: folders(params),
    diagnostics: {
      relatedInformation: diagnostics?.relatedInformation === true,
      codeDescription: diagnostics?.codeDescriptionSupport === true,
      tags: (diagnostics?.tagSupport?.valueSet?.length ?? 0) > 0,
      data: diagnostics?.dataSupport === true,
      docsUri: typeof options.docsUri === 'string' ? options.docsUri.replace(/\/?$/, '/') : pagesBesideUs(),
    },
    documentChanges: workspace?.workspaceEdit?.documentChanges === true,
    resolvesEdits:
      textDocument?.codeAction?.dataSupport === true &&
      textDocument.codeAction.resolveSupport?.properties.includes('edit') === true,
    configuration: workspace?.configuration === true,
    configurationRegistration: workspace?.didChangeConfiguration?.dynamicRegistration === true,
    folderChanges: workspace?.workspaceFolders === true,
    watchesFiles: workspace?.didChangeWatchedFiles?.dynamicRegistration === true,
    progress: window?.workDoneProgress === true,
    appliesEdits: workspace?.applyEdit === true,
    showsDocuments: window?.showDocument?.support === true,
    listsCommands: !knows.has('raceline/commands'),
    knows,
    initialSettings: options.settings,
  };
}

/** Newer clients send `workspaceFolders`, older ones `rootUri` or `rootPath`; a single file has none of them. */
function folders(params: InitializeParams): DocumentUri[] {
  if (params.workspaceFolders?.length) return params.workspaceFolders.map((folder) => folder.uri);
  if (params.rootUri) return [params.rootUri];
  if (params.rootPath) return [pathToFileURL(params.rootPath).href];
  return [];
}

/** The rules' pages lie in the same package; a copied bundle may be without them. */
function pagesBesideUs(): DocumentUri | undefined {
  const folder = new URL('../docs/rules/', import.meta.url);
  return folder.protocol === 'file:' && existsSync(folder) ? folder.href : undefined;
}
