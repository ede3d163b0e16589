/**
 * `textDocument/publishDiagnostics`. Pushed, not pulled: findings cross files, and an edit of a helper changes what is
 * true of documents that nobody asks about.
 */
import type { Diagnostic, DocumentUri } from 'vscode-languageserver';
import { verdictOn } from '../../core/runEvidence.ts';
import { diagnostic } from '../convert.ts';
import type { Session } from '../session.ts';

export class DiagnosticsPublisher {
  /** What the client shows now, as JSON: a check that changes nothing in a file sends nothing. */
  readonly #shown = new Map<DocumentUri, string>();

  publish(session: Session): void {
    const uris = new Map<DocumentUri, string>();
    const runs = session.runs.any ? session.runs.current() : [];
    for (const document of session.openDocuments()) uris.set(document.uri, session.uris.seen(document.uri));
    if (session.settings.workspace.scope === 'workspace')
      for (const key of session.checkedFiles) uris.set(session.uris.uri(key), key);
    for (const [uri, key] of uris) {
      if (session.awaitsSave(uri)) continue;
      const findings = session.settingsOf(uri).enable ? session.findings(key) : [];
      this.#send(
        session,
        uri,
        findings.map((finding) =>
          diagnostic(finding, session.uris, session.client.diagnostics, verdictOn(finding, runs)),
        ),
        session.version(key),
      );
    }
    for (const uri of [...this.#shown.keys()]) if (!uris.has(uri)) this.#send(session, uri, [], null);
  }

  #send(session: Session, uri: DocumentUri, diagnostics: Diagnostic[], version: number | null): void {
    // The version is part of it: a client that drops diagnostics of old versions must get them anew.
    const now = JSON.stringify([version, diagnostics]);
    const before = this.#shown.get(uri);
    if (before === now || (before === undefined && !diagnostics.length && version === null)) return;
    if (!diagnostics.length && version === null) this.#shown.delete(uri);
    else this.#shown.set(uri, now);
    void session.connection.sendDiagnostics({ uri, version: version ?? undefined, diagnostics });
  }
}
