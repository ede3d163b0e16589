/** What the client said of itself in `initialize`: its folders, what it can show, what it answers. */
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
  return {
    folders: folders(params),
    diagnostics: {
      relatedInformation: diagnostics?.relatedInformation === true,
      codeDescription: diagnostics?.codeDescriptionSupport === true,
      tags: (diagnostics?.tagSupport?.valueSet?.length ?? 0) > 0,
      data: diagnostics?.dataSupport === true,
      docsUri: typeof options.docsUri === 'string' ? options.docsUri.replace(/\/?$/, '/') : undefined,
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
    knows: new Set(Array.isArray(options.client) ? options.client.filter((name) => typeof name === 'string') : []),
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
