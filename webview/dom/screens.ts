/** What stands in place of the timeline: nothing open yet, loading, an error. And the banner of what a file cannot tell. */
import { sizeText } from '../../core/timeline/units.ts';
import { drawing, element, prose, signOf } from './element.ts';

export interface ScreenWishes {
  run(): void;
  pick(): void;
  cancel(): void;
}

const marks = () =>
  drawing(
    '0 0 132 44',
    [
      ['rect', { x: '8', y: '4', width: '46', height: '9', rx: '2', class: 'slot-0' }],
      ['rect', { x: '30', y: '18', width: '52', height: '9', rx: '2', class: 'slot-1' }],
      ['rect', { x: '84', y: '32', width: '40', height: '9', rx: '2', class: 'slot-2' }],
      ['path', { d: 'M54 8.500h4q4 0 4 4v2.500M82 22.500h6q4 0 4 4v2.500', class: 'edge' }],
      ['circle', { cx: '54', cy: '8.500', r: '2.500', class: 'slot-0 full' }],
      ['circle', { cx: '82', cy: '22.500', r: '2.500', class: 'slot-1 full' }],
      ['circle', { cx: '62', cy: '18', r: '2.300', class: 'slot-1 ring' }],
      ['circle', { cx: '92', cy: '32', r: '2.300', class: 'slot-2 ring' }],
    ],
    { class: 'marks' },
  );

const button = (words: string, action: () => void, primary = false): HTMLElement =>
  element('button', { type: 'button', class: primary ? 'primary' : 'secondary', on: { click: action } }, words);

/** `canRun`: there is an editor that can run the program. */
export function emptyScreen(wishes: ScreenWishes, canRun: boolean): HTMLElement {
  return element(
    'main',
    { class: 'screen' },
    marks(),
    element('h1', {}, 'No run open'),
    element(
      'p',
      {},
      'Run a file and Raceline shows its streams, waits and memory here, with the places where a wait is missing.',
    ),
    element(
      'div',
      { class: 'actions' },
      canRun && button('Run file', wishes.run, true),
      button('Open a trace…', wishes.pick, !canRun),
    ),
  );
}

export interface LoadingScreen {
  readonly root: HTMLElement;
  show(phase: 'reading' | 'judging' | 'laying out', read: number, total: number, elapsed: number): void;
}

export function loadingScreen(name: string, wishes: ScreenWishes): LoadingScreen {
  const facts = element('p', { class: 'note' }, 'Starting');
  const next = element('p', { class: 'note' }, 'Next: order the steps, then look for findings.');
  const bar = element('progress', { max: '100', 'aria-label': `Reading ${name}` });
  const root = element(
    'main',
    { class: 'screen', 'aria-busy': 'true' },
    element('h1', {}, `Reading ${name}`),
    facts,
    bar,
    next,
    element('div', { class: 'actions' }, button('Cancel', wishes.cancel)),
  );
  return {
    root,
    show(phase, read, total, elapsed) {
      if (phase === 'reading') {
        const share = total > 0 ? read / total : 0;
        bar.value = share * 100;
        const left = share > 0.05 && elapsed > 500 ? (elapsed / share) * (1 - share) : -1;
        const words = [total > 0 ? `${sizeText(read)} of ${sizeText(total)}` : sizeText(read)];
        if (left >= 0) words.push(`about ${Math.max(1, Math.round(left / 1000))} s left`);
        facts.textContent = words.join(' · ');
        return;
      }
      bar.removeAttribute('value');
      facts.textContent = `${sizeText(total)} read`;
      next.textContent = phase === 'judging' ? 'Ordering the steps and looking for findings.' : 'Laying out the lanes.';
    },
  };
}

/** The message says what is wrong and where; the title says what kind of wrong it is. */
export function errorScreen(name: string, message: string, wishes: ScreenWishes): HTMLElement {
  return element(
    'main',
    { class: 'screen' },
    signOf('confirmed', 'error'),
    element('div', { role: 'alert' }, element('h1', {}, 'This trace could not be opened'), element('p', {}, message)),
    element('div', { class: 'actions' }, button('Open another trace…', wishes.pick, true)),
    element('p', { class: 'code' }, name),
  );
}

export interface BannerFacts {
  readonly kind: 'cannot tell' | 'broken';
  readonly title: string;
  readonly sentences: readonly string[];
}

export function banner(facts: BannerFacts, dismiss: () => void): HTMLElement {
  const [first = '', ...rest] = facts.sentences;
  return element(
    'div',
    { class: `banner ${facts.kind === 'broken' ? 'broken' : ''}`, role: 'note' },
    drawing(
      '0 0 16 16',
      [
        ['circle', { cx: '8', cy: '8', r: '6.300' }],
        ['path', { d: facts.kind === 'broken' ? 'M8 4.500v4M8 11v.1' : 'M8 7.300v4M8 4.700v.1' }],
      ],
      { class: 'icon' },
    ),
    element('b', {}, facts.title),
    element('button', { type: 'button', class: 'link quiet', on: { click: dismiss } }, 'Dismiss'),
    element(
      'div',
      { class: 'banner-text' },
      ...prose(first),
      rest.length > 0 &&
        element(
          'details',
          {},
          element('summary', {}, `${rest.length} more`),
          element('ul', {}, ...rest.map((text) => element('li', {}, ...prose(text)))),
        ),
    ),
  );
}
