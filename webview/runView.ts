/**
 * A run on screen: puts state, layout, canvases and panels together. Every wish makes a new state; a state is painted once
 * a frame. Knows neither the host nor the worker beyond the calls that it is given.
 */
import { edgeOfMark } from '../core/timeline/edges.ts';
import { byUrgency, findingMarks, headline, plain, severityOf } from '../core/timeline/findings.ts';
import { drawnEdges, extentOf, hit, sameTarget, type Target } from '../core/timeline/hit.ts';
import { boxAt, laneKey, type Layout, layOut, measuresFor } from '../core/timeline/layout.ts';
import { timeText } from '../core/timeline/units.ts';
import { pan, span, toTime, type View, zoomAt } from '../core/timeline/view.ts';
import { element } from './dom/element.ts';
import { makePanel } from './dom/panel.ts';
import { makeHelp, makeTooltip, openLaneList } from './dom/popups.ts';
import { banner } from './dom/screens.ts';
import { makeStatusBar } from './dom/statusBar.ts';
import { makeToolbar } from './dom/toolbar.ts';
import { poolBox } from './draw/fault.ts';
import { wordsOf } from './draw/headers.ts';
import { minimapScale } from './draw/minimap.ts';
import { placeOf } from './draw/overlay.ts';
import { lanesTop, type Scene } from './draw/scene.ts';
import type { Theme } from './draw/theme.ts';
import { makeFrame } from './frame.ts';
import type { TraceChoice } from './host.ts';
import { listenToKeys } from './keys.ts';
import type { Run } from './messages.ts';
import { makeMinimapBrush } from './minimapBrush.ts';
import { listenToPointer } from './pointer.ts';
import { detailsOf, type Place, placeText, sourceOf, streamName } from './state/details.ts';
import { nextLane, nextSlice, otherEnd } from './state/navigation.ts';
import * as states from './state/state.ts';
import { statisticsOf } from './state/statistics.ts';

export interface RunHost {
  reveal(place: Place): void;
  pick(): void;
  /** Asks what a step touches; the answer comes to `showTouched`. */
  describe(step: number): void;
  shown(): void;
  readonly traces?: TraceChoice;
}

export interface RunView {
  setTheme(theme: Theme): void;
  mark(file: string, line: number): void;
  selectHazard(index: number): void;
  showTouched(step: number, reads: readonly string[], writes: readonly string[]): void;
  /** The state, for tests and benchmarks. */
  state(): states.State;
  scene(): Scene;
  /** Changes the view and paints at once; returns when the pixels are there. For benchmarks. */
  paintNow(view: View): void;
  close(): void;
}

