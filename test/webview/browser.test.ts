/** The page as a browser shows it: the real bundles under the real content security policy, driven by mouse and keys. */
import { gzipSync } from 'node:zlib';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { kernel, kinetoText, runtime } from '../core/trace/kineto-text.ts';
import { buildBundles, launch, openPage, type Site, serve } from './pages.ts';
import { prefetchScene, scene } from './synthetic.ts';

const wide = { width: 1400, height: 800 };
/** Where the lanes begin, and how wide they are, at this size. */
const lanes = { left: 176, width: 1400 - 336 - 176 };
const duration = 2140;

let folder: string;
let browser: Browser;
let site: Site;
const text = prefetchScene();
const bytes = new TextEncoder().encode(text);

beforeAll(async () => {
  folder = await buildBundles('test/webview/sceneHazards.ts');
  browser = await launch();
  site = await serve(folder);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

interface Opened {
  readonly page: Page;
  readonly faults: string[];
}

async function open(
  options: { theme?: string; size?: typeof wide; trace?: Site['trace'] | null } = {},
): Promise<Opened> {
  site.trace = options.trace === null ? undefined : (options.trace ?? { name: 'train_prefetch.raceline', bytes });
  site.revealed.length = 0;
  const { page, faults } = await openPage(browser, options.size ?? wide);
  await page.goto(`${site.address}?theme=${options.theme ?? 'dark'}`);
  return { page, faults };
}

async function openScene(options: { theme?: string; size?: typeof wide } = {}): Promise<Opened> {
  const opened = await open(options);
  await opened.page.waitForSelector('canvas.overlay');
  await frames(opened.page);
  return opened;
}

/** Two frames later everything asked for is painted. */
const frames = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

/** Colour of the lanes' canvas at a point of the stage. */
const pixel = (page: Page, x: number, y: number): Promise<number[]> =>
  page.evaluate(
    ([px, py]) => {
      const canvas = document.querySelector<HTMLCanvasElement>('.stage canvas:not(.overlay)')!;
      return [...canvas.getContext('2d')!.getImageData(px!, py!, 1, 1).data.slice(0, 3)];
    },
    [Math.round(x), Math.round(y)],
  );

/** x of a time in microseconds while the whole run is shown. */
const xOf = (time: number): number => lanes.left + (time / duration) * lanes.width;
const background = [31, 31, 31];

/** Middle of a stream's first row: counted from what is above it. */
const rows = { default: 102 + 49 + 22 + 22, copy: 102 + 49 + 22 + 45 + 22, compute: 102 + 49 + 22 + 90 + 22 } as const;

const words = (locator: Locator): Promise<string> => locator.evaluate((node) => node.textContent ?? '');
const axis = (page: Page): Promise<string> => words(page.locator('.status'));
const near = (a: readonly number[], b: readonly number[], by = 6): boolean =>
  a.every((value, i) => Math.abs(value - b[i]!) <= by);

describe('the page', () => {
  it('opens a run without any complaint of the browser or its policy', async () => {
    const { page, faults } = await openScene();
    expect(faults).toEqual([]);
    await expect.poll(() => page.title()).toContain('train_prefetch.raceline');
    await expect.poll(() => page.locator('.finding').count()).toBe(2);
    await expect.poll(() => words(page.locator('.badge'))).toBe('2');
  });

  it('draws slices where they are', async () => {
    const { page } = await openScene();
    // gemm runs from 803 to 1181 on compute; before it, from 412 to 795, stands the first one's end.
    const fill = await pixel(page, xOf(1100), rows.compute + 6);
    expect(near(fill, background)).toBe(false);
    expect(fill[1]).toBeGreaterThan(fill[0]! + 15);
    const copy = await pixel(page, xOf(600), rows.copy + 6);
    expect(copy[2]).toBeGreaterThan(copy[0]! + 15);
    expect(near(await pixel(page, xOf(1900), rows.copy + 6), background)).toBe(true);
    // The strip at the left edge has the full colour of the stream.
    const strip = await page.evaluate(
      ([from, y]) => {
        const canvas = document.querySelector<HTMLCanvasElement>('.stage canvas:not(.overlay)')!;
        const { data } = canvas.getContext('2d')!.getImageData(from! - 3, y!, 8, 1);
        return Array.from({ length: 8 }, (_, i) => data[4 * i + 1]!);
      },
      [Math.round(xOf(1216)), rows.compute + 6],
    );
    expect(Math.max(...strip)).toBeGreaterThan(190);
  });

  it('draws in light and high contrast too', async () => {
    for (const [theme, ground] of [
      ['light', [255, 255, 255]],
      ['hc', [0, 0, 0]],
    ] as const) {
      const { page, faults } = await openScene({ theme });
      expect(near(await pixel(page, xOf(1900), rows.copy + 6), ground)).toBe(true);
      expect(near(await pixel(page, xOf(600), rows.copy + 6), ground)).toBe(false);
      expect(faults).toEqual([]);
    }
  });

  it('opens gzip, and files without any finding', async () => {
    const plain = text
      .split('\n')
      .filter((line) => !/"fill_"|"k":"op"|"k":"gpu"/.test(line))
      .join('\n');
    const { page, faults } = await open({ trace: { name: 'plain.raceline.gz', bytes: gzipSync(plain) } });
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => words(page.locator('.findings-note'))).toContain('None');
    expect(faults).toEqual([]);
  });

  it('tells what an operator of a profile was called with, and the one that launched a kernel', async () => {
    const args = {
      'External id': 3,
      'Concrete Inputs': ['', '', '1'],
      'Input type': ['float', 'float', 'Scalar'],
      'Input Dims': [[8, 256, 768], [], []],
    };
    const profile = kinetoText([
      { cat: 'cpu_op', name: 'aten::add', ts: '10.000', dur: '40.000', args },
      runtime('cudaLaunchKernel', '12.000', '3.000', 7),
      kernel('add_kernel', 7, '30.000', '60.000', 7),
    ]);
    const { page, faults } = await open({ trace: { name: 'profile.json.gz', bytes: gzipSync(profile) } });
    await page.waitForSelector('canvas.overlay');
    for (const name of ['aten::add', 'add_kernel']) {
      await page.keyboard.press('t');
      await page.locator('dialog .link', { hasText: name }).first().click();
      const inputs = page.locator('.details', { has: page.locator('h4', { hasText: 'Inputs of aten::add' }) });
      await inputs.waitFor();
      const rows = inputs.locator('table').last().locator('tbody tr');
      await expect
        .poll(() => rows.allInnerTexts())
        .toEqual(['1 float\t8 × 256 × 768', '2 float\tno dimensions', '3 Scalar\t1']);
    }
    expect(faults).toEqual([]);
  });

  it('offers the other traces of the same command line', async () => {
    site.count = 3;
    try {
      const { page } = await openScene();
      await page.waitForSelector('.toolbar select');
      await expect
        .poll(() => page.locator('.toolbar option').allTextContents())
        .toEqual(['0 train_prefetch.raceline', '1 train_prefetch.raceline', '2 train_prefetch.raceline']);
      await page.locator('.toolbar select').selectOption('2');
      await page.waitForURL(/trace=2/);
      await page.waitForSelector('canvas.overlay');
      await expect.poll(() => page.title()).toContain('2 train_prefetch.raceline');
    } finally {
      site.count = 1;
    }
  });

  it('stacks its parts where the panel is narrow', async () => {
    const { page } = await openScene({ size: { width: 700, height: 600 } });
    const side = await page.locator('.side').boundingBox();
    expect(side).toMatchObject({ width: 700, height: 176 });
    await expect
      .poll(() => page.locator('.tabs button').allInnerTexts())
      .toEqual(['Findings 2', 'Details', 'Run', 'Notes']);
    await expect.poll(() => page.locator('.details').isVisible()).toBe(false);
    await page.locator('.tabs button').nth(1).click();
    await expect.poll(() => page.locator('.details').isVisible()).toBe(true);
  });
});

describe('the mouse', () => {
  it('zooms by the wheel at the pointer', async () => {
    const { page } = await openScene();
    // The left edge of the copy at 1 122 µs stays where it is.
    const x = Math.round(xOf(1122));
    await page.mouse.move(x, 36 + rows.copy);
    for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -200);
    await frames(page);
    await expect.poll(() => axis(page)).not.toContain('2\u202f140');
    const colours = await page.evaluate(
      ([from, y]) => {
        const canvas = document.querySelector<HTMLCanvasElement>('.stage canvas:not(.overlay)')!;
        const { data } = canvas.getContext('2d')!.getImageData(from! - 12, y!, 24, 1);
        return Array.from({ length: 24 }, (_, i) => data[4 * i + 2]!);
      },
      [x, rows.copy + 6],
    );
    // The strip is three pixels wide; the outline of the slice before it is one.
    const strip = colours.findIndex((blue, i) => blue > 180 && colours[i + 1]! > 180 && colours[i + 2]! > 180);
    expect(Math.abs(strip - 12)).toBeLessThanOrEqual(3);
  });

  it('moves the run by dragging, and a drag is no click', async () => {
    const { page } = await openScene();
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await frames(page);
    const before = await words(page.locator('.tab-panel.chosen h3'));
    await page.mouse.move(700, 36 + rows.compute);
    await page.mouse.down();
    await page.mouse.move(500, 36 + rows.compute, { steps: 5 });
    await page.mouse.up();
    await frames(page);
    await expect.poll(() => words(page.locator('.tab-panel.chosen h3'))).toBe(before);
    const brush = await page.locator('.minimap-brush .selection').boundingBox();
    expect(brush!.x).toBeGreaterThan(lanes.left + lanes.width / 4);
  });

  it('selects what is clicked and tells it', async () => {
    const { page } = await openScene();
    await page.mouse.click(xOf(1000), 36 + rows.compute);
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('gemm');
    const details = await words(page.locator('.details'));
    expect(details).toContain('378 µs');
    await expect.poll(() => words(page.locator('.touched'))).toBe('reads x, w; writes y');
  });

  it('shows a tooltip after a moment', async () => {
    const { page } = await openScene();
    await page.mouse.move(xOf(1000), 36 + rows.compute);
    await expect.poll(() => page.locator('.tooltip').isVisible()).toBe(true);
    const told = await words(page.locator('.tooltip'));
    expect(told).toContain('gemm compute');
    expect(told).toContain('train_prefetch.py:18');
    await page.mouse.move(xOf(1000), 36 + 60);
    await expect.poll(() => page.locator('.tooltip').isVisible()).toBe(false);
  });

  it('zooms to a finding that is clicked and draws its fault', async () => {
    const { page } = await openScene();
    await page.locator('.finding').first().click();
    await frames(page);
    await expect.poll(() => page.locator('.finding').first().getAttribute('aria-selected')).toBe('true');
    await expect.poll(() => words(page.locator('.finding-count'))).toBe('Finding 1 of 2');
    await expect.poll(() => words(page.locator('.details'))).toContain('Release requested');
    const red = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.stage canvas:not(.overlay)')!;
      const { data } = canvas.getContext('2d')!.getImageData(176, 102, 800, 400);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i]! > 200 && data[i + 1]! < 120 && data[i + 2]! < 120) count++;
      return count;
    });
    expect(red).toBeGreaterThan(1000);
    await expect.poll(() => axis(page)).not.toContain('2\u202f140');
  });

  it('goes to the source by a link and by a double click', async () => {
    const { page } = await openScene();
    await page.locator('.finding').nth(1).click();
    await page.locator('.details .link').filter({ hasText: 'train_prefetch.py:31' }).click();
    await expect.poll(() => site.revealed).toEqual([{ file: scene.file, line: 31 }]);
    await page.keyboard.press('0');
    await frames(page);
    await page.mouse.dblclick(xOf(1000), 36 + rows.compute);
    await expect.poll(() => site.revealed.at(-1)).toEqual({ file: scene.file, line: 18 });
  });

  it('makes a range on the axis and sums it', async () => {
    const { page } = await openScene();
    await page.mouse.move(xOf(803), 36 + 60);
    await page.mouse.down();
    await page.mouse.move(xOf(1216), 36 + 60, { steps: 4 });
    await page.mouse.up();
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toMatch(/^Range, 41\d µs$/);
    await expect.poll(() => words(page.locator('.details'))).toContain('gemm');
    await page.keyboard.press('Escape');
    await frames(page);
    await expect.poll(() => words(page.locator('.tab-panel.chosen h3'))).toBe('Whole run');
  });

  it('moves the window of the minimap', async () => {
    const { page } = await openScene();
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await frames(page);
    const before = await page.locator('.minimap-brush .selection').boundingBox();
    await page.mouse.move(before!.x + before!.width / 2, 36 + 24);
    await page.mouse.down();
    await page.mouse.move(before!.x + before!.width / 2 + 120, 36 + 24, { steps: 4 });
    await page.mouse.up();
    await frames(page);
    const after = await page.locator('.minimap-brush .selection').boundingBox();
    expect(after!.x - before!.x).toBeCloseTo(120, -1);
    expect(after!.width).toBeCloseTo(before!.width, 0);
  });

  it('closes groups and hides lanes', async () => {
    const { page } = await openScene();
    const shown = await pixel(page, xOf(1900), 102 + 49 + 22 + 152 + 22 + 20);
    expect(shown).toBeDefined();
    await page.mouse.click(40, 36 + 102 + 49 + 11);
    await frames(page);
    // Without the streams, memory comes up to where they were.
    expect(near(await pixel(page, xOf(600), rows.copy + 6), background)).toBe(false);
    await page.locator('.tool', { hasText: 'All lanes' }).click();
    await page.locator('.lane-list label', { hasText: 'Totals' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.tool', { hasText: '1 hidden' }).count()).toBe(1);
  });
});

