/**
 * A run on screen: puts state, layout, canvases and panels together. Every wish makes a new state; a state is painted once
 * a frame. Knows neither the host nor the worker beyond the calls that it is given.
 */
import type { Answers } from '../core/answers/answers.ts';
import { edgeOfMark } from '../core/timeline/edges.ts';
import { filterTimeline } from '../core/timeline/filter.ts';
import { byUrgency, findingMarks, headline, severityOf } from '../core/timeline/findings.ts';
import { drawnEdges, extentOf, hit, sameTarget, type Target } from '../core/timeline/hit.ts';
import { boxAt, type Lane, laneKey, type Layout, layOut, measuresFor, withPinned } from '../core/timeline/layout.ts';
import { timeText } from '../core/timeline/units.ts';
import { pan, span, toTime, toX, type View, zoomAt } from '../core/timeline/view.ts';
import type { TraceHazard } from '../core/trace/trace.ts';
import { bannersOf, describeRun, isUnfinished } from './banners.ts';
import { element } from './dom/element.ts';
import { makeLaneHeads } from './dom/laneHeads.ts';
import { type MenuEntry, openMenu } from './dom/menu.ts';
import { makePanel } from './dom/panel.ts';
import { askForNote, makeHelp, makeTooltip, openLaneList, showTable } from './dom/popups.ts';
import { makeStatusBar } from './dom/statusBar.ts';
import { makeToolbar } from './dom/toolbar.ts';
import { poolBox } from './draw/fault.ts';
import { wordsOf } from './draw/headers.ts';
import { minimapScale } from './draw/minimap.ts';
import { noteAt, placeOf } from './draw/overlay.ts';
import { lanesTop, type Scene } from './draw/scene.ts';
import type { Theme } from './draw/theme.ts';
import { chromeOf, drawingOf, type MadeFile, type PageSources, pictureOf, reportOf } from './exporting.ts';
import { makeFrame } from './frame.ts';
import type { TraceChoice } from './host.ts';
import { listenToKeys } from './keys.ts';
import type { BlockUse, Run } from './messages.ts';
import { makeMinimapBrush } from './minimapBrush.ts';
import { watchRatio } from './pixelRatio.ts';
import { listenToPointer } from './pointer.ts';
import { answerSections } from './state/answers.ts';
import { detailsOf, type Place, sourceOf, streamName } from './state/details.ts';
import * as lanes from './state/lanes.ts';
import { nextLane, nextSlice, otherEnd } from './state/navigation.ts';
import { inOrder, type Note } from './state/notes.ts';
import { differenceSections, rangeSections, summarySections } from './state/sections.ts';
import * as states from './state/state.ts';
import { rowsInView, tableColumns } from './state/tableRows.ts';
import { tooltipOf } from './tooltips.ts';

export interface RunHost {
  reveal(place: Place): void;
  pick(): void;
  /** Asks what a step touches; the answer comes to `showTouched`. */
  describe(step: number): void;
  /** Asks who uses a block; the answer comes to `showUsers`. */
  users(block: number, programBlock: number): void;
  /** Something was selected that comes from here; undefined: nothing, or its source is not known. */
  selected(place: Place | undefined): void;
  /** A second run is wanted; while there is one: no more. */
  compare(anchor: HTMLElement): void;
  align(by: string): void;
  /** Asks for the answers of the run; they come to `showAnswers`. */
  answer(): void;
  /** Shows two schedules of the run's program: as it is meant, and one in which the finding goes wrong. */
  play(hazard: TraceHazard): void;
  keepNotes(notes: readonly Note[]): void;
  save(file: MadeFile): void;
  /** The file of the run as it is on disk. */
  bytes(): Promise<Uint8Array>;
  /** The page's own bundles; undefined: they cannot be had here. */
  readonly sources?: PageSources;
  shown(): void;
  /** Whether notes go into a file beside the trace. */
  readonly canKeepNotes: boolean;
  readonly traces?: TraceChoice;
}

export interface RunView {
  readonly run: Run;
  setTheme(theme: Theme): void;
  mark(file: string, line: number): void;
  selectHazard(index: number): void;
  showTouched(step: number, reads: readonly string[], writes: readonly string[]): void;
  showUsers(block: number, uses: readonly BlockUse[]): void;
  showAnswers(answers: Answers): void;
  showNotes(notes: readonly Note[]): void;
  /** Read out, and shown for a moment: something took place that is not on the canvas. */
  say(text: string): void;
  /** The state, for the next view of the same run, tests and benchmarks. */
  state(): states.State;
  scene(): Scene;
  /** Changes the view and paints at once; returns when the pixels are there. For benchmarks. */
  paintNow(view: View): void;
  /** `clear`: what it shows goes too; else another view has taken its place. */
  close(clear?: boolean): void;
}

