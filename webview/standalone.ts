/**
 * The host side in a plain browser: takes the trace from the server that served the page, and posts places to reveal back
 * to it. A file that is dropped on the page or picked is opened without any server.
 */
import type { Host } from './host.ts';
import type { FromWebview, ToWebview } from './protocol.ts';

export function standaloneHost(): Host {
  let receive: (message: ToWebview) => void = () => {};
  const which = Number(new URLSearchParams(location.search).get('trace') ?? 0) || 0;

  async function load(): Promise<void> {
    let name = `trace ${which}`;
    try {
      const [named, file] = await Promise.all([fetch(`trace/${which}/name`), fetch(`trace/${which}`)]);
      if (named.ok) name = await named.text();
      if (file.status === 404) return;
      if (!file.ok) throw new Error(`the server answered ${file.status}`);
      receive({ type: 'open', name, bytes: new Uint8Array(await file.arrayBuffer()) });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      receive({
        type: 'failed',
        name,
        message: `The trace could not be fetched: ${why}. Is raceline view still running?`,
      });
    }
  }

  async function openFile(file: File): Promise<void> {
    receive({ type: 'open', name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  }

  function pick(): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      if (file) void openFile(file);
    });
    input.click();
  }

  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void openFile(file);
  });

  const count = Number(document.getElementById('raceline')?.dataset.traces) || 1;

  async function names(): Promise<string[]> {
    if (count < 2) return [];
    const answers = Array.from({ length: count }, (_, i) => fetch(`trace/${i}/name`));
    return Promise.all(answers.map(async (answer, i) => ((await answer).ok ? (await answer).text() : `trace ${i}`)));
  }

  return {
    kind: 'browser',
    traces: {
      names,
      current: which,
      open(index) {
        const address = new URL(location.href);
        address.searchParams.set('trace', String(index));
        location.href = address.href;
      },
    },
    post(message: FromWebview) {
      if (message.type === 'ready') void load();
      else if (message.type === 'reveal') void reveal(message.file, message.line);
      else if (message.type === 'pickTrace') pick();
    },
    listen(receiver) {
      receive = receiver;
    },
  };
}

/** The server decides what revealing means; without one there is nothing to jump to. */
async function reveal(file: string, line: number): Promise<void> {
  try {
    await fetch('reveal', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ file, line }),
    });
  } catch {
    // The place stays readable in the panel.
  }
}
