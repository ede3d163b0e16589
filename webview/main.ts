/**
 * The page: builds itself into `#raceline`, says `ready`, and shows what the host sends: nothing yet, a trace on its way,
 * a run, or why there is none. The bytes go straight on to the worker.
 */
import './timeline.css';
import { openMenu } from './dom/menu.ts';
import { emptyScreen, errorScreen, loadingScreen, type LoadingScreen, type ScreenWishes } from './dom/screens.ts';
import { severityOf } from '../core/timeline/findings.ts';
import { alignments } from '../core/timeline/align.ts';
import { isUnfinished } from './banners.ts';
import { linesRun } from '../core/trace/lines-run.ts';
import { connect } from './host.ts';
import type { FromWorker, Run, ToWorker } from './messages.ts';
import type { ToWebview } from './protocol.ts';
import { bytesOf, makeWorker, pageSources } from './pageFiles.ts';
import type { RunHost, RunView } from './runHost.ts';
import { showRun } from './runView.ts';
import { type Note, parseNotes, writeNotes } from './state/notes.ts';
import { carriedOver } from './state/carry.ts';
import type { State } from './state/state.ts';
import { readTheme, setStandaloneTheme } from './themes.ts';

/** Up to so many slices a run's answers take no time worth a question. */
const quicklyAnswered = 100_000;

const root = document.getElementById('raceline');
if (!root) throw new Error('The page has no element with the id "raceline".');
start(root);

