// The workbench as a user drives it: a squiggle is seen, Ctrl+. inserts the wait and the squiggle goes, a recorded trace
// opens as a timeline with slices drawn, a click on a finding leads to its line.
//
//   node test/vscode/ui.mjs                          the extension of this folder
//   node test/vscode/ui.mjs raceline.vsix            the installed package
//   SHOTS=folder node test/vscode/ui.mjs             keeps screenshots
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { reportResults } from './bundle.mjs';
import { root } from './machine.mjs';
import { temporaryCopy, Workbench } from './workbench.mjs';

const vsix = process.argv[2] && path.resolve(process.argv[2]);
const shots = process.env.SHOTS && path.resolve(process.env.SHOTS);
const patient = { timeout: 150_000 };

const workspace = temporaryCopy(path.join(root, 'test/vscode/workspace'), 'pipeline');
const workbench = await Workbench.start({
  vsix,
  settings: { 'editor.minimap.enabled': false, 'breadcrumbs.enabled': false, 'editor.fontSize': 15 },
});
const results = [];
let page;

async function shoot(name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

/** Steps build on each other: after a failure the rest is counted as failed too. */
async function step(title, run) {
  const started = Date.now();
  let error;
  if (results.some((result) => result.error)) error = 'not tried: an earlier step failed';
  else
    try {
      await run();
    } catch (thrown) {
      error = thrown.stack ?? String(thrown);
      mkdirSync(path.join(root, 'out'), { recursive: true });
      await page?.screenshot({ path: path.join(root, 'out/ui-failure.png') }).catch(() => {});
    }
  results.push({ title, milliseconds: Date.now() - started, error });
}

const openFromExplorer = async (name) => {
  const item = page.getByRole('treeitem', { name }).first();
  await item.waitFor(patient);
  await item.dblclick();
};
const timeline = () => page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
const squiggle = () => page.locator('.squiggly-error');
const lineWith = (text) => page.locator('.view-line', { hasText: text });
const goTo = async (place) => {
  await page.keyboard.press('Control+KeyG');
  await page.locator('.quick-input-widget input').fill(place);
  await page.keyboard.press('Enter');
  // Until the picker is gone, keys still go to it.
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
};

try {
  page = await workbench.open(workspace, vsix ? undefined : [['extensionDevelopmentPath', workbench.remote(root)]]);

  await step('a squiggle is seen where the wait is missing', async () => {
    await page.locator('.monaco-workbench').waitFor(patient);
    await openFromExplorer('racy.py');
    await squiggle().first().waitFor(patient);
    const [mark, line] = await Promise.all([
      squiggle().first().boundingBox(),
      lineWith('batch @ weights').first().boundingBox(),
    ]);
    const middle = line.y + line.height / 2;
    assert.ok(Math.abs(mark.y + mark.height / 2 - middle) < line.height, 'the squiggle is on the line that reads');
    await goTo(':12:18');
    await shoot('squiggle');
  });

  await step('the hover names both streams and links the rule', async () => {
    await goTo(':12:18');
    await page.keyboard.press('Control+KeyK');
    await page.keyboard.press('Control+KeyI');
    const hover = page.locator('.monaco-hover', { hasText: 'missing-wait' });
    await hover.waitFor(patient);
    const text = await hover.textContent();
    assert.match(text, /upload/);
    assert.match(text, /math/);
    assert.match(text, /raceline/);
    await shoot('hover');
    await page.keyboard.press('Escape');
  });

  await step('Ctrl+. inserts the wait, and the squiggle goes', async () => {
    await goTo(':12:18');
    await page.keyboard.press('Control+Period');
    const first = page.locator('.action-widget .monaco-list-row.action').first();
    await first.waitFor(patient);
    await shoot('quickfix');
    // The list lies under a layer that blocks the mouse.
    await page.keyboard.press('Enter');
    await lineWith('wait_event').first().waitFor(patient);
    await squiggle()
      .first()
      .waitFor({ state: 'detached', ...patient });
    await shoot('fixed');
    await page.keyboard.press('Control+KeyS');
    const file = path.join(workspace, 'racy.py');
    for (let i = 0; i < 200 && !readFileSync(file, 'utf8').includes('wait_event'); i++) await page.waitForTimeout(50);
    assert.match(readFileSync(file, 'utf8'), /wait_event/);
  });

  await step('a recorded trace opens as a timeline, with slices drawn', async () => {
    await openFromExplorer('recorded.raceline');
    await timeline().locator('.finding').first().waitFor(patient);
    await timeline().locator('canvas').first().waitFor(patient);
    const colors = () =>
      timeline()
        .locator('canvas')
        .evaluateAll((canvases) =>
          Math.max(
            ...canvases.map((canvas) => {
              const context = canvas.getContext('2d');
              if (!context || !canvas.width || !canvas.height) return 0;
              const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
              const seen = new Set();
              for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 0) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
              return seen.size;
            }),
          ),
        );
    // Two lanes in two hues, their labels and edges: far more than a background has.
    let seen = 0;
    for (let i = 0; i < 100 && seen < 8; i++) {
      seen = await colors();
      await page.waitForTimeout(100);
    }
    assert.ok(seen >= 8, `${seen} colours on the canvas`);
    await shoot('timeline');
  });

  await step('a click on a finding leads to its line in the editor', async () => {
    await timeline().locator('.finding').first().click();
    const link = timeline().locator('.details button.link[title$="racy.py:12"]').first();
    await link.waitFor(patient);
    await shoot('finding');
    await link.click();
    const status = page.locator('#status\\.editor\\.selection', { hasText: /Ln 12,/ });
    await status.waitFor(patient);
    await page.locator('.tab.active', { hasText: 'racy.py' }).first().waitFor(patient);
    await shoot('jumped');
  });

  await step('the cursor marks its line in the timeline', async () => {
    // Only that nothing breaks on the way: what the mark looks like is the timeline's own test.
    await goTo(':10:9');
    await timeline().locator('.finding').first().waitFor(patient);
  });

  await step('nothing selected marks no line beside the timeline, and is no error', async () => {
    await timeline().locator('.finding').first().click();
    await timeline().locator('body').press('Escape');
    await timeline()
      .locator('.finding[aria-selected="true"]')
      .waitFor({ ...patient, state: 'detached' });
    await page.waitForTimeout(500);
    const errors = page.locator('.notification-toast', { has: page.locator('.codicon-error') });
    assert.deepEqual(await errors.allInnerTexts(), []);
  });
} catch (error) {
  results.push({ title: 'the workbench', milliseconds: 0, error: error.stack ?? String(error) });
} finally {
  if (results.some(({ error }) => error)) console.error(workbench.output);
  await workbench.stop();
  rmSync(path.dirname(workspace), { recursive: true, force: true });
}
reportResults(`in the workbench, ${vsix ? 'installed' : 'development'}`, results);
