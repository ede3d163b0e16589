/**
 * The one place where the words of the Language Server Protocol and those of `core/` meet: URIs and file keys, findings
 * and diagnostics, fixes and workspace edits. Holds no state but the client's own spelling of the URIs it has used.
 */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentUri,
  type TextDocumentEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver';
import type { FileEdit, Position, Range } from '../core/base/text.ts';
import { comparePositions } from '../core/base/text.ts';
import type { Finding, Severity } from '../core/rules/finding.ts';
import { type Evidence, evidenceText, type Verdict } from '../core/runEvidence.ts';

/** The key under which a document is handed to the analysis: an absolute path, or the URI itself where there is none. */
export function fileKey(uri: DocumentUri): string {
  if (!uri.startsWith('file:')) return uri;
  try {
    const file = path.normalize(fileURLToPath(uri));
    // `c:\x` and `C:\x` are one file, and clients send either.
    return process.platform === 'win32' ? file.replace(/^[A-Z]:/, (drive) => drive.toLowerCase()) : file;
  } catch {
    return uri;
  }
}

/** Whether a key is a path on disk. */
export const isPath = (key: string) => path.isAbsolute(key);

/** Answers in the client's own spelling: a client that sent `file:///c%3A/x.py` does not know `file:///C:/x.py`. */
export class UriSpelling {
  readonly #byKey = new Map<string, DocumentUri>();

  seen(uri: DocumentUri): string {
    const key = fileKey(uri);
    this.#byKey.set(key, uri);
    return key;
  }

  uri(key: string): DocumentUri {
    return this.#byKey.get(key) ?? (isPath(key) ? pathToFileURL(key).href : key);
  }
}

/** What travels in a diagnostic's `data` and comes back with a code action request. */
export interface DiagnosticData {
  readonly code: string;
  readonly certainty: Finding['certainty'];
  /** What the runs that the client has opened say of it; left out: nothing. */
  readonly evidence?: Evidence;
}

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
};

/** What of a diagnostic the client can show; the rest is left out. */
export interface DiagnosticSupport {
  readonly relatedInformation: boolean;
  readonly codeDescription: boolean;
  readonly tags: boolean;
  readonly data: boolean;
  /** Folder URI of the rules' pages, ending in `/`; undefined: no link. */
  readonly docsUri: string | undefined;
}

/** Code that can go is faded by the editor: a redundant call, never a missing one. */
const isRemovable = (finding: Finding) => finding.code.startsWith('redundant-');

/** `verdict`: what runs say of the finding. One that a run confirms is an error. */
export function diagnostic(
  finding: Finding,
  uris: UriSpelling,
  support: DiagnosticSupport,
  verdict?: Verdict,
): Diagnostic {
  const result: Diagnostic = {
    range: finding.range,
    severity: verdict?.evidence === 'confirmed' ? DiagnosticSeverity.Error : severities[finding.severity],
    code: finding.code,
    source: 'raceline',
    message: verdict ? `${finding.message} (${evidenceText(verdict)})` : finding.message,
  };
  if (support.codeDescription && support.docsUri)
    result.codeDescription = { href: `${support.docsUri}${finding.code}.md` };
  if (support.tags && isRemovable(finding)) result.tags = [DiagnosticTag.Unnecessary];
  if (support.relatedInformation && finding.related.length)
    result.relatedInformation = finding.related.map((place) => ({
      location: { uri: uris.uri(place.file), range: place.range },
      message: place.message,
    }));
  if (support.data)
    result.data = {
      code: finding.code,
      certainty: finding.certainty,
      ...(verdict ? { evidence: verdict.evidence } : {}),
    } satisfies DiagnosticData;
  return result;
}

/** Whether two ranges touch; a caret at a finding's edge still asks for its fixes. */
export const touches = (a: Range, b: Range) =>
  comparePositions(a.start, b.end) <= 0 && comparePositions(b.start, a.end) <= 0;

export const isRange = (value: unknown): value is Range => {
  const range = value as Range | undefined;
  return isPosition(range?.start) && isPosition(range?.end);
};

const isPosition = (value: Position | undefined) =>
  typeof value?.line === 'number' && typeof value.character === 'number';

/**
 * A workspace edit. With `documentChanges` the client refuses an edit that was made for another version of the document;
 * without, it must trust us.
 */
export function workspaceEdit(
  edits: readonly FileEdit[],
  uris: UriSpelling,
  version: (key: string) => number | null,
  documentChanges: boolean,
): WorkspaceEdit {
  const byFile = new Map<string, FileEdit[]>();
  for (const edit of edits) {
    const list = byFile.get(edit.file);
    if (list) list.push(edit);
    else byFile.set(edit.file, [edit]);
  }
  const textEdits = (list: readonly FileEdit[]) => list.map(({ range, newText }) => ({ range, newText }));
  if (documentChanges)
    return {
      documentChanges: [...byFile].map(
        ([key, list]): TextDocumentEdit => ({
          textDocument: { uri: uris.uri(key), version: version(key) },
          edits: textEdits(list),
        }),
      ),
    };
  return { changes: Object.fromEntries([...byFile].map(([key, list]) => [uris.uri(key), textEdits(list)])) };
}
