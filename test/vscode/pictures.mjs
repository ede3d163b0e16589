// Takes the README's pictures of VS Code: docs/images/editor-dark.png and vscode-timeline.png. Look at them before they
// are committed.
//
//   npm run package && node test/vscode/pictures.mjs
import { statSync } from 'node:fs';
import path from 'node:path';
import { root } from './machine.mjs';
import { temporaryCopy, Workbench } from './workbench.mjs';

const patient = { timeout: 120_000 };
const workspace = temporaryCopy(path.join(root, 'examples'), 'examples');
const workbench = await Workbench.start({
  // Installed: beside an extension under development the theme of the settings is not loaded.
  vsix: path.join(root, 'raceline.vsix'),
  settings: {
    'editor.minimap.enabled': false,
    'breadcrumbs.enabled': false,
    'editor.fontSize': 15,
    'editor.lineHeight': 23,
    'editor.occurrencesHighlight': 'off',
    'editor.scrollBeyondLastLine': false,
    'workbench.activityBar.location': 'hidden',
    'workbench.layoutControl.enabled': false,
  },
});
let page;
try {
  page = await workbench.open(workspace);
  await page.setViewportSize({ width: 1200, height: 760 });
  const shoot = async (name) => {
    const file = path.join(root, 'docs/images', name);
    await page.waitForTimeout(1000);
    await page.screenshot({ path: file });
    console.log(`${path.relative(root, file)}: ${Math.round(statSync(file).size / 1024)} KB`);
  };
  const goTo = async (place) => {
    await page.keyboard.press('Control+KeyG');
    await page.locator('.quick-input-widget input').fill(place);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  };
  const item = page.getByRole('treeitem', { name: 'pipeline.py' }).first();
  await item.waitFor(patient);
  await item.dblclick();
  await page.locator('.squiggly-error').first().waitFor(patient);
  await page.keyboard.press('Control+KeyB');
  await goTo(':22:28');
  await page.keyboard.press('Control+Period');
  await page.locator('.action-widget .monaco-list-row.action').first().waitFor(patient);
  await shoot('editor-dark.png');
  await page.keyboard.press('Escape');

  await page.setViewportSize({ width: 1500, height: 860 });
  await goTo(':32:1');
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').fill('>Raceline: Preview Timeline of Function');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Preview Timeline' }).first().waitFor(patient);
  await page.keyboard.press('Enter');
  const timeline = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  await timeline.locator('.finding').first().waitFor(patient);
  await timeline.locator('.finding').first().click();
  await shoot('vscode-timeline.png');
} catch (error) {
  console.error(error.message, workbench.output);
  await page?.screenshot({ path: path.join(root, 'out/pictures-failure.png') });
  process.exitCode = 1;
} finally {
  await workbench.stop();
}
