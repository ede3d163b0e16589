/**
 * Files made of what is open: the view as a picture, the run as Chrome JSON, the page with everything inside as a report.
 * Knows no host: it gives bytes.
 */
import { chromeTrace } from '../core/export/chrome.ts';
import { takePicture } from '../core/export/picture.ts';
import { svg } from '../core/export/svg.ts';
import type { View } from '../core/timeline/view.ts';
import type { Run } from './messages.ts';
import { type Bundle, fitForScript, reportPage } from './reportPage.ts';

export interface MadeFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** `train.raceline.gz` and the like without what says its format. */
export const stemOf = (name: string): string =>
  name.replace(/(\.pt\.trace)?(\.(raceline|json|pickle|sqlite|nsys-rep|txt|xml))?(\.gz)?$/i, '') || 'run';

/** The canvases as they are, one over the other. */
export async function pictureOf(name: string, layers: readonly HTMLCanvasElement[]): Promise<MadeFile> {
  const [first] = layers;
  if (!first) throw new Error('There is nothing to take a picture of.');
  const canvas = document.createElement('canvas');
  canvas.width = first.width;
  canvas.height = first.height;
  const ctx = canvas.getContext('2d')!;
  for (const layer of layers) ctx.drawImage(layer, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The browser could not make a PNG of the view: make the panel smaller and try again.');
  return { name: `${stemOf(name)}.png`, bytes: new Uint8Array(await blob.arrayBuffer()) };
}

const encoder = new TextEncoder();

/** The streams of the view as a drawing of lines and letters. */
export function drawingOf({ trace, hazards, name }: Run, view: View, theme: 'light' | 'dark'): MadeFile {
  const picture = takePicture(trace, hazards, name, { ...view, theme });
  return { name: `${stemOf(name)}.svg`, bytes: encoder.encode(svg(picture)) };
}

/** For Perfetto and other readers of Chrome JSON. It is made piece by piece: the whole may be longer than a string can be. */
export async function chromeOf({ trace, hazards, name }: Run): Promise<MadeFile> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const piece of chromeTrace(trace, hazards)) {
    const bytes = encoder.encode(piece);
    pieces.push(bytes);
    length += bytes.length;
    // The page stays alive meanwhile.
    if (pieces.length % 64 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { name: `${stemOf(name)}.json`, bytes };
}

/** A page is one string, and base64 takes a third more than the bytes. */
const largestInReport = 300 << 20;

/** This page with the trace inside, as one file that opens from a disk. */
export async function reportOf(name: string, file: Uint8Array, sources: PageSources): Promise<MadeFile> {
  const packed = file[0] === 0x1f && file[1] === 0x8b ? file : await gzip(file);
  if (packed.length > largestInReport)
    throw new Error(`This trace is too large for a page: ${Math.round(packed.length / (1 << 20))} MB packed.`);
  const [script, style, worker] = await Promise.all([sources.script(), sources.style(), sources.worker()]);
  const page = reportPage({
    title: name,
    script: await bundle(script),
    style: await bundle(style),
    worker: (await bundle(worker)).text,
    traces: [{ name, base64: base64(packed) }],
  });
  return { name: `${stemOf(name)}.html`, bytes: encoder.encode(page) };
}

/** Where the page's own bundles are. */
export interface PageSources {
  script(): Promise<string>;
  style(): Promise<string>;
  worker(): Promise<string>;
}

async function bundle(source: string): Promise<Bundle> {
  const text = fitForScript(source.replace(/\n?(\/\/|\/\*)# sourceMappingURL=\S+( \*\/)?\s*$/, ''));
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  return { text, digest: base64(new Uint8Array(digest)) };
}

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(bytes: Uint8Array): string {
  // Pieces of a multiple of three bytes can be put one after the other.
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 24_576)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 24_576))));
  return parts.join('');
}
