/**
 * Owns what lives longer than a request: open documents and their versions, the closed helper files of the workspace,
 * when to check (soon after an edit, or on save), and the findings of the last check. Requests are stateless functions over it.
 *
 * A check is one synchronous call into `core/`; edits that arrive while it runs are seen by the next one, so its result
 * always belongs to the versions it read. Nothing is published for a version that the client has already left.
 */
import path from 'node:path';
import type { Connection, DocumentUri, TextDocuments } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { CheckResult, SourceChecker, SourceFile } from '../core/checkSource.ts';
import type { PythonParser } from '../core/python/parse.ts';
import type { Finding, Fix } from '../core/rules/finding.ts';
import { SourceFiles } from '../core/sourceFiles.ts';
import type { ClientSupport } from './client.ts';
import { fileKey, isPath, UriSpelling } from './convert.ts';
import type { Engine } from './engine.ts';
import type { Settings, SettingsSource } from './settings.ts';
import { Runs } from './runs.ts';
import { isSkipped, readSource, scanWorkspace } from './workspaceFiles.ts';

/** Joins the events of one keystroke. */
const shortestWait = 2;
/** Checks that take longer than this are felt; after one the server rests half as long, so that edits gather. */
const slowCheck = 150;
const longestRest = 400;

export interface CheckedDocument {
  readonly uri: DocumentUri;
  readonly key: string;
  readonly version: number | null;
  readonly findings: readonly Finding[];
}

export class Session {
  readonly uris = new UriSpelling();
  /** What runs said; nobody has to have sent any. */
  readonly runs = new Runs(
    (uri) => this.uris.seen(uri),
    (key) => this.document(key)?.getText(),
  );
  readonly parser: PythonParser;
  readonly checker: SourceChecker;
  /** Texts of closed files; an open document takes the place of its closed text. */
  readonly #texts = new SourceFiles();
  #files = 0;
  readonly #fixes = new Map<Finding, readonly Fix[]>();
  /** Versions at which documents were opened: the first content is the opening, not an edit. */
  readonly #openedAs = new Map<string, number>();
  /** Keys edited since their last save. */
  readonly #unsaved = new Set<string>();
  #folders: string[];
  #result: CheckResult = { findings: [], problems: [] };
  #byFile = new Map<string, Finding[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Of the last check. */
  #duration = 0;
  #ended = 0;
  #stale = false;
  #scan: AbortController | undefined;
  #knownProblems = new Set<string>();

  constructor(
    readonly connection: Connection,
    readonly documents: TextDocuments<TextDocument>,
    engine: Engine,
    readonly settings: SettingsSource,
    readonly client: ClientSupport,
    /** Called after each check. */
    readonly onChecked: (session: Session) => void,
  ) {
    this.parser = engine.parser;
    this.checker = engine.checker;
    this.#folders = client.folders.map(fileKey).filter(isPath);
  }

  get folders(): readonly string[] {
    return this.#folders;
  }

  settingsOf(uri: DocumentUri): Settings {
    return this.settings.get(uri);
  }

  document(key: string): TextDocument | undefined {
    return this.documents.get(this.uris.uri(key));
  }

  version(key: string): number | null {
    return this.document(key)?.version ?? null;
  }

  /** Open Python documents and the closed files, in an order that does not depend on when they were opened. */
  files(): readonly SourceFile[] {
    for (const document of this.openDocuments())
      if (document.languageId === 'python') this.#texts.set(this.uris.seen(document.uri), document.getText());
    return this.#texts.sorted();
  }

  findings(key: string): readonly Finding[] {
    return this.#byFile.get(key) ?? [];
  }

  get checkedFiles(): IterableIterator<string> {
    return this.#byFile.keys();
  }

  /** Fixes of a finding of the last check, each re-analysed by the checker once. */
  fixes(finding: Finding): readonly Fix[] {
    let fixes = this.#fixes.get(finding);
    if (!fixes) {
      fixes = this.checker.fixesFor(finding);
      this.#fixes.set(finding, fixes);
    }
    return fixes;
  }

  /** Whether a document's findings wait for its next save. */
  awaitsSave(uri: DocumentUri): boolean {
    return this.settingsOf(uri).run === 'onSave' && this.#unsaved.has(fileKey(uri));
  }

  opened(document: TextDocument): void {
    this.#openedAs.set(this.uris.seen(document.uri), document.version);
    this.schedule();
    this.settings.load(document.uri).then(() => this.schedule());
  }

