/**
 * Findings of runs as diagnostics of their own source, apart from those of the source analysis. They belong to their
 * trace: the next content of that file takes their place, a command clears them, closing the timeline keeps them.
 */
import * as vscode from 'vscode';
import type { FromWebview } from '../../webview/protocol.ts';
import { findSource } from './reveal.ts';

type RunHazard = Extract<FromWebview, { type: 'hazards' }>['hazards'][number];

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

  async show(trace: vscode.Uri, hazards: readonly RunHazard[]): Promise<void> {
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const hazard of hazards) {
      if (!hazard.file || hazard.line < 1) continue;
      const source = await findSource(hazard.file, trace);
      if (!source) continue;
      const key = source.toString();
      const list = byFile.get(key) ?? [];
      list.push(await diagnostic(hazard, source));
      byFile.set(key, list);
    }
    this.#byTrace.set(trace.toString(), byFile);
    this.#publish();
  }

  clear(): void {
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