export function showRun(root: HTMLElement, run: Run, firstTheme: Theme, host: RunHost): RunView {
  let theme = firstTheme;
  let state = states.initialState(run);
  const urgency = byUrgency(run.hazards);
  let hover: Target | undefined;
  let cursor: number | undefined;
  let layout: Layout;
  let narrow = false;
  let width = 1;
  let height = 1;
  // Asking the DOM for it would make the browser lay the page out in every frame.
  let panelWidth = root.clientWidth;
  let asked = -1;
  let announced = false;

  const frame = makeFrame();
  frame.setTheme(theme);
  const toolbar = makeToolbar({
    search: (text) => update(states.searchFor(state, run, text)),
    nextMatch: (by) => update(states.nextMatch(state, run, by)),
    stepFinding: (by) => update(states.stepHazard(state, run, by)),
    range: () => update(states.toggleRange(state, run)),
    zoom: (factor) => zoomBy(factor),
    showAll: () => update(states.withView(state, run, run.timeline.bounds)),
    lanes: (anchor) => chooseLanes(anchor),
    open: () => host.pick(),
    leave: () => frame.overlay.focus(),
  });
  const panel = makePanel({
    showFinding: (index) => update(states.selectHazard(state, run, index)),
    reveal: (place) => host.reveal(place),
  });
  const help = makeHelp();
  const status = makeStatusBar(() => help.showModal());
  const tooltip = makeTooltip();
  const brush = makeMinimapBrush((view) => update(states.withView(state, run, view)));
  const scrollbar = element('div', { class: 'scrollbar', hidden: true });
  const live = element('div', { class: 'unseen live', 'aria-live': 'polite', role: 'status' });
  const { overlay } = frame;
  overlay.tabIndex = 0;
  overlay.setAttribute('role', 'application');
  overlay.setAttribute('aria-roledescription', 'timeline');
  overlay.setAttribute('aria-label', describeRun(run));
  // The lanes for those who cannot see them: the canvas is one picture to a screen reader.
  const laneNames = element('ul', { class: 'unseen lane-names', 'aria-label': 'Lanes' });
  const stage = element(
    'div',
    { class: 'stage' },
    frame.base,
    overlay,
    brush.root,
    scrollbar,
    tooltip.root,
    live,
    laneNames,
  );
  const banners = bannersOf(run);
  const column = element('div', { class: 'stage-column' }, ...banners, stage);
  root.classList.remove('covered');
  root.replaceChildren(toolbar.root, column, panel.root, status.root, help);
  panel.showRun(run, urgency);
  const { traces } = host;
  // One name is no choice.
  void traces?.names().then((names) => names.length > 1 && toolbar.offer(names, traces.current, traces.open));

  // ---- one frame ----

  let due = 0;
  let stageDue = true;
  let panelKey = '';
  const request = (withStage: boolean): void => {
    stageDue ||= withStage;
    if (due === 0) due = requestAnimationFrame(paint);
  };

  function relayout(): void {
    const measures = measuresFor(panelWidth);
    narrow = measures.narrow;
    layout = layOut(run.timeline, measures, {
      ...state,
      room: height - measures.minimap - measures.axis - measures.findings,
    });
    state = { ...state, scroll: clampScroll(state.scroll) };
    const scene = sceneNow();
    const names = layout.boxes.map((box) => wordsOf(frame.pen(), scene, box));
    laneNames.replaceChildren(...names.map(({ name, note }) => element('li', {}, note ? `${name}: ${note}` : name)));
  }

  function clampScroll(scroll: number): number {
    const measures = measuresFor(panelWidth);
    const room = height - measures.minimap - measures.axis - measures.findings;
    // Whole pixels: half of one would blur every line of the lanes.
    return Math.round(Math.max(0, Math.min(scroll, layout.height - room)));
  }

  function sceneNow(): Scene {
    const measures = measuresFor(panelWidth);
    const scale = { ...state.view, left: measures.header, width: Math.max(1, width - measures.header) };
    const kept: number[] = [];
    if (state.selection?.kind === 'edge') kept.push(state.selection.index);
    if (state.selection?.kind === 'held') kept.push(edgeOfMark(run.timeline.edges, state.selection.index));
    const { trace, timeline, hazards } = run;
    const edges = drawnEdges(
      timeline,
      trace.marks,
      scale,
      kept.filter((edge) => edge >= 0),
    );
    return { ...state, trace, timeline, hazards, urgency, layout, measures, scale, edges, width, height };
  }

  function paint(): void {
    due = 0;
    const scene = sceneNow();
    if (stageDue) {
      stageDue = false;
      frame.drawStage(scene);
      brush.show(state.view, minimapScale(scene), scene.measures.minimap);
      pointer.sync();
      showScrollbar(scene);
    }
    frame.drawOverlay(scene, { hover, cursor });
    showWords(scene);
    if (!announced) {
      announced = true;
      host.shown();
    }
  }

  function showWords(scene: Scene): void {
    toolbar.show({
      findings: run.hazards.length,
      finding: urgency.indexOf(state.hazard),
      term: state.search?.term ?? '',
      matches: state.search?.count ?? 0,
      match: state.match,
      range: state.range !== undefined,
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
    });
    const key = JSON.stringify([state.selection, state.hazard, state.range]);
    if (key === panelKey) return;
    panelKey = key;
    showPanel(scene);
  }

  function showPanel(_scene: Scene): void {
    const colorOf = (stream: number): string => theme.stream(run.timeline.slots[stream]!).line;
    panel.showFinding(state.hazard);
    if (state.range) {
      panel.showRange(state.range, statisticsOf(run, state.range), colorOf);
      return;
    }
    const target: Target | undefined =
      state.selection ?? (state.hazard >= 0 ? { kind: 'hazard', index: state.hazard } : undefined);
    if (!target) {
      panel.showSummary(run, colorOf);
      return;
    }
    const details = detailsOf(run, target);
    const hazard = target.kind === 'hazard' ? run.hazards[target.index] : undefined;
    panel.showDetails(details, hazard && { status: hazard.status, severity: severityOf(hazard) });
    live.textContent = `${details.title}. ${details.note}. ${findingsOf(target)}`;
    asked = details.step;
    if (asked >= 0) host.describe(asked);
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
    const lanesChanged = next.closed !== state.closed || next.opened !== state.opened || next.hidden !== state.hidden;
    const shown = next.selection ?? (next.hazard >= 0 ? ({ kind: 'hazard', index: next.hazard } as const) : undefined);
    const before =
      state.selection ?? (state.hazard >= 0 ? ({ kind: 'hazard', index: state.hazard } as const) : undefined);
    state = next;
    if (lanesChanged) relayout();
    if (shown && !sameTarget(shown, before)) scrollTo(shown);
    request(true);
  }

  /** Scrolls as little as possible so that a target's lanes are on screen. */
  function scrollTo(target: Target): void {
    const scene = sceneNow();
    const top = lanesTop(scene);
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
    const room = height - top;
    let { scroll } = state;
    // The last one wins where not all fit: the streams say more than the block.
    for (const place of places) {
      if (place.y < scroll) scroll = place.y - 8;
      else if (place.y + place.height > scroll + room) scroll = place.y + place.height - room + 8;
    }
    state = { ...state, scroll: clampScroll(scroll) };
  }

  function zoomBy(factor: number): void {
    const at = cursor ?? (state.view.start + state.view.end) / 2;
    update(states.withView(state, run, zoomAt(state.view, run.timeline.bounds, at, factor)));
  }

  function chooseLanes(anchor: HTMLElement): void {
    const all = layOut(run.timeline, measuresFor(panelWidth), {
      closed: new Set(),
      opened: new Set(),
      hidden: new Set(),
    });
    const lanes = all.boxes
      .filter(({ lane }) => lane.kind !== 'group' && lane.kind !== 'unrecorded')
      .map(({ lane }) => {
        const key = laneKey(lane);
        const name =
          lane.kind === 'host'
            ? lane.host.name
            : lane.kind === 'stream'
              ? lane.stream.name
              : lane.kind === 'pool'
                ? lane.pool.name
                : 'Totals';
        return { key, name, shown: !state.hidden.has(key) };
      });
    openLaneList(document.body, anchor, lanes, (key) =>
      update({ ...state, hidden: states.toggled(state.hidden, key) }),
    );
  }

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

  function clickHeader(y: number): void {
    const box = boxAt(layout, y - lanesTop(sceneNow()) + state.scroll);
    if (!box) return;
    const { lane } = box;
    if (lane.kind === 'group') update({ ...state, closed: states.toggled(state.closed, lane.key) });
    if (lane.kind === 'host') update({ ...state, opened: states.toggled(state.opened, laneKey(lane)) });
  }

  function reveal(target: Target | undefined): void {
    const place = target && sourceOf(run, target);
    if (place) host.reveal(place);
    else if (target) live.textContent = 'The source line is not known.';
  }

  const shownTarget = (): Target | undefined =>
    state.selection ?? (state.hazard >= 0 ? { kind: 'hazard', index: state.hazard } : undefined);

  // ---- pointer, keys ----

  let tooltipTimer = 0;
  function showTooltip(x: number, y: number): void {
    const target = hover;
    if (!target) return;
    const details = detailsOf(run, target);
    const extent = target.kind === 'hazard' ? run.hazards[target.index]! : extentOf(run.trace, run.timeline, target);
    const lines: string[] = [];
    if (target.kind !== 'hazard')
      lines.push(`${timeText(extent.start)} to ${timeText(extent.end)}, ${timeText(extent.end - extent.start)}`);
    if (target.kind === 'device') {
      const launcher = run.trace.deviceSlices.launcher[target.index]!;
      if (launcher >= 0)
        lines.push(`launched ${timeText(Math.max(0, extent.start - run.trace.hostSlices.start[launcher]!))} earlier`);
    }
    lines.push(...details.text.map(plain));
    if (details.source) lines.push(placeText(details.source));
    const note =
      target.kind === 'device' ? streamName(run, run.trace.deviceSlices.stream[target.index]!) : details.note;
    tooltip.show({ title: details.title, note, lines }, x, y, { width, height });
  }

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
      scroll(by) {
        const scroll = clampScroll(state.scroll + by);
        if (scroll !== state.scroll) update({ ...state, scroll });
      },
      pan: (pixels) =>
        update(
          states.withView(
            state,
            run,
            pan(state.view, run.timeline.bounds, (pixels / Math.max(1, width - 176)) * span(state.view)),
          ),
        ),
      hover(x, y) {
        const scene = sceneNow();
        cursor = x >= scene.scale.left ? toTime(scene.scale, x) : undefined;
        const target = targetAt(x, y);
        if (!sameTarget(target, hover) || !target) {
          tooltip.hide();
          clearTimeout(tooltipTimer);
          if (target) tooltipTimer = window.setTimeout(() => showTooltip(x, y), 300);
        }
        hover = target;
        overlay.style.cursor = target ? 'pointer' : '';
        request(false);
      },
      leave() {
        hover = undefined;
        cursor = undefined;
        tooltip.hide();
        clearTimeout(tooltipTimer);
        request(false);
      },
      click(x, y) {
        const scene = sceneNow();
        if (x < scene.scale.left || boxAt(layout, y - lanesTop(scene) + state.scroll)?.lane.kind === 'group') {
          if (y >= lanesTop(scene)) clickHeader(y);
          return;
        }
        if (y < scene.measures.minimap + scene.measures.axis) return;
        update(states.select(state, run, targetAt(x, y)));
      },
      doubleClick: (x, y) => reveal(targetAt(x, y)),
      range: (range) => update({ ...state, range }),
    },
  );

  const forgetKeys = listenToKeys(overlay, {
    zoom: zoomBy,
    pan: (share) => update(states.withView(state, run, pan(state.view, run.timeline.bounds, share * span(state.view)))),
    slice: (by) => move(nextSlice(run, layout, state.view, state.selection, by)),
    lane: (by) => move(nextLane(run, layout, state.view, state.selection, by)),
    source: () => reveal(shownTarget()),
    fit: () => update(states.fitSelection(state, run)),
    all: () => update(states.withView(state, run, run.timeline.bounds)),
    otherEnd: (by) => move(otherEnd(run, state.selection, by)),
    finding: (by) => update(states.stepHazard(state, run, by)),
    search: () => toolbar.focusSearch(),
    match: (by) => update(states.nextMatch(state, run, by)),
    range: () => update(states.toggleRange(state, run)),
    lanes: () => chooseLanes(toolbar.root.querySelector<HTMLElement>('[aria-haspopup]') ?? toolbar.root),
    back: () => update(states.back(state)),
    help: () => help.showModal(),
    scroll: (pages) => update({ ...state, scroll: clampScroll(state.scroll + pages * (height - 110)) }),
  });

  function move(target: Target | undefined): void {
    if (!target) return;
    update(states.select(state, run, target, true));
    const place = placeOf(sceneNow(), lanesTop(sceneNow()) - state.scroll, target);
    hover = undefined;
    clearTimeout(tooltipTimer);
    tooltip.hide();
    // The tooltip follows the keyboard's focus too.
    if (place)
      tooltipTimer = window.setTimeout(() => {
        hover = target;
        showTooltip(Math.max(place.x, 180), place.y + place.height);
        hover = undefined;
      }, 300);
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
  layout = layOut(run.timeline, measuresFor(panelWidth), state);
  const observer = new ResizeObserver(measure);
  observer.observe(stage);
  const stopWatching = watchRatio(measure);
  measure();
  if (run.hazards.length > 0 && run.hazards.length <= 200) panel.showFinding(-1);

  return {
    setTheme(next) {
      theme = next;
      frame.setTheme(theme);
      panelKey = '';
      request(true);
    },
    mark: (file, line) => update(states.markLine(state, run, file, line)),
    selectHazard: (index) => update(states.selectHazard(state, run, index)),
    showTouched(step, reads, writes) {
      if (step === asked) panel.showTouched(reads, writes);
    },
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
    close() {
      cancelAnimationFrame(due);
      clearTimeout(tooltipTimer);
      observer.disconnect();
      stopWatching();
      forgetKeys();
      root.replaceChildren();
    },
  };
}

