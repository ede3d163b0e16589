/**
 * The pictures of the timeline in docs/images: which view of which run, in which theme and size. Run by scripts/pictures.mjs.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { buildBundles, launch, openPage, serve } from './pages.ts';
import { prefetchScene } from './synthetic.ts';

interface Picture {
  readonly name: string;
  readonly theme: string;
  readonly size: { width: number; height: number };
  /** Brings the page to what is to be seen. */
  readonly steps: (page: Page) => Promise<void>;
}

const wide = { width: 1400, height: 800 };
const small = { width: 420, height: 640 };
const large = { width: 1800, height: 1000 };
const themes = ['dark', 'light', 'hc', 'hc-light'] as const;

const finding = async (page: Page): Promise<void> => {
  await page.keyboard.press('.');
};

const pictures: readonly Picture[] = [
  ...themes.map((theme) => ({ name: `timeline-${theme}`, theme, size: wide, steps: finding })),
  { name: 'narrow-dark', theme: 'dark', size: { width: 700, height: 600 }, steps: finding },
  { name: 'small-dark', theme: 'dark', size: small, steps: finding },
  { name: 'large-light', theme: 'light', size: large, steps: finding },
];

export async function takePictures(folder: string, wanted: readonly string[]): Promise<void> {
  const bundles = await buildBundles();
  const browser = await launch();
  const site = await serve(bundles);
  site.trace = { name: 'train_prefetch.raceline', bytes: new TextEncoder().encode(prefetchScene()) };
  try {
    for (const picture of pictures) {
      if (wanted.length > 0 && !wanted.some((name) => picture.name.includes(name))) continue;
      const { page, faults } = await openPage(browser, picture.size);
      await page.goto(`${site.address}?theme=${picture.theme}`);
      await page.waitForSelector('canvas.overlay');
      await picture.steps(page);
      await page.waitForTimeout(250);
      const file = path.join(folder, `${picture.name}.png`);
      await page.screenshot({ path: file });
      console.log(
        `${picture.name}.png: ${Math.round(statSync(file).size / 1024)} KB${faults.length ? ` ${faults}` : ''}`,
      );
      await page.close();
    }
  } finally {
    await browser.close();
    await site.close();
  }
}
