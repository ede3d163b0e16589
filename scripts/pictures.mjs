// `npm run pictures`: takes the timeline's pictures of docs/images again, from an invented run. `-- --out FOLDER` writes
// them elsewhere, `-- NAME…` takes some of them. Look at them before they are committed.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromium, root, setUp } from './setup.mjs';

setUp();
const args = process.argv.slice(2);
const at = args.indexOf('--out');
const folder = path.resolve(root, at >= 0 ? args.splice(at, 2)[1] : 'docs/images');
mkdirSync(folder, { recursive: true });
const chromium = findChromium();
if (!chromium) {
  console.error('pictures: needs a Chromium browser: apt-get install chromium, or set CHROMIUM');
  process.exit(2);
}
process.env.CHROMIUM = chromium;
const { build } = await import('esbuild');
const bundle = path.join(root, 'out', 'pictures', 'pictures.mjs');
await build({
  absWorkingDir: root,
  entryPoints: ['test/webview/pictures.ts'],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  packages: 'external',
});
const { takePictures } = await import(pathToFileURL(bundle).href);
await takePictures(folder, args);
