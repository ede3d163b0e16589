/** The host side in a report: the traces lie in the page itself, and there is nobody to talk to. */
import { severalHead } from '../core/trace/several.ts';
import { contentOf, pickFile, saveFile } from './files.ts';
import type { Host } from './host.ts';
import type { ToWebview } from './protocol.ts';
import { traceElement } from './reportPage.ts';

/** Undefined where the page is no report. */
export function reportHost(): Host | undefined {
  const held: HTMLElement[] = [];
  for (let i = 0; ; i++) {
    const element = document.getElementById(traceElement(i));
    if (!element) break;
    held.push(element);
  }
  if (held.length === 0) return undefined;
  const own = held.map((element) => element.dataset.name ?? 'trace');
  // Files of one run can be seen together, as one more choice.
  const names = held.length > 1 ? [...own, `together: ${own.join(', ')}`] : own;
  const which = Number(new URLSearchParams(location.search).get('trace') ?? 0);
  const current = names[which] ? which : 0;
  let receive: (message: ToWebview) => void = () => {};
  const bytesAt = (index: number): Uint8Array =>
    held[index]
      ? bytesOf(held[index].textContent)
      : together(
          own,
          held.map((element) => bytesOf(element.textContent)),
        );
  return {
    kind: 'browser',
    canKeepNotes: false,
    traces: {
      names: () => Promise.resolve(names),
      current,
      open(index) {
        const address = new URL(location.href);
        address.searchParams.set('trace', String(index));
        location.href = address.href;
      },
      compare: (index) => receive({ type: 'compare', name: names[index]!, bytes: bytesAt(index) }),
    },
    post(message) {
      if (message.type === 'keepNotes') keepNotes(names[current]!, message.text);
      else if (message.type === 'save') saveFile(message.name, message.bytes);
      else if (message.type === 'pickComparison')
        pickFile(async (file) => receive({ type: 'compare', name: file.name, bytes: await contentOf(file) }));
      if (message.type !== 'ready') return;
      const name = names[current]!;
      try {
        receive({ type: 'open', name, bytes: bytesAt(current) });
        receive({ type: 'notes', text: notesOf(name) });
      } catch (error) {
        receive({ type: 'failed', name, message: `The report is damaged: ${(error as Error).message}.` });
      }
    },
    listen(receiver) {
      receive = receiver;
    },
  };
}

function together(names: readonly string[], files: readonly Uint8Array[]): Uint8Array {
  const head = severalHead(names.map((name, i) => ({ name, size: files[i]!.length })));
  const whole = new Uint8Array(files.reduce((sum, file) => sum + file.length, head.length));
  let at = 0;
  for (const part of [head, ...files]) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A report has no place of its own for notes: the browser's, if it has one for pages of a disk. */
function keepNotes(name: string, text: string): void {
  try {
    localStorage.setItem(`raceline notes ${name}`, text);
  } catch {
    // They stay as long as the page does.
  }
}

function notesOf(name: string): string {
  try {
    return localStorage.getItem(`raceline notes ${name}`) ?? '';
  } catch {
    return '';
  }
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
