/**
 * The language client library, a bundle of its own: reading and running it takes longer than all the rest of the
 * extension, and an opened trace needs none of it.
 */
export { LanguageClient, RevealOutputChannelOn, State, TransportKind } from 'vscode-languageclient/node';
