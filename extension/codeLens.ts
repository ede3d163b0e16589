/** One lens, over the `__main__` block of a file that makes a stream. Off with `raceline.codeLens`. */
import * as vscode from 'vscode';
import { mentionsTorch } from './torchFiles.ts';

const mainBlock = /^if\s+__name__\s*==\s*(['"])__main__\1\s*:/m;

export function registerCodeLens(context: vscode.ExtensionContext): void {
  const changed = new vscode.EventEmitter<void>();
  context.subscriptions.push(
    changed,
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('raceline.codeLens')) changed.fire();
    }),
    vscode.languages.registerCodeLensProvider(
      { language: 'python', scheme: 'file' },
      {
        onDidChangeCodeLenses: changed.event,
        provideCodeLenses(document) {
          if (vscode.workspace.getConfiguration('raceline', document.uri).get('codeLens') === 'off') return [];
          const text = document.getText();
          const block = mainBlock.exec(text);
          if (!block || !text.includes('Stream(') || !mentionsTorch(document)) return [];
          const at = document.positionAt(block.index);
          return [
            new vscode.CodeLens(new vscode.Range(at, at), {
              title: 'Run with Raceline',
              tooltip:
                'Runs this file under the recorder and opens the timeline. Off with the setting raceline.codeLens.',
              command: 'raceline.runFile',
              arguments: [document.uri],
            }),
          ];
        },
      },
    ),
  );
}
