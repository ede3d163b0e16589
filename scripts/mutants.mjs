// `npm run mutants`: takes out each statement that orders streams in turn, from correct programs, and prints the share
// that the analysis notices. scripts/mutants/ says how.
//   npm run mutants -- [--list] [--only ecosystem|twins|package] [--file PART]
// `package`, only where it is named: one large package as a whole, in minutes. --list prints each mutant; --file takes only
// files whose name holds PART.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { obtain, pinnedPackages } from './ecosystem/packages.mjs';
import { root, setUp } from './setup.mjs';

const { values: options } = parseArgs({
  options: { list: { type: 'boolean' }, only: { type: 'string' }, file: { type: 'string' } },
});
if (options.only && !['ecosystem', 'twins', 'package'].includes(options.only))
  throw new Error(`--only takes ecosystem, twins or package, not '${options.only}'`);
setUp({ build: false });
const { build } = await import('esbuild');
const bundle = path.join(root, 'out', 'mutants', 'main.mjs');
mkdirSync(path.dirname(bundle), { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ['scripts/mutants/main.ts'],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  packages: 'external',
});
const { run } = await import(pathToFileURL(bundle).href);
const folders = new Map();
if (options.only !== 'twins') for (const pinned of pinnedPackages()) folders.set(pinned.name, () => obtain(pinned));
await run({ root, folders, ...options });
