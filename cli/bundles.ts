/** The page's bundles, which lie beside the command line's own. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Bundle, fitForScript } from '../webview/reportPage.ts';

export const readBundle = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));

/** As text that can stand in a page. */
export function bundleForReport(name: string): Bundle {
  const source = readBundle(name)
    .toString('utf8')
    .replace(/\n?(\/\/|\/\*)# sourceMappingURL=\S+( \*\/)?\s*$/, '');
  const text = fitForScript(source);
  return { text, digest: createHash('sha256').update(text).digest('base64') };
}
