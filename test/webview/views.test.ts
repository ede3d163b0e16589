/** Comparing, measuring, pinning, noting, following, exporting: each by mouse and by keys, in the real page. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { frames, openScene, rowY, words, xOf } from './drive.ts';
import { buildBundles, launch, type Site, serve } from './pages.ts';
import { prefetchScene } from './synthetic.ts';

let browser: Browser;
let site: Site;
let folder: string;
const text = prefetchScene();
const encode = (source: string): Uint8Array => new TextEncoder().encode(source);
const chosen = (page: Page): Promise<string> => words(page.locator('.tab-panel.chosen .facts'));
const open = (options = {}) => openScene(browser, site, options);
const headsOf = (page: Page): Promise<(string | undefined)[]> =>
  page.locator('.lane-heads button').evaluateAll((list) => list.map((head) => (head as HTMLElement).dataset.lane));

beforeAll(async () => {
  folder = await buildBundles('test/webview/sceneHazards.ts');
  browser = await launch();
  site = await serve(folder);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
beforeEach(() => {
  site.trace = { name: 'train_prefetch.raceline', bytes: encode(text) };
  site.others.clear();
  site.notes = '';
  site.count = 1;
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

describe('a second run', () => {
  it('is drawn below the first one, with what differs, and goes again', async () => {
    site.count = 2;
    site.others.set(1, { name: 'after.raceline', bytes: encode(text.replaceAll('reduce_splitK', 'reduce_whole')) });
    const { page, faults } = await open();
    await page.locator('.tool', { hasText: 'Compare' }).click();
    await page.locator('.menu button', { hasText: '1 after.raceline' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.lane-heads [data-lane^="part"]').length === 2);
    const told = await words(page.locator('.whole-run'));
    expect(told).toContain('Two runs');
    expect(told).toContain('reduce_whole');
    expect(told).toContain('Both runs have the same findings.');
    await expect.poll(() => page.locator('.finding').count()).toBe(4);
    await expect
      .poll(() => page.locator('.whole-run option').allTextContents())
      .toEqual(['Starts together', 'First kernels together', 'By the clock']);
    await page.locator('.whole-run select').selectOption('clock');
    await expect.poll(() => page.locator('.whole-run select').inputValue()).toBe('clock');
    // The keys reach both, and C goes back to one.
    await page.locator('canvas.overlay').focus();
    await page.keyboard.press('c');
    await expect.poll(() => page.locator('.finding').count()).toBe(2);
    await expect.poll(() => page.locator('.lane-heads [data-lane^="part"]').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('that cannot be read takes nothing away, and says why', async () => {
    site.count = 2;
    site.others.set(1, { name: 'nonsense', bytes: encode('nonsense') });
    const { page } = await open();
    await page.keyboard.press('c');
    await page.locator('.menu button').first().click();
    await expect.poll(() => words(page.locator('.notice:visible'))).toContain('nonsense');
    await expect.poll(() => page.locator('.finding').count()).toBe(2);
  });

  it('can come from the editor with words for what the two are', async () => {
    const { page } = await open();
    await page.keyboard.press('c');
    await page.evaluate(() => document.querySelector('.menu')?.remove());
    const editor = await serve(
      folder,
      `window.posted = []; window.acquireVsCodeApi = () => ({ postMessage: (message) => window.posted.push(message) });
       document.body.classList.add('vscode-dark');`,
    );
    await page.goto(editor.address);
    const say = (message: object): Promise<void> =>
      page.evaluate(
        ([given, source]) =>
          window.postMessage({ ...(given as object), bytes: new TextEncoder().encode(source as string) }, '*'),
        [message, text] as const,
      );
    await say({ type: 'open', name: 'run.raceline' });
    await page.waitForSelector('canvas.overlay');
    await page.keyboard.press('c');
    await expect
      .poll(() => page.evaluate(() => (window as unknown as { posted: { type: string }[] }).posted.at(-1)?.type))
      .toBe('pickComparison');
    await say({
      type: 'compare',
      name: 'witness.raceline',
      titles: [
        { name: 'What happened', note: 'fill_ ended before mul began.' },
        { name: 'A schedule in which it goes wrong', note: 'Only default is late.' },
      ],
    });
    await page.waitForSelector('.lane-heads [data-lane="part 1"]');
    await expect
      .poll(() => page.locator('.lane-heads [data-lane="part 1"]').getAttribute('aria-label'))
      .toBe('A schedule in which it goes wrong, Only default is late.');
    await editor.close();
  });
});

describe('what is asked of a run', () => {
  it('is answered beside it, and leads to the slices', async () => {
    const { page } = await open();
    await expect.poll(() => words(page.locator('.whole-run'))).toContain('What waited longest');
    const told = await words(page.locator('.whole-run'));
    expect(told).toContain('copy and compute');
    expect(told).toContain('What the end waited for');
    await page.locator('.whole-run .link', { hasText: 'default for compute' }).first().click();
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('default waits for compute');
  });

  it('is how a finding goes wrong, in two schedules of the same program', async () => {
    const { page, faults } = await open();
    await page.keyboard.press('.');
    await page.keyboard.press('.');
    await frames(page);
    await page.locator('button', { hasText: 'Show how it goes wrong' }).click();
    const second = page.locator('.lane-heads [data-lane="part 1"]');
    await second.waitFor();
    await expect
      .poll(() => second.getAttribute('aria-label'))
      .toBe('A schedule in which it goes wrong, Mul reads what fill_ has not written.');
    await page.keyboard.press('c');
    await expect.poll(() => page.locator('.lane-heads [data-lane="part 1"]').count()).toBe(0);
    // The run is as it was left, with the finding that was asked about.
    await expect.poll(() => words(page.locator('.finding-count'))).toBe('Finding 2 of 2');
    expect(faults).toEqual([]);
  });
});

describe('lanes', () => {
  it('are walked, pinned, moved, hidden and entered by keys', async () => {
    const { page } = await open();
    await page.locator('.lane-heads [data-lane="stream 1"]').focus();
    expect((await headsOf(page)).slice(0, 5)).toEqual(['host 0', 'device 0', 'stream 0', 'stream 1', 'stream 2']);
    await page.keyboard.press('Alt+ArrowUp');
    expect((await headsOf(page)).slice(0, 5)).toEqual(['host 0', 'device 0', 'stream 1', 'stream 0', 'stream 2']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('p');
    expect((await headsOf(page))[0]).toBe('stream 2');
    const label = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    expect(label).toMatch(/^compute, stream 17 · busy \d+ %, pinned$/);
    await page.keyboard.press('ArrowRight');
    await frames(page);
    await expect.poll(() => chosen(page)).toContain('gemm');
    await page.locator('.lane-heads [data-lane="stream 0"]').focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => headsOf(page)).not.toContain('stream 0');
    await expect.poll(() => words(page.locator('.tool', { hasText: 'hidden' }))).toBe('1 hidden');
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await expect.poll(() => page.evaluate(() => (document.activeElement as HTMLElement).dataset.lane)).toBe('totals');
  });

  it('are dragged, and have a menu', async () => {
    const { page } = await open();
    const copy = (await page.locator('.lane-heads [data-lane="stream 1"]').boundingBox())!;
    await page.mouse.move(60, copy.y + 20);
    await page.mouse.down();
    await page.mouse.move(60, copy.y + copy.height + 8, { steps: 4 });
    await page.mouse.up();
    await frames(page);
    expect((await headsOf(page)).slice(2, 5)).toEqual(['stream 0', 'stream 2', 'stream 1']);
    await page.locator('.lane-heads [data-lane="stream 1"]').click({ button: 'right' });
    await page.locator('.menu button', { hasText: 'Pin to the top' }).click();
    expect((await headsOf(page))[0]).toBe('stream 1');
    await page.locator('.tool', { hasText: 'All lanes' }).click();
    await page.locator('.lane-list [aria-label="Pin copy"]').click();
    expect((await headsOf(page))[0]).toBe('host 0');
    await page.locator('.lane-list [aria-label="Move MainThread down"]').click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.lane-list').count()).toBe(0);
  });

  it('stay at the top when they are pinned and the others scroll', async () => {
    const { page } = await open({ size: { width: 1400, height: 420 } });
    await page.locator('.lane-heads [data-lane="stream 2"]').focus();
    await page.keyboard.press('p');
    await page.mouse.move(60, 300);
    await page.mouse.wheel(0, 4000);
    await frames(page);
    const heads = await page.locator('.lane-heads').boundingBox();
    const pinned = await page.locator('.lane-heads [data-lane="stream 2"]').boundingBox();
    expect(pinned!.y).toBe(heads!.y);
    // What is clicked there is the pinned lane, whatever has scrolled beneath it.
    await page.mouse.click(xOf(1000), pinned!.y + 20);
    await frames(page);
    await expect.poll(() => chosen(page)).toContain('gemm');
  });
});

describe('a filter', () => {
  it('leaves the lanes with matches only', async () => {
    const { page } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('gemm stream:compute');
    await page.locator('.tool.in-search').click();
    await expect.poll(() => headsOf(page)).not.toContain('stream 1');
    await expect.poll(() => headsOf(page)).toContain('stream 2');
    await page.locator('canvas.overlay').focus();
    await page.keyboard.press('o');
    await expect.poll(() => headsOf(page)).toContain('stream 1');
  });
});

describe('a measure', () => {
  it('follows the pointer to the edges of slices', async () => {
    const { page } = await open();
    await page.mouse.click(xOf(1000), rowY.compute);
    await page.locator('[aria-label^="Measure"]').click();
    // fill_ begins at 1 242 µs, 61 µs after the selected gemm has ended.
    await page.mouse.move(xOf(1242) + 2, rowY.default);
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('61 µs');
    await page.mouse.click(xOf(1242) + 2, rowY.default);
    await page.mouse.move(xOf(400), rowY.copy);
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('61 µs');
    await page.keyboard.press('Escape');
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('gemm');
  });

  it('follows the selection of the keys', async () => {
    const { page } = await open();
    await page.mouse.click(xOf(1000), rowY.compute);
    await page.mouse.move(5, 5);
    await page.keyboard.press('m');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await frames(page);
    await expect.poll(() => words(page.locator('.live'))).toMatch(/^Measured: \d+ µs$/);
  });
});

describe('notes', () => {
  it('are written, kept beside the trace, shown and taken away', async () => {
    const { page } = await open();
    await page.mouse.click(xOf(1000), rowY.compute);
    await page.keyboard.press('b');
    await page.keyboard.type('slow <b>here</b>');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => site.notes).toContain('slow <b>here</b>');
    expect(JSON.parse(site.notes).notes[0]).toMatchObject({ start: 803_000, end: 1_181_000 });
    await page.reload();
    await page.waitForSelector('canvas.overlay');
    await page.locator('[role="tab"]', { hasText: 'Notes 1' }).click();
    await expect.poll(() => words(page.locator('.note-text'))).toBe('slow <b>here</b>');
    await page.locator('.note-list .link').first().click();
    // On the axis, too: a click on its flag opens it.
    await page.keyboard.press('0');
    await frames(page);
    await page.mouse.click(xOf(803) + 3, 36 + 48 + 4);
    await page.locator('dialog textarea').fill('');
    await page.locator('dialog button', { hasText: 'Keep' }).click();
    await expect.poll(() => JSON.parse(site.notes).notes).toEqual([]);
  });
});

describe('a run that is still writing', () => {
  it('is read again, and what was chosen stays', async () => {
    const lines = text.trimEnd().split('\n');
    const cut = lines.slice(0, Math.floor(lines.length * 0.7));
    site.trace = { name: 'live.raceline', bytes: encode(`${cut.join('\n')}\n`) };
    site.sent.length = 0;
    const { page, faults } = await open();
    const slices = async (): Promise<number> =>
      Number(/Slices(\d+)/.exec((await words(page.locator('.status'))).replace(/\s/g, ''))?.[1]);
    const before = await slices();
    await page.locator('.lane-heads [data-lane="host 0"]').focus();
    await page.keyboard.press('p');
    site.trace = { name: 'live.raceline', bytes: encode(text) };
    await expect.poll(slices, { timeout: 10_000 }).toBeGreaterThan(before);
    // What was appended is sent alone, behind the last bytes that the page had.
    const had = encode(`${cut.join('\n')}\n`).length;
    expect(site.sent).toEqual([had, encode(text).length - had + 1024]);
    expect((await headsOf(page))[0]).toBe('host 0');
    await expect
      .poll(() => page.locator('.lane-heads [data-lane="host 0"]').getAttribute('aria-label'))
      .toContain('pinned');
    expect(faults).toEqual([]);
  });

  it('that begins anew is read whole', async () => {
    site.trace = { name: 'live.raceline', bytes: encode(text) };
    const { page, faults } = await open();
    site.sent.length = 0;
    const other = encode(text.replaceAll('gemm', 'other_kernel'));
    site.trace = { name: 'live.raceline', bytes: other };
    await expect.poll(() => site.sent.at(-1), { timeout: 10_000 }).toBe(other.length);
    // The table is of what is shown when it is opened, and the new run is shown a little after it was sent.
    await expect
      .poll(async () => {
        await page.keyboard.press('Escape');
        await page.keyboard.press('t');
        return page.locator('dialog .link', { hasText: 'other_kernel' }).count();
      })
      .toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });
});

describe('files out', () => {
  it('are a picture, a drawing, Chrome JSON and a report that opens by itself', async () => {
    const { page, faults } = await open();
    const made = async (item: string): Promise<{ name: string; bytes: Buffer }> => {
      await page.locator('[data-more]').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('.menu button', { hasText: item }).click(),
      ]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const png = await made('as PNG');
    expect(png.name).toBe('0 train_prefetch.png');
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    const svg = await made('as SVG');
    expect(svg.bytes.toString()).toMatch(/^<svg|^<\?xml/);
    const json = JSON.parse((await made('Chrome JSON')).bytes.toString());
    expect(json.traceEvents.some((event: { name: string }) => event.name === 'gemm')).toBe(true);
    const report = await made('report in HTML');
    expect(faults).toEqual([]);
    await page.goto('about:blank');
    await page.setContent(report.bytes.toString());
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => page.locator('.finding').count()).toBe(2);
  });
});

describe('other ways in', () => {
  it('the table of the view selects what it lists', async () => {
    const { page } = await open();
    await page.keyboard.press('t');
    await page.locator('dialog .link', { hasText: 'fill_' }).last().click();
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('fill_');
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
  });

  it('a menu for what lies under the pointer, and for the selection by the keys', async () => {
    const { page } = await open();
    await page.mouse.click(xOf(1000), rowY.compute, { button: 'right' });
    await page.locator('.menu button', { hasText: 'Range over it' }).click();
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('Range, 378 µs');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+F10');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await frames(page);
    await expect.poll(() => words(page.locator('.status'))).not.toContain('2\u202f140');
  });

  it('a block tells who uses it, and leads there', async () => {
    const { page } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('scale kind:block');
    await page.keyboard.press('Enter');
    await expect.poll(() => words(page.locator('.details'))).toContain('mul on compute reads');
    await expect.poll(() => words(page.locator('.details'))).toContain('fill_ on default writes');
    await page.locator('.details .link', { hasText: 'fill_ on default' }).click();
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('fill_');
  });
});
