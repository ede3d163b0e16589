/**
 * A report: the timeline's page with everything inside, the trace too, as one file that opens from a disk and loads
 * nothing. The trace and the reader's source lie in script elements that are no scripts, so no markup in a name of the
 * trace can ever become part of the page. Knows no DOM, no Node: who makes it brings the bundles and their digests.
 */

/** One bundle as text, with the SHA-256 of that text in base64 as a Content-Security-Policy names it. */
export interface Bundle {
  readonly text: string;
  readonly digest: string;
}

export interface ReportOptions {
  readonly title: string;
  readonly script: Bundle;
  readonly style: Bundle;
  readonly worker: string;
  /** Files as they are on disk, in base64. */
  readonly traces: readonly { readonly name: string; readonly base64: string }[];
}

export const traceElement = (index: number): string => `raceline-trace-${index}`;
export const workerElement = 'raceline-worker';

/** What an element holds must not end it: `<\/script` means the same to a script. */
export const fitForScript = (text: string): string => text.replace(/<(?=\/script|!--)/gi, '\\x3c');

/** `script.text` and `worker` have gone through `fitForScript` before the digest was taken. */
export function reportPage({ title, script, style, worker, traces }: ReportOptions): string {
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${script.digest}'`,
    `style-src 'sha256-${style.digest}'`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const held = traces.map(
    ({ name, base64 }, i) =>
      `<script type="application/octet-stream" id="${traceElement(i)}" data-name="${escaped(name)}">${base64}</script>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style.text}</style>
</head>
<body>
<div id="raceline" data-traces="${traces.length}"></div>
${held.join('\n')}
<script type="text/plain" id="${workerElement}">${worker}</script>
<script>${script.text}</script>
</body>
</html>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
