/**
 * Findings of runs as diagnostics of their own source, apart from those of the source analysis. They belong to their
 * trace: the next content of that file takes their place, a command clears them, closing the timeline keeps them.
 */
import * as vscode from 'vscode';
import type { FromWebview } from '../../webview/protocol.ts';
import { findSource } from './reveal.ts';

type RunContent = Extract<FromWebview, { type: 'hazards' }>;
type RunHazard = RunContent['hazards'][number];

/** What the language server is told of a run (`raceline/run`). */
export interface RunMessage {
  readonly uri: string;
  readonly name: string;
  readonly closed?: boolean;
  readonly ran?: readonly { readonly uri: string; readonly lines: readonly number[] }[];
  readonly hazards?: readonly {
    readonly code: string;
    readonly status: 'confirmed' | 'latent';
    readonly uri: string;
    readonly line: number;
    readonly related: readonly { readonly uri: string; readonly line: number }[];
  }[];
}

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  hint: vscode.DiagnosticSeverity.Hint,
} as const;

const evidence = {
  confirmed: 'confirmed in this run',
  latent: 'latent: possible, not seen in this run',
} as const;

export class RunFindings implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('raceline run');
  readonly #byTrace = new Map<string, Map<string, vscode.Diagnostic[]>>();

  /** `tell` brings the run to the language server, which says of each of its findings what the run says. */
  constructor(readonly tell: (run: RunMessage) => void) {}

  async show(trace: vscode.Uri, { name, hazards, ran = [] }: RunContent): Promise<void> {
    const sources = new Map<string, vscode.Uri | undefined>();
    const find = async (file: string): Promise<vscode.Uri | undefined> => {
      if (!sources.has(file)) sources.set(file, await findSource(file, trace));
      return sources.get(file);
    };
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const hazard of hazards) {
      if (!hazard.file || hazard.line < 1) continue;
      const source = await find(hazard.file);
      if (!source) continue;
      const key = source.toString();
      const list = byFile.get(key) ?? [];
      list.push(await diagnostic(hazard, source));
      byFile.set(key, list);
    }
    this.#byTrace.set(trace.toString(), byFile);
    this.#publish();
    const placed = async <T extends { readonly file: string }>(list: readonly T[]) => {
      const result: (T & { uri: string })[] = [];
      for (const entry of list) {
        const uri = entry.file ? await find(entry.file) : undefined;
        if (uri) result.push({ ...entry, uri: uri.toString() });
      }
      return result;
    };
    const found = [];
    for (const hazard of await placed(hazards)) found.push({ ...hazard, related: await placed(hazard.related ?? []) });
    this.tell({ uri: trace.toString(), name, hazards: found, ran: await placed(ran) });
  }

  clear(): void {
    for (const uri of this.#byTrace.keys()) this.tell({ uri, name: '', closed: true });
    this.#byTrace.clear();
    this.#publish();
  }

  dispose(): void {
    this.#collection.dispose();
  }

  #publish(): void {
    const merged = new Map<string, vscode.Diagnostic[]>();
    for (const byFile of this.#byTrace.values())
      for (const [file, list] of byFile) merged.set(file, [...(merged.get(file) ?? []), ...list]);
    this.#collection.clear();
    for (const [file, list] of merged) this.#collection.set(vscode.Uri.parse(file, true), list);
    void vscode.commands.executeCommand('setContext', 'raceline.hasRunFindings', merged.size > 0);
  }
}

async function diagnostic(hazard: RunHazard, source: vscode.Uri): Promise<vscode.Diagnostic> {
  const result = new vscode.Diagnostic(
    await lineRange(source, hazard.line - 1),
    `${hazard.message} (${evidence[hazard.status]})`,
    severities[hazard.severity],
  );
  result.source = 'raceline run';
  result.code = hazard.code;
  return result;
}

/** The line without its indentation, where its text is at hand. */
async function lineRange(source: vscode.Uri, line: number): Promise<vscode.Range> {
  try {
    const document = await vscode.workspace.openTextDocument(source);
    if (line >= document.lineCount) return new vscode.Range(line, 0, line, 0);
    const text = document.lineAt(line);
    return new vscode.Range(line, text.firstNonWhitespaceCharacterIndex, line, text.text.trimEnd().length);
  } catch {
    return new vscode.Range(line, 0, line, 0);
  }
}
