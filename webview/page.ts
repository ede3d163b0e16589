/**
 * The HTML around the timeline, the same in a VS Code webview and in a plain browser: an almost empty body that the script
 * fills. Nothing of a trace is ever written into it. Knows no DOM: hosts that have none make it as text.
 */

export interface PageOptions {
  /** Fresh random text a page; the only script that runs is the one that bears it. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  /** The script fetches this and starts it from a blob: a webview's worker may not come from another origin. */
  readonly workerUri: string;
  /** Where style sheets and the worker's source may come from: `webview.cspSource`, or `'self'`. */
  readonly cspSource: string;
  /** The page talks to its own server too (traces, places to reveal). Left out: it is spoken to by messages alone. */
  readonly connect?: boolean;
  readonly title: string;
  /** How many traces the page's own server has; left out: one, or the host says which to open. */
  readonly traces?: number;
}

export function page(options: PageOptions): string {
  const { nonce, cspSource } = options;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    'worker-src blob:',
    `connect-src ${[...new Set([cspSource, ...(options.connect ? ["'self'"] : [])])].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(options.title)}</title>
<link rel="stylesheet" href="${escaped(options.styleUri)}">
</head>
<body>
<div id="raceline" data-worker="${escaped(options.workerUri)}" data-traces="${options.traces ?? 1}"></div>
<script nonce="${escaped(nonce)}" src="${escaped(options.scriptUri)}"></script>
</body>
</html>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
