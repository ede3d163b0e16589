/** The line that what is selected in a timeline comes from, marked in editors that show it. No editor is opened for it. */
import * as vscode from 'vscode';
import { findSource } from './reveal.ts';

export class LineMark implements vscode.Disposable {
  readonly #decoration = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorInfo.foreground'),
  });
  /** The latest wish: an answer to an earlier one comes too late. */
  #wish = 0;

  async show(file: string, line: number, trace: vscode.Uri): Promise<void> {
    const wish = ++this.#wish;
    const source = file === '' || line < 1 ? undefined : await findSource(file, trace);
    if (wish !== this.#wish) return;
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri, lineCount } = editor.document;
      const isThere = uri.toString() === source?.toString() && line <= lineCount;
      editor.setDecorations(this.#decoration, isThere ? [new vscode.Range(line - 1, 0, line - 1, 0)] : []);
    }
  }

  dispose(): void {
    this.#wish++;
    this.#decoration.dispose();
  }
}
