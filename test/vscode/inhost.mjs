// Runs the mocha suite (suite/) inside the extension host of a real VS Code, as @vscode/test-electron does on a desktop.
//
//   node test/vscode/inhost.mjs                 the extension of this folder
//   node test/vscode/inhost.mjs raceline.vsix   the installed package
//   RESTRICTED=1 node test/vscode/inhost.mjs    in a workspace that is not trusted
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { format } from 'node:util';
import { buildSuite, reportResults } from './bundle.mjs';
import { root } from './machine.mjs';
import { temporaryCopy, Workbench } from './workbench.mjs';

const vsix = process.argv[2] && path.resolve(process.argv[2]);
const restricted = Boolean(process.env.RESTRICTED);
const suite = await buildSuite();
const scratch = mkdtempSync(path.join(tmpdir(), 'raceline-inhost-'));
const resultFile = path.join(scratch, 'results.json');
const workspace = temporaryCopy(path.join(root, 'test/vscode/workspace'), 'workspace');
const workbench = await Workbench.start({
  vsix,
  settings: restricted
    ? { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' }
    : {},
  environment: { RACELINE_TEST_RESULTS: resultFile },
});
// VS Code runs tests only beside an extension under development; an installed one needs a stand-in.
let development = root;
if (vsix) {
  development = path.join(scratch, 'stand-in');
  mkdirSync(development);
  writeFileSync(
    path.join(development, 'package.json'),
    JSON.stringify({ name: 'stand-in', publisher: 'none', version: '0.0.1', engines: { vscode: '*' } }),
  );
}
try {
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const page = await workbench.open(
    workspace,
    [
      ['extensionDevelopmentPath', workbench.remote(development)],
      ['extensionTestsPath', workbench.remote(suite)],
      ['skipWelcome', 'true'],
    ],
    async (page) => {
      await page.exposeFunction('codeAutomationExit', (code) => finish(code));
      await page.exposeFunction('codeAutomationLog', (type, args) => {
        if (process.env.VERBOSE) console.log(`  ${type}: ${format(...args)}`);
      });
    },
  );
  const limit = setTimeout(() => finish('the suite did not end in 420 s'), 420_000);
  const code = await finished;
  clearTimeout(limit);
  if (code !== 0) console.error(`the extension host answered ${code}\n${workbench.output}`);
  if (!existsSync(resultFile)) {
    mkdirSync(path.join(root, 'out'), { recursive: true });
    await page.screenshot({ path: path.join(root, 'out/inhost-failure.png') });
  }
} finally {
  await workbench.stop();
  rmSync(path.dirname(workspace), { recursive: true, force: true });
}
reportResults(
  `in the extension host, ${vsix ? 'installed' : 'development'}${restricted ? ', not trusted' : ''}`,
  existsSync(resultFile) ? JSON.parse(readFileSync(resultFile, 'utf8')) : undefined,
);
rmSync(scratch, { recursive: true, force: true });
