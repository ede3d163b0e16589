/** Entry of dist/server.js: `--stdio` for any editor, `--node-ipc` for the extension. */
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { endOnBrokenFraming } from './framing.ts';
import { startServer } from './start.ts';

if (process.argv.includes('--stdio')) endOnBrokenFraming(process.stdin);
startServer(createConnection(ProposedFeatures.all));