  changed(document: TextDocument): void {
    const key = this.uris.seen(document.uri);
    if (this.#openedAs.get(key) === document.version) return;
    this.#unsaved.add(key);
    if (this.settingsOf(document.uri).run === 'onSave') this.#stale = true;
    else this.schedule();
  }

  saved(document: TextDocument): void {
    this.#unsaved.delete(this.uris.seen(document.uri));
    this.schedule();
  }

  async closed(document: TextDocument): Promise<void> {
    const key = this.uris.seen(document.uri);
    this.#unsaved.delete(key);
    this.#openedAs.delete(key);
    this.settings.forget(document.uri);
    await this.diskChanged(key);
  }

  /** A file changed on disk, or an open one was closed. */
  async diskChanged(key: string): Promise<void> {
    // What is open is what the editor says.
    if (this.document(key)) return;
    const file = isPath(key) && key.endsWith('.py') && !isSkipped(key, this.#folders) && (await readSource(key));
    if (this.document(key)) return;
    if (file) this.#texts.set(key, file.text);
    else this.#texts.delete(key);
    this.schedule();
  }

  async setFolders(uris: readonly DocumentUri[]): Promise<void> {
    this.#folders = uris.map(fileKey).filter(isPath);
    await this.scan();
  }

  /** Reads the workspace's helpers; a new scan takes the place of a running one. */
  async scan(): Promise<void> {
    this.#scan?.abort();
    const mine = new AbortController();
    this.#scan = mine;
    const started = performance.now();
    const { files, seen, streams, notes } = await scanWorkspace(this.#folders, undefined, mine.signal);
    if (mine.signal.aborted) return;
    this.#texts.clear();
    for (const file of files) this.#texts.set(file.file, file.text);
    for (const note of notes) this.connection.console.warn(note);
    this.connection.console.info(
      `${seen} Python files in the workspace, ${streams} mention streams (${Math.round(performance.now() - started)} ms)`,
    );
    this.schedule();
  }

  /** A check soon. It comes at once after a pause, and is never put off by further edits: those it reads as well. */
  schedule(): void {
    this.#stale = true;
    if (this.#timer) return;
    const rest = this.#duration < slowCheck ? 0 : Math.min(this.#duration / 2, longestRest);
    this.#timer = setTimeout(
      () => this.#checkGuarded(),
      Math.max(this.#ended + rest - performance.now(), shortestWait),
    );
  }

  /** No request is there that a failure could be answered to, and an error thrown out of a timer ends the process. */
  #checkGuarded(): void {
    try {
      this.check();
    } catch (error) {
      this.connection.console.error(`the check failed: ${(error as Error).stack ?? String(error)}`);
    }
  }

  /** Documents as the client opened them. One that it opened without a name cannot be spoken of. */
  openDocuments(): TextDocument[] {
    return this.documents.all().filter((document) => typeof document.uri === 'string');
  }

  /** Brings the findings up to the documents' present versions: an edit is only right for the text it was made for. */
  current(): void {
    if (this.#stale) this.check();
  }

  check(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stale = false;
    const started = performance.now();
    try {
      const files = this.files();
      this.#files = files.length;
      this.accept(this.checker.check(files, { fixes: false }));
    } catch (error) {
      // The last good findings stay; the next edit tries again.
      this.connection.console.error(`The check failed: ${(error as Error).stack ?? String(error)}`);
      return;
    } finally {
      this.#ended = performance.now();
      this.#duration = this.#ended - started;
    }
    this.onChecked(this);
  }

  /** Runs something that checks other texts with the same checker, and puts its state back after. */
  borrow<T>(use: (checker: SourceChecker, files: readonly SourceFile[]) => T): T {
    const files = this.files();
    try {
      return use(this.checker, files);
    } finally {
      this.accept(this.checker.check(files, { fixes: false }));
    }
  }

  /** For the client's language status. */
  status(): { findings: number; milliseconds: number } {
    return { findings: this.#result.findings.length, milliseconds: Math.round(this.#duration) };
  }

  dispose(): void {
    this.#scan?.abort();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** One line for the log and for bug reports. */
  describe(): string {
    const open = this.openDocuments().length;
    return `${open} open documents, ${this.#files} files checked, ${this.#result.findings.length} findings, last check ${Math.round(this.#duration)} ms, folders: ${this.#folders.map((folder) => path.basename(folder)).join(', ') || 'none'}`;
  }

  private accept(result: CheckResult): void {
    this.#result = result;
    this.#fixes.clear();
    this.#byFile = new Map();
    for (const finding of result.findings) {
      const list = this.#byFile.get(finding.file);
      if (list) list.push(finding);
      else this.#byFile.set(finding.file, [finding]);
    }
    for (const { file, message } of result.problems) {
      const line = `${file}: ${message}`;
      if (!this.#knownProblems.has(line)) this.connection.console.warn(line);
    }
    this.#knownProblems = new Set(result.problems.map(({ file, message }) => `${file}: ${message}`));
  }
}