function start(root: HTMLElement): void {
  const host = connect();
  if (host.kind === 'browser') setStandaloneTheme();
  let view: RunView | undefined;
  let worker: Worker | undefined;
  /** The worker of the first file, which starts while the file is on its way. */
  let prepared: Promise<Worker> | undefined = makeWorker(root.dataset.worker ?? '');
  // Why it could not be started is told to who opens a file.
  prepared.catch(() => {});
  let loading: LoadingScreen | undefined;
  let began = 0;
  let pendingMark: { file: string; line: number } | undefined;
  let pendingHazard = -1;
  let notes: readonly Note[] = [];
  /** The run alone, while it is shown beside a second one, and what was chosen of it. */
  let alone: Run | undefined;
  let aloneState: State | undefined;
  /** A newer recording of the open run came while the worker was at the one before. */
  let waiting: Extract<ToWebview, { type: 'open' }> | undefined;
  /** What was appended to the open file while the worker was at it. */
  let growth: Uint8Array[] = [];
  /** A second run came while the first was read. */
  let waitingSecond: Extract<ToWebview, { type: 'compare' }> | undefined;
  /** Which kind of finding two schedules show. */
  let playedCode = '';
  let isReading = false;
  let giveBytes: ((bytes: Uint8Array) => void) | undefined;

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
    alone = undefined;
    loading = undefined;
    root.classList.add('covered');
    root.replaceChildren(screen);
  }

  function stopWorker(): void {
    worker?.terminate();
    worker = undefined;
    isReading = false;
    waiting = undefined;
    growth = [];
    waitingSecond = undefined;
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
    notes = [];
    try {
      const making = prepared ?? makeWorker(root.dataset.worker ?? '');
      prepared = undefined;
      const made = await making;
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
    read(name, bytes);
  }

  function read(name: string, bytes: Uint8Array): void {
    isReading = true;
    const message: ToWorker = { type: 'open', name, bytes };
    const whole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
    worker?.postMessage(message, whole ? [bytes.buffer as ArrayBuffer] : []);
  }

  /** The same file again: it is read behind what is shown, which stays until the new one is ready. */
  function readAgain(message: Extract<ToWebview, { type: 'open' }>): void {
    growth = [];
    if (isReading) waiting = message;
    else read(message.name, bytesOf(message.bytes));
  }

  function readGrowth(name: string): void {
    if (isReading || growth.length === 0) return;
    isReading = true;
    worker?.postMessage({ type: 'grow', name, pieces: growth } satisfies ToWorker);
    growth = [];
  }

  function hear(name: string, message: FromWorker): void {
    switch (message.type) {
      case 'progress':
        loading?.show(message.phase, message.read, message.total, performance.now() - began);
        return;
      case 'failed':
        isReading = false;
        // A second run, or a file in the middle of being written, that cannot be read takes nothing away.
        if (view) view.say(message.message);
        else fail(name, message.message);
        readGrowth(name);
        return;
      case 'described':
        view?.showTouched(message.step, message.reads, message.writes);
        return;
      case 'users':
        view?.showUsers(message.block, message.uses);
        return;
      case 'inputs':
        view?.showInputs(message.row, message.inputs);
        return;
      case 'answers':
        if (!alone) view?.showAnswers(message.answers);
        return;
      case 'bytes':
        giveBytes?.(message.bytes);
        giveBytes = undefined;
        return;
      case 'opened': {
        isReading = false;
        showOpened(message.run);
        const next = waiting;
        waiting = undefined;
        const second = waitingSecond;
        waitingSecond = undefined;
        if (next) readAgain(next);
        else if (second) compare(second);
        else readGrowth(name);
        return;
      }
    }
  }

  function showOpened(run: Run): void {
    loading = undefined;
    const isFirst = view === undefined;
    const before = view;
    const comparing = run.timeline.parts.length > 1;
    if (comparing && !alone && before) {
      alone = before.run;
      aloneState = before.state();
    } else if (!comparing) alone = undefined;
    // Schedules have times of their own: what was chosen of the recorded run means nothing there.
    const state = before && !run.played ? carriedOver(before.state(), before.run, run) : undefined;
    const live = isUnfinished(run) && !isFirst;
    view = showRun(root, run, readTheme(), runHost(run), { state, live });
    before?.close(false);
    if (notes.length > 0 && !before) view.showNotes(notes);
    document.title = `${run.name} – Raceline`;
    // In the second one it goes wrong.
    if (run.played) view.selectHazard(run.hazards.findLastIndex(({ code }) => code === playedCode));
    if (comparing) return;
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
        related: hazard.related.map(({ file, line }) => ({ file, line })),
      })),
      ran: linesRun(run.trace),
    });
    askForAnswers(run);
    if (pendingMark) view.mark(pendingMark.file, pendingMark.line);
    if (pendingHazard >= 0) view.selectHazard(pendingHazard);
    pendingHazard = -1;
  }

  const runHost = (run: Run): RunHost => ({
    reveal: ({ file, line }) => host.post({ type: 'reveal', file, line, beside: true }),
    selected: (place) => host.post({ type: 'selected', file: place?.file ?? '', line: place?.line ?? 0 }),
    pick: () => host.post({ type: 'pickTrace' }),
    traces: host.traces,
    sources: pageSources(root),
    canKeepNotes: host.canKeepNotes,
    describe: (step) => worker?.postMessage({ type: 'describe', step } satisfies ToWorker),
    users: (block, programBlock) => worker?.postMessage({ type: 'users', block, programBlock } satisfies ToWorker),
    inputs: (row) => worker?.postMessage({ type: 'inputs', row } satisfies ToWorker),
    compare: (anchor) => void chooseComparison(anchor),
    align(by) {
      const known = alignments.find((one) => one === by);
      if (known) worker?.postMessage({ type: 'align', by: known } satisfies ToWorker);
    },
    answer: () => worker?.postMessage({ type: 'answer', trace: run.trace } satisfies ToWorker),
    play({ code, message, at }) {
      view?.say('Looking for a schedule.');
      isReading = true;
      playedCode = code;
      worker?.postMessage({ type: 'schedule', hazard: { code, message, at } } satisfies ToWorker);
    },
    keepNotes(list) {
      notes = list;
      host.post({ type: 'keepNotes', text: writeNotes(list) });
    },
    bytes: () =>
      new Promise((resolve, reject) => {
        giveBytes = resolve;
        if (worker) worker.postMessage({ type: 'bytes' } satisfies ToWorker);
        else reject(new Error('The trace is closed.'));
      }),
    save: ({ name, bytes }) => host.post({ type: 'save', name, bytes }),
    shown: () =>
      host.post({
        type: 'shown',
        name: run.name,
        slices: run.trace.deviceSlices.length + run.trace.hostSlices.length,
        hazards: run.hazards.length,
      }),
  });

  /** The other traces of the command line, or any file; while two are compared: back to one. */
  async function chooseComparison(anchor: HTMLElement): Promise<void> {
    if (alone) {
      stopComparing();
      return;
    }
    const { traces } = host;
    const names = (await traces?.names()) ?? [];
    if (!traces || names.length < 2) {
      host.post({ type: 'pickComparison' });
      return;
    }
    const place = anchor.getBoundingClientRect();
    const others = names.flatMap((name, i) =>
      i === traces.current ? [] : [{ words: name, act: () => traces.compare(i) }],
    );
    openMenu(
      'Compare with',
      [...others, 'line', { words: 'Another file…', act: () => host.post({ type: 'pickComparison' }) }],
      { x: place.left, y: place.bottom + 4 },
      anchor,
    );
  }

  function stopComparing(): void {
    const run = alone;
    if (!run || !view) return;
    const before = view;
    alone = undefined;
    worker?.postMessage({ type: 'alone' } satisfies ToWorker);
    const state = before.run.played ? aloneState : carriedOver(before.state(), before.run, run);
    view = showRun(root, run, readTheme(), runHost(run), { state });
    askForAnswers(run);
    before.close(false);
    document.title = `${run.name} – Raceline`;
  }

  /** Of a large run they are worked out when somebody asks; else once the run is on screen, not beside its first paint. */
  function askForAnswers({ trace }: Run): void {
    if (trace.deviceSlices.length + trace.hostSlices.length >= quicklyAnswered) return;
    const asking = view;
    // A message copies the columns, which is to wait until nothing is left to paint.
    requestAnimationFrame(() =>
      requestIdleCallback(
        () => {
          // The worker has this run no more where another is on its way: that one asks for its own.
          if (view === asking && !isReading) worker?.postMessage({ type: 'answer', trace } satisfies ToWorker);
        },
        { timeout: 500 },
      ),
    );
  }

  function compare(message: Extract<ToWebview, { type: 'compare' }>): void {
    if (isReading || (loading && !view)) {
      waitingSecond = message;
      return;
    }
    const first = alone ?? view?.run;
    if (!first || !worker) return;
    const [one, two] = message.titles ?? [];
    view?.say(`Reading ${message.name}.`);
    isReading = true;
    worker.postMessage({
      type: 'compare',
      first: {
        name: one?.name ?? first.name,
        note: (one?.note ?? '').replaceAll('`', ''),
        trace: first.trace,
        hazards: first.hazards,
      },
      second: {
        name: two?.name ?? message.name,
        note: (two?.note ?? '').replaceAll('`', ''),
        bytes: bytesOf(message.bytes),
      },
      by: 'start',
    } satisfies ToWorker);
  }

  host.listen((message: ToWebview) => {
    switch (message.type) {
      case 'open':
        if (view && (alone ?? view.run).name === message.name && worker) {
          stopComparing();
          readAgain(message);
        } else void open(message.name, bytesOf(message.bytes));
        return;
      case 'grown':
        if (view && (alone ?? view.run).name === message.name && worker) {
          stopComparing();
          growth.push(bytesOf(message.bytes));
          readGrowth(message.name);
        } else host.post({ type: 'whole' });
        return;
      case 'compare':
        compare(message);
        return;
      case 'notes':
        notes = parseNotes(message.text);
        view?.showNotes(notes);
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
