/**
 * The names of the lanes as buttons over what the canvas paints there, so that keys and screen readers reach them: one
 * takes part in the tab order, arrow keys go from lane to lane. Tells wishes by the lane's key; keeps nothing but focus.
 */
import { type LaneBox, type Layout, laneKey } from '../../core/timeline/layout.ts';
import { shortened } from '../../core/timeline/units.ts';
import { isMovable } from '../state/lanes.ts';
import { element } from './element.ts';

export interface LaneHeadWishes {
  /** Opens or closes a group, a host thread's deeper rows. */
  toggle(key: string): void;
  pin(key: string): void;
  move(key: string, by: 1 | -1): void;
  hide(key: string): void;
  menu(key: string, anchor: HTMLElement, place: { readonly x: number; readonly y: number }): void;
  /** Into the lane: its first slice in view. */
  enter(key: string): void;
  /** The lane got the focus: it is scrolled to. */
  reveal(box: LaneBox): void;
  scroll(by: number): void;
}

export interface LaneWords {
  readonly name: string;
  readonly note: string;
}

export interface LaneHeads {
  readonly root: HTMLElement;
  show(layout: Layout, words: (box: LaneBox) => LaneWords, pinned: readonly string[]): void;
  place(top: number, width: number, height: number, layout: Layout, scroll: number): void;
  focus(key: string): void;
}