describe('the keys alone', () => {
  it('go from the toolbar through slices to the source', async () => {
    const { page } = await openScene();
    await page.locator('canvas.overlay').focus();
    await page.keyboard.press('F8');
    await page.keyboard.press('Enter');
    await expect.poll(() => site.revealed).toEqual([{ file: scene.file, line: scene.faultLine }]);
    await page.keyboard.press('ArrowRight');
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('ArrowDown');
      await frames(page);
      if ((await words(page.locator('.details h3'))) === 'gemm') break;
    }
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('gemm');
    // Back to the first one of the row, which the finding is about.
    for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft');
    await frames(page);
    await expect.poll(() => words(page.locator('.live'))).toMatch(/^gemm\. compute/);
    await expect.poll(() => words(page.locator('.live'))).toContain('Finding:');
    await page.keyboard.press('Enter');
    await expect.poll(() => site.revealed.at(-1)).toEqual({ file: scene.file, line: 18 });
  });

  it('follow an edge', async () => {
    const { page } = await openScene();
    await page.mouse.click(xOf(1000), 36 + rows.compute);
    await page.keyboard.press('[');
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('compute waits for copy');
    await page.keyboard.press('[');
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toBe('Memcpy HtoD');
  });

  it('zoom, move, fit and show all', async () => {
    const { page } = await openScene();
    const shown = (): Promise<string> => words(page.locator('.status-part').first());
    const whole = await shown();
    await page.keyboard.press('w');
    await frames(page);
    await expect.poll(() => shown()).not.toBe(whole);
    await page.keyboard.press('d');
    await page.keyboard.press('a');
    await page.keyboard.press('0');
    await frames(page);
    await expect.poll(() => shown()).toBe(whole);
    await page.keyboard.press('.');
    await page.keyboard.press('.');
    await page.keyboard.press('Escape');
    await page.keyboard.press('f');
    await frames(page);
    await expect.poll(() => words(page.locator('.tab-panel.chosen h3'))).toBe('Whole run');
  });

  it('search, and Esc gives the keys back', async () => {
    const { page } = await openScene();
    await page.keyboard.press('/');
    await page.keyboard.type('mul');
    await page.keyboard.press('Enter');
    await frames(page);
    await expect.poll(() => words(page.locator('.found'))).toBe('1 of 8');
    await page.keyboard.press('Escape');
    await page.keyboard.press('w');
    await frames(page);
    await expect.poll(() => page.locator('.search input').inputValue()).toBe('');
  });

  it('open and close the list of keys', async () => {
    const { page } = await openScene();
    await page.keyboard.press('?');
    await expect.poll(() => page.locator('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog').isVisible()).toBe(false);
  });

  it('reach every control by Tab, each with a name', async () => {
    const { page } = await openScene();
    const names: string[] = [];
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press('Tab');
      names.push(
        await page.evaluate(() => {
          const at = document.activeElement!;
          return at.getAttribute('aria-label') ?? at.textContent ?? '';
        }),
      );
    }
    expect(names.every((name) => name.trim() !== '')).toBe(true);
    expect(names.some((name) => name.startsWith('Timeline of 0 train_prefetch.raceline: 3 streams, 2 findings'))).toBe(
      true,
    );
    expect(names.some((name) => name.includes('x is reused'))).toBe(true);
  });
});