/** Another screen or zoom may have another number of device pixels, without any change of size. */
function watchRatio(changed: () => void): () => void {
  let query: MediaQueryList | undefined;
  const listen = (): void => {
    query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener('change', again, { once: true });
  };
  const again = (): void => {
    changed();
    listen();
  };
  listen();
  return () => query?.removeEventListener('change', again);
}

function describeRun({ name, timeline, hazards }: Run): string {
  const streams = `${timeline.streams.length} ${timeline.streams.length === 1 ? 'stream' : 'streams'}`;
  const findings = `${hazards.length} ${hazards.length === 1 ? 'finding' : 'findings'}`;
  return `Timeline of ${name}: ${streams}, ${findings}. Arrow keys go through slices and lanes, question mark lists the keys.`;
}

function bannersOf({ trace }: Run): HTMLElement[] {
  const result: HTMLElement[] = [];
  const add = (kind: 'cannot tell' | 'broken', title: string, sentences: readonly string[]): void => {
    const node: HTMLElement = banner({ kind, title, sentences }, () => node.remove());
    result.push(node);
  };
  if (trace.problems.length) {
    const cut = trace.problems.some(({ message }) => /\b(cut|breaks off|ends|truncated)\b/i.test(message));
    add('broken', cut ? 'This trace stops in the middle' : 'Parts of this trace could not be read', [
      ...trace.problems.slice(0, 20).map(problemText),
      'What could be read is shown.',
    ]);
  }
  if (trace.limits.length)
    add('cannot tell', 'This file cannot tell everything', [
      `${trace.limits[0]} No finding here does not mean no fault.`,
      ...trace.limits.slice(1),
    ]);
  return result;
}

function problemText({ message, offset, row }: { message: string; offset: number; row: number }): string {
  const where = [row >= 0 && `row ${row + 1}`, offset >= 0 && `byte ${offset}`].filter(Boolean).join(', ');
  return where && !/\b(row|byte) \d/.test(message) ? `${message} (${where})` : message;
}
