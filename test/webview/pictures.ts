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

const press =
  (...keys: string[]) =>
  async (page: Page): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

const range = async (page: Page): Promise<void> => {
  await page.keyboard.press('w');
  await page.keyboard.press('/');
  await page.keyboard.type('mul');
  await page.locator('canvas.overlay').focus();
  await page.mouse.click(800, 36 + 285);
  await page.keyboard.press('r');
  await page.mouse.move(820, 36 + 285);
  await page.waitForTimeout(400);
};

const compare = async (page: Page): Promise<void> => {
  await page.keyboard.press('c');
  await page.locator('.menu button').first().click();
  await page.waitForSelector('.lane-heads [data-lane="part 1"]');
};

/** The second finding, in a schedule in which it goes wrong. */
const witness = async (page: Page): Promise<void> => {
  await press('.', '.')(page);
  await page.locator('button', { hasText: 'Show how it goes wrong' }).click();
  await page.waitForSelector('.lane-heads [data-lane="part 1"]');
};

const answers = async (page: Page): Promise<void> => {
  await page.waitForSelector('text=What waited longest');
};

const pinned = async (page: Page): Promise<void> => {
  await page.locator('.lane-heads [data-lane="stream 2"]').focus();
  await press('p')(page);
  await page.mouse.click(900, 36 + 130);
  await press('b')(page);
  await page.keyboard.type('Why does this one start late?');
  await page.keyboard.press('Control+Enter');
  await press('m')(page);
  await page.mouse.move(640, 300);
  await page.locator('[role="tab"]', { hasText: 'Notes' }).click();
};

const pictures: readonly Picture[] = [
  ...themes.map((theme) => ({ name: `timeline-${theme}`, theme, size: wide, steps: finding })),
  { name: 'narrow-dark', theme: 'dark', size: { width: 700, height: 600 }, steps: finding },
  { name: 'small-dark', theme: 'dark', size: small, steps: finding },
  { name: 'large-light', theme: 'light', size: large, steps: finding },
  ...(['dark', 'light', 'hc'] as const).flatMap((theme): Picture[] => [
    { name: `range-${theme}`, theme, size: wide, steps: range },
    { name: `compare-${theme}`, theme, size: wide, steps: compare },
    { name: `witness-${theme}`, theme, size: wide, steps: witness },
    { name: `answers-${theme}`, theme, size: { width: 1400, height: 1000 }, steps: answers },
    { name: `pinned-${theme}`, theme, size: wide, steps: pinned },
  ]),
  { name: 'compare-small', theme: 'dark', size: small, steps: compare },
  { name: 'help-dark', theme: 'dark', size: wide, steps: press('?') },
  { name: 'help-small', theme: 'dark', size: small, steps: press('?') },
  { name: 'table-dark', theme: 'dark', size: wide, steps: press('t') },
  { name: 'lanes-dark', theme: 'dark', size: wide, steps: press('l') },
  { name: 'more-dark', theme: 'dark', size: wide, steps: press('e') },
];

export async function takePictures(folder: string, wanted: readonly string[]): Promise<void> {
  const bundles = await buildBundles();
  const browser = await launch();
  const site = await serve(bundles);
  const text = prefetchScene();
  site.trace = { name: 'train_prefetch.raceline', bytes: new TextEncoder().encode(text) };
  site.others.set(1, {
    name: 'train_fused.raceline',
    bytes: new TextEncoder().encode(text.replaceAll('reduce_splitK', 'reduce_fused')),
  });
  site.count = 2;
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
