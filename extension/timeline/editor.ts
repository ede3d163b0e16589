/**
 * The custom editor of traces: gives the webview the file's bytes and does what it asks (webview/protocol.ts). Reads
 * through `workspace.fs`, so that it works wherever the file is. Knows nothing of a trace's content.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { witnessFile, witnessTitles } from '../../core/trace/witness-file.ts';
import { page } from '../../webview/page.ts';
import type { FromWebview, ToWebview } from '../../webview/protocol.ts';
import type { RunFindings } from './findings.ts';
import { Follower } from './follow.ts';
import { LineMark } from './lineMark.ts';
import { reveal } from './reveal.ts';

export const viewType = 'raceline.timeline';
const optionViewType = 'raceline.timelineOption';

/** Bytes cross three processes on their way to the page; above this the browser page of the command line serves better. */
const sizeLimit = 512 << 20;

/** Where previews lie: in the extension's storage, not in the workspace. */
export const previewFolder = (context: vscode.ExtensionContext) =>
  vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'previews');

interface TraceDocument extends vscode.CustomDocument {
  readonly uri: vscode.Uri;
}

export function registerTimelineEditor(
  context: vscode.ExtensionContext,
  findings: RunFindings,
  log: vscode.LogOutputChannel,
): void {
  const panels = new Set<vscode.WebviewPanel>();
  const provider: vscode.CustomReadonlyEditorProvider<TraceDocument> = {
    openCustomDocument: (uri) => ({ uri, dispose() {} }),
    resolveCustomEditor(document, panel) {
      panels.add(panel);
      showTimeline(context, document.uri, panel, findings, log);
      panel.onDidDispose(() => panels.delete(panel));
    },
  };
  // A tab in the background keeps its page: reading a large trace again takes longer than its memory is worth.
  const options = { supportsMultipleEditorsPerDocument: true, webviewOptions: { retainContextWhenHidden: true } };
  context.subscriptions.push(
    vscode.window.registerCustomEditorProvider(viewType, provider, options),
    vscode.window.registerCustomEditorProvider(optionViewType, provider, options),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
      if (!panels.size || textEditor.document.languageId !== 'python' || !selections[0]) return;
      const { fsPath } = textEditor.document.uri;
      for (const panel of panels) post(panel, { type: 'mark', file: fsPath, line: selections[0].active.line + 1 });
    }),
  );
}

function showTimeline(
  context: vscode.ExtensionContext,
  uri: vscode.Uri,
  panel: vscode.WebviewPanel,
  findings: RunFindings,
  log: vscode.LogOutputChannel,
): void {
  const dist = vscode.Uri.joinPath(context.extensionUri, 'dist');
  const { webview } = panel;
  const asset = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [dist] };

  const isPreview = uri.path.startsWith(`${previewFolder(context).path}/`);
  const follower = new Follower(uri);
  const send = async () => {
    const read = await readTrace(uri);
    if (read.type === 'open') follower.has(read.bytes);
    post(panel, read);
    await compareWithWitness(uri, panel);
  };
  const follow = async () => {
    const bytes = await follower.appended();
    if (!bytes) return send();
    post(panel, { type: 'grown', name: path.posix.basename(uri.path), bytes });
  };
  const watcher = watch(uri, follow);
  const lineMark = new LineMark();
  panel.onDidDispose(() => {
    watcher?.dispose();
    lineMark.dispose();
  });
  webview.onDidReceiveMessage(async (message: FromWebview) => {
    try {
      await answer(message);
    } catch (error) {
      log.error(`${message?.type}: ${(error as Error).stack ?? String(error)}`);
      void vscode.window.showErrorMessage(`Raceline: ${(error as Error).message}`);
    }
  });

  async function answer(message: FromWebview): Promise<void> {
    switch (message.type) {
      case 'ready':
        await send();
        return post(panel, { type: 'notes', text: await readNotes(uri) });
      case 'whole':
        return send();
      case 'shown':
        return log.info(`${message.name}: ${message.slices} slices, ${message.hazards} findings`);
      case 'reveal':
        return reveal(message, uri, panel.viewColumn);
      case 'selected':
        return lineMark.show(message.file, message.line, uri);
      case 'pickComparison':
        return compareWith(uri, panel);
      case 'keepNotes':
        return vscode.workspace.fs.writeFile(notesOf(uri), new TextEncoder().encode(message.text));
      case 'save':
        return save(uri, message.name, message.bytes);
      case 'hazards':
        // A preview runs what the source analysis has judged already: its findings stand there.
        return isPreview ? undefined : findings.show(uri, message);
      case 'run':
        return vscode.commands.executeCommand('raceline.runFile');
      case 'pickTrace':
        return vscode.commands.executeCommand('raceline.openTrace');
      case 'error':
        return log.error(`timeline of ${uri.toString(true)}: ${message.message}`);
    }
  }

  webview.html = page({
    nonce: randomBytes(18).toString('base64url'),
    scriptUri: asset('webview.js'),
    styleUri: asset('webview.css'),
    workerUri: asset('worker.js'),
    cspSource: webview.cspSource,
    title: path.posix.basename(uri.path),
  });
}

