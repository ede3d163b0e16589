/**
 * A run on screen: puts state, layout, canvases and panels together. Every wish makes a new state; a state is painted once
 * a frame. Knows neither the host nor the worker beyond the calls that it is given.
 */
import { edgeOfMark } from '../core/timeline/edges.ts';
import { filterTimeline } from '../core/timeline/filter.ts';
import { byUrgency } from '../core/timeline/findings.ts';
import { drawnEdges, extentOf, sameTarget, type Target } from '../core/timeline/hit.ts';
import { boxAt, laneKey, type Layout, layOut, measuresFor, withPinned } from '../core/timeline/layout.ts';
import { pan, span, toTime, zoomAt } from '../core/timeline/view.ts';
import { bannersOf, describeRun } from './banners.ts';
import { showBars } from './bars.ts';
import { element } from './dom/element.ts';
import { makeLaneHeads } from './dom/laneHeads.ts';
import { openMenu } from './dom/menu.ts';
import { makePanel } from './dom/panel.ts';
import { makeHelp, makeTooltip } from './dom/popups.ts';
import { makeStatusBar } from './dom/statusBar.ts';
import { makeToolbar } from './dom/toolbar.ts';
import { wordsOf } from './draw/headers.ts';
import { minimapScale } from './draw/minimap.ts';
import { noteAt, placeOf } from './draw/overlay.ts';
import { lanesTop, type Scene } from './draw/scene.ts';
import type { Theme } from './draw/theme.ts';
import { makeFacts } from './facts.ts';
import { makeFrame } from './frame.ts';
import { listenToKeys } from './keys.ts';
import { laneOfTarget, makeLaneWishes } from './laneWishes.ts';
import { type MenuWishes, openTable, placeEntries, runEntries } from './menus.ts';
import type { Run } from './messages.ts';
import { makeMinimapBrush } from './minimapBrush.ts';
import { makeNotice } from './notice.ts';
import { makeNoteWishes } from './noteWishes.ts';
import { watchRatio } from './pixelRatio.ts';
import { listenToPointer } from './pointer.ts';
import type { RunHost, RunStage, RunView, ShowOptions } from './runHost.ts';
import { clampScroll, scrolledTo, scrolledToTarget } from './scrolling.ts';
import { makeSearching } from './searching.ts';
import { sourceOf } from './state/details.ts';
import { markLine } from './state/marks.ts';
import { nextLane, nextSlice, otherEnd } from './state/navigation.ts';
import type { Note } from './state/notes.ts';
import * as states from './state/state.ts';
import { tooltipOf } from './tooltips.ts';
import { momentAt, targetAt } from './underPointer.ts';

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
  let announced = false;

  const notice = makeNotice();
  const at: RunStage = {
    run,
    host,
    state: () => state,
    update: (next) => update(next),
    shown: () => shown,
    layout: () => layout,
    scene: () => sceneNow(),
    panelWidth: () => panelWidth,
    cursor: () => cursor,
    say: notice.say,
    read: (text) => {
      live.textContent = text;
    },
  };
  const searching = makeSearching(at);
  const laneWishes = makeLaneWishes(
    at,
    () => toolbar.root.querySelector<HTMLElement>('[aria-haspopup]') ?? toolbar.root,
    (key) => heads.focus(key),
  );
  const notes = makeNoteWishes(at, (list) => showNotes(list));
  const menus: MenuWishes = {
    notes,
    layers: () => [frame.base, overlay],
    theme: () => theme,
    move: (target) => move(target),
    reveal: (target) => reveal(target),
    help: () => help.showModal(),
  };

  const frame = makeFrame();
  frame.setTheme(theme);
  const { overlay } = frame;
  const toolbar = makeToolbar({
    search: searching.search,
    nextMatch: searching.nextMatch,
    filter: () => update(states.toggleFilter(state)),
    stepFinding: (by) => update(states.stepHazard(state, run, by)),
    range: () => update(states.toggleRange(state, run)),
    measure: () => update(states.toggleMeasure(state, run, undefined)),
    zoom: (factor) => zoomBy(factor),
    showAll: () => update(states.withView(state, run, run.timeline.bounds)),
    lanes: laneWishes.choose,
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
    showNote: (note) => update(states.withView(state, run, notes.roomFor(note))),
    editNote: notes.write,
    addNote: notes.add,
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
    ...laneWishes,
    menu: (key, anchor, place) => openMenu('Lane', laneWishes.menu(key), place, anchor),
    enter(key) {
      overlay.focus();
      const box = layout.boxes.find(({ lane }) => laneKey(lane) === key);
      if (box) move(nextSlice(shown, { ...layout, boxes: [box] }, state.view, undefined, 1));
    },
    reveal: (box) => {
      if (layout.boxes.indexOf(box) >= layout.pinnedCount) setScroll(scrolledTo(state.scroll, box, layout, roomOf()));
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
    notice.root,
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
  panel.showNotes(state.notes, host.canKeepNotes);
  const facts = makeFacts(at, panel);
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
    state = { ...state, scroll: clampScroll(state.scroll, layout, roomOf()) };
    const scene = sceneNow();
    heads.show(layout, (box) => wordsOf(frame.pen(), scene, box), state.pinned);
  }

  function setScroll(wanted: number): void {
    const scroll = clampScroll(wanted, layout, roomOf());
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
    const live = options.live === true;
    showBars(toolbar, status, { run, state, urgency, cursor, narrow, live });
    facts.show();
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
    const target = states.targetOf(next);
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
    if (target && !sameTarget(target, states.targetOf(before))) scrollTo(target);
    request(true);
  }

  /** Scrolls as little as possible so that a target's lanes are on screen. */
  function scrollTo(target: Target): void {
    state = { ...state, scroll: scrolledToTarget(run, { ...sceneNow(), layout }, target, roomOf()) };
  }

  function zoomBy(factor: number): void {
    const at = cursor ?? (state.view.start + state.view.end) / 2;
    update(states.withView(state, run, zoomAt(state.view, run.timeline.bounds, at, factor)));
  }

  const panBy = (share: number): void =>
    update(states.withView(state, run, pan(state.view, run.timeline.bounds, share * span(state.view))));

  function openMore(anchor: HTMLElement): void {
    const place = anchor.getBoundingClientRect();
    openMenu('More', runEntries(at, menus), { x: place.right - 250, y: place.bottom + 4 }, anchor);
  }

  function openTargetMenu(target: Target | undefined, time: number, place: { x: number; y: number }): void {
    if (target) update(states.select(state, run, target));
    openMenu('Timeline', placeEntries(at, menus, target, time), place, overlay);
  }

  function showNotes(list: readonly Note[]): void {
    update({ ...state, notes: list });
    panel.showNotes(list, host.canKeepNotes);
  }

  // ---- what is under the pointer ----

  function reveal(target: Target | undefined): void {
    const place = target && sourceOf(run, target);
    if (place) host.reveal(place);
    else if (target) notice.say('The source line is not known.');
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
        if (state.measure && !state.measure.isFixed) update(states.measureTo(state, momentAt(run, sceneNow(), x, y)));
        const target = targetAt(scene, x, y);
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
        if (note) return notes.write(note);
        if (x < scene.scale.left || y < scene.measures.minimap + scene.measures.axis) return;
        const box = y >= lanesTop(scene) ? boxAt(scene.layout, y - lanesTop(scene) + state.scroll) : undefined;
        if (box?.lane.kind === 'group' || box?.lane.kind === 'part') return laneWishes.toggle(laneKey(box.lane));
        if (state.measure && !state.measure.isFixed) {
          update(states.toggleMeasure(states.measureTo(state, momentAt(run, sceneNow(), x, y)), run, undefined));
          return;
        }
        update(states.select(state, run, targetAt(sceneNow(), x, y)));
      },
      doubleClick: (x, y) => reveal(targetAt(sceneNow(), x, y)),
      range: (range) => update({ ...state, range }),
      menu: (x, y, place) => openTargetMenu(targetAt(sceneNow(), x, y), momentAt(run, sceneNow(), x, y), place),
    },
  );

  const forgetKeys = listenToKeys(overlay, {
    zoom: zoomBy,
    pan: panBy,
    slice: (by) => move(nextSlice(shown, layout, state.view, state.selection, by)),
    lane: (by) => move(nextLane(shown, layout, state.view, state.selection, by)),
    source: () => reveal(states.targetOf(state)),
    fit: () => update(states.fitSelection(state, run)),
    all: () => update(states.withView(state, run, run.timeline.bounds)),
    otherEnd: (by) => move(otherEnd(shown, state.selection, by)),
    finding: (by) => update(states.stepHazard(state, run, by)),
    search: () => toolbar.focusSearch(),
    match: searching.nextMatch,
    filter: () => update(states.toggleFilter(state)),
    range: () => update(states.toggleRange(state, run)),
    measure: () => update(states.toggleMeasure(state, run, cursor)),
    note: notes.add,
    lanes: () => laneWishes.choose(toolbar.root.querySelector<HTMLElement>('[aria-haspopup]') ?? toolbar.root),
    pin() {
      const key = state.selection && laneOfTarget(run, { ...sceneNow(), layout }, state.selection);
      if (key) laneWishes.pin(key);
    },
    compare: () => host.compare(toolbar.root),
    table: () => openTable(at, menus),
    exports: () => openMore(toolbar.root.querySelector<HTMLElement>('[data-more]') ?? toolbar.root),
    menu() {
      const target = states.targetOf(state);
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
      facts.again();
      request(true);
    },
    mark: (file, line) => update(markLine(state, run, file, line)),
    selectHazard: (index) => update(states.selectHazard(state, run, index)),
    showTouched: facts.showTouched,
    showUsers: facts.showUsers,
    showInputs: facts.showInputs,
    showAnswers: facts.showAnswers,
    showNotes,
    say: notice.say,
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
      notice.close();
      searching.close();
      observer.disconnect();
      stopWatching();
      forgetKeys();
      if (clear) root.replaceChildren();
    },
  };
}
