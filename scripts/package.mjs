// `npm run package`: raceline.vsix from a production build.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { statSync } from 'node:fs';
import { root, setUp } from './setup.mjs';

setUp({ build: false });
for (const [command, args] of [
  [process.execPath, ['esbuild.mjs', '--production']],
  [
    path.join(root, 'node_modules', '.bin', 'vsce'),
    ['package', '--no-dependencies', '-o', 'raceline.vsix', ...packageOptions()],
  ],
]) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
console.log(`raceline.vsix: ${(statSync(path.join(root, 'raceline.vsix')).size / 2 ** 20).toFixed(2)} MiB`);

/** Without a public repository the README's relative pictures cannot become links. */
function packageOptions() {
  return ['--no-rewrite-relative-links', '--allow-missing-repository'];
}