async function readTrace(uri: vscode.Uri): Promise<ToWebview> {
  const name = path.posix.basename(uri.path);
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > sizeLimit)
      return {
        type: 'failed',
        name,
        message: `This trace is ${Math.round(size / (1 << 20))} MB. The command 'raceline view ${name}' opens it in a browser without copying it through the editor.`,
      };
    return { type: 'open', name, bytes: plain(await vscode.workspace.fs.readFile(uri)) };
  } catch (error) {
    return { type: 'failed', name, message: `The file cannot be read: ${(error as Error).message}` };
  }
}

/** Notes lie beside the trace, so that they go where it goes. */
const notesOf = (uri: vscode.Uri) => uri.with({ path: `${uri.path}.notes.json` });

async function readNotes(uri: vscode.Uri): Promise<string> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(notesOf(uri)));
  } catch {
    return '';
  }
}

async function compareWith(uri: vscode.Uri, panel: vscode.WebviewPanel): Promise<void> {
  const [picked] =
    (await vscode.window.showOpenDialog({
      title: `Compare ${path.posix.basename(uri.path)} with`,
      defaultUri: vscode.Uri.joinPath(uri, '..'),
      filters: { Traces: ['raceline', 'gz', 'json', 'pickle', 'sqlite'], 'All Files': ['*'] },
    })) ?? [];
  if (!picked) return;
  const read = await readTrace(picked);
  if (read.type === 'open') post(panel, { ...read, type: 'compare' });
  else if (read.type === 'failed') void vscode.window.showErrorMessage(`Raceline: ${read.message}`);
}

/** Where the schedule that goes wrong lies for an intended one. */
export const witnessBeside = (uri: vscode.Uri) => uri.with({ path: witnessFile(uri.path) });

/** A witness that lies beside its intended run is drawn with it. */
async function compareWithWitness(uri: vscode.Uri, panel: vscode.WebviewPanel): Promise<void> {
  const witness = witnessBeside(uri);
  const read = await vscode.workspace.fs.readFile(witness).then(plain, () => undefined);
  if (!read) return;
  post(panel, {
    type: 'compare',
    name: path.posix.basename(witness.path),
    bytes: read,
    titles: witnessTitles(read),
  });
}

async function save(uri: vscode.Uri, name: string, bytes: Uint8Array): Promise<void> {
  const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(uri, '..', name) });
  if (target) await vscode.workspace.fs.writeFile(target, bytes);
}

/** A Node Buffer is a Uint8Array to the eye, but crosses to the page as JSON. */
const plain = ({ buffer, byteOffset, byteLength }: Uint8Array) => new Uint8Array(buffer, byteOffset, byteLength);

/** A run writes its file while it is open, and the next run may replace it: both are read again, now and then. */
function watch(uri: vscode.Uri, changed: () => void): vscode.Disposable | undefined {
  if (uri.scheme !== 'file') return undefined;
  const folder = vscode.Uri.joinPath(uri, '..');
  const watcher = vscode.workspace.createFileSystemWatcher(
    new vscode.RelativePattern(folder, path.posix.basename(uri.path).replace(/[[\]{}*?]/g, '?')),
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pause = 1_000;
  // Not put off by the next change: a run that writes all the time would never be shown.
  const later = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      changed();
    }, pause);
  };
  watcher.onDidChange(later);
  watcher.onDidCreate(later);
  return {
    dispose() {
      if (timer) clearTimeout(timer);
      watcher.dispose();
    },
  };
}

const post = (panel: vscode.WebviewPanel, message: ToWebview) => void panel.webview.postMessage(message);
