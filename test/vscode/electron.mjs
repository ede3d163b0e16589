// The same suite in a desktop VS Code, for machines that can download one: `npm run test:electron`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { buildSuite, reportResults } from './bundle.mjs';
import { root } from './machine.mjs';
import { temporaryCopy } from './workbench.mjs';

const suite = await buildSuite();
const scratch = mkdtempSync(path.join(tmpdir(), 'raceline-electron-'));
const resultFile = path.join(scratch, 'results.json');
const workspace = temporaryCopy(path.join(root, 'test/vscode/workspace'), 'workspace');
try {
  await runTests({
    version: process.env.VSCODE_VERSION ?? '1.100.3',
    extensionDevelopmentPath: root,
    extensionTestsPath: suite,
    extensionTestsEnv: { RACELINE_TEST_RESULTS: resultFile },
    launchArgs: [workspace, '--disable-extensions', '--disable-workspace-trust', '--skip-welcome'],
  });
} catch (error) {
  console.error(`The desktop VS Code could not be started or downloaded: ${error.message}`);
  console.error('The same suite runs without it: node test/vscode/inhost.mjs');
}
reportResults(
  'in the desktop VS Code',
  existsSync(resultFile) ? JSON.parse(readFileSync(resultFile, 'utf8')) : undefined,
);
rmSync(path.dirname(workspace), { recursive: true, force: true });
rmSync(scratch, { recursive: true, force: true });