describe('without a run', () => {
  it('says that none is open and what to do', async () => {
    const { page, faults } = await open({ trace: null });
    await expect.poll(() => words(page.locator('h1'))).toBe('No run open');
    await expect.poll(() => page.locator('.screen button').allInnerTexts()).toEqual(['Open a trace…']);
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
  });

  it('names what is wrong with a file', async () => {
    const { page } = await open({
      trace: { name: 'nonsense.raceline', bytes: new TextEncoder().encode('not a trace\n') },
    });
    await expect.poll(() => words(page.locator('h1'))).toBe('This trace could not be opened');
    expect((await words(page.locator('.screen p').first())).length).toBeGreaterThan(20);
    await expect.poll(() => words(page.locator('.screen [role="alert"]'))).toContain('This trace could not be opened');
  });

  it('opens a file that stops in the middle up to there, and says so', async () => {
    const cut = bytes.slice(0, Math.floor(bytes.length * 0.8));
    const { page } = await open({ trace: { name: 'cut.raceline', bytes: cut } });
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => words(page.locator('.banner b').first())).toBe('This trace stops in the middle');
    await page.locator('.banner button').first().click();
    await expect.poll(() => page.locator('.banner.broken').count()).toBe(0);
  });

  it('says what a file cannot tell, and that no finding is no proof', async () => {
    const lines = text.split('\n');
    lines.splice(-2, 0, JSON.stringify({ k: 'limit', v: 'Waits are not recorded.' }));
    const { page } = await open({
      trace: { name: 'limits.raceline', bytes: new TextEncoder().encode(lines.join('\n')) },
    });
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => words(page.locator('.banner'))).toContain('No finding here does not mean no fault.');
    await expect.poll(() => words(page.locator('.status'))).toContain('Cannot tell: 1 thing');
  });

  it('shows hostile names as text', async () => {
    const hostile = '<img src=x onerror=alert(1)>'.repeat(200);
    const changed = text
      .replaceAll('"gemm"', JSON.stringify(hostile))
      .replaceAll('"train_prefetch.py"', JSON.stringify(hostile));
    const { page, faults } = await open({
      trace: { name: hostile.slice(0, 80), bytes: new TextEncoder().encode(changed) },
    });
    await page.waitForSelector('canvas.overlay');
    await frames(page);
    await page.mouse.click(xOf(1000), 36 + rows.compute);
    await frames(page);
    await expect.poll(() => words(page.locator('.details h3'))).toContain('<img src=x');
    await expect.poll(() => page.locator('img').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

describe('in the editor', () => {
  it('says what happens in messages, and does what it is told', async () => {
    const editor = await serve(
      folder,
      `window.posted = []; window.acquireVsCodeApi = () => ({ postMessage: (message) => window.posted.push(message) });
       document.body.classList.add('vscode-dark');`,
    );
    const { page, faults } = await openPage(browser, wide);
    await page.goto(editor.address);
    const posted = (): Promise<{ type: string }[]> =>
      page.evaluate(() => (window as unknown as { posted: { type: string }[] }).posted);
    await expect.poll(async () => (await posted()).map(({ type }) => type)).toEqual(['ready']);
    await page.locator('.screen button').first().click();
    await page.locator('.screen button').nth(1).click();
    expect((await posted()).map(({ type }) => type)).toEqual(['ready', 'run', 'pickTrace']);
    await page.evaluate(
      (trace) =>
        window.postMessage({ type: 'open', name: 'run.raceline', bytes: new TextEncoder().encode(trace) }, '*'),
      text,
    );
    await page.waitForSelector('canvas.overlay');
    await expect.poll(async () => (await posted()).some(({ type }) => type === 'hazards')).toBe(true);
    await expect
      .poll(() => posted())
      .toContainEqual({
        type: 'shown',
        name: 'run.raceline',
        slices: expect.any(Number),
        hazards: 2,
      });
    const hazards = (await posted()).find(({ type }) => type === 'hazards') as unknown as { hazards: unknown[] };
    expect(hazards.hazards).toContainEqual({
      code: 'missing-record-stream',
      severity: 'error',
      status: 'confirmed',
      message: expect.stringContaining('x is reused'),
      file: scene.file,
      line: scene.faultLine,
      related: [
        { file: scene.file, line: 18 },
        { file: scene.file, line: 28 },
      ],
    });
    await page.evaluate(() => window.postMessage({ type: 'selectHazard', index: 1 }, '*'));
    await expect.poll(() => words(page.locator('.details h3'))).toBe('x is reused while compute still reads it');
    await page.keyboard.press('Enter');
    await expect
      .poll(async () => (await posted()).at(-1))
      .toEqual({ type: 'reveal', file: scene.file, line: scene.faultLine, beside: true });
    await page.evaluate((file) => window.postMessage({ type: 'mark', file, line: 35 }, '*'), scene.file);
    await page.evaluate(() =>
      window.postMessage({ type: 'failed', name: 'gone.raceline', message: 'The file is gone. Run again.' }, '*'),
    );
    await expect.poll(() => words(page.locator('.screen p').first())).toBe('The file is gone. Run again.');
    expect(faults).toEqual([]);
    await editor.close();
  });
});
