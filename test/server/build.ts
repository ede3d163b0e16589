/** vitest global setup of the server's tests: builds dist/ where it is missing or older than the source. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { root } from './client.ts';

export function buildServer(): void {
  const built = path.join(root, 'dist/server.js');
  if (existsSync(built) && statSync(built).mtimeMs > newest(['core', 'server', 'esbuild.mjs'])) return;
  const result = spawnSync(process.execPath, ['esbuild.mjs'], { cwd: root, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`node esbuild.mjs failed:\n${result.stderr}`);
}

function newest(names: readonly string[]): number {
  return Math.max(
    ...names.map((name) => {
      const file = path.join(root, name);
      const stat = statSync(file);
      return stat.isDirectory() ? newest(readdirSync(file).map((child) => path.join(name, child))) : stat.mtimeMs;
    }),
  );
}
