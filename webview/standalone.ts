/**
 * The host side in a plain browser: takes traces from the server that served the page, looks whether they grow, keeps notes
 * beside them, and posts places to reveal back. A file that is dropped on the page or picked is opened without any server.
 */
import { appendedTo, type Growth, grownBy, growthOf, seamStart } from '../core/trace/growth.ts';
import { witnessFile, witnessTitles } from '../core/trace/witness-file.ts';
import { contentOf, pickFile, saveFile } from './files.ts';
import type { Host } from './host.ts';
import type { FromWebview, ToWebview } from './protocol.ts';

/** How often the server is asked whether the trace has grown, in milliseconds. */
const pollEvery = 1_500;

export function standaloneHost(): Host {
  let receive: (message: ToWebview) => void = () => {};
  const which = Number(new URLSearchParams(location.search).get('trace') ?? 0) || 0;
  const count = Number(document.getElementById('raceline')?.dataset.traces) || 1;
  /** The trace of the server that is open; undefined: a file of the user's is. */
  let served: number | undefined = which;
  let stamp = '';
  let opened = `trace ${which}`;
  /** The end of what the page has of the served file. */
  let had: Growth | undefined;

  async function load(): Promise<void> {
    let name = `trace ${which}`;
    try {
      const [named, file] = await Promise.all([fetch(`trace/${which}/name`), fetch(`trace/${which}`)]);
      if (named.ok) name = await named.text();
      if (file.status === 404) return;
      if (!file.ok) throw new Error(`the server answered ${file.status}`);
      stamp = file.headers.get('x-stamp') ?? '';
      opened = name;
      give(name, new Uint8Array(await file.arrayBuffer()));
      const witness = (await names()).indexOf(witnessFile(name));
      if (witness >= 0) await compareServed(witness);
      const notes = await fetch(`notes/${which}`);
      receive({ type: 'notes', text: notes.ok ? await notes.text() : '' });
      if (stamp !== '') setTimeout(poll, pollEvery);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      receive({
        type: 'failed',
        name,
        message: `The trace could not be fetched: ${why}. Is raceline view still running?`,
      });
    }
  }

  /** A run that is still writing: read again whenever the file has changed. */
  async function poll(): Promise<void> {
    if (served === undefined) return;
    let wait = pollEvery;
    try {
      const answer = await fetch(`trace/${which}/stamp`);
      const now = answer.ok ? await answer.text() : stamp;
      if (now !== stamp && served !== undefined) {
        const began = performance.now();
        stamp = (await giveAppended()) ?? (await giveWhole()) ?? stamp;
        // A large file is not read without end: the pauses are longer than the reading.
        wait = Math.max(wait, 4 * (performance.now() - began));
      }
    } catch {
      // The server has ended; what is open stays.
      return;
    }
    setTimeout(poll, wait);
  }

  function give(name: string, bytes: Uint8Array): void {
    had = growthOf(bytes);
    receive({ type: 'open', name, bytes });
  }

  /** The stamp of what was given; undefined: the server cannot, or the file is another one by now. */
  async function giveAppended(): Promise<string | undefined> {
    if (!had) return undefined;
    const part = await fetch(`trace/${which}`, { headers: { range: `bytes=${seamStart(had)}-` } });
    const appended = part.status === 206 ? appendedTo(had, new Uint8Array(await part.arrayBuffer())) : undefined;
    if (!appended || appended.length === 0) return undefined;
    had = grownBy(had, appended);
    receive({ type: 'grown', name: opened, bytes: appended.slice() });
    return part.headers.get('x-stamp') ?? undefined;
  }

  async function giveWhole(): Promise<string | undefined> {
    const file = await fetch(`trace/${which}`);
    if (!file.ok) return undefined;
    give(opened, new Uint8Array(await file.arrayBuffer()));
    return file.headers.get('x-stamp') ?? undefined;
  }

  async function openFile(file: File): Promise<void> {
    served = undefined;
    opened = file.name;
    receive({ type: 'open', name: file.name, bytes: await contentOf(file) });
    receive({ type: 'notes', text: localStorage.getItem(`raceline notes ${file.name}`) ?? '' });
  }

  const compareFile = async (file: File): Promise<void> =>
    receive({ type: 'compare', name: file.name, bytes: await contentOf(file) });

  async function compareServed(index: number): Promise<void> {
    const [named, file] = await Promise.all([fetch(`trace/${index}/name`), fetch(`trace/${index}`)]);
    const name = named.ok ? await named.text() : `trace ${index}`;
    if (file.ok) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const titles = name === witnessFile(opened) ? witnessTitles(bytes) : undefined;
      receive({ type: 'compare', name, bytes, titles });
    } else
      receive({ type: 'failed', name, message: `The trace could not be fetched: the server answered ${file.status}.` });
  }

  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void openFile(file);
  });

  async function names(): Promise<string[]> {
    if (count < 2) return [];
    const answers = Array.from({ length: count }, (_, i) => fetch(`trace/${i}/name`));
    return Promise.all(answers.map(async (answer, i) => ((await answer).ok ? (await answer).text() : `trace ${i}`)));
  }

  function keepNotes(text: string): void {
    if (served === undefined) localStorage.setItem(`raceline notes ${opened}`, text);
    else void send(`notes/${served}`, text);
  }

  return {
    kind: 'browser',
    canKeepNotes: true,
    traces: {
      names,
      current: which,
      open(index) {
        const address = new URL(location.href);
        address.searchParams.set('trace', String(index));
        location.href = address.href;
      },
      compare: (index) => void compareServed(index),
    },
    post(message: FromWebview) {
      switch (message.type) {
        case 'ready':
          void load();
          return;
        case 'whole':
          void giveWhole();
          return;
        case 'reveal':
          // The server decides what revealing means; without one there is nothing to jump to.
          void send('reveal', JSON.stringify({ file: message.file, line: message.line }));
          return;
        case 'pickTrace':
          pickFile((file) => void openFile(file));
          return;
        case 'pickComparison':
          pickFile((file) => void compareFile(file));
          return;
        case 'keepNotes':
          keepNotes(message.text);
          return;
        case 'save':
          saveFile(message.name, message.bytes);
          return;
      }
    },
    listen(receiver) {
      receive = receiver;
    },
  };
}

async function send(to: string, body: string): Promise<void> {
  try {
    await fetch(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  } catch {
    // The place stays readable in the panel, the note in the list.
  }
}
