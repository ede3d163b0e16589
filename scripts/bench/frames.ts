// Frame time of the timeline in headless Chromium with software rendering: panning and zooming over invented runs of one
// and of ten million slices. A frame counts from the new view to the pixels: the canvas is read back, which makes the
// browser finish what it was told to draw. All 16 ms belong to it at 60 frames a second.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note: string;
}

interface Measured {
  readonly built: number;
  /** From the run to its first pixels. */
  readonly first: number;
  /** Each frame as it came, and the quickest of three of it. */
  readonly pan: number[];
  readonly zoom: number[];
  readonly best: number[];
  readonly plain: number[];
}

interface Size {
  readonly name: string;
  readonly deviceSlices: number;
  readonly edges: number;
  readonly blocks: number;
}

const sizes: readonly Size[] = [
  { name: '1 M slices, 100 k edges, 100 k blocks', deviceSlices: 1e6, edges: 1e5, blocks: 1e5 },
  // A snapshot of 250 k entries: each block is allocated and released.
  { name: '125 k blocks', deviceSlices: 100, edges: 10, blocks: 125_000 },
  { name: '10 M slices, 100 k edges, 100 k blocks', deviceSlices: 1e7, edges: 1e5, blocks: 1e5 },
];

export async function bench({ root }: { readonly root: string }): Promise<Row[]> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    return [
      {
        name: 'frame time',
        value: Number.NaN,
        unit: '',
        note: 'no Chromium here: apt-get install chromium, or set CHROMIUM',
      },
    ];
  const script = await bundle(root);
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--js-flags=--max-old-space-size=8192'],
  });
  const rows: Row[] = [];
  try {
    for (const size of sizes) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 800 } });
      await page.setContent('<!DOCTYPE html><body class="vscode-dark raceline-standalone"><div id="raceline"></div>');
      await page.addStyleTag({ content: readFileSync(path.join(root, 'webview/timeline.css'), 'utf8') });
      await page.addScriptTag({ content: script });
      const measured = await page.evaluate(
        (options) => (window as unknown as { measure(options: unknown): Measured }).measure(options),
        size,
      );
      rows.push(...rowsOf(size.name, measured));
      await page.close();
    }
  } finally {
    await browser.close();
  }
  return rows;
}

async function bundle(root: string): Promise<string> {
  const result = await build({
    stdin: { contents: inPage, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    minify: true,
    logLevel: 'warning',
  });
  return result.outputFiles[0]!.text;
}

function rowsOf(name: string, { built, first, pan, zoom, best, plain }: Measured): Row[] {
  const row = (what: string, value: number, note: string): Row => ({
    name: `${what}, ${name}`,
    value: Math.round(value * 10) / 10,
    unit: 'ms',
    note,
  });
  return [
    row('frame p50, panning', quantile(pan, 0.5), `${pan.length} frames at 6 zooms`),
    row('frame p95, panning', quantile(pan, 0.95), 'bound 16'),
    row('frame p50, zooming', quantile(zoom, 0.5), `${zoom.length} frames from the whole run to 10 µs`),
    row('frame p95, zooming', quantile(zoom, 0.95), 'bound 16'),
    row('frame p95, quickest of three', quantile(best, 0.95), 'all of them again: without what else the machine did'),
    row(
      'a plain canvas p95',
      quantile(plain, 0.95),
      '3000 filled rectangles of 20 × 20, read back: what this machine can do',
    ),
    row('laid out', built, 'once a trace, in the worker'),
    row('first frame', first, 'with the page around it'),
  ];
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Runs in the page. A frame of each zoom is drawn before it counts: code is compiled and canvases are made by then. */
const inPage = `
import { zoomAt, span } from './core/timeline/view.ts';
import { makeTheme } from './webview/draw/theme.ts';
import { buildTimeline } from './core/timeline/timeline.ts';
import { showRun } from './webview/runView.ts';
import { largeTrace } from './test/webview/synthetic.ts';

window.measure = (options) => {
  const trace = largeTrace(options);
  const began = performance.now();
  const run = { name: 'bench', trace, hazards: [], timeline: buildTimeline(trace, []), accesses: false };
  const built = performance.now() - began;
  const nothing = () => {};
  const host = new Proxy({}, { get: (_, name) => (name === 'traces' || name === 'sources' ? undefined : nothing) });
  const opened = performance.now();
  const shown = showRun(document.getElementById('raceline'), run, makeTheme('dark', () => ''), host);
  shown.paintNow(run.timeline.bounds);
  const first = performance.now() - opened;
  const bounds = run.timeline.bounds;
  const paint = (next) => {
    const start = performance.now();
    shown.paintNow(next);
    return performance.now() - start;
  };
  const best = [];
  // The canvas is the same after the first of them; the work is not less.
  const again = (next, time) => best.push(Math.min(time, paint(next), paint(next)));
  const pan = [];
  for (const share of [1, 0.3, 0.05, 0.01, 0.001, 0.0001]) {
    const length = span(bounds) * share;
    const from = bounds.start + (span(bounds) - length) * 0.4;
    for (let i = 0; i < 30; i++) {
      const start = from + (length * i) / 40;
      const view = { start, end: start + length };
      const time = paint(view);
      if (i < 5) continue;
      pan.push(time);
      again(view, time);
    }
  }
  const zoom = [];
  let next = bounds;
  for (let i = 0; i < 120; i++) {
    next = zoomAt(next, bounds, bounds.start + span(bounds) * 0.37, Math.pow(span(bounds) / 1e4, 1 / 120));
    zoom.push(paint(next));
    again(next, zoom[i]);
  }
  const plain = [];
  const canvas = document.querySelector('.stage canvas');
  const ctx = canvas.getContext('2d');
  for (let i = 0; i < 60; i++) {
    const start = performance.now();
    for (let n = 0; n < 3000; n++) {
      ctx.fillStyle = n % 2 ? '#456' : '#654';
      ctx.fillRect((n * 37) % 1000, (n * 91) % 700, 20, 20);
    }
    ctx.getImageData(0, 0, 1, 1);
    if (i >= 10) plain.push(performance.now() - start);
  }
  shown.close();
  return { built, first, pan, zoom, best, plain };
};
`;
