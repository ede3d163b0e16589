/** What floats over the timeline: the tooltip, the list of lanes, the keys. */
import { element, replace } from './element.ts';

export interface TooltipFacts {
  readonly title: string;
  readonly note: string;
  readonly lines: readonly string[];
}

export interface Tooltip {
  readonly root: HTMLElement;
  show(facts: TooltipFacts, x: number, y: number, within: { width: number; height: number }): void;
  hide(): void;
}

export function makeTooltip(): Tooltip {
  const root = element('div', { class: 'tooltip', role: 'tooltip', hidden: true });
  return {
    root,
    show(facts, x, y, within) {
      replace(
        root,
        element('div', {}, element('b', {}, facts.title), ' ', element('span', { class: 'note' }, facts.note)),
        ...facts.lines.map((line) => element('div', { class: 'note' }, line)),
      );
      root.hidden = false;
      // Beside the pointer, on the side where there is room.
      const { offsetWidth, offsetHeight } = root;
      const left = x + 14 + offsetWidth > within.width ? Math.max(4, x - offsetWidth - 10) : x + 14;
      const top = y + 18 + offsetHeight > within.height ? Math.max(4, y - offsetHeight - 10) : y + 18;
      root.style.left = `${left}px`;
      root.style.top = `${top}px`;
    },
    hide() {
      root.hidden = true;
    },
  };
}

export interface LaneChoice {
  readonly key: string;
  readonly name: string;
  readonly shown: boolean;
}

/** A list of check boxes; closed by Esc, by leaving it, by a click elsewhere. */
export function openLaneList(
  parent: HTMLElement,
  anchor: HTMLElement,
  lanes: readonly LaneChoice[],
  toggle: (key: string) => void,
): void {
  parent.querySelector('.lane-list')?.remove();
  const list = element('div', { class: 'lane-list popup', role: 'group', 'aria-label': 'Lanes' });
  for (const lane of lanes) {
    const box = element('input', { type: 'checkbox', on: { change: () => toggle(lane.key) } });
    box.checked = lane.shown;
    list.append(element('label', {}, box, lane.name));
  }
  const close = (): void => {
    list.remove();
    document.removeEventListener('pointerdown', outside, true);
  };
  const outside = (event: Event): void => {
    if (!list.contains(event.target as Node)) close();
  };
  list.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key !== 'Escape') return;
    close();
    anchor.focus();
  });
  document.addEventListener('pointerdown', outside, true);
  parent.append(list);
  const place = anchor.getBoundingClientRect();
  list.style.left = `${place.left}px`;
  list.style.top = `${place.bottom + 4}px`;
  list.querySelector('input')?.focus();
}

const keys: readonly (readonly [string, string])[] = [
  ['W S', 'zoom in, out'],
  ['A D', 'move earlier, later'],
  ['← →', 'slice before, after'],
  ['↑ ↓', 'lane above, below'],
  ['Enter', 'show in the source'],
  ['F', 'fit what is selected'],
  ['0', 'show the whole run'],
  ['[ ]', 'other end of an edge'],
  [', . F8', 'finding before, after'],
  ['/', 'search'],
  ['N', 'next match'],
  ['R', 'range and its sums'],
  ['L', 'choose lanes'],
  ['Esc', 'back'],
  ['?', 'these keys'],
];

export function makeHelp(): HTMLDialogElement {
  const dialog = element('dialog', { class: 'help popup', 'aria-label': 'Keys' });
  dialog.append(
    element('h3', {}, 'Keys'),
    element(
      'dl',
      {},
      ...keys.flatMap(([key, words]) => [
        element('dt', {}, ...key.split(' ').map((one) => element('kbd', {}, one))),
        element('dd', {}, words),
      ]),
    ),
    element(
      'p',
      { class: 'note' },
      'Wheel: zoom at the pointer. Drag: move. Drag on the axis: range. Shift and wheel: move earlier, later. Wheel over the names: scroll the lanes.',
    ),
    element('form', { method: 'dialog' }, element('button', { class: 'primary', type: 'submit' }, 'Close')),
  );
  return dialog;
}
