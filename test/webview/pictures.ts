/**
 * The pictures of the timeline in docs/images: which view of which run, in which theme and size. Run by scripts/pictures.mjs.
 */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { withPalette } from './palettePng.ts';
import { buildBundles, launch, openPage, serve } from './pages.ts';
import { prefetchScene } from './synthetic.ts';

interface Picture {
  readonly name: string;
  readonly theme: string;
  readonly size: { width: number; height: number };
  /** Brings the page to what is to be seen. */
  readonly steps: (page: Page) => Promise<void>;
}

const wide = { width: 1120, height: 660 };
const small = { width: 420, height: 640 };
const large = { width: 1800, height: 1000 };

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
  await page.mouse.click(600, 36 + 285);
  await page.keyboard.press('r');
  await page.mouse.move(620, 36 + 285);
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
  await page.locator('#tab-details').click();
  await page.locator('button', { hasText: 'Show how it goes wrong' }).click();
  await page.waitForSelector('.lane-heads [data-lane="part 1"]');
};

const answers = async (page: Page): Promise<void> => {
  await page.locator('#tab-run').click();
  await page.waitForSelector('text=What waited longest');
};

const pinned = async (page: Page): Promise<void> => {
  await page.locator('.lane-heads [data-lane="stream 2"]').focus();
  await press('p')(page);
  await page.mouse.click(700, 36 + 122);
  await press('b')(page);
  await page.keyboard.type('Why does this one start late?');
  await page.keyboard.press('Control+Enter');
  await press('m')(page);
  await page.mouse.move(480, 300);
  await page.locator('[role="tab"]', { hasText: 'Notes' }).click();
};

const steps = { timeline: finding, range, compare, witness, answers, lanes: pinned } as const;

/** Each view in each theme: what docs/ shows. */
const shown = (['dark', 'light', 'hc'] as const).flatMap((theme) =>
  Object.entries(steps).map(([view, take]): Picture => ({ name: `${view}-${theme}`, theme, size: wide, steps: take })),
);

/** Only looked at when they are named: other sizes, what opens over the timeline. */
const others: readonly Picture[] = [
  ...Object.entries(steps).flatMap(([view, take]): Picture[] => [
    { name: `${view}-hc-light`, theme: 'hc-light', size: wide, steps: take },
    { name: `${view}-small`, theme: 'dark', size: small, steps: take },
    { name: `${view}-large`, theme: 'light', size: large, steps: take },
    ...(['light', 'hc'] as const).map((theme) => ({ name: `${view}-small-${theme}`, theme, size: small, steps: take })),
    ...(['dark', 'hc'] as const).map((theme) => ({ name: `${view}-large-${theme}`, theme, size: large, steps: take })),
  ]),
  { name: 'help-small', theme: 'dark', size: small, steps: press('?') },
  { name: 'table-small', theme: 'light', size: small, steps: press('t') },
  { name: 'more-small', theme: 'light', size: small, steps: press('e') },
  { name: 'choose-small', theme: 'light', size: small, steps: press('l') },
];

export async function takePictures(folder: string, wanted: readonly string[]): Promise<void> {
  const bundles = await buildBundles();
  const browser = await launch();
  const site = await serve(bundles);
  const text = prefetchScene();
  site.trace = { name: 'train_prefetch.raceline', bytes: new TextEncoder().encode(text) };
  // The second run has a quicker copy, and a fused reduction.
  const other = text
    .split('\n')
    .map((line) => {
      if (!line.includes('"k":"gpu"') || !line.includes('"kind":"copy"')) return line;
      const row = JSON.parse(line) as { d: number };
      return JSON.stringify({ ...row, d: Math.round(row.d * 0.6) });
    })
    .join('\n')
    .replaceAll('reduce_splitK', 'reduce_fused');
  site.others.set(1, { name: 'train_fused.raceline', bytes: new TextEncoder().encode(other) });
  site.count = 2;
  try {
    const narrow: Picture = { name: 'narrow-dark', theme: 'dark', size: { width: 700, height: 600 }, steps: finding };
    const asked = [...shown, narrow, ...others].filter(({ name }) => wanted.some((word) => name.includes(word)));
    for (const picture of wanted.length > 0 ? asked : [...shown, narrow]) {
      site.notes = '';
      const { page, faults } = await openPage(browser, picture.size);
      await page.goto(`${site.address}?theme=${picture.theme}`);
      await page.waitForSelector('canvas.overlay');
      await picture.steps(page);
      await page.waitForTimeout(250);
      const file = path.join(folder, `${picture.name}.png`);
      writeFileSync(file, withPalette(await page.screenshot()));
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
