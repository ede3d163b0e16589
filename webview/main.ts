/**
 * The page: builds itself into `#raceline`, says `ready`, and shows what the host sends: nothing yet, a trace on its way,
 * a run, or why there is none. The bytes go straight on to the worker.
 */
import './timeline.css';
import { emptyScreen, errorScreen, loadingScreen, type LoadingScreen, type ScreenWishes } from './dom/screens.ts';
import { makeTheme, type Theme, type ThemeKind } from './draw/theme.ts';
import { severityOf } from '../core/timeline/findings.ts';
import { connect } from './host.ts';
import type { FromWorker, Run, ToWorker } from './messages.ts';
import type { ToWebview } from './protocol.ts';
import { workerElement } from './reportPage.ts';
import { type RunView, showRun } from './runView.ts';

const root = document.getElementById('raceline');
if (!root) throw new Error('The page has no element with the id "raceline".');
start(root);

function start(root: HTMLElement): void {
  const host = connect();
  if (host.kind === 'browser') setStandaloneTheme();
  let view: RunView | undefined;
  let worker: Worker | undefined;
  let loading: LoadingScreen | undefined;
  let began = 0;
  let pendingMark: { file: string; line: number } | undefined;
  let pendingHazard = -1;

  const wishes: ScreenWishes = {
    run: () => host.post({ type: 'run' }),
    pick: () => host.post({ type: 'pickTrace' }),
    cancel() {
      stopWorker();
      show(emptyScreen(wishes, host.kind === 'vscode'));
    },
  };

  function show(screen: HTMLElement): void {
    view?.close();
    view = undefined;
    loading = undefined;
    root.classList.add('covered');
    root.replaceChildren(screen);
  }

  function stopWorker(): void {
    worker?.terminate();
    worker = undefined;
  }

  function fail(name: string, message: string): void {
    stopWorker();
    show(errorScreen(name, message, wishes));
    host.post({ type: 'error', message });
  }

  async function open(name: string, bytes: Uint8Array): Promise<void> {
    stopWorker();
    const screen = loadingScreen(name, wishes);
    show(screen.root);
    loading = screen;
    began = performance.now();
    try {
      const made = await makeWorker(root.dataset.worker ?? '');
      // Cancelled, or another file came, while the worker's source was fetched.
      if (loading !== screen) {
        made.terminate();
        return;
      }
      worker = made;
    } catch (error) {
      fail(name, `The reader could not be started: ${(error as Error).message}`);
      return;
    }
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => hear(name, data);
    worker.onerror = (event) => fail(name, event.message || 'The reader stopped without saying why.');
    const message: ToWorker = { type: 'open', name, bytes };
    const whole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
    worker.postMessage(message, whole ? [bytes.buffer as ArrayBuffer] : []);
  }

  function hear(name: string, message: FromWorker): void {
    switch (message.type) {
      case 'progress':
        loading?.show(message.phase, message.read, message.total, performance.now() - began);
        return;
      case 'failed':
        fail(name, message.message);
        return;
      case 'described':
        view?.showTouched(message.step, message.reads, message.writes);
        return;
      case 'opened':
        showOpened(message.run);
        return;
    }
  }

  function showOpened(run: Run): void {
    loading = undefined;
    view?.close();
    view = showRun(root, run, readTheme(), {
      reveal: ({ file, line }) => host.post({ type: 'reveal', file, line, beside: true }),
      pick: () => host.post({ type: 'pickTrace' }),
      traces: host.traces,
      describe: (step) => worker?.postMessage({ type: 'describe', step } satisfies ToWorker),
      shown: () =>
        host.post({
          type: 'shown',
          name: run.name,
          slices: run.trace.deviceSlices.length + run.trace.hostSlices.length,
          hazards: run.hazards.length,
        }),
    });
    document.title = `${run.name} – Raceline`;
    host.post({
      type: 'hazards',
      name: run.name,
      hazards: run.hazards.map((hazard) => ({
        code: hazard.code,
        severity: severityOf(hazard),
        status: hazard.status,
        message: hazard.message,
        file: hazard.at.file,
        line: hazard.at.line,
      })),
    });
    if (pendingMark) view.mark(pendingMark.file, pendingMark.line);
    if (pendingHazard >= 0) view.selectHazard(pendingHazard);
    pendingHazard = -1;
  }

  host.listen((message: ToWebview) => {
    switch (message.type) {
      case 'open':
        void open(message.name, bytesOf(message.bytes));
        return;
      case 'failed':
        fail(message.name, message.message);
        return;
      case 'mark':
        pendingMark = { file: message.file, line: message.line };
        view?.mark(message.file, message.line);
        return;
      case 'selectHazard':
        if (view) view.selectHazard(message.index);
        else pendingHazard = message.index;
        return;
    }
  });

  // VS Code tells of a new theme by classes of the body and variables of the root.
  const observer = new MutationObserver(() => view?.setTheme(readTheme()));
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });

  show(emptyScreen(wishes, host.kind === 'vscode'));
  host.post({ type: 'ready' });
}

/** Older hosts send bytes as a plain object of numbers; a copy is made only then. */
function bytesOf(value: Uint8Array | ArrayBuffer | { readonly [index: number]: number }): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return Uint8Array.from(Object.values(value));
}

/** A webview's worker may not come from another origin, so its source is fetched and started from a blob. */
async function makeWorker(uri: string): Promise<Worker> {
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

function readTheme(): Theme {
  const { classList } = document.body;
  const kind: ThemeKind = classList.contains('vscode-high-contrast-light')
    ? 'highContrastLight'
    : classList.contains('vscode-high-contrast')
      ? 'highContrast'
      : classList.contains('vscode-light')
        ? 'light'
        : 'dark';
  const style = getComputedStyle(document.body);
  const font = style.fontFamily;
  return makeTheme(kind, (name) => (name === 'font-family' ? font : style.getPropertyValue(`--vscode-${name}`)));
}

/** In a plain browser the theme is `?theme=dark|light|hc`, else what the system prefers. */
function setStandaloneTheme(): void {
  const wanted = new URLSearchParams(location.search).get('theme');
  const classes = { dark: 'vscode-dark', light: 'vscode-light', hc: 'vscode-high-contrast' } as const;
  const set = (): void => {
    const prefers = matchMedia('(forced-colors: active)').matches
      ? 'hc'
      : matchMedia('(prefers-color-scheme: light)').matches
        ? 'light'
        : 'dark';
    const kind = wanted !== null && wanted in classes ? (wanted as keyof typeof classes) : prefers;
    document.body.classList.remove(...Object.values(classes));
    document.body.classList.add('raceline-standalone', classes[kind]);
  };
  set();
  matchMedia('(prefers-color-scheme: light)').addEventListener('change', set);
}
