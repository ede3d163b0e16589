/** The toolbar: search, lanes, findings, zoom. It tells wishes and shows what it is told; it keeps nothing. */
import { element, icon, type IconName } from './element.ts';
import { searchHelp } from './popups.ts';

export interface ToolbarWishes {
  search(text: string): void;
  nextMatch(by: 1 | -1): void;
  stepFinding(by: 1 | -1): void;
  filter(): void;
  range(): void;
  measure(): void;
  compare(anchor: HTMLElement): void;
  more(anchor: HTMLElement): void;
  zoom(factor: number): void;
  showAll(): void;
  lanes(anchor: HTMLElement): void;
  /** The keys go back to the timeline. */
  leave(): void;
}

export interface ToolbarFacts {
  readonly findings: number;
  /** Position of the shown finding by urgency, from 0; -1: none. */
  readonly finding: number;
  readonly term: string;
  readonly matches: number;
  readonly match: number;
  readonly filter: boolean;
  readonly range: boolean;
  readonly measure: boolean;
  readonly comparing: boolean;
  readonly hiddenLanes: number;
  readonly narrow: boolean;
}

export interface Toolbar {
  readonly root: HTMLElement;
  show(facts: ToolbarFacts): void;
  focusSearch(): void;
  /** Offers the other traces of the same command line. */
  offer(names: readonly string[], current: number, open: (index: number) => void): void;
}

/** Leaves alone what is the same: every change makes the browser lay the toolbar out again. */
function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function makeToolbar(wishes: ToolbarWishes): Toolbar {
  const button = (
    name: IconName,
    title: string,
    action: (self: HTMLButtonElement) => void,
    words?: HTMLElement,
  ): HTMLButtonElement => {
    const self: HTMLButtonElement = element(
      'button',
      { class: 'tool', type: 'button', title, 'aria-label': title, on: { click: () => action(self) } },
      icon(name),
      words,
    );
    return self;
  };
  const input = element('input', {
    type: 'search',
    placeholder: 'Search kernels, tensors, lines',
    'aria-label': 'Search kernels, tensors, lines',
    title: searchHelp,
    spellcheck: 'false',
    autocomplete: 'off',
    on: {
      input: () => wishes.search(input.value),
      keydown: (event: KeyboardEvent) => {
        event.stopPropagation();
        if (event.key === 'Enter') wishes.nextMatch(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') {
          input.value = '';
          wishes.search('');
          wishes.leave();
        }
      },
    },
  });
  const hint = element('kbd', {}, '/');
  const found = element('span', { class: 'found', role: 'status' });
  const lanesWords = element('span', {});
  const lanes = button('lanes', 'Choose lanes (L)', (self) => wishes.lanes(self), lanesWords);
  lanes.setAttribute('aria-haspopup', 'true');
  const previous = button('previous', 'Previous finding (, or Shift+F8)', () => wishes.stepFinding(-1));
  const next = button('next', 'Next finding (. or F8)', () => wishes.stepFinding(1));
  const finding = element('span', { class: 'finding-count' });
  const filter = button('filter', 'Only matches (O)', () => wishes.filter());
  filter.classList.add('in-search');
  const range = button('range', 'Range statistics (R)', () => wishes.range());
  const measure = button('measure', 'Measure (M)', () => wishes.measure());
  const compare = button(
    'compare',
    'Compare with another run (C)',
    (self) => wishes.compare(self),
    element('span', {}, 'Compare'),
  );
  const minus = button('minus', 'Zoom out (S)', () => wishes.zoom(1 / 1.5));
  const plus = button('plus', 'Zoom in (W)', () => wishes.zoom(1.5));
  for (const self of [range, measure, minus, plus]) self.classList.add('spare');
  const more = button('more', 'More', (self) => wishes.more(self));
  more.setAttribute('aria-haspopup', 'menu');
  more.dataset.more = '';
  const root = element(
    'div',
    { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline' },
    element('div', { class: 'search' }, icon('search'), input, found, hint, filter),
    element('span', { class: 'separator' }),
    lanes,
    previous,
    finding,
    next,
    element('span', { class: 'grow' }),
    range,
    measure,
    minus,
    plus,
    button('all', 'Show all (0)', () => wishes.showAll()),
    element('span', { class: 'separator' }),
    compare,
    more,
  );
  return {
    root,
    show(facts) {
      const findings =
        facts.findings === 0
          ? facts.narrow
            ? '0'
            : 'No findings'
          : facts.finding < 0
            ? `${facts.findings}${facts.narrow ? '' : facts.findings === 1 ? ' finding' : ' findings'}`
            : `${facts.narrow ? '' : 'Finding '}${facts.finding + 1} of ${facts.findings}`;
      previous.disabled = next.disabled = facts.findings === 0;
      setText(finding, findings);
      const matches =
        facts.term === ''
          ? ''
          : facts.matches === 0
            ? 'none'
            : facts.match < 0
              ? `${facts.matches}`
              : `${facts.match + 1} of ${facts.matches}`;
      setText(found, matches);
      hint.hidden = facts.term !== '';
      filter.hidden = facts.term === '';
      filter.setAttribute('aria-pressed', String(facts.filter));
      if (facts.term === '' && document.activeElement !== input) input.value = '';
      range.setAttribute('aria-pressed', String(facts.range));
      measure.setAttribute('aria-pressed', String(facts.measure));
      compare.setAttribute('aria-pressed', String(facts.comparing));
      const lanesText = facts.hiddenLanes === 0 ? 'All lanes' : `${facts.hiddenLanes} hidden`;
      if (lanesWords.textContent !== lanesText) lanes.setAttribute('aria-label', `${lanesText}, choose lanes`);
      setText(lanesWords, lanesText);
      const placeholder = facts.narrow ? 'Search' : 'Search kernels, tensors, lines';
      if (input.placeholder !== placeholder) input.placeholder = placeholder;
    },
    offer(names, current, open) {
      const options = names.map((name, i) => element('option', { value: i, selected: i === current }, name));
      const choice = element(
        'select',
        { 'aria-label': 'Trace', title: 'Trace', on: { change: () => open(Number(choice.value)) } },
        ...options,
      );
      root.prepend(choice);
    },
    focusSearch() {
      input.focus();
      input.select();
    },
  };
}
