/** The page's own files, and bytes as they come: the worker, the bundles, what a host sends. */
import type { PageSources } from './exporting.ts';
import { workerElement } from './reportPage.ts';

/** Older hosts send bytes as a plain object of numbers; a copy is made only then. */
export function bytesOf(value: Uint8Array | ArrayBuffer | { readonly [index: number]: number }): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return Uint8Array.from(Object.values(value));
}

/** A webview's worker may not come from another origin, so its source is fetched and started from a blob. */
export async function makeWorker(uri: string): Promise<Worker> {
  const source = new Blob([await workerSource(uri)], { type: 'text/javascript' });
  const address = URL.createObjectURL(source);
  try {
    return new Worker(address);
  } finally {
    // The worker has taken the address in by then or never will; a short while later it can go.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}

async function workerSource(uri: string): Promise<string> {
  const inside = document.getElementById(workerElement);
  if (inside) return inside.textContent;
  const answer = await fetch(uri);
  if (!answer.ok) throw new Error(`its source was answered with ${answer.status}`);
  return answer.text();
}

/** The page's bundles as they came; in a report the script is not at an address. */
export function pageSources(root: HTMLElement): PageSources | undefined {
  const script = document.querySelector<HTMLScriptElement>('script[src]')?.src;
  const style = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]')?.href;
  if (!script || !style) return undefined;
  const text = async (address: string): Promise<string> => (await fetch(address)).text();
  return {
    script: () => text(script),
    style: () => text(style),
    worker: () => workerSource(root.dataset.worker ?? ''),
  };
}
