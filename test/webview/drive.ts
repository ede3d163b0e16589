/** What tests of the page do with it again and again. */
import type { Browser, Locator, Page } from 'playwright-core';
import { openPage, type Site } from './pages.ts';

export const wide = { width: 1400, height: 800 };
/** Where the lanes begin, and how wide they are, at this size. */
export const lanes = { left: 176, width: 1400 - 336 - 176 };
const duration = 2140;

/** x of a time in microseconds while the whole run of the scene is shown. */
export const xOf = (time: number): number => lanes.left + (time / duration) * lanes.width;

/** Middle of a stream's first row on the page: counted from what is above it. */
export const rowY = { default: 36 + 195, copy: 36 + 240, compute: 36 + 285 } as const;

/** Two frames later everything asked for is painted. */
export const frames = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

export const words = (locator: Locator): Promise<string> => locator.evaluate((node) => node.textContent ?? '');

export async function openScene(
  browser: Browser,
  site: Site,
  { theme = 'dark', size = wide }: { theme?: string; size?: typeof wide } = {},
): Promise<{ page: Page; faults: string[] }> {
  const { page, faults } = await openPage(browser, size);
  await page.goto(`${site.address}?theme=${theme}`);
  await page.waitForSelector('canvas.overlay');
  await frames(page);
  return { page, faults };
}
