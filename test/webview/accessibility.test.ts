/** axe-core finds nothing in any view, in any theme, wide and narrow; and what the system asks for is done. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { frames, openScene, rowY, words, xOf } from './drive.ts';
import { buildBundles, launch, openPage, type Site, serve } from './pages.ts';
import { prefetchScene } from './synthetic.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser: Browser;
let site: Site;
const lines = prefetchScene().split('\n');
lines.splice(-2, 0, JSON.stringify({ k: 'limit', v: 'Waits are not recorded.' }));
const bytes = new TextEncoder().encode(lines.join('\n'));

beforeAll(async () => {
  browser = await launch();
  site = await serve(await buildBundles('test/webview/sceneHazards.ts'));
  site.trace = { name: 'train_prefetch.raceline', bytes };
  site.count = 2;
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

/** What axe has to say, each with the elements that it is about. */
async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const { run } = (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe;
    const { violations } = await run();
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`,
    );
  });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
  }[];
}

const themes = ['dark', 'light', 'hc', 'hc-light'] as const;

describe('axe finds nothing', () => {
  it.each(themes)('in the views of a run, %s', async (theme) => {
    const { page } = await openScene(browser, site, { theme });
    expect(await faultsOf(page), 'the whole run').toEqual([]);
    await page.keyboard.press('.');
    await frames(page);
    expect(await faultsOf(page), 'a finding').toEqual([]);
    await page.mouse.click(xOf(1000), rowY.compute);
    await page.keyboard.press('r');
    await page.keyboard.press('/');
    await page.keyboard.type('gemm');
    await frames(page);
    expect(await faultsOf(page), 'a range and a search').toEqual([]);
  });

  it.each(['light', 'hc'] as const)('where two runs are compared, %s', async (theme) => {
    const { page } = await openScene(browser, site, { theme });
    await page.keyboard.press('c');
    expect(await faultsOf(page), 'the menu').toEqual([]);
    await page.locator('.menu button').first().click();
    await page.waitForSelector('.lane-heads [data-lane="part 1"]');
    expect(await faultsOf(page), 'the two').toEqual([]);
  });

  it('in what opens over it, and where the panel is narrow', async () => {
    const { page } = await openScene(browser, site, { size: { width: 420, height: 640 } });
    for (const tab of ['Findings', 'Details', 'Run', 'Notes']) {
      await page.locator('[role="tab"]', { hasText: tab }).click();
      expect(await faultsOf(page), tab).toEqual([]);
    }
    await page.locator('canvas.overlay').focus();
    for (const [key, what] of [
      ['l', 'lanes'],
      ['t', 'table'],
      ['b', 'note'],
      ['?', 'keys'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await faultsOf(page), what).toEqual([]);
      await page.keyboard.press('Escape');
      await page.locator('canvas.overlay').focus();
    }
  });

  it('where no run is open, and where one cannot be', async () => {
    const { page } = await openPage(browser, { width: 700, height: 500 });
    const { trace } = site;
    try {
      for (const [given, title] of [
        [undefined, 'No run open'],
        [{ name: 'nonsense', bytes: new TextEncoder().encode('nonsense') }, 'This trace could not be opened'],
      ] as const) {
        site.trace = given;
        await page.goto(site.address);
        await expect.poll(() => words(page.locator('h1'))).toBe(title);
        expect(await faultsOf(page)).toEqual([]);
      }
    } finally {
      site.trace = trace;
    }
  });
});

describe('what the system asks for', () => {
  it('high contrast and light come from it in a plain browser', async () => {
    for (const [media, name] of [
      [{ colorScheme: 'light', contrast: 'more' }, 'vscode-high-contrast-light'],
      [{ colorScheme: 'dark', contrast: 'more' }, 'vscode-high-contrast'],
      [{ colorScheme: 'light', contrast: 'no-preference' }, 'vscode-light'],
    ] as const) {
      const { page } = await openPage(browser, { width: 700, height: 500 });
      await page.emulateMedia(media);
      await page.goto(site.address);
      await page.waitForSelector('canvas.overlay');
      expect((await page.locator('body').getAttribute('class'))!.split(' ')).toContain(name);
    }
  });

  it('nothing moves where motion is not wanted', async () => {
    const { page } = await openPage(browser, { width: 900, height: 600 });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(site.address);
    await page.waitForSelector('canvas.overlay');
    const moving = await page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter((node) => {
          const style = getComputedStyle(node);
          return style.transitionDuration !== '0s' || style.animationName !== 'none';
        }).length,
    );
    expect(moving).toBe(0);
  });

  it('at 200 % zoom nothing is cut off sideways, and every control is there', async () => {
    // A window of 1 280 pixels zoomed to twice its size has the room of half of it.
    const context = await browser.newContext({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
    const page = await context.newPage();
    await page.goto(site.address);
    await page.waitForSelector('canvas.overlay');
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.toolbar > *, .tabs > *, .status > *')]
        .filter((node) => node.offsetParent !== null)
        .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
        .map((node) => node.outerHTML.slice(0, 80)),
    );
    expect(outside).toEqual([]);
    const stage = (await page.locator('.stage').boundingBox())!;
    expect(stage.height).toBeGreaterThan(120);
  });

  it('a page that becomes narrow shows one panel, the one that was looked at', async () => {
    const { page } = await openScene(browser, site);
    await page.locator('.finding').first().click();
    await page.setViewportSize({ width: 640, height: 700 });
    await expect
      .poll(() => page.locator('[role="tab"][aria-selected="true"]').allTextContents())
      .toEqual(['Findings 2']);
    await expect.poll(() => page.locator('[role="tabpanel"]:visible').count()).toBe(1);
    await page.locator('#tab-details').click();
    await page.setViewportSize({ width: 1400, height: 700 });
    await expect.poll(() => page.locator('[role="tabpanel"]:visible').count()).toBe(2);
    await expect.poll(() => words(page.locator('[role="tab"][aria-selected="true"]:visible'))).toBe('Details');
  });

  it('the list of findings and the tabs are one stop each, and arrow keys go through them', async () => {
    const { page } = await openScene(browser, site);
    await page.locator('.finding').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await frames(page);
    await expect.poll(() => page.locator('.finding').nth(1).getAttribute('aria-selected')).toBe('true');
    await page.locator('[role="tab"][aria-selected="true"]:visible').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => words(page.locator('[role="tab"][aria-selected="true"]:visible'))).toBe('Run');
    const stops = await page.locator('[role="option"][tabindex="0"]').count();
    expect(stops).toBe(1);
    await expect.poll(() => page.locator('.lane-heads button[tabindex="0"]').count()).toBe(1);
  });
});
