/** Who is on the other side: VS Code's extension, or in a plain browser a small script over fetch, in a report the page itself. */
import type { FromWebview, ToWebview } from './protocol.ts';
import { reportHost } from './report.ts';
import { standaloneHost } from './standalone.ts';

export interface Host {
  readonly kind: 'vscode' | 'browser';
  post(message: FromWebview): void;
  listen(receive: (message: ToWebview) => void): void;
  /** Whether notes can be kept in a file beside the trace. */
  readonly canKeepNotes: boolean;
  /** Names of all traces that can be shown here, and which one is; left out: there is no choice. */
  readonly traces?: TraceChoice;
}

export interface TraceChoice {
  names(): Promise<readonly string[]>;
  readonly current: number;
  open(index: number): void;
  /** Opens one beside the current one. */
  compare(index: number): void;
}

declare const acquireVsCodeApi: undefined | (() => { postMessage(message: unknown): void });

export function connect(): Host {
  if (typeof acquireVsCodeApi !== 'function') return reportHost() ?? standaloneHost();
  const api = acquireVsCodeApi();
  return {
    kind: 'vscode',
    canKeepNotes: true,
    post: (message) => api.postMessage(message),
    listen(receive) {
      window.addEventListener('message', (event: MessageEvent<ToWebview>) => receive(event.data));
    },
  };
}
