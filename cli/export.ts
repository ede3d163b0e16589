/**
 * `raceline export`: a trace as a file that others can open: a report in HTML, a picture in SVG or PNG, Chrome JSON for
 * Perfetto. The name of the output says which.
 */
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { chromeTrace } from '../core/export/chrome.ts';
import { takePicture } from '../core/export/picture.ts';
import { png } from '../core/export/png.ts';
import { rasterize } from '../core/export/raster.ts';
import { svg } from '../core/export/svg.ts';
import { judgeTrace } from '../core/judgeTrace.ts';
import { mergeOneRun, type NamedTrace } from '../core/trace/merge.ts';
import { reportPage } from '../webview/reportPage.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { bundleForReport } from './bundles.ts';
import { readTrace } from './trace.ts';

/** A string of Node ends at 512 MB, and base64 takes a third more than the bytes. */
const largestInReport = 300 << 20;

export async function exportTrace(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['-o', '--output', '--theme', '--width']);
  const out = given.values.get('-o') ?? given.values.get('--output');
  const theme = choice(given, '--theme', ['light', 'dark'], 'light');
  const width = Number(given.values.get('--width') ?? 1400);
  if (!given.rest.length) throw new UsageError('export needs a file');
  if (!out) throw new UsageError('export needs -o OUT.html, .svg, .png or .json');
  if (!Number.isInteger(width) || width < 400 || width > 10_000)
    throw new UsageError('--width must be a number from 400 to 10000');
  const kind = /\.(html?|svg|png|json|json\.gz)$/i.exec(out)?.[1]?.toLowerCase();
  if (!kind) throw new UsageError(`'${out}' says no format: its name must end in .html, .svg, .png, .json or .json.gz`);
  if (given.rest.some((file) => path.resolve(file) === path.resolve(out)))
    throw new UsageError(`'${out}' is the trace itself; name another output`);
  if (kind.startsWith('htm')) writeFileSync(out, await report(given.rest));
  else {
    const files: NamedTrace[] = [];
    for (const file of given.rest) files.push({ name: path.basename(file), trace: await readTrace(file) });
    const trace = mergeOneRun(files);
    const hazards = judgeTrace(trace);
    const name = files.map((file) => file.name).join(', ');
    if (kind.startsWith('json')) {
      const pieces = Readable.from(chromeTrace(trace, hazards));
      if (kind === 'json.gz') await pipeline(pieces, createGzip(), createWriteStream(out));
      else await pipeline(pieces, createWriteStream(out));
    } else {
      const picture = takePicture(trace, hazards, name, { theme, width });
      writeFileSync(out, kind === 'svg' ? svg(picture) : png(rasterize(picture)));
    }
  }
  console.log(`wrote ${out}`);
  return 0;
}

/** Whoever opens it reads the trace anew; here it is only looked at whether it can be opened. */
async function report(files: readonly string[]): Promise<string> {
  const traces: { name: string; base64: string }[] = [];
  let size = 0;
  for (const file of files) {
    await readTrace(file);
    const bytes = readFileSync(file);
    const packed = bytes[0] === 0x1f && bytes[1] === 0x8b ? bytes : gzipSync(bytes);
    size += packed.length;
    if (size > largestInReport)
      throw new Error(
        `${file} is too large for a page (${Math.round(size / (1 << 20))} MB packed); show it with 'raceline view'`,
      );
    traces.push({ name: path.basename(file), base64: packed.toString('base64') });
  }
  return reportPage({
    title: traces.map((trace) => trace.name).join(', '),
    script: bundleForReport('webview.js'),
    style: bundleForReport('webview.css'),
    worker: bundleForReport('worker.js').text,
    traces,
  });
}