export interface ShowOptions {
  /** What was chosen of an earlier view of this run. */
  readonly state?: states.State;
  /** More of it is on its way. */
  readonly live?: boolean;
}

export function showRun(
  root: HTMLElement,
  run: Run,
  firstTheme: Theme,
  host: RunHost,
  options: ShowOptions = {},
): RunView {
  let theme = firstTheme;
  let state = options.state ?? states.initialState(run);
  /** The run with what a filter leaves of it: what is drawn, hit and walked. */
  let shown = filtered();
  const urgency = byUrgency(run.hazards);
  let hover: Target | undefined;
  let cursor: number | undefined;
  let layout: Layout;
  let narrow = false;
  let width = 1;
  let height = 1;
  // Asking the DOM for it would make the browser lay the page out in every frame.
  let panelWidth = root.clientWidth;
  let askedStep = -1;
  let askedBlock = -1;
  let announced = false;
  let answers: Answers | undefined;

  const frame = makeFrame();
  frame.setTheme(theme);
  const { overlay } = frame;
  const toolbar = makeToolbar({
    search: (text) => update(states.searchFor(state, run, text)),
    nextMatch: (by) => update(states.nextMatch(state, run, by)),
    filter: () => update(states.toggleFilter(state)),
    stepFinding: (by) => update(states.stepHazard(state, run, by)),
    range: () => update(states.toggleRange(state, run)),
    measure: () => update(states.toggleMeasure(state, run, undefined)),
    zoom: (factor) => zoomBy(factor),
    showAll: () => update(states.withView(state, run, run.timeline.bounds)),
    lanes: (anchor) => chooseLanes(anchor),
    compare: (anchor) => host.compare(anchor),
    more: (anchor) => openMore(anchor),
    leave: () => overlay.focus(),
  });
  const colorOf = (stream: number): string => theme.stream(run.timeline.slots[stream]!).line;
  const panel = makePanel({
    showFinding: (index) => update(states.selectHazard(state, run, index)),
    reveal: (place) => host.reveal(place),
    select: (target) => move(target),
    colorOf,
    showNote: (note) => update(states.withView(state, run, roomFor(note))),
    editNote: (note) => writeNote(note),
    addNote: () => addNote(),
    align: (by) => host.align(by),
  });
  const help = makeHelp();
  const status = makeStatusBar(() => help.showModal());
  const tooltip = makeTooltip();
  const brush = makeMinimapBrush((view) => update(states.withView(state, run, view)));
  const scrollbar = element('div', { class: 'scrollbar', hidden: true });
  const live = element('div', { class: 'unseen live', 'aria-live': 'polite', role: 'status' });
  overlay.tabIndex = 0;
  overlay.setAttribute('role', 'application');
  overlay.setAttribute('aria-roledescription', 'timeline');
  overlay.setAttribute('aria-label', describeRun(run));
  const heads = makeLaneHeads({
    toggle: (key) => toggleLane(key),
    pin: (key) => update(lanes.togglePin(state, key)),
    move: (key, by) => update(lanes.moveLane(state, layout, key, by)),
    hide: (key) => update({ ...state, hidden: states.toggled(state.hidden, key) }),
    menu: (key, anchor, place) => openMenu('Lane', laneMenu(key), place, anchor),
    enter(key) {
      overlay.focus();
      const box = layout.boxes.find(({ lane }) => laneKey(lane) === key);
      if (box) move(nextSlice(shown, { ...layout, boxes: [box] }, state.view, undefined, 1));
    },
    reveal: (box) => {
      if (layout.boxes.indexOf(box) >= layout.pinnedCount) setScroll(scrolledTo(state.scroll, box));
    },
    scroll: (by) => setScroll(state.scroll + by),
  });
  const stage = element(
    'div',
    { class: 'stage' },
    frame.base,
    overlay,
    heads.root,
    brush.root,
    scrollbar,
    tooltip.root,
    live,
  );
  const column = element(
    'main',
    { class: 'stage-column' },
    element('h1', { class: 'unseen' }, `Timeline of ${run.name}`),
    ...bannersOf(run, options.live === true),
    stage,
  );
  const hadFocus = root.contains(document.activeElement);
  root.classList.remove('covered');
  root.replaceChildren(element('header', {}, toolbar.root), column, panel.root, status.root, help);
  if (hadFocus) overlay.focus();
  panel.showRun(run, urgency);
  showSummary();
  panel.showDetails(undefined);
  panel.showNotes(state.notes, host.canKeepNotes);
  showSummary();
  const { traces } = host;
  // One name is no choice.
  void traces?.names().then((names) => names.length > 1 && toolbar.offer(names, traces.current, traces.open));

  function filtered(): Run {
    const { search, filter } = state;
    if (!filter || !search) return run;
    return { ...run, timeline: filterTimeline(run.timeline, run.trace, search.isMatch) };
  }

  // ---- one frame ----

  let due = 0;
  let stageDue = true;
  let panelKey = JSON.stringify([undefined, -1, undefined, undefined]);
  const request = (withStage: boolean): void => {
    stageDue ||= withStage;
    if (due === 0) due = requestAnimationFrame(paint);
  };

  const roomOf = (): number => {
    const measures = measuresFor(panelWidth);
    return height - measures.minimap - measures.axis - measures.findings;
  };

  function relayout(): void {
    const measures = measuresFor(panelWidth);
    narrow = measures.narrow;
    layout = layOut(shown.timeline, measures, { ...state, room: roomOf() });
    state = { ...state, scroll: clampScroll(state.scroll) };
    const scene = sceneNow();
    heads.show(layout, (box) => wordsOf(frame.pen(), scene, box), state.pinned);
  }

  // Whole pixels: half of one would blur every line of the lanes.
  const clampScroll = (scroll: number): number => Math.round(Math.max(0, Math.min(scroll, layout.height - roomOf())));

  function setScroll(wanted: number): void {
    const scroll = clampScroll(wanted);
    if (scroll !== state.scroll) update({ ...state, scroll });
  }

  function sceneNow(): Scene {
    const measures = measuresFor(panelWidth);
    const scale = { ...state.view, left: measures.header, width: Math.max(1, width - measures.header) };
    const kept: number[] = [];
    if (state.selection?.kind === 'edge') kept.push(state.selection.index);
    if (state.selection?.kind === 'held') kept.push(edgeOfMark(run.timeline.edges, state.selection.index));
    const { trace, timeline, hazards } = shown;
    const edges = drawnEdges(
      timeline,
      trace.marks,
      scale,
      kept.filter((edge) => edge >= 0),
    );
    const placed = withPinned(layout, state.scroll);
    return { ...state, trace, timeline, hazards, urgency, layout: placed, measures, scale, edges, width, height };
  }

  function paint(): void {
    due = 0;
    const scene = sceneNow();
    if (stageDue) {
      stageDue = false;
      frame.drawStage(scene);
      brush.show(state.view, minimapScale(scene), scene.measures.minimap);
      heads.place(lanesTop(scene), scene.measures.header, height, layout, state.scroll);
      pointer.sync();
      showScrollbar(scene);
    }
    frame.drawOverlay(scene, { hover, cursor });
    showFacts();
    if (!announced) {
      announced = true;
      host.shown();
    }
  }

  function showFacts(): void {
    toolbar.show({
      findings: run.hazards.length,
      finding: urgency.indexOf(state.hazard),
      term: state.search?.term ?? '',
      matches: state.search?.count ?? 0,
      match: state.match,
      filter: state.filter,
      range: state.range !== undefined,
      measure: state.measure !== undefined,
      comparing: run.timeline.parts.length > 1,
      hiddenLanes: state.hidden.size,
      narrow,
    });
    status.show({
      cursor,
      shown: span(state.view),
      slices: run.trace.deviceSlices.length + run.trace.hostSlices.length,
      waits: run.trace.counts.waits + run.trace.counts.hostWaits > 0,
      accesses: run.accesses,
      limits: run.trace.limits,
      narrow,
      live: options.live === true && isUnfinished(run),
    });
    const key = JSON.stringify([state.selection, state.hazard, state.range, state.measure]);
    if (key === panelKey) return;
    panelKey = key;
    showPanel();
  }

  function showSummary(): void {
    const two = run.timeline.parts.length > 1;
    const sections = [
      ...(two ? differenceSections(run) : []),
      ...summarySections(run),
      ...(answers ? answerSections(run, answers) : []),
    ];
    const canAsk = !two && !answers && run.trace.deviceSlices.length > 0;
    panel.showSummary(run, sections, canAsk ? () => host.answer() : undefined);
  }

  function showPanel(): void {
    panel.showFinding(state.hazard);
    const target = shownTarget();
    if (state.measure) {
      const { from, to } = state.measure;
      const text = timeText(Math.abs(to - from));
      panel.showSections(text, `${timeText(Math.min(from, to))} to ${timeText(Math.max(from, to))} · Esc ends it`, []);
      live.textContent = `Measured: ${text}`;
      return;
    }
    if (state.range) {
      panel.showRange(state.range, rangeSections(shown, state.range));
      return;
    }
    if (!target) {
      panel.showDetails(undefined);
      showSummary();
      host.selected(undefined);
      return;
    }
    const details = detailsOf(run, target);
    const hazard = target.kind === 'hazard' ? run.hazards[target.index] : undefined;
    const sign = hazard && { status: hazard.status, severity: severityOf(hazard) };
    const play = hazard && run.canPlay ? () => host.play(hazard) : undefined;
    panel.showDetails(details, sign, play);
    live.textContent = `${details.title}. ${details.note}. ${findingsOf(target)}`;
    host.selected(details.source);
    askedStep = details.step;
    if (askedStep >= 0) host.describe(askedStep);
    askedBlock = target.kind === 'block' ? target.index : (hazard?.block ?? -1);
    if (state.users.size > 0) update({ ...state, users: new Set() });
    if (askedBlock >= 0) host.users(askedBlock, run.trace.blocks.programBlock[askedBlock]!);
  }

  /** What is wrong with a slice or block, for the live region. */
  function findingsOf(target: Target): string {
    const about = run.hazards.filter(
      (hazard) =>
        (target.kind === 'device' && (hazard.firstSlice === target.index || hazard.secondSlice === target.index)) ||
        (target.kind === 'block' && hazard.block === target.index),
    );
    return about.map((hazard) => `Finding: ${headline(hazard.message)}.`).join(' ');
  }

  function showScrollbar(scene: Scene): void {
    const top = lanesTop(scene);
    const room = height - top;
    scrollbar.hidden = layout.height <= room;
    scrollbar.style.top = `${top + (state.scroll / layout.height) * room}px`;
    scrollbar.style.height = `${Math.max(16, (room / layout.height) * room)}px`;
  }

  // ---- wishes ----

  function update(next: states.State): void {
    if (next === state) return;
    const before = state;
    const target = shownTarget(next);
    state = next;
    const filterChanged = next.filter !== before.filter || (next.filter && next.search !== before.search);
    if (filterChanged) {
      shown = filtered();
      frame.forgetMinimap();
    }
    const lanesChanged = (['closed', 'opened', 'hidden', 'pinned', 'order'] as const).some(
      (key) => next[key] !== before[key],
    );
    if (lanesChanged || filterChanged) relayout();
    if (target && !sameTarget(target, shownTarget(before))) scrollTo(target);
    request(true);
  }

  /** Scrolls as little as possible so that a target's lanes are on screen. */
  function scrollTo(target: Target): void {
    const scene = { ...sceneNow(), layout };
    const places: { y: number; height: number }[] = [];
    if (target.kind === 'hazard') {
      const hazard = run.hazards[target.index]!;
      const block = hazard.block >= 0 ? poolBox(scene, hazard.block) : undefined;
      if (block) places.push({ y: block.y, height: Math.min(block.height, 60) });
      for (const slice of [hazard.secondSlice, hazard.firstSlice]) {
        const box = layout.streamBoxes.get(run.trace.deviceSlices.stream[slice]!);
        if (box) places.push(box);
      }
    } else {
      const place = placeOf({ ...scene, scroll: 0 }, 0, target);
      if (place) places.push(place);
    }
    let { scroll } = state;
    // The last one wins where not all fit: the streams say more than the block.
    for (const place of places) scroll = scrolledTo(scroll, place);
    state = { ...state, scroll: clampScroll(scroll) };
  }

  function scrolledTo(scroll: number, place: { readonly y: number; readonly height: number }): number {
    // Pinned lanes are always on screen.
    if (place.y < layout.pinnedHeight) return scroll;
    if (place.y < scroll + layout.pinnedHeight) return place.y - layout.pinnedHeight - 8;
    return place.y + place.height > scroll + roomOf() ? place.y + place.height - roomOf() + 8 : scroll;
  }

  function zoomBy(factor: number): void {
    const at = cursor ?? (state.view.start + state.view.end) / 2;
    update(states.withView(state, run, zoomAt(state.view, run.timeline.bounds, at, factor)));
  }

  const panBy = (share: number): void =>
    update(states.withView(state, run, pan(state.view, run.timeline.bounds, share * span(state.view))));

  const laneOf = (key: string): Lane | undefined => layout.boxes.find(({ lane }) => laneKey(lane) === key)?.lane;

  function toggleLane(key: string): void {
    const lane = laneOf(key);
    if (lane?.kind === 'group' || lane?.kind === 'part')
      update({ ...state, closed: states.toggled(state.closed, key) });
    if (lane?.kind === 'host') update({ ...state, opened: states.toggled(state.opened, key) });
  }

  function laneMenu(key: string): MenuEntry[] {
    const lane = laneOf(key);
    if (!lane) return [];
    if (!lanes.isMovable(lane)) return [{ words: 'Open or close', act: () => toggleLane(key) }];
    const move = (by: number): void => {
      update(lanes.moveLane(state, layout, key, by));
      heads.focus(key);
    };
    return [
      {
        words: state.pinned.includes(key) ? 'Unpin' : 'Pin to the top',
        key: 'P',
        act: () => update(lanes.togglePin(state, key)),
      },
      { words: 'Move up', key: 'Alt ↑', act: () => move(-1) },
      { words: 'Move down', key: 'Alt ↓', act: () => move(1) },
      'line',
      ...(lane.kind === 'host' ? [{ words: 'All rows, or few', act: () => toggleLane(key) }] : []),
      { words: 'Hide', key: 'Del', act: () => update({ ...state, hidden: states.toggled(state.hidden, key) }) },
      { words: 'Choose lanes…', key: 'L', act: () => chooseLanes() },
    ];
  }

  function chooseLanes(anchor = toolbar.root.querySelector<HTMLElement>('[aria-haspopup]') ?? toolbar.root): void {
    const now = () => {
      const all = layOut(run.timeline, measuresFor(panelWidth), {
        ...state,
        closed: new Set(),
        opened: new Set(),
        hidden: new Set(),
      });
      const two = run.timeline.parts.length > 1;
      return all.boxes
        .filter(({ lane }) => lanes.isMovable(lane))
        .map(({ lane }) => {
          const key = laneKey(lane);
          const part = partOf(lane);
          const name = lanes.laneName(lane) + (two ? `, ${run.timeline.parts[part]?.name}` : '');
          return { key, name, shown: !state.hidden.has(key), pinned: state.pinned.includes(key) };
        });
    };
    openLaneList(column, anchor, now, {
      toggle: (key) => update({ ...state, hidden: states.toggled(state.hidden, key) }),
      pin: (key) => update(lanes.togglePin(state, key)),
      move: (key, by) => update(lanes.moveLane(state, layout, key, by)),
      showAll: () => update({ ...state, hidden: new Set() }),
    });
  }

  function openMore(anchor: HTMLElement): void {
    const place = anchor.getBoundingClientRect();
    const { sources } = host;
    const two = run.timeline.parts.length > 1;
    const shade = theme.kind === 'dark' || theme.kind === 'highContrast' ? 'dark' : 'light';
    const entries: MenuEntry[] = [
      { words: 'The view as PNG', act: () => make(() => pictureOf(run.name, [frame.base, overlay])) },
      { words: 'The view as SVG', act: () => make(async () => drawingOf(run, state.view, shade)) },
      {
        words: 'A report in HTML',
        disabled: !sources || two,
        act: () => make(async () => reportOf(run.name, await host.bytes(), sources!)),
      },
      { words: 'Chrome JSON, for Perfetto', act: () => make(() => chromeOf(run)) },
      'line',
      { words: 'What is shown as a table', key: 'T', act: openTable },
      { words: 'Add a note…', key: 'B', act: addNote },
      { words: 'Range statistics', key: 'R', act: () => update(states.toggleRange(state, run)) },
      { words: 'Measure', key: 'M', act: () => update(states.toggleMeasure(state, run, undefined)) },
      {
        words: 'Only matches',
        key: 'O',
        disabled: !state.search,
        checked: state.filter,
        act: () => update(states.toggleFilter(state)),
      },
      'line',
      { words: 'Open a trace…', act: () => host.pick() },
      { words: 'Keys', key: '?', act: () => help.showModal() },
    ];
    openMenu('More', entries, { x: place.right - 250, y: place.bottom + 4 }, anchor);
  }

  async function make(file: () => Promise<MadeFile>): Promise<void> {
    say('Making the file.');
    try {
      const made = await file();
      host.save(made);
      say(`${made.name} is ready.`);
    } catch (error) {
      say((error as Error).message);
    }
  }

  function openTable(): void {
    const { rows, more } = rowsInView(shown, layout, state.view);
    const note = `${timeText(state.view.start)} to ${timeText(state.view.end)}${more ? '. Not all: zoom in to read the rest.' : ''}`;
    const listed = rows.map(({ target, cells }) => ({ cells, act: () => move(target) }));
    showTable('What is shown', note, tableColumns, listed);
  }

  // ---- notes ----

  function addNote(): void {
    const { range } = state;
    const target = shownTarget();
    const extent =
      range ??
      (target && (target.kind === 'hazard' ? run.hazards[target.index]! : extentOf(run.trace, run.timeline, target)));
    const at = cursor ?? (state.view.start + state.view.end) / 2;
    writeNote({ start: extent?.start ?? at, end: extent?.end ?? at, text: '' });
  }

  function writeNote(note: Note): void {
    const where = note.end > note.start ? `${timeText(note.start)} to ${timeText(note.end)}` : timeText(note.start);
    askForNote(`Note, ${where}`, note.text, (text) => {
      const others = state.notes.filter((one) => one !== note);
      const notes = text === '' ? others : inOrder([...others, { ...note, text }]);
      if (text === '' && others.length === state.notes.length) return;
      showNotes(notes);
      host.keepNotes(notes);
      say(text === '' ? 'The note is gone.' : 'The note is kept.');
    });
  }

  function showNotes(notes: readonly Note[]): void {
    update({ ...state, notes });
    panel.showNotes(notes, host.canKeepNotes);
  }

  function roomFor({ start, end }: Note): View {
    const length = Math.max((end - start) * 1.6, span(state.view) / 4);
    const middle = (start + end) / 2;
    return { start: middle - length / 2, end: middle + length / 2 };
  }

  function say(text: string): void {
    live.textContent = text;
  }

  // ---- what is under the pointer ----

  function targetAt(x: number, y: number): Target | undefined {
    const scene = sceneNow();
    const top = lanesTop(scene);
    if (x < scene.scale.left) return undefined;
    if (y >= top) return hit(scene, x, y - top + state.scroll);
    if (y < top - scene.measures.findings) return undefined;
    const mark = findingMarks(run.hazards, urgency, scene.scale).find(
      (one) => x >= one.x - 2 && x <= Math.max(one.end, one.x + one.room - 10),
    );
    return mark && { kind: 'hazard', index: nextOf(mark.hazards) };
  }

  /** A click on a mark of several findings goes through them. */
  function nextOf(hazards: readonly number[]): number {
    const at = hazards.indexOf(state.hazard);
    return hazards[(at + 1) % hazards.length]!;
  }

  /** The time at a place; of something that begins or ends within a few pixels, exactly that. */
  function momentAt(x: number, y: number): number {
    const { scale } = sceneNow();
    const target = targetAt(x, y);
    if (target && target.kind !== 'hazard') {
      const { start, end } = extentOf(run.trace, run.timeline, target);
      for (const time of [start, end]) if (Math.abs(toX(scale, time) - x) <= 6) return time;
    }
    return toTime(scale, Math.max(scale.left, x));
  }

  function reveal(target: Target | undefined): void {
    const place = target && sourceOf(run, target);
    if (place) host.reveal(place);
    else if (target) say('The source line is not known.');
  }

  function shownTarget(of = state): Target | undefined {
    return of.selection ?? (of.hazard >= 0 ? { kind: 'hazard', index: of.hazard } : undefined);
  }

  function openTargetMenu(target: Target | undefined, time: number, place: { x: number; y: number }): void {
    const entries: MenuEntry[] = [];
    if (target) {
      const extent = target.kind === 'hazard' ? run.hazards[target.index]! : extentOf(run.trace, run.timeline, target);
      update(states.select(state, run, target));
      entries.push(
        { words: 'Show in the source', key: 'Enter', disabled: !sourceOf(run, target), act: () => reveal(target) },
        { words: 'Fit', key: 'F', act: () => update(states.fitSelection(state, run)) },
        {
          words: 'Range over it',
          key: 'R',
          act: () => update({ ...state, range: { start: extent.start, end: extent.end } }),
        },
        {
          words: 'Measure from its end',
          key: 'M',
          act: () => update(states.toggleMeasure({ ...state, measure: undefined }, run, extent.end)),
        },
        { words: 'Note…', key: 'B', act: () => writeNote({ start: extent.start, end: extent.end, text: '' }) },
      );
    } else
      entries.push(
        {
          words: 'Measure from here',
          key: 'M',
          act: () => update(states.toggleMeasure({ ...state, measure: undefined }, run, time)),
        },
        { words: 'Note here…', key: 'B', act: () => writeNote({ start: time, end: time, text: '' }) },
        { words: 'Show the whole run', key: '0', act: () => update(states.withView(state, run, run.timeline.bounds)) },
      );
    openMenu('Timeline', entries, place, overlay);
  }

  let tooltipTimer = 0;
  const hideTooltip = (): void => {
    tooltip.hide();
    clearTimeout(tooltipTimer);
  };
  const showTooltip = (target: Target, x: number, y: number): void =>
    tooltip.show(tooltipOf(run, target), x, y, { width, height });

  // ---- pointer, keys ----

  const pointer = listenToPointer(
    overlay,
    () => {
      const scene = sceneNow();
      return {
        scale: scene.scale,
        bounds: run.timeline.bounds,
        height,
        axis: scene.measures.minimap,
        axisHeight: scene.measures.axis,
      };
    },
    {
      view: (view) => update(states.withView(state, run, view)),
      scroll: (by) => setScroll(state.scroll + by),
      pan: (pixels) => panBy(pixels / Math.max(1, width - measuresFor(panelWidth).header)),
      hover(x, y) {
        const scene = sceneNow();
        cursor = x >= scene.scale.left ? toTime(scene.scale, x) : undefined;
        if (state.measure && !state.measure.isFixed) update(states.measureTo(state, momentAt(x, y)));
        const target = targetAt(x, y);
        const note = noteAt(scene, x, y);
        if (!sameTarget(target, hover) || !target) {
          hideTooltip();
          if (target) tooltipTimer = window.setTimeout(() => showTooltip(target, x, y), 300);
          if (note) tooltip.show({ title: 'Note', note: '', lines: [note.text] }, x, y, { width, height });
        }
        hover = target;
        overlay.style.cursor = target || note ? 'pointer' : '';
        request(false);
      },
      leave() {
        hover = undefined;
        cursor = undefined;
        hideTooltip();
        request(false);
      },
      click(x, y) {
        const scene = sceneNow();
        const note = noteAt(scene, x, y);
        if (note) return writeNote(note);
        if (x < scene.scale.left || y < scene.measures.minimap + scene.measures.axis) return;
        const box = y >= lanesTop(scene) ? boxAt(scene.layout, y - lanesTop(scene) + state.scroll) : undefined;
        if (box?.lane.kind === 'group' || box?.lane.kind === 'part') return toggleLane(laneKey(box.lane));
        if (state.measure && !state.measure.isFixed) {
          update(states.toggleMeasure(states.measureTo(state, momentAt(x, y)), run, undefined));
          return;
        }
        update(states.select(state, run, targetAt(x, y)));
      },
      doubleClick: (x, y) => reveal(targetAt(x, y)),
      range: (range) => update({ ...state, range }),
      menu: (x, y, place) => openTargetMenu(targetAt(x, y), momentAt(x, y), place),
    },
  );

  const forgetKeys = listenToKeys(overlay, {
    zoom: zoomBy,
    pan: panBy,
    slice: (by) => move(nextSlice(shown, layout, state.view, state.selection, by)),
    lane: (by) => move(nextLane(shown, layout, state.view, state.selection, by)),
    source: () => reveal(shownTarget()),
    fit: () => update(states.fitSelection(state, run)),
    all: () => update(states.withView(state, run, run.timeline.bounds)),
    otherEnd: (by) => move(otherEnd(shown, state.selection, by)),
    finding: (by) => update(states.stepHazard(state, run, by)),
    search: () => toolbar.focusSearch(),
    match: (by) => update(states.nextMatch(state, run, by)),
    filter: () => update(states.toggleFilter(state)),
    range: () => update(states.toggleRange(state, run)),
    measure: () => update(states.toggleMeasure(state, run, cursor)),
    note: addNote,
    lanes: () => chooseLanes(),
    pin() {
      const key = laneOfSelection();
      if (key) update(lanes.togglePin(state, key));
    },
    compare: () => host.compare(toolbar.root),
    table: openTable,
    exports: () => openMore(toolbar.root.querySelector<HTMLElement>('[data-more]') ?? toolbar.root),
    menu() {
      const target = shownTarget();
      const place = target && placeOf(sceneNow(), lanesTop(sceneNow()) - state.scroll, target);
      const box = overlay.getBoundingClientRect();
      const middle = (state.view.start + state.view.end) / 2;
      openTargetMenu(target, middle, {
        x: box.left + (place ? place.x + 12 : width / 2),
        y: box.top + (place ? place.y + place.height : height / 2),
      });
    },
    back: () => update(states.back(state)),
    help: () => help.showModal(),
    scroll: (pages) => setScroll(state.scroll + pages * roomOf()),
  });

  /** The lane in which the selection lies. */
  function laneOfSelection(): string | undefined {
    const target = state.selection;
    if (!target) return undefined;
    const { trace } = run;
    const stream =
      target.kind === 'device'
        ? trace.deviceSlices.stream[target.index]!
        : target.kind === 'held'
          ? trace.marks.stream[target.index]!
          : -1;
    if (stream >= 0) return `stream ${stream}`;
    if (target.kind === 'host') return `host ${trace.hostSlices.thread[target.index]!}`;
    const box = target.kind === 'block' ? poolBox({ ...sceneNow(), layout }, target.index) : undefined;
    return box && laneKey(box.lane);
  }

  function move(target: Target | undefined): void {
    if (!target) return;
    if (state.measure && !state.measure.isFixed && target.kind !== 'hazard') {
      const { start, end } = extentOf(run.trace, run.timeline, target);
      state = states.measureTo(state, start >= state.measure.from ? start : end);
    }
    update(states.select(state, run, target, true));
    const place = placeOf(sceneNow(), lanesTop(sceneNow()) - state.scroll, target);
    hover = undefined;
    hideTooltip();
    // The tooltip follows the keyboard's focus too.
    if (place && document.activeElement === overlay)
      tooltipTimer = window.setTimeout(
        () => showTooltip(target, Math.max(place.x, measuresFor(panelWidth).header + 4), place.y + place.height),
        300,
      );
  }

  // ---- size ----

  function measure(): void {
    const next = { width: stage.clientWidth, height: stage.clientHeight };
    const ratio = window.devicePixelRatio || 1;
    if (next.width === 0 || next.height === 0) return;
    ({ width, height } = next);
    panelWidth = root.clientWidth;
    frame.resize(width, height, ratio);
    relayout();
    stageDue = true;
    // Painted at once: a canvas that was resized is empty until then.
    cancelAnimationFrame(due);
    paint();
  }
  layout = layOut(shown.timeline, measuresFor(panelWidth), state);
  const observer = new ResizeObserver(measure);
  observer.observe(stage);
  const stopWatching = watchRatio(measure);
  measure();

  return {
    run,
    setTheme(next) {
      theme = next;
      frame.setTheme(theme);
      panelKey = '';
      showSummary();
      request(true);
    },
    mark: (file, line) => update(states.markLine(state, run, file, line)),
    selectHazard: (index) => update(states.selectHazard(state, run, index)),
    showTouched(step, reads, writes) {
      if (step === askedStep) panel.showTouched(reads, writes);
    },
    showUsers(block, uses) {
      if (block !== askedBlock) return;
      const { deviceSlices: slices, strings } = run.trace;
      const kinds = new Map(uses.map(({ step, write }) => [step, write]));
      const found: number[] = [];
      if (kinds.size > 0) for (let i = 0; i < slices.length; i++) if (kinds.has(slices.step[i]!)) found.push(i);
      found.sort((a, b) => slices.start[a]! - slices.start[b]!);
      panel.showUsers(
        found.slice(0, 50).map((slice) => ({
          name: `${strings[slices.name[slice]!] || 'kernel'} on ${streamName(run, slices.stream[slice]!)} ${kinds.get(slices.step[slice]!) ? 'writes' : 'reads'}`,
          gpu: timeText(slices.start[slice]!),
          target: { kind: 'device', index: slice },
        })),
      );
      // A finding frames its own two accesses.
      if (state.selection?.kind === 'block') update({ ...state, users: new Set(found) });
    },
    showAnswers(given) {
      answers = given;
      showSummary();
      panelKey = '';
      request(false);
    },
    showNotes,
    say,
    state: () => state,
    scene: sceneNow,
    paintNow(view) {
      state = states.withView(state, run, view);
      stageDue = true;
      cancelAnimationFrame(due);
      paint();
      // Reading a pixel back makes the browser finish what it was told to draw.
      frame.base.getContext('2d')!.getImageData(0, 0, 1, 1);
    },
    close(clear = true) {
      cancelAnimationFrame(due);
      clearTimeout(tooltipTimer);
      observer.disconnect();
      stopWatching();
      forgetKeys();
      if (clear) root.replaceChildren();
    },
  };
}

function partOf(lane: Lane): number {
  switch (lane.kind) {
    case 'host':
      return lane.host.part;
    case 'stream':
      return lane.stream.part;
    case 'pool':
      return lane.pool.part;
    case 'totals':
      return lane.totals.part;
    default:
      return 0;
  }
}