export function makeLaneHeads(wishes: LaneHeadWishes): LaneHeads {
  const pinnedZone = element('div', { class: 'lane-zone' });
  const inner = element('div', {});
  const zone = element('div', { class: 'lane-zone' }, inner);
  const root = element('div', { class: 'lane-heads', role: 'group', 'aria-label': 'Lanes' }, pinnedZone, zone);
  const heads = new Map<string, HTMLButtonElement>();
  let boxes: readonly LaneBox[] = [];
  let current = '';
  let placed = '';

  const keyOf = (event: Event): string => (event.target as HTMLElement).closest('button')?.dataset.lane ?? '';
  const boxOf = (key: string): LaneBox | undefined => boxes.find(({ lane }) => laneKey(lane) === key);

  function choose(key: string): void {
    const before = heads.get(current);
    if (before) before.tabIndex = -1;
    current = key;
    const head = heads.get(key);
    if (head) head.tabIndex = 0;
  }

  function focusBy(by: number): void {
    const at = boxes.findIndex(({ lane }) => laneKey(lane) === current);
    const next = boxes[Math.min(Math.max(at + by, 0), boxes.length - 1)];
    if (next) heads.get(laneKey(next.lane))?.focus({ preventScroll: true });
  }

  root.addEventListener('focusin', (event) => {
    const key = keyOf(event);
    choose(key);
    // The browser scrolls what is focused into view by itself; the lanes are scrolled by us.
    for (const one of [zone, pinnedZone]) one.scrollTop = 0;
    const box = boxOf(key);
    if (box && (event.target as HTMLElement).matches(':focus-visible')) wishes.reveal(box);
  });
  root.addEventListener('click', (event) => {
    if (!root.classList.contains('dragging')) wishes.toggle(keyOf(event));
  });
  root.addEventListener('contextmenu', (event) => {
    const key = keyOf(event);
    const head = heads.get(key);
    if (!head) return;
    event.preventDefault();
    // The keyboard's menu key gives no place of the pointer.
    const place = head.getBoundingClientRect();
    const isAt = event.clientX > 0 || event.clientY > 0;
    wishes.menu(key, head, isAt ? { x: event.clientX, y: event.clientY } : { x: place.left + 24, y: place.bottom - 8 });
  });
  root.addEventListener('wheel', (event) => {
    event.preventDefault();
    wishes.scroll(event.deltaY * (event.deltaMode === 1 ? 16 : 1));
  });
  root.addEventListener('keydown', (event) => {
    const key = keyOf(event);
    if (key === '' || event.ctrlKey || event.metaKey) return;
    const box = boxOf(key);
    const movable = box !== undefined && isMovable(box.lane);
    if (event.altKey && movable && (event.key === 'ArrowUp' || event.key === 'ArrowDown'))
      wishes.move(key, event.key === 'ArrowUp' ? -1 : 1);
    else if (event.altKey) return;
    else if (event.key === 'ArrowUp') focusBy(-1);
    else if (event.key === 'ArrowDown') focusBy(1);
    else if (event.key === 'Home') focusBy(Number.NEGATIVE_INFINITY);
    else if (event.key === 'End') focusBy(boxes.length);
    else if (event.key === 'ArrowRight') wishes.enter(key);
    else if (event.key.toLowerCase() === 'p' && movable) wishes.pin(key);
    else if (event.key === 'Delete' && movable) wishes.hide(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  listenToDrags(root, keyOf, (key, by) => wishes.move(key, by), heads);

  return {
    root,
    show(layout, words, pinned) {
      boxes = layout.boxes;
      const seen = new Set<string>();
      boxes.forEach((box, i) => {
        const key = laneKey(box.lane);
        seen.add(key);
        let head = heads.get(key);
        if (!head) {
          head = element('button', { type: 'button', tabindex: '-1', 'data-lane': key });
          heads.set(key, head);
        }
        const { name: whole, note } = words(box);
        const name = shortened(whole);
        const isPinned = pinned.includes(key);
        head.setAttribute('aria-label', [name, note, isPinned && 'pinned'].filter(Boolean).join(', '));
        head.title = [name, note].filter(Boolean).join('\n');
        const open = 'open' in box.lane ? box.lane.open : undefined;
        if (open === undefined) head.removeAttribute('aria-expanded');
        else head.setAttribute('aria-expanded', String(open));
        head.style.top = `${box.y - (i < layout.pinnedCount ? 0 : layout.pinnedHeight)}px`;
        head.style.height = `${box.height}px`;
        const parent = i < layout.pinnedCount ? pinnedZone : inner;
        const hadFocus = document.activeElement === head;
        // Appended in order only where the order changed: moving an element takes its focus away.
        const expected = parent.children[i < layout.pinnedCount ? i : i - layout.pinnedCount];
        if (expected !== head) parent.insertBefore(head, expected ?? null);
        if (hadFocus) head.focus({ preventScroll: true });
      });
      for (const [key, head] of heads)
        if (!seen.has(key)) {
          const hadFocus = document.activeElement === head;
          head.remove();
          heads.delete(key);
          if (hadFocus) heads.get(laneKey(boxes[0]!.lane))?.focus({ preventScroll: true });
        }
      if (!heads.has(current) && boxes[0]) choose(laneKey(boxes[0].lane));
    },
    place(top, width, height, layout, scroll) {
      // Called in every frame: what is the same is left alone, or the browser would look at the styles again.
      const next = `${top} ${width} ${height} ${layout.pinnedHeight} ${scroll}`;
      if (next === placed) return;
      placed = next;
      root.style.top = `${top}px`;
      root.style.height = `${Math.max(0, height - top)}px`;
      root.style.setProperty('--header', `${width}px`);
      pinnedZone.style.height = `${layout.pinnedHeight}px`;
      inner.style.transform = `translateY(${-scroll}px)`;
    },
    focus: (key) => heads.get(key)?.focus({ preventScroll: true }),
  };
}

/** A lane that is dragged over half of its neighbour changes places with it. */
function listenToDrags(
  root: HTMLElement,
  keyOf: (event: Event) => string,
  move: (key: string, by: 1 | -1) => void,
  heads: ReadonlyMap<string, HTMLElement>,
): void {
  let drag: { key: string; y: number; dragging: boolean } | undefined;
  root.addEventListener('pointerdown', (event) => {
    if (event.button === 0) drag = { key: keyOf(event), y: event.clientY, dragging: false };
  });
  root.addEventListener('pointermove', (event) => {
    if (!drag || event.buttons === 0) return;
    if (!drag.dragging && Math.abs(event.clientY - drag.y) < 6) return;
    drag.dragging = true;
    root.setPointerCapture(event.pointerId);
    root.classList.add('dragging');
    const own = heads.get(drag.key)?.getBoundingClientRect();
    if (!own) return;
    if (event.clientY < own.top - 4) move(drag.key, -1);
    else if (event.clientY > own.bottom + 4) move(drag.key, 1);
  });
  const end = (event: PointerEvent): void => {
    if (drag?.dragging) {
      // The click that ends a drag comes before this.
      setTimeout(() => root.classList.remove('dragging'));
      if (root.hasPointerCapture(event.pointerId)) root.releasePointerCapture(event.pointerId);
    }
    drag = undefined;
  };
  root.addEventListener('pointerup', end);
  root.addEventListener('pointercancel', end);
}
