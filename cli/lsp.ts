import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { endOnBrokenFraming } from '../server/framing.ts';
import { startServer } from '../server/start.ts';

/** `raceline lsp --stdio`: the language server for any editor. */
export async function lsp(_args: readonly string[]): Promise<number> {
  endOnBrokenFraming(process.stdin);
  // Given the streams themselves, the connection ends the process when the client closes them.
  startServer(createConnection(ProposedFeatures.all, process.stdin, process.stdout));
  return new Promise(() => {});
}
