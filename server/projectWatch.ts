/**
 * Keeps the settings of projects up to date while the server runs, and shows what is wrong with them in the files that they
 * stand in. A client that watches files tells of changes; with any other they are read again when a document is saved.
 */
import path from 'node:path';
import { type Connection, DiagnosticSeverity, DidChangeWatchedFilesNotification } from 'vscode-languageserver';
import type { Problem } from '../core/rules/finding.ts';
import type { ClientSupport } from './client.ts';
import { projectFile, type Projects } from './projects.ts';
import type { Session } from './session.ts';

export class ProjectWatch {
  readonly #connection: Connection;
  readonly #projects: Projects;
  readonly #client: ClientSupport;
  /** Names of baseline files that are watched. */
  readonly #watched = new Set<string>();
  /** By URI, what the client shows, as text. */
  readonly #shown = new Map<string, string>();

  constructor(connection: Connection, projects: Projects, client: ClientSupport) {
    this.#connection = connection;
    this.#projects = projects;
    this.#client = client;
  }

  /** Whether one of the changed files has a say in what is reported. */
  changed(keys: readonly string[]): boolean {
    const { baselineFiles } = this.#projects;
    if (!keys.some((key) => path.basename(key) === projectFile || baselineFiles.has(key))) return false;
    this.#projects.forget();
    return true;
  }

  saved(): void {
    if (!this.#client.watchesFiles) this.#projects.forget();
  }

  /** After a check: by then all files that matter were read. */
  checked(session: Session): void {
    this.#watchBaselines();
    const byFile = new Map<string, Problem[]>();
    for (const problem of this.#projects.problems) {
      const list = byFile.get(problem.file);
      if (list) list.push(problem);
      else byFile.set(problem.file, [problem]);
    }
    const uris = new Set<string>();
    for (const [file, problems] of byFile) {
      const uri = session.uris.uri(file);
      uris.add(uri);
      this.#show(uri, problems);
    }
    for (const uri of [...this.#shown.keys()]) if (!uris.has(uri)) this.#show(uri, []);
  }

  #show(uri: string, problems: readonly Problem[]): void {
    const diagnostics = problems.map(({ line = 0, message }) => ({
      range: { start: { line, character: 0 }, end: { line: line + 1, character: 0 } },
      severity: DiagnosticSeverity.Warning,
      source: 'raceline',
      message,
    }));
    const now = JSON.stringify(diagnostics);
    if ((this.#shown.get(uri) ?? '[]') === now) return;
    if (diagnostics.length) this.#shown.set(uri, now);
    else this.#shown.delete(uri);
    for (const { message, range } of diagnostics)
      this.#connection.console.warn(`${uri}:${range.start.line + 1}: ${message}`);
    void this.#connection.sendDiagnostics({ uri, diagnostics });
  }

  #watchBaselines(): void {
    if (!this.#client.watchesFiles) return;
    const names = [...this.#projects.baselineFiles].map((file) => path.basename(file));
    const fresh = [...new Set(names)].filter((name) => !this.#watched.has(name));
    if (!fresh.length) return;
    for (const name of fresh) this.#watched.add(name);
    void this.#connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers: fresh.map((name) => ({ globPattern: `**/${name}` })),
    });
  }
}
