// The mocha suite as one file that an extension host can load, and the closing line of its results.
import path from 'node:path';
import esbuild from 'esbuild';
import { root } from './machine.mjs';

export async function buildSuite() {
  const outfile = path.join(root, 'out/vscode-suite/index.cjs');
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['test/vscode/suite/index.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Mocha finds its own files by path, and the host gives `vscode`.
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return outfile;
}

/** Prints each failure and 'N passed, N failed', and sets the exit code. No results at all is a failure. */
export function reportResults(title, results) {
  const failed = results?.filter(({ error }) => error) ?? [];
  for (const { title: name, milliseconds, error } of results ?? [])
    console.log(`${error ? '✗' : '✓'} ${name} (${milliseconds} ms)${error ? `\n${error}` : ''}`);
  if (!results?.length) {
    console.log(`${title}: no test ran`);
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
    return;
  }
  console.log(`${title}:`);
  console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length ? 1 : 0;
}
