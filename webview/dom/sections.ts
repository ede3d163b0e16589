/** Tables of the panel from sections, and links to places and slices. */
import type { Target } from '../../core/timeline/hit.ts';
import { shortened } from '../../core/timeline/units.ts';
import { type Place, placeText } from '../state/details.ts';
import type { Section } from '../state/sections.ts';
import { element } from './element.ts';

export interface LinkWishes {
  reveal(place: Place): void;
  select(target: Target): void;
  colorOf(stream: number): string;
}

/** A place of the source; as text alone where the line is not known. */
export function placeLink(place: Place | undefined, wishes: LinkWishes, words?: string): HTMLElement | undefined {
  if (!place) return undefined;
  const text = words ?? placeText(place);
  if (place.line <= 0) return element('span', { title: place.file }, text);
  return element(
    'button',
    { class: 'link', type: 'button', title: `${place.file}:${place.line}`, on: { click: () => wishes.reveal(place) } },
    text,
  );
}

export function targetLink(target: Target, text: string, wishes: LinkWishes): HTMLElement {
  return element('button', { class: 'link', type: 'button', on: { click: () => wishes.select(target) } }, text);
}

export function sectionOf(section: Section, wishes: LinkWishes): HTMLElement {
  const rows = section.rows.map(({ cells, stream, target, place }) => {
    const [first = '', ...rest] = cells.map((cell) => shortened(cell));
    const head = element('td', {});
    if (stream !== undefined) head.append(chip(wishes.colorOf(stream)));
    head.append(target ? targetLink(target, first, wishes) : first);
    const link = placeLink(place, wishes);
    if (link) {
      link.classList.add('quiet');
      head.append(' ', link);
    }
    return element('tr', {}, head, ...rest.map((cell) => element('td', { class: 'number' }, cell)));
  });
  return element(
    'section',
    {},
    section.title && element('h4', {}, section.title),
    rows.length > 0 && table(section.columns, rows),
    ...(section.notes ?? []).map((note) => element('p', { class: 'note' }, note)),
  );
}

export function table(columns: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        // A head without words would be an empty heading to a screen reader.
        ...columns.map((text, i) =>
          element(
            text === '' ? 'td' : 'th',
            { class: i > 0 ? 'number' : undefined, scope: text === '' ? undefined : 'col' },
            text,
          ),
        ),
      ),
    ),
    element('tbody', {}, ...rows),
  );
}

function chip(color: string): HTMLElement {
  const node = element('span', { class: 'chip' });
  node.style.backgroundColor = color;
  return node;
}
