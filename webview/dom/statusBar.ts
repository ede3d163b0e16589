/** The status bar: where the pointer is, what is shown, what was recorded and what the file cannot tell. */
import { grouped, timeText } from '../../core/timeline/units.ts';
import { element, replace } from './element.ts';

export interface StatusFacts {
  readonly cursor: number | undefined;
  readonly shown: number;
  readonly slices: number;
  readonly waits: boolean;
  readonly accesses: boolean;
  readonly limits: readonly string[];
  readonly narrow: boolean;
  /** The recording has no end yet. */
  readonly live: boolean;
}

export interface StatusBar {
  readonly root: HTMLElement;
  show(facts: StatusFacts): void;
}

export function makeStatusBar(help: () => void): StatusBar {
  const left = element('span', { class: 'status-part' });
  const right = element('span', { class: 'status-part' });
  const keys = element(
    'button',
    { type: 'button', class: 'link quiet', title: 'Keys (?)', 'aria-label': 'Keys', on: { click: help } },
    element('kbd', {}, '?'),
    element('span', { class: 'wide-only' }, ' Keys'),
  );
  const root = element('footer', { class: 'status' }, left, element('span', { class: 'grow' }), right, keys);
  let last = '';
  let lastShown = '';
  return {
    root,
    show(facts) {
      const shown = `${facts.cursor} ${facts.shown} ${facts.narrow}`;
      if (shown === lastShown) return;
      lastShown = shown;
      const value = (words: string, number: string): HTMLElement =>
        element('span', {}, facts.narrow ? '' : `${words} `, element('b', {}, number));
      replace(
        left,
        (!facts.narrow || facts.cursor !== undefined) &&
          value('Cursor', facts.cursor === undefined ? '–' : timeText(facts.cursor)),
        facts.narrow ? element('span', {}, `${timeText(facts.shown)} shown`) : value('Shown', timeText(facts.shown)),
        !facts.narrow && value('Slices', grouped(facts.slices)),
      );
      const words = [
        facts.live && 'Still recording',
        !facts.narrow && (facts.waits ? 'Waits recorded' : 'No waits recorded'),
        !facts.narrow && (facts.accesses ? 'Accesses recorded' : 'Accesses not recorded'),
        facts.limits.length > 0 &&
          `Cannot tell: ${facts.limits.length} ${facts.limits.length === 1 ? 'thing' : 'things'}`,
      ].filter((text) => text !== false);
      if (words.join() === last) return;
      last = words.join();
      replace(
        right,
        ...words.map((text) =>
          element(
            'span',
            {
              title: text.startsWith('Cannot') ? facts.limits.join('\n') : undefined,
              class: text === 'Still recording' ? 'recording' : undefined,
            },
            text,
          ),
        ),
      );
    },
  };
}
