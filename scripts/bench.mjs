// `npm run bench`: the budgets as ratios of one run. Each part of scripts/bench/ exports bench() → rows
// {name, value, unit, note}. `npm run bench -- PART…` runs some of them.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, setUp } from './setup.mjs';

setUp();
const { build } = await import('esbuild');
const folder = path.join(root, 'scripts', 'bench');
const wanted = process.argv.slice(2);
/** Parts that take minutes, and run when they are named. */
const long = new Set(['ruff']);
const parts = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3))
  .filter((name) => (wanted.length ? wanted.includes(name) : !long.has(name)));
const out = path.join(root, 'out', 'bench');
mkdirSync(out, { recursive: true });
let failed = false;
for (const part of parts) {
  const file = path.join(out, `${part}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [path.join(folder, `${part}.ts`)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    packages: 'external',
  });
  console.log(`\n${part}`);
  try {
    const { bench } = await import(`${pathToFileURL(file).href}?${Date.now()}`);
    for (const row of await bench({
      root,
      shared: existsSync(path.join(root, '..', 'shared')) ? path.join(root, '..', 'shared') : undefined,
    }))
      console.log(`  ${row.name.padEnd(62)} ${String(row.value).padStart(12)} ${row.unit.padEnd(8)} ${row.note ?? ''}`);
  } catch (error) {
    failed = true;
    console.log(`  failed: ${error.stack ?? error}`);
  }
}
process.exitCode = failed ? 1 : 0;
