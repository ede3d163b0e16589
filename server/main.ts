/** Entry of dist/server.js: `--stdio` for any editor, `--node-ipc` for the extension. */
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { startServer } from './start.ts';

startServer(createConnection(ProposedFeatures.all));
