/** A report as a browser opens it from a disk: everything inside, nothing loaded, names of the trace as text. */
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folder, raceline } from '../cli/raceline.ts';
import { hasChromium, launch, openPage } from './pages.ts';

const hostile = '</script><img src=x onerror=alert(1)><!--<script>';
const trace = [
  { raceline: 1, producer: 'test', mode: 'cuda', unix: '0', level: 'full' },
  { k: 'str', id: 0, v: hostile },
  { k: 'stream', id: 0, device: 0, num: 7, name: 0, default: true },
  { k: 'op', n: 0, t: 10, st: 0, name: 0 },
  { k: 'gpu', op: 0, st: 0, t: 20, d: 5000, name: 0, kind: 'kernel' },
  { k: 'end', t: 9000, status: 'ok' },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

let browser: Browser;
beforeAll(async () => {
  if (hasChromium) browser = await launch();
});
afterAll(async () => {
  await browser?.close();
});

describe('a report', () => {
  it.skipIf(!hasChromium)('shows its trace from a file, and asks for nothing', async () => {
    const at = folder({ 'a "b" <c>.raceline': trace, 'second.raceline': trace });
    const made = raceline(at, 'export', 'a "b" <c>.raceline', 'second.raceline', '-o', 'report.html');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { page, faults } = await openPage(browser, { width: 1000, height: 600 });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const address = pathToFileURL(path.join(at, 'report.html')).href;
    await page.goto(address);
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => page.title()).toContain('a "b" <c>.raceline');
    await expect.poll(() => page.locator('img').count()).toBe(0);
    expect(asked.filter((url) => url !== address && !url.startsWith('blob:'))).toEqual([]);
    await page.goto(`${address}?trace=1`);
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => page.title()).toContain('second.raceline');
    await page.goto(`${address}?trace=2`);
    await page.waitForSelector('canvas.overlay');
    await expect.poll(() => page.title()).toContain('together: ');
    expect(faults).toEqual([]);
  });
});
