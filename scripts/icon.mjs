// Draws media/icon.png from media/icon.svg: the Marketplace takes no SVG. Run it after the drawing changes.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
await page.setContent(`<body style="margin:0">${readFileSync(path.join(root, 'media/icon.svg'), 'utf8')}`);
await page.screenshot({ path: path.join(root, 'media/icon.png'), omitBackground: true });
await browser.close();
