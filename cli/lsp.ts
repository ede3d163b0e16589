import { createConnection, ProposedFeatures, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import { startServer } from '../server/main.ts';

/** `raceline lsp --stdio`: the language server for any editor. */
export async function lsp(_args: readonly string[]): Promise<number> {
  const connection = createConnection(
    ProposedFeatures.all,
    new StreamMessageReader(process.stdin),
    new StreamMessageWriter(process.stdout),
  );
  startServer(connection);
  return new Promise(() => {});
}
