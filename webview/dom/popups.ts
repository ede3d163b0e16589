/** What floats over the timeline: the tooltip, the list of lanes, the keys. */
import { element, icon, replace } from './element.ts';

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
  readonly pinned: boolean;
}

export interface LaneListWishes {
  toggle(key: string): void;
  pin(key: string): void;
  move(key: string, by: 1 | -1): void;
  showAll(): void;
}

/** The list of lanes: which are shown, pinned, and in which order. Built again after each change. */
export function openLaneList(
  parent: HTMLElement,
  anchor: HTMLElement,
  lanesNow: () => readonly LaneChoice[],
  wishes: LaneListWishes,
): void {
  parent.querySelector('.lane-list')?.remove();
  const list = element('div', { class: 'lane-list popup', role: 'dialog', 'aria-label': 'Lanes' });
  const rows = element('ul', {});
  const small = (name: 'pin' | 'up' | 'down', words: string, act: () => void, pressed?: boolean): HTMLElement =>
    element(
      'button',
      {
        class: 'tool',
        type: 'button',
        title: words,
        'aria-label': words,
        'aria-pressed': pressed === undefined ? undefined : String(pressed),
        on: { click: act },
      },
      icon(name),
    );
  const fill = (): void => {
    const focused = document.activeElement?.getAttribute('aria-label');
    replace(
      rows,
      ...lanesNow().map((lane) => {
        const box = element('input', {
          type: 'checkbox',
          'aria-label': lane.name,
          on: { change: () => change(() => wishes.toggle(lane.key)) },
        });
        box.checked = lane.shown;
        return element(
          'li',
          {},
          element('label', {}, box, element('span', {}, lane.name)),
          small('pin', `Pin ${lane.name}`, () => change(() => wishes.pin(lane.key)), lane.pinned),
          small('up', `Move ${lane.name} up`, () => change(() => wishes.move(lane.key, -1))),
          small('down', `Move ${lane.name} down`, () => change(() => wishes.move(lane.key, 1))),
        );
      }),
    );
    if (focused) rows.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  };
  const change = (act: () => void): void => {
    act();
    fill();
  };
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
  const all = element(
    'button',
    { class: 'secondary', type: 'button', on: { click: () => change(wishes.showAll) } },
    'Show all',
  );
  fill();
  list.append(rows, all);
  parent.append(list);
  const place = anchor.getBoundingClientRect();
  list.style.left = `${Math.max(4, Math.min(place.left, window.innerWidth - list.offsetWidth - 4))}px`;
  list.style.top = `${place.bottom + 4}px`;
  list.querySelector('input')?.focus();
}

/** Asks for the words of a note. Empty words take the note away. */
export function askForNote(heading: string, text: string, keep: (text: string) => void): void {
  const words = element('textarea', { rows: '4', 'aria-label': 'Note' });
  words.value = text;
  const dialog = element('dialog', { class: 'dialog popup', 'aria-label': heading });
  const form = element(
    'form',
    {
      method: 'dialog',
      on: {
        submit: () => keep(words.value.trim()),
        keydown: (event: KeyboardEvent) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
        },
      },
    },
    element('h3', {}, heading),
    words,
    element(
      'div',
      { class: 'actions' },
      element('button', { class: 'primary', type: 'submit' }, 'Keep'),
      element('button', { class: 'secondary', type: 'button', on: { click: () => dialog.close() } }, 'Cancel'),
    ),
  );
  dialog.append(form);
  showDialog(dialog);
  words.focus();
}

export interface TableRow {
  readonly cells: readonly string[];
  readonly act: () => void;
}

/** What is on the canvas as a table, for those who cannot see it, or want to read it. */
export function showTable(heading: string, note: string, columns: readonly string[], rows: readonly TableRow[]): void {
  const dialog = element('dialog', { class: 'dialog wide popup', 'aria-label': heading });
  const body = rows.map(({ cells, act }) =>
    element(
      'tr',
      {},
      ...cells.map((cell, i) =>
        element(
          'td',
          { class: i === 1 || i === 2 ? 'number' : undefined },
          i === 0
            ? element(
                'button',
                {
                  class: 'link',
                  type: 'button',
                  on: {
                    click: () => {
                      dialog.close();
                      act();
                    },
                  },
                },
                cell,
              )
            : cell,
        ),
      ),
    ),
  );
  dialog.append(
    element('h3', {}, heading),
    element('p', { class: 'note' }, note),
    element(
      'div',
      { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': heading },
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...columns.map((name, i) =>
              element('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : undefined }, name),
            ),
          ),
        ),
        element('tbody', {}, ...body),
      ),
    ),
    element('form', { method: 'dialog' }, element('button', { class: 'primary', type: 'submit' }, 'Close')),
  );
  showDialog(dialog);
}

function showDialog(dialog: HTMLDialogElement): void {
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
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
  ['O', 'only matches'],
  ['R', 'range and its sums'],
  ['M', 'measure between two moments'],
  ['B', 'note'],
  ['L', 'choose, pin and order lanes'],
  ['P', 'pin the lane'],
  ['C', 'compare with another run'],
  ['T', 'what is shown as a table'],
  ['E', 'export'],
  ['Esc', 'back'],
  ['?', 'these keys'],
];

export function makeHelp(): HTMLDialogElement {
  const dialog = element('dialog', { class: 'help popup', 'aria-label': 'Keys' });
  dialog.append(
    // The first thing to be read; the button that closes it comes at the end.
    element('h3', { tabindex: '-1', autofocus: true }, 'Keys'),
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
    element('p', { class: 'note search-help' }, `Search: ${searchHelp}`),
    element('form', { method: 'dialog' }, element('button', { class: 'primary', type: 'submit' }, 'Close')),
  );
  return dialog;
}

/** What narrows a search down, said where one types it. */
export const searchHelp =
  'Names of kernels, operators and tensors, functions, file:line, an address as 0x…\nstream:copy  thread:main  kind:kernel, copy, set, operator, runtime, annotation, sync, block\nfile:model.py  code:missing-wait  over:100us  under:1ms';
